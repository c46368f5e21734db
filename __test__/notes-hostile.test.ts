// The notes tool under attack and in accidents: the `notes` field cases by id, links and special files, a race with a program that swaps
// folders, writers that are killed, writers side by side, a held lock, a full disk.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ToolRegistry } from 'toolbolt'
import { fixturePath, prng, sleep, tracingPrompts, within } from './support.ts'
import { located, snapshot } from './machine.ts'
import { type Place, append, execute, fails, notes, place, read, run, succeeds, tellsNoPath } from './notes-support.ts'

/** A root with one note, and a folder outside with a secret. */
async function prepared() {
  const here = place()
  const tool = notes(here.root)
  await succeeds(tool, append('a.md', 'inside'))
  mkdirSync(here.outside)
  writeFileSync(join(here.outside, 'secret.md'), 'OUTSIDE planted-word\n')
  const before = snapshot(here.outside)
  const untouched = () => assert.deepEqual(snapshot(here.outside), before, 'the folder outside is as it was')
  return { ...here, tool, untouched }
}

/** Neither reading, adding, listing nor searching gets through this path. */
async function closed(tool: ReturnType<typeof notes>, path: string, here: Place, { listable = false } = {}): Promise<void> {
  for (const args of [read(path), append(path, 'added'), ...(listable ? [] : [{ action: 'list', path }])]) {
    const response = await within(10_000, run(tool, args), `${JSON.stringify(args).slice(0, 100)} never blocks`)
    assert.equal(response.status, 'error', `${JSON.stringify(args).slice(0, 200)}: ${response.text.slice(0, 300)}`)
    assert.ok(!response.text.includes('OUTSIDE'))
    tellsNoPath(response, here)
  }
}

test('NOTE-01 paths that lead out are refused', async () => {
  const here = await prepared()
  mkdirSync(`${here.root}-evil`)
  writeFileSync(join(`${here.root}-evil`, 's'), 'OUTSIDE')
  for (const path of ['../secret', 'sub/../../secret', '/etc/passwd', 'a/../../notebook-evil/s', '../notebook-evil/s', '../outside/secret.md', '..', '../', 'a/..', './..', '//etc/passwd', 'a/../a.md', `${here.root}/a.md`, `${here.root}-evil/s`, '/', '/a.md', ' ../outside/secret.md', 'sub/../../outside/secret.md', '././../outside/secret.md', '/proc/self/root/etc/passwd']) {
    await closed(here.tool, path, here)
    for (const args of [read(path), append(path, 'x')]) assert.match((await run(notes(here.root, { prompts: tracingPrompts() }), args)).text, /^<tool\.msg\.notes\.path_escape\|/, path)
  }
  here.untouched()
  assert.equal(readFileSync(join(`${here.root}-evil`, 's'), 'utf8'), 'OUTSIDE')
})

test('NOTE-02 every symbolic link is refused, wherever it points', async () => {
  const here = await prepared()
  mkdirSync(join(here.root, 'sub'))
  writeFileSync(join(here.root, 'sub', 'x.md'), 'x\n')
  const links: [name: string, target: string][] = [['in', 'a.md'], ['infolder', 'sub'], ['out', '../outside/secret.md'], ['outfolder', '../outside'], ['abs', join(here.outside, 'secret.md')], ['absfolder', here.outside], ['dangling', '../outside/new.md'], ['self', 'self'], ['up', '..'], ['dot', '.'], ['rooted', '/'], ['proc', '/proc/self/cwd']]
  for (const [name, target] of links) symlinkSync(target, join(here.root, name))
  for (const [name] of links) await closed(here.tool, name, here)
  for (const path of ['infolder/x.md', 'outfolder/secret.md', 'absfolder/secret.md', 'absfolder/new.md', 'absfolder/deep/new.md', 'up/outside/secret.md', 'dot/a.md', 'rooted/etc/passwd', 'proc/package.json', 'sub/../out']) {
    for (const args of [read(path), append(path, 'x')]) await fails(here.tool, args)
  }
  for (const args of [{ action: 'list' }, { action: 'search', query: 'planted-word' }, { action: 'list', path: 'sub' }]) {
    const { text } = await run(here.tool, args)
    assert.ok(!text.includes('OUTSIDE') && !text.includes('secret.md'), text)
  }
  here.untouched()
  for (const [name] of links) assert.ok(lstatSync(join(here.root, name)).isSymbolicLink())
})

