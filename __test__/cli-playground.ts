// A throw-away folder for hostile command lines: a marker program, files to work on, a folder that must stay empty, a secret that must
// stay, repositories whose own files would run the marker, and a home with hostile configuration.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SYSTEM_PATH, located, scratch } from './machine.ts'

export interface Playground { base: string; work: string; out: string; home: string; marker: string; secret: string; repo(name: string): string }

export const SECRET = 'TOP-SECRET-CONTENT'

/** Small writes below a folder, for set-ups that fit on a line. */
export const raw = {
  read: (root: string, path: string): string => readFileSync(join(root, path), 'utf8'),
  write(root: string, path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  },
  append: (root: string, path: string, text: string): void => appendFileSync(join(root, path), text),
  program(root: string, path: string, text: string): void {
    raw.write(root, path, text)
    chmodSync(join(root, path), 0o755)
  },
  move(root: string, from: string, to: string): void {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    renameSync(join(root, from), join(root, to))
  },
  remove: (root: string, path: string): void => rmSync(join(root, path), { recursive: true, force: true }),
}

const markerText = (marker: string): string => `#!/bin/sh\n# hello\necho "$0 $*" >> '${marker}'\nexec cat\n`

/** git for setting up, with nothing but its own defaults. */
function git(cwd: string, args: string[], input?: string): string {
  return execFileSync(located('git')!, args, {
    cwd, encoding: 'utf8', input: input ?? '', stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: SYSTEM_PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@x', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@x', GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' },
  })
}

