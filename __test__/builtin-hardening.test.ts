// What the built-in tools promise, against inputs that are on no list: an option's value that looks like the end of options, names that
// lead to other programs, what the host does with its children, servers that never come to their answer.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { NotesTool, SearchTool, ToolRegistry } from 'toolbolt'
import { call, cli, dataOf, passes } from './cli-support.ts'
import { inRepo, makeRepo, playground, raw } from './cli-playground.ts'
import { SYSTEM_PATH, located, scratch } from './machine.ts'
import { notes, place, run } from './notes-support.ts'
import { Vendors, json, search } from './search-vendors.ts'
import { endedWell, runFixture, sleep } from './support.ts'

const LIMIT = { timeout: 120_000 }
const ENVIRONMENT = { PATH: SYSTEM_PATH }
const play = playground()
writeFileSync(join(play.work, '--'), 'some random bytes '.repeat(500))
writeFileSync(join(play.work, 'evil.ed'), '1c\nCHANGED BY ED\n.\n')
for (const name of ['cc1', 'as', 'collect2']) raw.program(play.work, name, readFileSync(join(play.work, 'p'), 'utf8'))
raw.write(play.work, 't.t', 'system("./p");\nprint "1..1\\nok 1\\n";\n')

/** Runs a line, with a yes, and says what it did that no rule allows. */
async function damage(line: string, cwd = play.work): Promise<string[]> {
  rmSync(play.marker, { force: true })
  for (const name of readdirSync(play.out)) rmSync(join(play.out, name), { recursive: true })
  await call(cli([line.split(' ')[0]!], { cwd, env: { ...ENVIRONMENT, HOME: play.home }, timeoutMs: 5_000 }), line)
  const ran = existsSync(play.marker) ? [`ran ${readFileSync(play.marker, 'utf8').split('\n')[0]}`] : []
  return [...ran, ...readdirSync(play.out).map(name => `wrote ${name}`)]
}

function harmless(line: string, cwd?: () => string): void {
  const skip = located(line.split(' ')[0]!) === undefined ? 'not installed' : false
  test(line, { ...LIMIT, skip }, async () => { assert.deepEqual(await damage(line, cwd?.()), []) })
}

describe('a denied option stays denied behind a double dash that is the value of another one', () => {
  for (const line of [
    'sort --random-source -- -o ../out/x a', 'shuf --random-source -- -o ../out/x a', 'split --additional-suffix -- --filter=./p a',
    'install -S -- --strip-program=./p -s a ../work/copy', 'install --suffix -- --strip-program=./p -s a ../work/copy', 'sdiff -I -- --diff-program=./p a b',
    'sdiff --ignore-matching-lines -- -o ../out/x a b', 'ptx -F -- -G a ../out/x', 'zip -n -- -T -TT ./p z.zip a',
  ]) harmless(line)
  test('file -F -- -C -m magic', { ...LIMIT, skip: located('file') === undefined }, async () => {
    await damage('file -F -- -C -m magic')
    assert.equal(existsSync(join(play.work, 'magic.mgc')), false)
  })
  test('diff -I -- -l a b, rg -e -- --pre ./p, fd -E -- -x ./p', LIMIT, async () => {
    const folder = scratch()
    for (const name of ['diff', 'rg', 'fd']) raw.program(folder, name, '#!/bin/sh\n')
    const tool = cli(['diff', 'rg', 'fd'], { env: { PATH: folder } })
    for (const line of ['diff -I -- -l a b', 'rg -e -- --pre ./p', 'fd -E -- -x ./p']) assert.equal(await passes(tool, line), false, line)
  })
})

describe('a second file to write is counted however values and options look', () => {
  for (const letter of 'closgn') harmless(`xxd -${letter} -${letter} a ../out/x`)
})

describe('an option that a program needs counts only where the program takes it for one', () => {
  for (const line of ['patch -z -u -i evil.ed a', 'patch --prefix -u -i evil.ed a']) {
    test(line, { ...LIMIT, skip: located('patch') === undefined }, async () => {
      writeFileSync(join(play.work, 'a'), 'hello\nworld\n')
      await damage(line)
      assert.equal(readFileSync(join(play.work, 'a'), 'utf8'), 'hello\nworld\n', 'ed was run')
    })
  }
})

