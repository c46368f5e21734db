// Command lines and what the default argument policy says of them, read off the policy and the `cli-args` field cases. Where the
// policy's list of options with a value is longer than GNU's (-c of uniq, -z of sort, -e and -r of shuf, -I of date), GNU's meaning counts.

export const REFUSED: Record<string, string[]> = {
  'ARG-01': [
    'git -c alias.x=!id x', 'git -c core.fsmonitor=./p status', 'git -c core.pager=sh log', 'git -p log', 'git --paginate log', 'git --git-dir=x status', 'git --git-dir x status',
    'git --work-tree=.. status', 'git -C .. status', 'git --namespace=x status', 'git --bare status', 'git --super-prefix=x status', 'git --no-pager -c a=b status', 'git --git-di=x status', 'git --attr-source=x status',
  ],
  'ARG-02': ['git --config-env=alias.x=EVIL x', 'git --config-env alias.x=EVIL x', 'git --exec-path=. x', 'git --exec-path', 'git --html-path', 'git --list-cmds=main'],
  'ARG-03': ['git grep -O./p hello', 'git grep -O hello', 'git grep --open=./p hello', 'git grep --open-files-in-pager=./p hello', 'git grep --ope hello', 'git grep hello'],
  'ARG-04': [
    'git diff --output=/out/x', 'git diff --output x', 'git diff --outpu=x', 'git diff --o=x', 'git log -p --output=x', 'git show --output=x', 'git archive -o x HEAD', 'git bundle create x HEAD',
    'git format-patch -o d', 'git diff --ext-diff', 'git diff --ext', 'git log --textconv', 'git diff --no-index /etc/passwd x', 'git show --ext-diff', 'git log --show-signature', 'git diff -O./p', 'git blame --contents x f',
  ],
  'ARG-06': [
    'git rebase -x id --root', 'git bisect run id', 'git submodule foreach id', 'git submodule status', 'git difftool -x id', 'git hook run pre-commit', 'git interpret-trailers', 'git commit -m x', 'git add .',
    'git push', 'git fetch', 'git pull', 'git clone x', 'git checkout x', 'git stash', 'git filter-branch', 'git mergetool', 'git gc', 'git worktree add x', 'git init', 'git credential fill', 'git send-email', 'git x',
    'git help status', 'git instaweb', 'git daemon', 'git upload-pack .', 'git ls-remote ext::id', 'git remote update', 'git remote add x y', 'git remote show origin', 'git branch new', 'git branch -D main', 'git branch -m a b',
    'git branch --edit-description', 'git tag v1', 'git tag -d v1', 'git tag -a v1', 'git tag -v v1', 'git config user.name x', 'git config --add a b', 'git config --unset a', 'git config -e', 'git config --get a -f x',
    'git config --get a b c', 'git config user.name', 'git config --file x --list', 'git config --list --includes', 'git cat-file --textconv HEAD:a', 'git cat-file --filters HEAD:a', 'git rev-parse --parseopt', 'git reflog expire --all',
    'git status -v', 'git fsck', 'git maintenance run', 'git for-each-ref --shell', 'git apply x', 'git am x', 'git var GIT_EDITOR', 'git status --no-such', 'git log --decorate-refs=x', 'git blame -S x f', 'git shortlog --output=x',
    'git rev-list --disk-usage', 'git describe --dirty', 'git ls-files -x x', 'git ls-tree --format=x HEAD', 'git status --porc', 'git log --onel', 'git show --stat --no-such=x', 'git diff -o',
  ],
  'ARG-08': [
    'find . -exec id', 'find . -exec rm {} +', 'find . -execdir id {} +', 'find . -ok id {} +', 'find . -okdir id', 'find . -delete', 'find . -fprint f', 'find . -fprint0 f', 'find . -fls f', 'find . -fprintf f x',
    'find -delete', 'find . -name x -delete', 'find . -name x -o -exec id', 'find . -name -name -delete', 'find . -newer f -delete', 'find . -not -delete', 'find . -files0-from f', 'find . -type f -exec id', 'find -D exec .', 'find . -no-such',
    'find . -print -delete', 'find . -depth -delete', 'find . -true -delete', 'find . -ls -delete', 'find . -prune -exec id', 'find . -print0 -ok id', 'find -L . -delete', 'find -P -delete', 'find . -empty -delete', "find . '(' -delete ')'", 'find . ! -delete',
    'find . -maxdepth 1 -delete', "find . -name 'a b' -execdir id",
  ],
  'ARG-09': [
    'tar tf t.tar -I./p', 'tar tf t.tar -I ./p', 'tar -I./p -cf o a', 'tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec=id', 'tar tf t.tar --checkpoint-act=exec=id', 'tar tf t.tar --checkpoint=1', 'tar xf t.tar --to-command=./p', 'tar tf t.tar --to-c=./p',
    'tar tf t.tar --use-compress-program=./p', 'tar tf t.tar --use-comp=./p', 'tar tf t.tar --rsh-command=./p', 'tar tf t.tar --rsh-comm=./p', 'tar tf t.tar -F ./p', 'tar tf t.tar -F./p', 'tar xIf ./p t.tar', 'tar tIf ./p t.tar', 'tar tfI t.tar ./p',
    'tar --info-script=./p -tf t.tar', 'tar --new-volume-script=./p -tf t.tar', 'tar tf host:t.tar', 'tar -t -f host:/t.tar', 'tar tf t.tar --rmt-command=./p', 'tar tf t.tar -T list', 'tar tMf t.tar', 'tar tf t.tar --files-from=list', 'tar --file=host:x -t', 'tar -tfhost:x',
  ],
  'ARG-11': ['tar tf t.tar --index-file=/out/x', 'tar xf t.tar -C ..', 'tar xf t.tar', 'tar -P -tf t.tar', 'tar -x -f t.tar', 'tar cf x a', 'tar rf t.tar a', 'tar uf t.tar a', 'tar --delete -f t.tar a', 'tar --extract --file=t.tar', 'tar --get -f t.tar', 'tar -f t.tar', 'tar tf t.tar -C ..', 'tar txf t.tar', 'tar tvf t.tar --index=x', 'tar -tf t.tar -xf t.tar', 'tar Af a.tar b.tar', 'tar tf t.tar --extract'],
  'ARG-12': [
    'sort -o x f', 'sort -ox f', 'sort -rox f', 'sort --out=x f', 'sort --output=x f', 'sort --output x f', 'sort --o=x f', 'sort -S1k --comp=./p big', 'sort --compress-program=./p big', 'sort --compress-program ./p big', 'sort -uo x f', 'sort f -o x',
    'sort -nrox f', 'sort -T d f', 'sort -Td f', 'sort --temp=d f', 'sort -rT d f', 'sort f --output=f', 'sort -zo x f', 'sort -z -o x f',
  ],
  'ARG-13': ['uniq in out', 'uniq -c in out', 'uniq - out', 'uniq -f 1 in out', 'xxd a out', 'xxd -r a out', 'split --filter=./p a', 'split --filter ./p a', 'split --filt=./p a', 'split --f=./p a', 'shuf -o x a', 'shuf -ox a', 'shuf --output=x a', 'shuf --out x a', 'shuf -eo x a', 'shuf -zo x a', 'shuf -ro x a', 'shuf -e -o x a', 'shuf -r -o x a', 'xxd -e a out'],
  'ARG-14': [
    'sed -i s/a/b/ f', 'sed -ibak p f', 'sed -n -ibak p f', 'sed -nibak p f', 'sed --in-place p f', 'sed --in-pl p f', 'sed --in-place=bak p f', 'sed -f script f', 'sed --file=script f', 'sed -s p f', 'sed --separate p f', 'sed --fi=script f',
    'sed -Ei p f', 'sed -e p -i f', 'sed --follow-symlinks p f', 'sed -nf script f',
  ],
  'ARG-15': [
    'env id', "env -S 'id'", 'env', 'xargs id', 'xargs', 'timeout 5 id', 'nice id', 'nohup id', 'stdbuf -o0 id', 'setsid id', 'flock l id', 'script -qc id', 'watch id', 'chroot / id', 'strace id', 'busybox sh', 'time id', 'sudo id', 'parallel id', 'ionice id',
    'unshare id', 'systemd-run id', 'at now', 'crontab -l', 'tmux', 'screen', 'sh', 'sh x', 'bash --version', 'dash x', 'python3 x.py', 'perl x', 'node x', 'awk 1 f', 'gawk 1', 'bc', 'dc', 'ed', 'vi x', 'vim x', 'make', 'cargo build', 'npm test', 'less f', 'more f', 'man ls',
    'sqlite3 x', 'psql', 'gdb x', 'java X', 'go run x', 'pip install x', 'gcc x.c', 'm4 x',
  ],
  'ARG-16': [
    'rg --pre ./p x', 'rg --pre=./p x', 'rg -z x', 'rg --search-zip x', 'rg --hostname-bin ./p x', 'rg --hostname-bin=./p x', 'rg -nz x', 'rg -zn x', 'rg --pre-glob=x x', 'fd -x id', 'fd --exec id', 'fd --exec=id', 'fd -X id', 'fd --exec-batch id', 'fd -l', 'fd -Hx id', 'fdfind -x id', 'fdfind --exec-b id',
  ],
  'ARG-17': [
    'ssh -oProxyCommand=id h', 'ssh -F cfg h', 'ssh h', 'scp -S ./p a b', 'sftp -D ./p', 'wget --use-askpass=./p http://x', 'wget http://x', 'rsync -e ./p a b', 'rsync a b', 'nc x 1', 'socat - EXEC:id', 'docker ps', 'kubectl get pods', 'apt-get install x', 'openssl s_client', 'gpg x', 'dpkg -l', 'systemctl status',
  ],
  'ARG-19': ['date -s 2020-01-01', 'date --set=2020-01-01', 'date -f f', 'date --file=f', 'date --se=x', 'date -us x', 'date -I -s 2020-01-01', 'hostname evil', 'hostname -F f', 'file -C -m x', 'file -m x f', 'file -z f', 'tree -o x', 'tree -R', 'base64 -o x f', 'zip -T x', 'zip -TT ./p x a', 'patch -e x', 'patch -p1', 'patch -u -g1 f', 'ptx -G a out', 'zstdcat --train a b', 'uniq -c a out', 'shuf -eo x a', 'sort -zo x a', 'diff -cl a b', 'xxd -ps a out', 'diff -l a b', 'diff --paginate a b', 'diff --pag a b', 'install --strip-program=./p -s a b', 'iconv -o x f', 'sdiff -o x a b', 'sdiff --diff-program=./p a b'],
  curl: [
    'curl -o x http://h', 'curl -O http://h/x', 'curl --output x http://h', 'curl --outpu x http://h', 'curl -sO http://h/x', 'curl -sox http://h', 'curl -K f', 'curl -T f http://h', 'curl -F a=@f http://h', 'curl -D f http://h', 'curl -c f http://h', 'curl -b f http://h', 'curl -u a:b http://h', 'curl -w @f http://h',
    'curl -x http://p http://h', 'curl -d @f http://h', 'curl -d@f http://h', 'curl --data @f http://h', 'curl --data=@f http://h', 'curl --data-binary @f http://h', 'curl --data-urlencode a@f http://h', 'curl -H @f http://h', 'curl --header @f http://h', 'curl file:///etc/passwd', 'curl -s file:///etc/passwd', 'curl FILE:///etc/passwd',
    'curl ftp://h/x', 'curl gopher://h', 'curl dict://h', 'curl --proto =file file:///x', 'curl --url file:///etc/passwd', 'curl --config f', 'curl -k http://h -o x', 'curl --remote-name http://h/x', 'curl --trace x http://h', 'curl --stderr x http://h', 'curl --libcurl x http://h', 'curl --unix-socket s http://h', 'curl --netrc-file f http://h',
    'curl -sSo x http://h', 'curl --engine x http://h', 'curl -E cert http://h', 'curl --next -o x http://h', 'curl --etag-save x http://h', 'curl --hsts x http://h', 'curl --cookie-jar x http://h', 'curl --create-dirs -o a/b http://h', 'curl -n http://h', 'curl h', 'curl https://h file:///etc/passwd', 'curl -sSXPOST -d@f http://h',
  ],
  generic: [
    'tool --exec=x', 'tool --exec x', 'tool --exe', 'tool --e', 'tool --command=x', 'tool --output=x', 'tool --out x', 'tool --config=x', 'tool --pre=x', 'tool --filter=x', 'tool --script=x', 'tool --load x', 'tool --require x', 'tool --rsh=x', 'tool --file=x', 'tool --define=x', 'tool --eval-script', 'tool --pager=x', 'tool --editor=x',
    'tool -c x', 'tool -e x', 'tool -o x', 'tool -ox', 'tool -xo', 'tool -vc', 'tool -exec x', 'tool -output x', 'tool -i', 'tool -w', 'tool -I', 'tool -X', 'tool -W', 'tool -C d', 'tool -O', 'tool @file', 'tool command=x', 'tool exec=x', 'tool x --force', 'tool --hook=x', 'tool --plugin x', 'tool --init x', 'tool --rcfile x', 'tool --delete', 'tool --in-place',
    'tool --unsafe', 'tool --env=A', 'tool --set a', 'tool --log=x', 'tool --trace', 'tool --dump', 'tool --save', 'tool --write',
  ],
}