test('NOTE-03 a hard link to a file outside is neither read nor written', async () => {
  const here = await prepared()
  linkSync(join(here.outside, 'secret.md'), join(here.root, 'hard.md'))
  await closed(here.tool, 'hard.md', here)
  assert.ok(!(await run(here.tool, { action: 'search', query: 'planted-word' })).text.includes('OUTSIDE'))
  here.untouched()
  rmSync(join(here.root, 'hard.md'))
  await succeeds(here.tool, append('hard.md', 'mine'))
})

test('NOTE-04 names that are empty, broken, too long, too deep or not portable get a readable error', async () => {
  const here = await prepared()
  await succeeds(here.tool, append('folder/x.md', 'x'))
  for (const path of ['a\0b', 'a.md\0', '\0', '', '.', './', ' ', 'folder/', 'folder', 'x'.repeat(300), 'é'.repeat(200), `${'a/'.repeat(5_000)}b`, 'x/'.repeat(40_000), 'x'.repeat(1_000_000), 'a.md.', 'a.md. ', 'folder./x.md', 'folder /x.md', '...', 'folder/...', 'a . /b']) {
    for (const args of [read(path), append(path, 'x')]) {
      const response = await fails(here.tool, args)
      tellsNoPath(response, here)
    }
  }
  await succeeds(here.tool, append('x'.repeat(200), 'x'))
  await succeeds(here.tool, append('d1/d2/d3/d4/d5/a.md', 'x'))
  for (const path of ['.hidden', '.a/b.md', 'a b.md', 'a-b_c+d.md', '日本.md', 'a..b', '..a', '-x', '#x', 'x%y']) await succeeds(here.tool, append(path, 'x'))
})

test('NOTE-05 what is special on another system is refused everywhere', async () => {
  const here = await prepared()
  for (const path of [
    'CON', 'con', 'Con.txt', 'nul.txt', 'NUL', 'COM1', 'com9.md', 'COM¹', 'com².txt', 'LPT1', 'lpt³', 'aux', 'AUX.md', 'prn.a.b', 'folder/CON', 'CON/x.md', 'folder/nul/x.md', 'a.md:stream', 'a:b', 'C:x', 'C:\\x', 'C:/x', '\\\\?\\C:\\x', '..\\x', 'a\\b', '\\', '\\\\host\\share', 'a.md::$DATA', 'con .txt', 'file:///etc/passwd',
  ]) for (const args of [read(path), append(path, 'x')]) tellsNoPath(await fails(here.tool, args), here)
  for (const path of ['console.md', 'com.md', 'com10.md', 'null.md', 'lpt.md', 'auxiliary.md', 'icon', 'a.con', 'COMA']) await succeeds(here.tool, append(path, 'x'))
})

test('NOTE-06 one name for one note; characters that hide are refused', async () => {
  const here = await prepared()
  const [composed, split] = ['caf\u00e9.md', 'cafe\u0301.md']
  await succeeds(here.tool, append(split, 'one'))
  await succeeds(here.tool, append(composed, 'two'))
  for (const path of [composed, split]) assert.equal((await run(here.tool, read(path))).text, 'one\ntwo\n')
  assert.deepEqual(readdirSync(here.root).filter(name => name.startsWith('caf')), [composed])
  const kelvin = await run(here.tool, append('\u212a.md', 'x'))
  if (kelvin.status === 'success') assert.ok(existsSync(join(here.root, 'K.md')), 'the letter K, as NFC has it')
  for (const hidden of ['\u200b', '\u200e', '\u202e', '\u2066', '\ufeff', '\u00ad', '\u2060', '\u{e0041}', '\u0007', '\u001b', '\u007f', '\u0085', '\n', '\t', '\r', '\u2028', '\u2029']) {
    for (const args of [read(`a${hidden}.md`), append(`a${hidden}.md`, 'x'), append(`d${hidden}r/a.md`, 'x')]) await fails(here.tool, args)
  }
  assert.ok(readdirSync(here.root).every(name => !/[\p{Cf}\p{Cc}]/u.test(name)))
})