describe('options that write are refused', () => {
  for (const line of ['zstdcat --trace ../out/x a', 'zstdcat --trace=../out/x a', 'diff3 --diff-program=./p a b a']) harmless(line)
})

describe('programs that do more than their rule says', () => {
  test('date does not set the clock by an operand', LIMIT, async () => {
    for (const line of ['date 010203042031', 'date -u 01020304']) assert.equal(await passes(cli(['date']), line), false, line)
  })
  test('pkill is not taken for pgrep', { ...LIMIT, skip: located('pkill') === undefined }, async () => {
    const { preview } = await call(cli(['pkill']), 'pkill -9 -f no-such-process-anywhere', { yes: false })
    assert.ok(preview === '' || preview.includes('writes'), preview)
  })
  for (const line of [
    'ld.so /bin/sh ./p', 'sg root ./p', 'pydoc3 x', 'prove t.t', 'perl5.36-x86_64-linux-gnu x.pl', 'cpp -B. x.c', 'c99 -B. x.c', 'x86_64-linux-gnu-gcc -B. x.c',
    'gpg-agent --daemon ./p', 'memusage ./p', 'sotruss ./p', 'valgrind.bin ./p', 'fakeroot-sysv ./p',
  ]) harmless(line)
  test('vim under the name of its file: editor', { ...LIMIT, skip: located('editor') === undefined }, async () => {
    assert.equal(await passes(cli(['editor']), "editor '+!./p' '+q!' a"), false)
  })
})

describe('git changes nothing and runs nothing behind the value of an option', () => {
  const git = located('git')
  const repo = join(play.base, 'repos', 'values')
  const refs = (): string => execFileSync(git!, ['for-each-ref', '--format=%(refname)'], { cwd: repo, encoding: 'utf8' })
  if (git !== undefined) {
    mkdirSync(repo, { recursive: true })
    makeRepo(repo, play, { setup: (inner, there) => inRepo.submodule(inner, there, `[filter "evil"]\n\tclean = ${join(play.work, 'p')}\n`, '* filter=evil') })
    // The files of the repository itself are as they were committed: only the submodule is looked into.
    for (const args of [['checkout', '--', '.'], ['branch', 'victim'], ['tag', 'v1']]) execFileSync(git, args, { cwd: repo, stdio: 'ignore' })
  }
  for (const line of [
    'git describe --always --match -- --dirty', 'git describe --always --match -- --broken', 'git blame --since -- --output=../../out/x a', 'git blame -L -- --output=../../out/x a',
    'git shortlog --since -- --output=../../out/x HEAD',
  ]) harmless(line, () => repo)
  for (const line of [
    'git branch --format --list evil', 'git branch --sort --list evil-too', 'git tag --format --list evil', 'git branch --format --list --format -- -D victim',
    'git tag --format --list --format -- -d v1', 'git branch --format --list --format -- -m main renamed',
  ]) {
    test(line, { ...LIMIT, skip: git === undefined }, async () => {
      const before = refs()
      await damage(line, repo)
      assert.equal(refs(), before)
    })
  }
  test('a format that has signatures checked runs no gpg', { ...LIMIT, skip: git === undefined }, async () => {
    const signed = join(play.base, 'repos', 'signed')
    mkdirSync(signed, { recursive: true })
    makeRepo(signed, play, { setup: inner => inRepo.signed(inner) })
    const bin = scratch()
    raw.program(bin, 'gpg', `#!/bin/sh\necho gpg >> '${play.marker}'\n`)
    for (const [config, line] of [['', "git log -1 '--format=%G?'"], ['[format]\n\tpretty = %G?\n', 'git log -1']] as const) {
      raw.append(signed, '.git/config', config)
      rmSync(play.marker, { force: true })
      await call(cli(['git'], { cwd: signed, env: { PATH: `${bin}:${SYSTEM_PATH}` } }), line)
      assert.equal(existsSync(play.marker), false, line)
    }
  })
})

