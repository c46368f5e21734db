// The notes tool: the recorded rows, limits to the byte, list and search, options. Attacks and crashes are in notes-hostile.test.ts.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ToolRegistry } from 'toolbolt'
import { coded, hasLoneSurrogate, tracingPrompts, vectors } from './support.ts'
import { append, execute, fails, notes, place, read, run, succeeds, tellsNoPath } from './notes-support.ts'

const prompts = tracingPrompts()

/** Rows that differ on purpose: `error` instead of a success. */
const DIFFERENCES: Record<string, string> = {
  'read ...': 'a name that ends in a dot is not portable (NOTE-04)',
  'read a\\..\\b': 'a backslash in a name is not portable (NOTE-05)',
  'read C:\\x': 'a colon in a name is not portable (NOTE-05)',
  ' read  a.md': 'only the exact word is an action (NOTE-07)',
  'append  a.md': 'only the exact word is an action (NOTE-07)',
}
/** Rows whose text the cases leave open: what is said about a slash or a blank at an end. They succeed as recorded or are refused. */
const OPEN = new Set(['read a.md/', 'read  a.md '])

describe('notes', () => {
  interface Row { params: { action?: unknown; path?: unknown; content?: unknown }; status?: string; text?: string; data?: { path: string; exists?: boolean; appended_chars?: number; truncated?: boolean } | null; raises?: string; needs_confirmation: boolean | '?' }
  const rows = vectors<Row[]>('notes')
  const here = place()
  const tool = notes(here.root, { maxReadChars: 20, maxAppendChars: 30, maxFileBytes: 60, prompts })
  const inRoot = (name: string) => join(here.root, name)

  /** What was made beside the tool before a row was recorded. */
  const beforeRow: Record<string, () => void> = {
    'read exact.md': () => writeFileSync(inRoot('exact.md'), 'y'.repeat(20)),
    'read crlf.md': () => writeFileSync(inRoot('crlf.md'), 'a\r\nb\rc\n'),
    'read empty.md': () => writeFileSync(inRoot('empty.md'), ''),
    'read bom.md': () => writeFileSync(inRoot('bom.md'), '\ufeffx'),
    'read bad.md': () => writeFileSync(inRoot('bad.md'), Buffer.from([0xff, 0xfe, 0x41])),
    'read ln': () => symlinkSync('/etc/passwd', inRoot('ln')),
    'read lnin': () => symlinkSync('a.md', inRoot('lnin')),
    'read lnd/deep/x.md': () => symlinkSync('sub', inRoot('lnd')),
    'read hard.md': () => linkSync(inRoot('a.md'), inRoot('hard.md')),
    'read pp': () => { rmSync(inRoot('hard.md')); execFileSync('mkfifo', [inRoot('pp')]) },
  }
  test('there are 75 rows', () => assert.equal(rows.length, 75))
  test('making the tool makes no folder', () => assert.equal(existsSync(here.root), false))
  rows.forEach((row, index) => {
    const { action, path, content } = row.params
    const name = `${action ?? ''} ${path ?? ''}`
    test(`notes ${index}: ${JSON.stringify(name.slice(0, 60))} ${JSON.stringify(content ?? '').slice(0, 30)}`, async () => {
      beforeRow[name]?.()
      const params = typeof path === 'string' ? { ...row.params, path: path.replace('<ROOT>', here.root) } : row.params
      const exact = action === 'read' || action === 'list' || action === 'search'
      assert.equal(tool.needsConfirmation(params as never), !exact, 'only the exact words of reading actions need no yes')
      const response = await run(tool, params)
      tellsNoPath(response, here)
      if (name in DIFFERENCES) {
        assert.equal(row.status, 'success')
        assert.equal(response.status, 'error', DIFFERENCES[name])
      } else if (row.raises !== undefined) {
        assert.equal(response.status, 'error', `recorded: ${row.raises}`)
      } else if (OPEN.has(name) && response.status === 'error') {
        assert.ok(response.text.length > 0)
      } else {
        assert.equal(response.status, row.status, response.text)
        if (row.status === 'error') {
          const [, key, variables] = /^<(tool\.[\w.]+)\|?([\s\S]*)>$/.exec(row.text!)!
          // A name that is too long, and an argument of a wrong type, may be refused by a rule of their own.
          if (name.length > 200 || !response.text.startsWith('<')) return
          assert.ok(response.text.startsWith(`<${key}`), `${response.text} instead of ${row.text}`)
          const said = key === 'tool.msg.notes.bad_action' ? 'append' : /^(?:rel=[^|]*|max=\d+)/.exec(variables!)?.[0] ?? ''
          assert.ok(response.text.includes(said), `${said} in ${response.text}`)
        } else {
          assert.equal(response.text, row.text)
          for (const [key, value] of Object.entries(row.data!)) assert.deepEqual((response.data as Record<string, unknown>)[key], value, key)
        }
      }
    })
  })
})

