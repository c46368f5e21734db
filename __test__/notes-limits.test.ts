// Notes from the inside: what only somebody who knows how they are built would ask.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { NotesTool, PromptRegistry, ToolRegistry } from 'toolbolt'
import type { NoteAppended, NoteRead, NotesArgs, NotesFound, NotesListed } from 'toolbolt'
import { coded } from './support.ts'

const base = mkdtempSync(join(tmpdir(), 'notes-limits-'))
after(() => { rmSync(base, { recursive: true, force: true }) })
let count = 0
const fresh = (): string => join(base, `book-${++count}`)

test('wrong options throw, and nothing is made', () => {
  const invalid = coded('INVALID_OPTIONS')
  for (const root of ['', '  ', 'a\0b', '\ud800', 5, null, undefined, new URL('file:///tmp')]) assert.throws(() => new NotesTool(root as string), invalid, String(root))
  for (const limit of [0, -1, 1.5, Number.NaN, '5', null, 2 ** 31]) {
    for (const name of ['maxReadChars', 'maxAppendChars', 'maxFileBytes']) assert.throws(() => new NotesTool(fresh(), { [name]: limit } as object), invalid, `${name} ${limit}`)
  }
  assert.throws(() => new NotesTool(fresh(), { maxBytes: 5 } as object), invalid)
  assert.throws(() => new NotesTool(fresh(), { prompts: {} as PromptRegistry }), invalid)
})

test('the schema offers four actions and wants nothing else', () => {
  const schema = new NotesTool(fresh()).inputSchema as { required: string[]; properties: Record<string, { type: string; enum?: string[]; default?: unknown; description: string }> }
  assert.deepEqual(schema.required, ['action'])
  assert.deepEqual(schema.properties['action']?.enum, ['read', 'append', 'list', 'search'])
  assert.deepEqual(Object.keys(schema.properties), ['action', 'path', 'content', 'query'])
  for (const [name, property] of Object.entries(schema.properties)) {
    assert.equal(property.type, 'string', name)
    assert.equal(property.default, undefined, name)
    assert.ok(property.description.length > 10, name)
  }
})

test('the types of data follow from the action', async () => {
  const notes = new NotesTool(fresh())
  const appended: NoteAppended | undefined = (await notes.run({ action: 'append', path: 'a.md', content: 'one\ntwo' })).data
  const read: NoteRead | undefined = (await notes.run({ action: 'read', path: 'a.md' })).data
  const listed: NotesListed | undefined = (await notes.run({ action: 'list' })).data
  const found: NotesFound | undefined = (await notes.run({ action: 'search', query: 'TWO' })).data
  assert.deepEqual(appended, { path: 'a.md', appended_chars: 8 })
  assert.deepEqual(read, { path: 'a.md', exists: true })
  const { modifiedMs, ...entry } = listed!.entries[0]!
  assert.deepEqual(entry, { path: 'a.md', kind: 'note', bytes: 8 })
  assert.ok(Math.abs(Date.now() - modifiedMs!) < 600_000)
  assert.deepEqual(found, { query: 'TWO', path: '', exists: true, matches: [{ path: 'a.md', line: 2, text: 'two' }] })
})

test('what no yes could make run is refused before anybody is asked', async () => {
  let asked = 0
  const registry = new ToolRegistry({ confirm: () => { asked += 1; return true } })
  registry.register(new NotesTool(fresh(), { maxAppendChars: 10, maxFileBytes: 8 }))
  for (const args of [
    { action: 'append', path: '../a', content: 'x' }, { action: 'append', path: 'a:b', content: 'x' }, { action: 'append', path: 'a/', content: 'x' },
    { action: 'append', path: 'a', content: ' ' }, { action: 'append', path: 'a', content: 'x'.repeat(11) }, { action: 'append', path: 'a', content: 'x'.repeat(8) },
  ]) {
    const { status, executed } = await registry.execute('notes', args)
    assert.deepEqual([status, executed], ['error', false], JSON.stringify(args))
  }
  assert.equal(asked, 0)
  assert.equal((await registry.execute('notes', { action: 'append', path: 'a', content: 'x'.repeat(7) })).status, 'success')
  assert.equal(asked, 1)
})

test('a relative root stays where it was when the working folder changes', async () => {
  const before = process.cwd()
  process.chdir(base)
  const notes = new NotesTool('relative')
  process.chdir(before)
  await notes.run({ action: 'append', path: 'a', content: 'x' })
  assert.equal(readFileSync(join(base, 'relative', 'a'), 'utf8'), 'x\n')
})