describe('running', () => {
  // In a process of its own: Node.js takes the handler for ended children away once its own have all ended, and the loader of tests has one.
  for (const way of ['close', 'abort']) {
    test(`programs that are ended by ${way} leave no zombies in a host that started a child itself`, { ...LIMIT, skip: process.platform !== 'linux' }, async () => {
      const result = await runFixture('collects-children.mjs', [way])
      endedWell(result)
      assert.deepEqual(JSON.parse(result.stdout), { zombies: 0 })
    })
  }
  test('a flood of blank lines is not told as no output', LIMIT, async () => {
    const { response } = await call(cli(['yes'], { programs: { yes: 'any' } }), "yes ''")
    assert.deepEqual([response.status, dataOf(response).killed], ['partial', 'overflow'])
    assert.doesNotMatch(response.text, /no output/)
  })
  test('the characters that are shown keep their limit when they are spelled out', LIMIT, async () => {
    const { response } = await call(cli(['head'], { maxOutputChars: 1_000 }), 'head -c 900 /dev/zero')
    assert.ok(response.text.length < 1_200, `${response.text.length} characters`)
  })
})

describe('search', () => {
  test('a server that sends interim answers without end is left in time, and stops nothing else', LIMIT, async () => {
    // In a process of its own, so that it floods whatever this one does; it ends by itself.
    const server = spawn(process.execPath, ['-e', `
      const chunk = 'HTTP/1.1 103 Early Hints\\r\\nlink: x\\r\\n\\r\\n'.repeat(2000)
      require('net').createServer(socket => {
        const go = () => { while (!socket.destroyed && socket.write(chunk)); }
        socket.on('error', () => {}).once('data', () => { go(); socket.on('drain', go) })
      }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
      setTimeout(() => process.exit(), 90_000)`], { stdio: ['ignore', 'pipe', 'inherit'] })
    after(() => server.kill())
    const port = Number(String((await once(server.stdout!, 'data'))[0]))
    const registry = new ToolRegistry({ confirm: () => true })
    registry.register(new SearchTool({ sources: ['tavily'], keys: { tavily: 'planted-key' }, baseUrls: { tavily: `http://127.0.0.1:${port}` }, timeoutMs: 1_000, deadlineMs: 1_000 }))
    registry.register(new NotesTool(scratch()))
    const started = performance.now()
    const searching = registry.execute('search', { query: 'x' }).then(() => performance.now() - started)
    await sleep(300)
    const listing = registry.execute('notes', { action: 'list' }).then(() => performance.now() - started - 300)
    const [searched, listed] = await Promise.all([searching, listing])
    await registry.close()
    assert.ok(listed < 4_000, `another call waited ${Math.round(listed)} ms`)
    assert.ok(searched < 45_000, `a search of one second took ${Math.round(searched)} ms`)
  })
  test('a key does not come back as the host of an address, whose letters are made small', LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: json({ results: [{ title: 'T', content: 'C', url: 'https:\\\\Planted-Tavily-Key.example/' }] }) })
    const { response } = await search(vendors, { sources: ['tavily'], keys: { tavily: 'Planted-Tavily-Key' } })
    assert.doesNotMatch(JSON.stringify(response), /planted-tavily-key/i)
  })
  test('a key does not come back with its characters as numbers of HTML', LIMIT, async () => {
    const key = 'another-planted-key'
    const numbers = (text: string): string => [...text].map(letter => `&#${letter.codePointAt(0)};`).join('')
    await using vendors = await Vendors.start({ tavily: json({ results: [{ title: 'T', content: numbers(key), url: 'http://u/1' }] }) })
    const { response } = await search(vendors, { sources: ['tavily'], keys: { tavily: key } })
    assert.ok(!JSON.stringify(response).includes(numbers(key)))
  })
  test('no invisible characters are left in what is found', LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: json({ results: [{ title: 'a\u00adb\u034fc\u200dd\ufe0fe', content: 'C', url: 'http://u/1' }] }) })
    const { data } = await search(vendors, { sources: ['tavily'] })
    assert.equal(data.results[0]!.title, 'abcde')
  })
})

describe('notes', () => {
  test('a search in one note that was not read to its end says so, as one in a folder does', LIMIT, async () => {
    const { root } = place()
    mkdirSync(root, { recursive: true, mode: 0o700 })
    writeFileSync(join(root, 'long'), `${`${'y'.repeat(79)}\n`.repeat(100)}needle\n`)
    for (const path of ['', 'long']) {
      const response = await run(notes(root, { maxFileBytes: 1_000 }), { action: 'search', path, query: 'needle' })
      assert.deepEqual([response.status, (response.data as { truncated?: true }).truncated], ['partial', true], `in '${path}'`)
    }
  })
})