test('NOTE-07 only the exact words read, list and search need no yes; everything else is an error or asked about', async () => {
  const here = await prepared()
  for (const action of ['READ', 'Read', 'delete', 'append ', ' read', 'read\n', 'write', '', 'reаd', 'toString', '__proto__', undefined, null, 5, true, ['read'], { read: 1 }]) {
    assert.equal(here.tool.needsConfirmation({ action, path: 'a.md', content: 'x' } as never), true, String(action))
    await fails(here.tool, { action, path: 'a.md', content: 'x' })
    const { response } = await execute(here.tool, { action, path: 'a.md', content: 'x' })
    assert.deepEqual([response.status, response.code, response.executed], ['error', 'INVALID_ARGUMENTS', false], String(action))
  }
  for (const action of ['read', 'list', 'search']) assert.equal(here.tool.needsConfirmation({ action } as never), false)
  for (const args of [{}, { path: 'a.md' }, { action: 'append', path: 'b.md' }, { action: 'append', content: 'x' }, { action: 'read' }]) await fails(here.tool, args)
  for (const content of [5, null, true, ['x'], { x: 1 }]) {
    await fails(here.tool, { action: 'append', path: 'b.md', content })
    assert.equal((await execute(here.tool, { action: 'append', path: 'b.md', content })).response.status, 'error')
  }
  for (const path of [5, null, ['a.md'], {}]) await fails(here.tool, { action: 'read', path })
  assert.equal(existsSync(join(here.root, 'b.md')), false)
  assert.equal(readFileSync(join(here.root, 'a.md'), 'utf8'), 'inside\n')
  const unasked = new ToolRegistry()
  unasked.register(here.tool)
  assert.equal((await unasked.execute('notes', append('b.md', 'x'))).code, 'CONFIRMATION_REQUIRED')
  assert.equal((await unasked.execute('notes', read('a.md'))).text, 'inside\n')
})

test('NOTE-08 broken UTF-8 is an error, a BOM stays, CRLF is read as LF, a long line is cut at a character', { timeout: 60_000 }, async () => {
  const here = await prepared()
  const file = (name: string, content: string | Buffer) => writeFileSync(join(here.root, name), content, { mode: 0o600 })
  for (const [index, bytes] of [[0xff, 0xfe], [0x61, 0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]].entries()) {
    file(`bad${index}.md`, Buffer.from([...Buffer.from('fine\n'), ...bytes, 0x0a]))
    const { text } = await fails(here.tool, read(`bad${index}.md`))
    assert.ok(/UTF-?8/i.test(text) && !text.includes('\ufffd') && !text.includes('fine'), text)
  }
  file('bom.md', '\ufeffx\r\ny\rz\r\n')
  assert.equal((await run(here.tool, read('bom.md'))).text, '\ufeffx\ny\nz\n')
  for (const [letter, name] of [['x', 'ascii'], ['é', 'two'], ['日', 'three'], ['😀', 'four']] as const) {
    file(`${name}.md`, letter.repeat(10_000_000 / Buffer.byteLength(letter)))
    const started = performance.now()
    const response = await run(notes(here.root, { prompts: tracingPrompts() }), read(`${name}.md`))
    assert.deepEqual([response.status, response.text], ['partial', `${letter.repeat(8_000)}<tool.msg.notes.truncated|max=8000>`])
    assert.ok(performance.now() - started < 5_000)
  }
})

describe('NOTE-09 writing that cannot be finished', () => {
  test('a note that may not be written is left as it is', { skip: process.getuid?.() === 0 }, async () => {
    const here = await prepared()
    chmodSync(join(here.root, 'a.md'), 0o400)
    tellsNoPath(await fails(here.tool, append('a.md', 'x')), here)
    assert.equal(readFileSync(join(here.root, 'a.md'), 'utf8'), 'inside\n')
  })
  test('a full disk leaves no half line', { timeout: 60_000 }, async () => {
    const here = place()
    const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
    const output = execFileSync('/bin/sh', ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, fixturePath('notes-full.mjs'), here.root], { env, encoding: 'utf8' })
    const [first, second, third] = JSON.parse(output) as { status: string; text: string }[]
    assert.deepEqual([first!.status, second!.status, third!.status], ['success', 'error', 'success'])
    assert.ok(!second!.text.includes(here.base))
    assert.equal(readFileSync(join(here.root, 'full.md'), 'utf8'), `${'a'.repeat(3000)}\n${'c'.repeat(100)}\n`)
  })
})

test('NOTE-10 nothing is decoded or expanded', async () => {
  const here = await prepared()
  writeFileSync(join(here.base, 'secret'), 'OUTSIDE')
  for (const path of ['%2e%2e/secret', '..%2f', '..%2fsecret', '~/.ssh/id', '$HOME/x', '~root', '$' + '{HOME}', '&#46;&#46;/secret', '%00', '$(id)', '`id`', "'; id"]) {
    assert.equal((await succeeds(here.tool, read(path))).text.includes('OUTSIDE'), false)
    await succeeds(here.tool, append(path, 'mine'))
    assert.equal((await run(here.tool, read(path))).text, 'mine\n')
    assert.equal(readFileSync(join(here.root, path), 'utf8'), 'mine\n', 'under the name as it is written')
  }
  for (const path of ['․․/secret', '\uff0e\uff0e/secret', '‥/secret', '．．／secret']) assert.ok(!(await run(here.tool, read(path))).text.includes('OUTSIDE'))
  here.untouched()
})