export const ALLOWED: Record<string, string[]> = {
  'ARG-07': [
    'git log --format=%H -- -c', "git show 'HEAD:--output=x'", 'git diff -- --output=x', 'git log -- --exec-path', 'git status', 'git status -s', 'git status --porcelain=v2 -b', 'git diff --stat', 'git diff --cached', 'git diff HEAD~1 HEAD -- a', 'git log --oneline -n 5', 'git log --since=yesterday --author=x',
    'git log -p', 'git log --graph --all --decorate', 'git log --max-count=3', 'git show HEAD', 'git show --stat HEAD', 'git show HEAD:a', 'git branch', 'git branch -a', 'git branch --show-current', 'git tag', 'git tag -l', 'git ls-files', 'git ls-files -o --exclude-standard', 'git ls-tree -r HEAD', 'git rev-parse HEAD',
    'git rev-parse --abbrev-ref HEAD', 'git rev-list --count HEAD', 'git blame a', 'git blame -L 1,2 a', 'git shortlog -s -n', 'git describe --tags --always', 'git cat-file -p HEAD', 'git merge-base a b', 'git remote -v', 'git remote', 'git config --get user.name', 'git config --list', 'git config -l', 'git --no-pager log', 'git --version', 'git version',
    'git count-objects -v', "git log --grep='a b'", 'git name-rev HEAD',
  ],
  'ARG-08': ['find .', 'find . -name x', "find . -name '*.md' -type f", 'find . -maxdepth 2 -print', "find . -name '-delete'", 'find . -path -exec', 'find . -size +1k -mtime -1', "find . '(' -name a -o -name b ')'", 'find . ! -name x', 'find -L . -iname x', 'find . -newer f -print0', 'find a b -type d', "find . -printf '%p'", 'find -name -delete'],
  'ARG-11': ['tar tf t.tar', 'tar -tf t.tar', 'tar -tvf t.tar', 'tar tvzf t.tar', 'tar -t -f t.tar', 'tar --list --file=t.tar', 'tar --list --file t.tar --verbose', 'tar tjf t.tar', 'tar -tJf t.tar', 'tar tf t.tar a b'],
  'ARG-12': ['sort f', 'sort -r f', 'sort -rn f', 'sort -k 2 f', 'sort -k2 f', 'sort -t o f', 'sort -to f', 'sort -u f g', 'sort -ko f', 'sort --reverse f', 'sort -S 1k f'],
  'ARG-13': ['uniq in', 'uniq -c in', 'uniq', 'uniq -f 1 in', 'uniq -s 2 -w 3 in', 'xxd a', 'xxd -l 5 a', 'split a', 'split -l 5 a b', 'csplit a 5', 'shuf a', 'shuf -n 5 a', 'shuf -e a b'],
  'ARG-14': ['sed p f', "sed -n '1,5p' f", 'sed s/a/b/ f', 'sed -e s/a/b/ -e p f', 'sed -E s/a/b/ f', 'sed --expression=p f', 'sed --quiet p f', 'sed -ne p f', 'sed -r p f', 'sed -z p f', 'sed -e -i f'],
  'ARG-16': ['rg x', 'rg -n x .', 'rg -i x', 'rg -l x', 'rg -A 3 x', 'rg -e z f', 'rg -ez f', 'rg -g z x', 'fd x', 'fd -e x', 'fd -t f x', 'fd -H x', 'fdfind x'],
  'ARG-19': [
    'ls --color=always -- -la', "grep -e '--output=x' f", 'wc -l --files0-from=-', 'head -c -5 f', 'date +%F', 'date', 'date -u', 'date -d yesterday', 'ls -la', 'ls -T 4', 'cat -e f', 'grep -rn x .', 'grep -c x f', 'grep -o x f', 'grep -f pats f', 'tail -n 5 f', 'cut -d, -f1 f', 'tr a b', 'echo -e x', 'printf %s x', 'stat f', 'du -sh .',
    'df -h', 'pwd', 'id', 'uname -a', 'seq 5', 'od -c f', 'md5sum f', 'sha256sum -c f', 'diff a b', 'diff -u a b', 'diff -U 3 a b', 'cmp a b', 'comm a b', 'jq . f', 'jq -r .a f', 'file f', 'hostname', 'tree', 'tree -L 2', 'base64 f', 'base64 -d f', 'which ls', 'basename a', 'paste a b', 'nl f', 'ps aux', 'test -f x', 'expr 1 + 1', 'true', 'xzcat f', 'zcat f',
  ],
  curl: [
    'curl http://h', 'curl https://h/x', 'curl -s https://h', 'curl -sS -L https://h', 'curl -I https://h', 'curl -i https://h', 'curl -X POST -d a=b https://h', "curl -H 'Accept: x' https://h", 'curl --head https://h', 'curl --max-time 5 https://h', 'curl -A agent https://h', 'curl --compressed https://h', 'curl -fsSL https://h', 'curl --data a=b https://h', 'curl -da=b https://h',
    'curl --version',
  ],
  generic: ['tool', 'tool x', 'tool a b c', 'tool --help', 'tool -h', 'tool --version', 'tool -V', 'tool -v', 'tool --verbose', 'tool -q', 'tool --quiet', 'tool --json', 'tool -n', 'tool -l', 'tool -a', 'tool -s', 'tool -r', 'tool -1', 'tool name=x', 'tool -- x', 'tool --no-color', 'tool mail@example.org', 'tool -lar'],
}

/** Allowed, and tagged in the preview. */
export const WRITERS = [
  'cp a b', 'mv a b', 'rm a', 'rm -rf d', 'rmdir d', 'mkdir d', 'ln -s a b', 'touch f', 'tee f', 'truncate -s 0 f', 'chmod 600 f', 'chown a f', 'mktemp', 'gzip f', 'gunzip f', 'xz f', 'zstd f', 'unlink f', 'shred f', 'mkfifo f', 'dd of=f', 'install a b', 'split a', 'csplit a 5', 'patch -u -p1', 'zip x.zip a', 'unzip x.zip', 'bzip2 f',
]
