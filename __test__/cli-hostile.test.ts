// Hostile command lines that really run, or would: every program of the default policy is on the list, every question is answered with
// yes, the environment and the home folder are hostile too. After each line no marker has run and nothing but what was there is there.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { call, cli, refusedAtLast } from './cli-support.ts'
import { SYSTEM_PATH, located, program, scratch, snapshot } from './machine.ts'
import { HOSTILE, READS, REPOS } from './cli-hostile-lines.ts'
import { HOSTILE_ENVIRONMENT, SECRET, makeRepo, playground } from './cli-playground.ts'

const LIMIT = { timeout: 120_000 }
const play = playground()

const received: string[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('latin1').on('data', chunk => { body += chunk }).on('end', () => {
    received.push(`${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${body}`)
    if (request.url!.includes('redirect')) response.writeHead(302, { location: `file://${play.secret}` }).end()
    else response.writeHead(200, { 'content-disposition': 'attachment; filename="../out/named"', 'set-cookie': 'a=b', 'etag': '"x"' }).end('hello from the server\n')
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
after(() => server.close())

/** A line as it runs here: URL and SECRET are filled in. */
const filled = (line: string): string => line.replaceAll('URL', url).replaceAll('SECRET', play.secret)
writeFileSync(join(play.work, 'cfg'), filled(readFileSync(join(play.work, 'cfg'), 'utf8')))

const bare = (line: string): string => /^["'.]*([\w.+-]*)/.exec(line)![1]!
const allowed = [...new Set([...Object.values(HOSTILE).flat(), 'p', 'cat', 'ls', 'id', 'touch', 'unzip', 'git', 'diff', 'rg', 'fd'].map(bare))].filter(name => /^[a-z][\w.+-]*$/i.test(name))
// The working folder stands first, as in CLIP-03: its `id` and `p` must not be found.
Object.assign(process.env, HOSTILE_ENVIRONMENT, { PATH: `.:${SYSTEM_PATH}`, HOME: play.home })
const tool = cli(allowed, { cwd: play.work, timeoutMs: 5_000 })

/** What may change without harm: git notes in its index when it looked at a file, and in its configuration how it asks for promised objects. */
const state = () => snapshot(play.base, path => path.endsWith('.git/index') || /promised[^/]*\/\.git\/config$/.test(path))
let before = state()

/** Puts back what a line has changed, so that the next one starts from the same. */
function restore(changed: string[]): void {
  for (const path of changed) {
    const content = before.get(path)
    if (content === undefined) rmSync(join(play.base, path), { recursive: true, force: true })
    else if (path.endsWith('/')) mkdirSync(join(play.base, path), { recursive: true })
    else writeFileSync(join(play.base, path), content, 'latin1')
  }
}

/** Runs a line and asserts that nothing happened. */
async function harmless(line: string, subject = tool): Promise<void> {
  const { response } = await call(subject, filled(line))
  const ran = existsSync(play.marker) ? readFileSync(play.marker, 'utf8') : ''
  rmSync(play.marker, { force: true })
  const now = state()
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(path => before.get(path) !== now.get(path)).sort()
  restore(changed)
  assert.equal(ran, '', `a marker ran: ${line}\n${response.text}`)
  assert.deepEqual(changed, [], `files changed: ${line}\n${response.text}`)
  assert.ok(!response.text.includes(SECRET) || !/curl|wget/.test(line), `the secret was read: ${line}`)
  assert.deepEqual(received.filter(request => request.includes(SECRET)), [], `the secret was sent: ${line}`)
}

test('there are over a hundred hostile lines', () => assert.ok(Object.values(HOSTILE).flat().length > 400, String(Object.values(HOSTILE).flat().length)))

test('control: without the tool such lines do run the marker and do write', LIMIT, () => {
  const other = playground()
  const raw = (argv: string[]) => spawnSync(argv[0]!, argv.slice(1), { cwd: other.work, env: { PATH: SYSTEM_PATH, HOME: other.home }, timeout: 20_000, stdio: 'ignore' })
  const runs = [['find', '.', '-maxdepth', '0', '-exec', './p', ';'], ['sed', '1e ./p', 'a'], ['env', './p'], ['sh', '-c', './p'], ['git', '-c', 'alias.x=!./p', 'x'], ['git', 'status']]
  for (const argv of runs.filter(([name]) => located(name!) !== undefined)) {
    raw(argv)
    assert.ok(existsSync(other.marker), argv.join(' '))
    rmSync(other.marker)
  }
  for (const argv of [['sort', '-o', '../out/x', 'a'], ['find', '.', '-maxdepth', '0', '-fprint', '../out/x'], ['uniq', '-c', 'a', '../out/x']]) {
    raw(argv)
    assert.deepEqual(readdirSync(other.out), ['x'], argv.join(' '))
    rmSync(join(other.out, 'x'))
  }
})

for (const [group, lines] of Object.entries(HOSTILE)) describe(group, () => {
  for (const line of lines) test(JSON.stringify(line), LIMIT, () => harmless(line))
})

describe('repositories whose own files would run a program (ARG-05)', { skip: located('git') === undefined }, () => {
  for (const [name, spec] of Object.entries(REPOS)) test(name, LIMIT, async () => {
    const repo = play.repo(name.replaceAll(/\W/g, '-'))
    makeRepo(repo, play, spec)
    rmSync(play.marker, { force: true })
    before = state()
    const there = cli(['git'], { cwd: join(repo, spec.folder ?? ''), timeoutMs: 10_000 })
    for (const line of [...READS, ...(spec.lines ?? [])]) await harmless(line, there)
  })
  test('one that would run a filter is refused', LIMIT, async () => {
    const repo = play.repo('refused')
    makeRepo(repo, play, REPOS['filter clean']!)
    for (const line of ['git status', 'git diff']) await refusedAtLast(cli(['git'], { cwd: repo }), line)
    before = state()
  })
  test('ordinary configuration does not stand in the way', LIMIT, async () => {
    const repo = play.repo('ordinary')
    makeRepo(repo, play, { config: '[user]\n\tname = A\n\temail = a@x\n[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[alias]\n\tst = status\n[color]\n\tui = always\n' })
    before = state()
    const there = cli(['git'], { cwd: repo, timeoutMs: 10_000 })
    for (const [line, shows] of [['git status', 'modified'], ['git diff', 'not committed'], ['git log --oneline', 'two'], ['git show HEAD:a', 'world'], ['git blame a', 'hello'], ['git branch', 'main'], ['git ls-files', 'b'], ['git diff --stat', '1 file changed'], ['git remote -v', 'example.org'], ['git log --format=%s -- a', 'one']] as const) {
      const { response } = await call(there, line)
      assert.equal(response.status, 'success', `${line}: ${response.text}`)
      assert.ok(response.text.startsWith('[exit code 0]') && response.text.includes(shows), `${line}: ${response.text}`)
    }
    await harmless('git status', there)
  })
})

describe('ARG-10 options from the environment', () => {
  test('TAR_OPTIONS and others are not inherited', LIMIT, async () => {
    assert.equal(process.env.TAR_OPTIONS, '-I./p')
    await harmless('tar tf t.tar')
    const { response } = await call(tool, 'tar tf t.tar')
    assert.match(response.text, /^\[exit code 0\]\nstdout:\na\nb/)
  })
  test('a configuration file in HOME changes nothing for curl and git', LIMIT, async () => {
    await harmless('curl -s URL')
    await harmless('git status')
    await harmless('git log')
  })
})

describe('ARG-14 sed is held by its own sandbox', { skip: located('sed') === undefined }, () => {
  const work = scratch()
  writeFileSync(join(work, 'f'), 'one\ntwo\n')
  const there = cli(['sed'], { cwd: work })
  test('ordinary scripts work', async () => {
    for (const [line, output] of [['sed s/one/1/ f', '1\ntwo'], ["sed -n '2p' f", 'two'], ['sed -e s/o/0/g -e 1d f', 'tw0'], ["sed -E 's/(t)(w)/\\2\\1/' f", 'one\nwto']] as const) {
      const { response } = await call(there, line)
      assert.equal(response.text, `[exit code 0]\nstdout:\n${output}`, line)
    }
  })
  test('a sed that has no sandbox is refused', async () => {
    const folder = scratch()
    program(folder, 'sed', '#!/bin/sh\nfor a; do case $a in --sandbox) echo "sed: illegal option" >&2; exit 1;; esac; done\necho ran > ran\n')
    process.env.PATH = `${folder}:${SYSTEM_PATH}`
    try {
      const { response } = await call(cli(['sed'], { cwd: work }), 'sed s/a/b/ f')
      assert.ok(response.status === 'error' || response.text.startsWith('[exit code 1]'), response.text)
      assert.equal(existsSync(join(work, 'ran')), false)
    } finally { process.env.PATH = `.:${SYSTEM_PATH}` }
  })
})

describe('ARG-19 ordinary use', () => {
  const work = scratch()
  for (const [name, text] of [['f', 'b\na\n--output=x\n'], ['-la', 'odd\n']] as const) writeFileSync(join(work, name), text)
  symlinkSync('f', join(work, 'link'))
  const there = cli(['ls', 'grep', 'wc', 'head', 'date', 'sort', 'find', 'cat', 'uniq', 'diff', 'tail', 'cut', 'stat', 'rm', 'touch', 'tar'], { cwd: work })
  const rows: [line: string, output: RegExp][] = [
    ['ls --color=never -- -la', /^-la$/], ['ls --color=always -- -la', /-la/], ["grep -e '--output=x' f", /^--output=x$/], ['wc -l --files0-from=-', /^$|0/], ['head -c -5 f', /^b\na\n--outp$/], ['date +%F', /^\d{4}-\d\d-\d\d$/], ['sort f', /^--output=x\na\nb$/], ['sort -r f', /^b\na\n/], ["find . -name 'f*'", /^\.\/f$/], ["find . -name '-la'", /-la/],
    ['cat f', /^b\na/], ['uniq f', /^b\na/], ['tail -n 1 f', /^--output=x$/], ['cut -c1 f', /^b\na\n-$/], ['diff f f', /^$/], ['touch new', /^$/], ['rm new', /^$/],
  ]
  for (const [line, output] of rows) test(line, LIMIT, async () => {
    const { response } = await call(there, line)
    assert.equal(response.status, 'success', response.text)
    assert.match(/stdout:\n([\s\S]*?)(?:\nstderr:|$)/.exec(response.text)?.[1] ?? '', output)
  })
})

test('what was there at the start is there at the end, and nothing else', () => {
  assert.deepEqual(readdirSync(play.out), [])
  assert.equal(existsSync(play.marker), false)
  assert.deepEqual(received.filter(request => request.includes(SECRET)), [])
})