test('folders, pipes, sockets and devices never block and are never read', { timeout: 60_000 }, async () => {
  const here = await prepared()
  execFileSync('mkfifo', [join(here.root, 'pipe')])
  mkdirSync(join(here.root, 'folder'))
  const server = createServer().listen(join(here.root, 'socket'))
  await once(server, 'listening')
  let device = true
  try { execFileSync('mknod', [join(here.root, 'zero'), 'c', '1', '5'], { stdio: 'ignore' }) } catch { device = false }
  for (const path of ['pipe', 'socket', ...(device ? ['zero'] : [])]) await closed(here.tool, path, here)
  await closed(here.tool, 'folder', here, { listable: true })
  for (const path of ['a.md/x', 'pipe/x', 'socket/x']) for (const args of [read(path), append(path, 'x')]) await fails(here.tool, args)
  for (const args of [{ action: 'list' }, { action: 'search', query: 'inside' }]) {
    const response = await within(10_000, run(here.tool, args), String(args.action))
    assert.ok(response.text.includes('a.md'), response.text)
  }
  server.close()
})

test('the root is held: a link put in its place later leads nowhere', async () => {
  const here = await prepared()
  renameSync(here.root, `${here.root}.moved`)
  symlinkSync(here.outside, here.root)
  for (const args of [read('secret.md'), append('secret.md', 'x'), append('new.md', 'x'), { action: 'list' }, { action: 'search', query: 'planted-word' }]) {
    assert.ok(!(await run(here.tool, args)).text.includes('OUTSIDE'), JSON.stringify(args))
  }
  here.untouched()
})

test('a root that is no folder is an error, not a crash', async () => {
  const { base } = place()
  writeFileSync(join(base, 'file'), 'x')
  await fails(notes(join(base, 'file')), append('a.md', 'x'))
  await fails(notes(join(base, 'file', 'below')), append('a.md', 'x'))
  assert.equal(readFileSync(join(base, 'file'), 'utf8'), 'x')
})

test('while a program swaps folders and files with links, nothing outside is read or written', { timeout: 60_000 }, async () => {
  const here = await prepared()
  writeFileSync(join(here.outside, 'log.md'), 'OUTSIDE log\n')
  mkdirSync(join(here.root, 'd'))
  for (const path of ['d/secret.md', 'd/log.md', 'f.md']) writeFileSync(join(here.root, path), 'inside\n', { mode: 0o600 })
  const before = snapshot(here.outside)
  const swapper = spawn(process.execPath, [fixturePath('notes-swapper.mjs'), here.root, here.outside], { stdio: ['ignore', 'pipe', 'inherit'] })
  const counts = { reached: 0, refused: 0 }
  try {
    await once(swapper.stdout, 'data')
    const tool = notes(here.root, { maxFileBytes: 1_000_000_000, maxReadChars: 200 })
    const often = [read('d/secret.md'), append('d/log.md', 'line'), read('f.md'), append('f.md', 'line')]
    const seldom = [append('d/new.md', 'line'), append('d/deep/new.md', 'line'), read('d/log.md'), { action: 'list', path: 'd' }, { action: 'list' }, { action: 'search', query: 'planted-word' }]
    let round = 0
    for (const until = performance.now() + 5_000; performance.now() < until; round += 1) {
      const attempts = round % 20 === 0 ? seldom : [...often, ...often, ...often, ...often]
      for (const response of await Promise.all(attempts.map(args => run(tool, args)))) {
        assert.ok(!response.text.includes('OUTSIDE'), response.text)
        tellsNoPath(response, here)
        counts[response.status === 'error' ? 'refused' : 'reached'] += 1
      }
    }
    assert.equal(swapper.exitCode, null, 'the links were swapped to the end')
  } finally { swapper.kill('SIGKILL') }
  assert.deepEqual(snapshot(here.outside), before)
  assert.ok(counts.reached > 50 && counts.refused > 5, `both happened: ${JSON.stringify(counts)}`)
})