test('every answer is a sentence without a path of the host, in both languages', async () => {
  const root = fresh()
  const file = join(base, 'a-file')
  writeFileSync(file, 'x')
  for (const language of ['en', 'zh'] as const) {
    const prompts = PromptRegistry.load(language)
    const notes = new NotesTool(root, { prompts, maxFileBytes: 50, maxReadChars: 40 })
    const elsewhere = new NotesTool(join(file, 'below'), { prompts })
    await notes.run({ action: 'append', path: 'sub/a.md', content: 'needle and thread' })
    if (!existsSync(join(root, 'link'))) symlinkSync('/etc', join(root, 'link'))
    writeFileSync(join(root, 'bad.md'), Buffer.from([0xff]))
    writeFileSync(join(root, 'long.md'), 'needle'.repeat(20))
    const responses = [
      ...await Promise.all([
        { action: 'nothing' }, { action: 'read' }, { action: 'read', path: '/etc/passwd' }, { action: 'read', path: 'none' }, { action: 'read', path: 'sub' },
        { action: 'read', path: 'link/passwd' }, { action: 'read', path: 'bad.md' }, { action: 'read', path: 'long.md' }, { action: 'append', path: 'sub/a.md', content: 'x'.repeat(45) },
        { action: 'append', path: 'sub/a.md/b', content: 'x' }, { action: 'append', path: 'link', content: 'x' }, { action: 'list' }, { action: 'list', path: 'none' },
        { action: 'list', path: 'bad.md' }, { action: 'search', query: 'needle' }, { action: 'search', query: 'none' }, { action: 'search' }, { action: 'search', path: 'link', query: 'x' },
        ...['COM1', 'a.', 'a\\b', 'a\u200bb', 'x'.repeat(256), 'a/'.repeat(17) + 'b', 'x'.repeat(1_025)].map(path => ({ action: 'read', path })),
      ].map(args => notes.run(args as NotesArgs))),
      await elsewhere.run({ action: 'read', path: 'a' }), await elsewhere.run({ action: 'append', path: 'a', content: 'x' }),
    ]
    for (const { text } of responses) {
      assert.ok(text.length > 3 && !text.includes('tool.') && !text.includes(base) && !text.includes(tmpdir()), text)
      assert.ok(!/\{[a-z]+\}/.test(text), text)
    }
    assert.ok(!notes.description.includes(base) && notes.description.includes('book-'))
  }
})

test('the folder is looked for until it is there, and then held', async () => {
  const root = fresh()
  const notes = new NotesTool(root)
  assert.equal((await notes.run({ action: 'read', path: 'a' })).data?.exists, false)
  mkdirSync(root)
  chmodSync(root, 0o755)
  writeFileSync(join(root, 'a'), 'by hand')
  assert.equal((await notes.run({ action: 'read', path: 'a' })).text, 'by hand')
  renameSync(root, `${root}-moved`)
  mkdirSync(root)
  assert.equal((await notes.run({ action: 'append', path: 'a', content: 'more' })).status, 'success')
  assert.equal(readFileSync(join(`${root}-moved`, 'a'), 'utf8'), 'by hand\nmore\n')
  assert.equal(existsSync(join(root, 'a')), false)
})

test('a subclass that replaces a method runs in JavaScript and still asks', async () => {
  class Dated extends NotesTool {
    override run(args: any, context?: any): any { return super.run(args.action === 'append' ? { ...args, content: `today: ${args.content}` } : args, context) }
  }
  const registry = new ToolRegistry({ confirm: () => true })
  registry.register(new Dated(fresh()))
  assert.equal(registry.needsConfirmation('notes', { action: 'append', path: 'a', content: 'x' }), true)
  assert.equal(registry.needsConfirmation('notes', { action: 'list' }), false)
  assert.equal((await registry.execute('notes', { action: 'append', path: 'a', content: 'x' })).status, 'success')
  assert.equal((await registry.execute('notes', { action: 'read', path: 'a' })).text, 'today: x\n')
})

test('results are external content where the app says so', async () => {
  const root = fresh()
  for (const external of [false, true]) {
    const notes = new NotesTool(root)
    if (external) notes.externalContent = true
    const registry = new ToolRegistry({ confirm: () => true })
    registry.register(notes)
    await registry.execute('notes', { action: 'append', path: 'a', content: 'text' })
    const response = await registry.execute('notes', { action: 'read', path: 'a' })
    assert.equal(registry.render(response) === response.text, !external)
  }
})

test('an error has a code', async () => {
  const root = fresh()
  const tool = new NotesTool(root, { maxFileBytes: 20 })
  const code = async (args: Record<string, unknown>): Promise<string | undefined> => {
    const response = await tool.run(args as never)
    assert.equal(response.status, 'error', response.text)
    return response.code
  }
  assert.equal((await tool.run({ action: 'append', path: 'a.md', content: '0123456789' })).status, 'success')
  mkdirSync(join(root, 'folder'))
  writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe]))
  symlinkSync(base, join(root, 'link'))
  for (const args of [{ action: 'move' }, { action: 'read' }, { action: 'read', path: 'a:b' }, { action: 'append', path: 'b.md', content: ' ' }, { action: 'append', path: 'b/', content: 'x' }, { action: 'append', path: 'b.md', content: 'x'.repeat(21) }, { action: 'search', query: ' ' }]) {
    assert.equal(await code(args), 'INVALID_ARGUMENTS', JSON.stringify(args))
  }
  for (const path of ['../a.md', '/etc/passwd', 'link', 'link/a.md']) assert.equal(await code({ action: 'read', path }), 'PERMISSION_DENIED', path)
  for (const args of [{ action: 'read', path: 'folder' }, { action: 'read', path: 'binary' }, { action: 'append', path: 'a.md', content: '0123456789' }]) assert.equal(await code(args), 'EXECUTION_FAILED', JSON.stringify(args))
})