describe('limits', () => {
  test('of an append are code points of the content as it was given', async () => {
    const tool = notes(place().root, { maxAppendChars: 10, prompts })
    for (const content of ['x'.repeat(10), '😀'.repeat(10), 'é'.repeat(10), `${'x'.repeat(9)}\n`]) await succeeds(tool, append('a.md', content))
    for (const content of ['x'.repeat(11), '😀'.repeat(11), `${'x'.repeat(10)}\n`]) assert.equal((await fails(tool, append('a.md', content))).text, '<tool.msg.notes.append_too_large|max=10>')
  })
  test('of a note are bytes, with the newline that is added', async () => {
    for (const [content, bytes] of [['😀'.repeat(10), 41], ['x'.repeat(40), 41], ['é\n', 3], ['x', 2]] as const) {
      const here = place()
      const fits = notes(here.root, { maxFileBytes: bytes, prompts })
      await succeeds(fits, append('fits.md', content))
      assert.equal(statSync(join(here.root, 'fits.md')).size, bytes)
      const short = notes(here.root, { maxFileBytes: bytes - 1, prompts })
      assert.equal((await fails(short, append('short.md', content))).text, `<tool.msg.notes.file_too_large|max=${bytes - 1}>`)
      assert.equal(existsSync(join(here.root, 'short.md')), false, 'nothing is made')
      const twice = notes(here.root, { maxFileBytes: bytes * 2, prompts })
      await succeeds(twice, append('twice.md', content))
      await succeeds(twice, append('twice.md', content))
      assert.equal(statSync(join(here.root, 'twice.md')).size, bytes * 2)
      await fails(twice, append('twice.md', content))
      assert.equal(statSync(join(here.root, 'twice.md')).size, bytes * 2, 'a refused append changes nothing')
    }
  })
  test('a note that is too large already is left as it is', async () => {
    const here = place()
    mkdirSync(here.root, { mode: 0o700 })
    writeFileSync(join(here.root, 'big.md'), 'x'.repeat(100), { mode: 0o600 })
    await fails(notes(here.root, { maxFileBytes: 50 }), append('big.md', 'y'))
    assert.equal(readFileSync(join(here.root, 'big.md'), 'utf8'), 'x'.repeat(100))
  })
  test('of a read are code points', async () => {
    const here = place()
    await succeeds(notes(here.root), append('a.md', '😀'.repeat(20)))
    assert.equal((await run(notes(here.root, { maxReadChars: 21 }), read('a.md'))).text, `${'😀'.repeat(20)}\n`)
    const cut = await run(notes(here.root, { maxReadChars: 19, prompts }), read('a.md'))
    assert.deepEqual([cut.status, cut.text], ['partial', `${'😀'.repeat(19)}<tool.msg.notes.truncated|max=19>`])
    assert.equal(hasLoneSurrogate(cut.text), false)
  })
  test('the defaults are 8,000, 50,000 and 2,000,000', async () => {
    const here = place()
    const tool = notes(here.root)
    await succeeds(tool, append('a.md', 'x'.repeat(7_999)))
    assert.equal((await run(tool, read('a.md'))).status, 'success')
    await succeeds(tool, append('a.md', 'y'))
    assert.equal((await run(tool, read('a.md'))).status, 'partial')
    await succeeds(tool, append('b.md', 'x'.repeat(50_000)))
    await fails(tool, append('b.md', 'x'.repeat(50_001)))
    writeFileSync(join(here.root, 'c.md'), `${'x'.repeat(1_999_995)}\n`, { mode: 0o600 })
    await succeeds(tool, append('c.md', 'abc'))
    assert.equal(statSync(join(here.root, 'c.md')).size, 2_000_000)
    await fails(tool, append('c.md', 'a'))
  })
  test('what was appended is there byte for byte', async () => {
    const here = place()
    const tool = notes(here.root)
    for (const content of ['plain', 'two\nlines', 'ends\n', 'crlf\r\n', ' blanks ', '\ttab', 'nul \0 esc \u001b', '😀', 'é', '\ufeffbom', '\n\nempty lines first']) await succeeds(tool, append('all.md', content))
    assert.equal(readFileSync(join(here.root, 'all.md'), 'utf8'), 'plain\ntwo\nlines\nends\ncrlf\r\n blanks \n\ttab\nnul \0 esc \u001b\n😀\né\n\ufeffbom\n\n\nempty lines first\n')
  })
  test('a note without a newline at its end gets one before more is added', async () => {
    const here = place()
    const tool = notes(here.root)
    await succeeds(tool, append('a.md', 'first'))
    writeFileSync(join(here.root, 'a.md'), 'first\ntorn')
    await succeeds(tool, append('a.md', 'second'))
    assert.equal(readFileSync(join(here.root, 'a.md'), 'utf8'), 'first\ntorn\nsecond\n')
  })
})