/** Starts a writer and collects what it says. */
function writer(root: string, path: string, prefix: string, count: number, padding: number): { child: ChildProcess; said: () => string[]; ended: Promise<unknown> } {
  const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(process.execPath, [fixturePath('notes-writer.mjs'), root, path, prefix, String(count), String(padding)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', chunk => { text += chunk })
  return { child, said: () => text.slice(0, text.lastIndexOf('\n') + 1).split('\n').filter(line => line !== ''), ended: once(child, 'close') }
}

test('a writer that is killed two hundred times loses no acknowledged line', { timeout: 900_000 }, async () => {
  const here = place()
  const random = prng(20_260_101)
  const lane = async (path: string, kills: number) => {
    const acknowledged: string[] = []
    for (let turn = 0; turn < kills; turn += 1) {
      const { child, said, ended } = writer(here.root, path, `k${turn}`, 1_000_000, 30_000)
      for (const until = performance.now() + 60_000; said().length === 0 && performance.now() < until;) await sleep(1)
      await sleep(random.int(40))
      child.kill('SIGKILL')
      await ended
      assert.ok(said().length > 0, 'the writer got going')
      for (const line of said()) {
        const [, index, length] = /^ack (\d+) (\d+)$/.exec(line) ?? assert.fail(line)
        acknowledged.push(`k${turn}:${index}:${length}:${'x'.repeat(Number(length))}:end`)
      }
      const lines = readFileSync(join(here.root, path), 'utf8').split('\n')
      let from = 0
      for (const line of acknowledged) {
        from = lines.indexOf(line, from) + 1
        assert.ok(from > 0, `an acknowledged line is gone after kill ${turn}: ${line.slice(0, 40)}`)
      }
      const torn = lines.filter(line => line !== '' && !/^k\d+:\d+:\d+:x*:end$/.test(line))
      assert.ok(torn.length <= turn + 1, `more torn lines than kills: ${torn.map(line => line.slice(0, 40)).join(' | ')}`)
    }
    const response = await run(notes(here.root, { maxReadChars: 1_000_000_000 }), read(path))
    assert.equal(response.status, 'success', 'the note is readable')
    await succeeds(notes(here.root, { maxFileBytes: 1_000_000_000 }), append(path, 'the end'))
    assert.ok(readFileSync(join(here.root, path), 'utf8').endsWith('\nthe end\n'))
  }
  await Promise.all(['one.md', 'two.md', 'sub/three.md', 'sub/four.md'].map(path => lane(path, 50)))
})

test('two processes that append a thousand notes each lose none', { timeout: 300_000 }, async () => {
  const here = place()
  const writers = ['p', 'q'].map(prefix => writer(here.root, 'shared.md', prefix, 1_000, 50))
  await Promise.all(writers.map(({ ended }) => ended))
  for (const { said } of writers) assert.deepEqual(said().filter(line => !line.startsWith('ack ')).slice(0, 3), [])
  const lines = readFileSync(join(here.root, 'shared.md'), 'utf8').trimEnd().split('\n')
  assert.equal(lines.length, 2_000)
  assert.ok(lines.every(line => /^[pq]:\d+:\d+:x*:end$/.test(line)), 'no line is mixed with another')
  for (const prefix of ['p', 'q']) {
    const numbers = lines.filter(line => line.startsWith(prefix)).map(line => Number(line.split(':')[1]))
    assert.deepEqual(numbers, Array.from({ length: 1_000 }, (_, index) => index), 'each in its own order')
  }
})

test('a lock that another program holds is waited for in bounds and then an error', { timeout: 60_000, skip: located('flock') === undefined }, async () => {
  const here = await prepared()
  const holder = spawn('flock', ['-o', join(here.root, 'a.md'), 'sh', '-c', 'echo held; exec sleep 50'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  try {
    await once(holder.stdout, 'data')
    const response = await within(30_000, run(notes(here.root, { prompts: tracingPrompts() }), append('a.md', 'x')), 'the append')
    assert.equal(response.status, 'error')
    assert.match(response.text, /^<tool\.msg\.notes\.write_failed\|rel=a\.md/)
    tellsNoPath(response, here)
    assert.equal(readFileSync(join(here.root, 'a.md'), 'utf8'), 'inside\n')
    await within(10_000, succeeds(here.tool, append('other.md', 'x')), 'another note')
    assert.equal((await within(10_000, run(here.tool, read('a.md')), 'a read')).text, 'inside\n')
  } finally { process.kill(-holder.pid!, 'SIGKILL') }
  await once(holder, 'close')
  await succeeds(here.tool, append('a.md', 'after'))
  assert.equal(statSync(join(here.root, 'a.md')).size, 'inside\nafter\n'.length)
})