export const inRepo = {
  /** The last commit gets a signature that nobody can check. */
  signed(repo: string): void {
    const [head, message] = git(repo, ['cat-file', 'commit', 'HEAD']).split('\n\n')
    const signed = `${head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iHUEABYKAB0=\n -----END PGP SIGNATURE-----\n\n${message}`
    git(repo, ['update-ref', 'HEAD', git(repo, ['hash-object', '-t', 'commit', '-w', '--stdin'], signed).trim()])
  },
  /** An object that the repository says its remote has. */
  forget(repo: string, name: string): void {
    const id = git(repo, ['rev-parse', name]).trim()
    raw.remove(repo, `.git/objects/${id.slice(0, 2)}/${id.slice(2)}`)
    raw.remove(repo, 'a')
  },
  submodule(repo: string, play: Playground, config: string, attributes?: string): void {
    makeRepo(join(repo, 'sub'), play)
    if (attributes !== undefined) raw.write(repo, 'sub/.gitattributes', `${attributes}\n`)
    raw.write(repo, '.gitmodules', '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
    git(repo, ['add', 'sub', '.gitmodules'])
    git(repo, ['config', 'submodule.sub.url', './sub'])
    git(repo, ['commit', '-qm', 'a submodule'])
    raw.append(repo, 'sub/.git/config', config)
    raw.write(repo, 'sub/a', 'changed too\n')
  },
}

/** A repository with two commits and a change that is not committed. Its index is older than its files, so that they are read. */
export function makeRepo(folder: string, play: Playground, { config = '', setup }: { config?: string; setup?(repo: string, play: Playground): void } = {}): void {
  raw.write(folder, 'a', 'hello\nworld\n')
  raw.write(folder, 'b', 'hello too\n')
  raw.program(folder, 'p', markerText(play.marker))
  git(folder, ['init', '-q', '-b', 'main'])
  git(folder, ['add', '.'])
  git(folder, ['commit', '-qm', 'one'])
  raw.write(folder, 'b', 'hello too\nmore\n')
  git(folder, ['commit', '-qam', 'two'])
  setup?.(folder, play)
  if (config !== '') raw.append(folder, '.git/config', config)
  raw.write(folder, 'b', 'hello too\nmore\nnot committed\n')
  for (const name of ['b', 'p']) utimesSync(join(folder, name), 1e9, 1e9)
}

export function playground(): Playground {
  const base = scratch()
  const play: Playground = { base, work: join(base, 'work'), out: join(base, 'out'), home: join(base, 'home'), marker: join(base, 'marker'), secret: join(base, 'secret.txt'), repo: name => join(base, 'repos', name) }
  mkdirSync(play.out)
  raw.write(base, 'secret.txt', `${SECRET}\n`)
  const p = markerText(play.marker)
  makeRepo(play.work, play)
  for (const name of ['id', 'git-p', 'gpg', 'pre-commit']) raw.program(play.work, name, p)
  const files: Record<string, string> = {
    'hello.txt': 'hello\n', 'big': Array.from({ length: 20_000 }, (_, index) => `${(index * 7919) % 20_011} line`).join('\n'), 'list': 'a\n', 'hex': '00000000: 6869 0a', 'lock': '', 'magic': '0 string hello hi\n', 'script.sed': '1e ./p\n', 'x.awk': 'BEGIN{system("./p")}',
    'x.py': 'import os\nos.system("./p")\n', 'x.pl': 'system "./p";\n', 'x.bc': '1\n', 'x.c': 'int main(void) { return 0; }\n', 'Makefile': 'all:\n\t./p\n', 'cfg': 'output = "../out/cfg"\nurl = "URL"\nProxyCommand ./p\n', 'x': '',
  }
  for (const [name, text] of Object.entries(files)) raw.write(play.work, name, text)
  if (located('tar') !== undefined) {
    execFileSync(located('tar')!, ['cf', 't.tar', 'a', 'b'], { cwd: play.work })
    execFileSync(located('tar')!, ['cPf', 'evil.tar', '--transform', `s,^hello.txt,${play.out}/evil,`, 'hello.txt'], { cwd: play.work })
  }
  raw.write(play.home, '.gitconfig', '[core]\n\tfsmonitor = ./p\n\tpager = ./p\n[alias]\n\tx = !./p\n[diff]\n\texternal = ./p\n[pager]\n\tlog = ./p\n')
  raw.write(play.home, '.config/git/config', '[core]\n\tfsmonitor = ./p\n')
  raw.write(play.home, '.config/git/attributes', '* filter=evil diff=evil\n')
  for (const name of ['.curlrc', '.config/curlrc', '.config/.curlrc']) raw.write(play.home, name, `output = "${play.out}/curlrc"\n`)
  raw.write(play.home, '.wgetrc', `output_document = ${play.out}/wgetrc\n`)
  for (const name of ['.bashrc', '.profile', '.bash_profile', '.lesskey', '.vimrc', '.gdbinit']) raw.write(play.home, name, `${play.work}/p\n`)
  return play
}

/** What a careless host has in its environment. */
export const HOSTILE_ENVIRONMENT: Record<string, string> = {
  TAR_OPTIONS: '-I./p', GIT_EXTERNAL_DIFF: './p', GIT_SSH_COMMAND: './p', GIT_SSH: './p', GIT_PAGER: './p', PAGER: './p', MANPAGER: './p', GIT_EDITOR: './p', EDITOR: './p', VISUAL: './p', GIT_ASKPASS: './p', SSH_ASKPASS: './p', GIT_PROXY_COMMAND: './p', GIT_EXEC_PATH_X: '.', GIT_CONFIG_PARAMETERS: "'core.fsmonitor'='./p'",
  GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: './p', EVIL: './p', BASH_ENV: './p', ENV: './p', LESSOPEN: '|./p %s', LESSCLOSE: './p', PERL5OPT: '-Mx', PYTHONSTARTUP: 'x.py', RIPGREP_CONFIG_PATH: 'cfg', GREP_OPTIONS: '-r', ZIPOPT: '-T', UNZIP: '-x', GZIP: '-f', MAKEFLAGS: '--eval=x', POSIXLY_CORRECT_X: '1', CURL_HOME: '', TMPDIR_X: '/tmp',
}