describe('list and search', () => {
  const filled = async () => {
    const here = place()
    const tool = notes(here.root)
    for (const [path, content] of [['b.md', 'Needle in b'], ['a.md', 'first\nsecond needle\nthird'], ['sub/x.md', 'one\nNEEDLE two'], ['sub/deep/y.md', 'nothing'], ['axe.md', 'axb'], ['lit.md', 'a.b literal (x|y)*']] as const) await succeeds(tool, append(path, content))
    return { ...here, tool }
  }
  test('reading actions are never asked about, and the others always', async () => {
    const { tool } = await filled()
    for (const args of [read('a.md'), { action: 'list' }, { action: 'search', query: 'x' }, { action: 'list', path: 'sub' }]) assert.equal((await execute(tool, args)).asked, 0, JSON.stringify(args))
    const { asked, preview, response } = await execute(tool, append('a.md', 'z'))
    assert.deepEqual([asked, response.status], [1, 'success'])
    assert.match(preview.split('\n')[0]!, /\bwrites\b/)
  })
  test('list names notes and folders in order', async () => {
    const { tool, base } = await filled()
    const response = await succeeds(tool, { action: 'list' })
    const at = ['a.md', 'axe.md', 'b.md', 'lit.md', 'sub'].map(name => response.text.indexOf(name))
    assert.ok(at.every(position => position >= 0), response.text)
    assert.deepEqual(at, [...at].sort((one, two) => one - two), response.text)
    assert.ok(typeof response.data === 'object' && response.data !== null)
    tellsNoPath(response, { base })
    const inner = await succeeds(tool, { action: 'list', path: 'sub' })
    assert.ok(inner.text.includes('x.md') && !inner.text.includes('lit.md'), inner.text)
  })
  test('list refuses to leave, and says so for what is no folder', async () => {
    const { tool } = await filled()
    for (const path of ['..', '../', '/', '/etc', 'sub/../..']) await fails(tool, { action: 'list', path })
    await fails(tool, { action: 'list', path: 'a.md' })
  })
  test('search finds plain text in any case, with its note and line', async () => {
    const { tool, base } = await filled()
    const response = await succeeds(tool, { action: 'search', query: 'needle' })
    for (const hit of ['b.md:1: Needle in b', 'a.md:2: second needle', 'sub/x.md:2: NEEDLE two']) assert.ok(response.text.includes(hit), `${hit} in ${response.text}`)
    assert.equal(response.text.includes('first'), false)
    tellsNoPath(response, { base })
    for (const query of ['a.b', '(x|y)*']) {
      const { text } = await succeeds(tool, { action: 'search', query })
      assert.ok(text.includes('lit.md:1:') && !text.includes('axb'), text)
    }
    assert.equal((await succeeds(tool, { action: 'search', query: 'no such words' })).text.includes('.md:'), false)
    for (const args of [{ action: 'search' }, { action: 'search', query: '' }, { action: 'search', query: '   ' }]) await fails(tool, args)
  })
  test('search goes on over a note that cannot be read, and is bounded', { timeout: 60_000 }, async () => {
    const { tool, root } = await filled()
    writeFileSync(join(root, 'bad.md'), Buffer.from([0xff, 0xfe, 0x0a]), { mode: 0o600 })
    writeFileSync(join(root, 'many.md'), 'needle\n'.repeat(200_000), { mode: 0o600 })
    writeFileSync(join(root, 'wide.md'), `needle${'x'.repeat(1_000_000)}\n`, { mode: 0o600 })
    const response = await run(tool, { action: 'search', query: 'needle' })
    assert.equal(response.status, 'partial')
    assert.ok(response.text.length < 200_000, String(response.text.length))
    assert.ok(response.text.includes('a.md:2:'), 'an earlier note is still found')
  })
  test('a folder with many notes is listed in bounds', { timeout: 60_000 }, async () => {
    const { tool, root } = await filled()
    mkdirSync(join(root, 'many'), { mode: 0o700 })
    for (let index = 0; index < 5_000; index += 1) writeFileSync(join(root, 'many', `note-${index}.md`), '')
    const response = await run(tool, { action: 'list', path: 'many' })
    assert.ok(['partial', 'success'].includes(response.status))
    assert.ok(response.status === 'partial' || response.text.includes('note-4999.md'), 'what is left out is said')
    assert.ok(response.text.length < 400_000)
  })
  test('before the first append there are no notes, and looking makes none', async () => {
    const { root } = place()
    const tool = notes(root)
    for (const args of [read('a.md'), { action: 'list' }, { action: 'search', query: 'x' }]) await succeeds(tool, args)
    assert.equal(existsSync(root), false)
    await fails(tool, append('../a.md', 'x'))
    await fails(tool, append('a.md', ''))
    assert.equal(existsSync(root), false, 'a refused append makes no folder')
  })
})

describe('the tool', () => {
  test('what it says of itself names no path of the host', () => {
    const here = place()
    const tool = notes(here.root, { prompts })
    assert.equal(tool.name, 'notes')
    assert.deepEqual([tool.externalContent, tool.supportsParallel], [false, false])
    assert.ok(tool.description.startsWith('<tool.desc.notes|root='))
    assert.ok(!tool.description.includes(here.base), tool.description)
    const schema = tool.inputSchema as { properties: Record<string, { enum?: string[] }>; required: string[] }
    assert.deepEqual(Object.keys(schema.properties).sort(), ['action', 'content', 'path', 'query'])
    assert.deepEqual([...schema.properties.action!.enum!].sort(), ['append', 'list', 'read', 'search'])
    assert.ok(schema.required.includes('action'))
  })
  test('wrong options are refused', () => {
    const { root } = place()
    for (const wrong of [{ maxReadChars: 0 }, { maxReadChars: -1 }, { maxReadChars: 1.5 }, { maxReadChars: Number.NaN }, { maxReadChars: '5' }, { maxAppendChars: 0 }, { maxAppendChars: -5 }, { maxFileBytes: 0 }, { maxFileBytes: Number.POSITIVE_INFINITY }, { maxChars: 5 }, { prompts: {} }, null, 5, []]) {
      assert.throws(() => notes(root, wrong as never), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
    }
    for (const wrong of ['', undefined, null, 5, {}, ['x']]) assert.throws(() => notes(wrong as never), coded('INVALID_OPTIONS'), String(wrong))
  })
  test('notes and folders are for their owner alone, whatever the umask', async () => {
    const here = place()
    const before = process.umask(0)
    try { await succeeds(notes(here.root), append('sub/deep/a.md', 'x')) } finally { process.umask(before) }
    const mode = (path: string) => statSync(join(here.root, path)).mode & 0o777
    assert.deepEqual(['', 'sub', 'sub/deep', 'sub/deep/a.md'].map(mode), [0o700, 0o700, 0o700, 0o600])
  })
  test('the folder above the root is made too', async () => {
    const { base } = place()
    await succeeds(notes(join(base, 'x/y/z')), append('a.md', 'x'))
    assert.equal(readFileSync(join(base, 'x/y/z/a.md'), 'utf8'), 'x\n')
  })
  test('nothing but notes is left in the root', async () => {
    const here = place()
    const tool = notes(here.root)
    for (let index = 0; index < 20; index += 1) await succeeds(tool, append('a.md', `line ${index}`))
    assert.deepEqual(readdirSync(here.root).filter(name => !name.startsWith('.')), ['a.md'])
    assert.ok(!(await succeeds(tool, { action: 'list' })).text.includes('.lock'))
  })
  test('many appends at once keep every line', { timeout: 60_000 }, async () => {
    const here = place()
    const registry = new ToolRegistry({ confirm: () => true })
    registry.register(notes(here.root))
    const responses = await Promise.all(Array.from({ length: 200 }, (_, index) => registry.execute('notes', append('a.md', `line ${index}`))))
    assert.deepEqual(responses.filter(response => response.status !== 'success').map(response => response.text), [])
    assert.deepEqual(readFileSync(join(here.root, 'a.md'), 'utf8').trimEnd().split('\n').sort(), Array.from({ length: 200 }, (_, index) => `line ${index}`).sort())
    await registry.close()
  })
})
