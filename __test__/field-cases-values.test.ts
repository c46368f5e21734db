// Cases from public bug and security reports about values, each named by its id in field-cases.json.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MCPClient, ToolRegistry } from 'toolbolt'
import { bare, fixturePath, paths, readJson } from './support.ts'

function recording() {
  const got: any[] = []
  const registry = new ToolRegistry()
  registry.register(bare('t', args => { got.push(args); return 'ran' }))
  registry.registerFunction(args => { got.push(args); return 'ran' }, 'f', 'A function', [{ name: 'q', type: 'string', description: 'q', required: false }])
  return { registry, got }
}

/** The call was refused before the body, for its arguments. */
async function refused(registry: ToolRegistry, name: string, args: string | object) {
  const response = await registry.execute(name, args)
  assert.deepEqual([response.status, response.code, response.executed], ['error', 'INVALID_ARGUMENTS', false])
  return response
}

test('VAL-01 __proto__, constructor and prototype pollute nothing', async () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort()
  const texts = ['{"__proto__":{"admin":true},"q":"x"}', '{"q":"x","a":[{"__proto__":{"admin":true}}]}', '{"constructor":{"prototype":{"admin":true}},"q":"x"}', '{"prototype":{"admin":true},"q":"x"}']
  for (const text of texts) for (const args of [text, JSON.parse(text) as object]) for (const name of ['t', 'f']) {
    const { registry, got } = recording()
    const response = await registry.execute(name, args)
    if (response.executed) {
      assert.equal(Object.getPrototypeOf(got[0]), Object.prototype)
      assert.equal(JSON.stringify(got[0]), text, 'own keys, nothing lost')
      assert.equal(got[0].admin, undefined)
      assert.equal(got[0].a?.[0].admin, undefined)
    } else assert.equal(response.code, 'INVALID_ARGUMENTS')
    assert.equal(({} as any).admin, undefined)
  }
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype).sort(), before)
})

test('VAL-02 a number is never silently rounded', async () => {
  for (const args of ['{"n":9007199254740993}', '{"n":-9007199254740993}', '{"n":123456789012345678901234567890}', { n: 2n ** 70n }, { n: 9007199254740993n }]) {
    const { registry, got } = recording()
    const exact = typeof args === 'string' ? /-?\d+/.exec(args)![0] : String(args.n)
    const response = await registry.execute('f', args)
    if (response.executed) assert.equal(String(got[0].n), exact)
    else assert.equal(response.code, 'INVALID_ARGUMENTS')
  }
  const { registry, got } = recording()
  for (const args of ['{"n":17}', { n: 17 }, '{"n":9007199254740991}', '{"n":17.0}', '{"n":1e2}']) await registry.execute('f', args)
  assert.deepEqual(got.map(args => args.n), [17, 17, 9007199254740991, 17, 100])
})

test('VAL-03 an undefined key is no key, null stays', async () => {
  const { registry, got } = recording()
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'null' } }, required: ['b'] } as const
  registry.register({ name: 's', description: 'A spec', parameters: schema, handler: args => { got.push(args); return 'ran' } })
  assert.equal((await registry.execute('s', { a: undefined, b: null })).status, 'success')
  assert.deepEqual(Object.entries(got[0]), [['b', null]])
  assert.deepEqual(paths(await refused(registry, 's', { b: undefined })), [''])
  assert.deepEqual(paths(await refused(registry, 's', { a: null, b: null })), ['/a'])
})

test('VAL-04 a cycle and a great depth are refused', async () => {
  const { registry, got } = recording()
  const cycle: { q: string; self?: unknown } = { q: 'x' }
  cycle.self = { inner: [cycle] }
  const nest = (levels: number): object => { let value: object = {}; for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }; return { deep: value } }
  for (const name of ['t', 'f']) {
    await refused(registry, name, cycle)
    for (const levels of [10_000, 1_000_000]) await refused(registry, name, nest(levels))
    await refused(registry, name, `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)
    await refused(registry, name, `{"a":${'['.repeat(1_000_000)}`)
    assert.equal((await registry.execute(name, nest(30))).status, 'success')
  }
  const shared = { v: 1 }
  assert.equal((await registry.execute('f', { a: shared, b: [shared, shared] })).status, 'success', 'the same object twice is no cycle')
  assert.deepEqual(got.at(-1), { a: { v: 1 }, b: [{ v: 1 }, { v: 1 }] })
})

test('VAL-05 duplicate keys are refused', async () => {
  const { registry, got } = recording()
  for (const text of ['{"path":"ok.md","path":"../x"}', '{"a":{"k":1,"k":1}}', '{"a":[{"k":1,"\\u006b":2}]}', '{"__proto__":1,"__proto__":2}']) {
    for (const name of ['t', 'f']) await refused(registry, name, text)
  }
  assert.equal((await registry.execute('f', '{"a":{"k":1},"b":{"k":1}}')).status, 'success', 'the same key in two objects is fine')
  assert.equal(got.length, 1)
})

test('VAL-06 a lone surrogate is refused, NUL in text is kept', async () => {
  const { registry, got } = recording()
  for (const lone of ['\ud800', 'a\udc00b', '\udc00\ud800']) for (const name of ['t', 'f']) {
    await refused(registry, name, { q: lone })
    await refused(registry, name, { list: [{ deep: lone }] })
    await refused(registry, name, { [lone]: 'x' })
    await refused(registry, name, JSON.stringify({ q: lone }))
    await refused(registry, name, `{"q":"${lone}"}`)
  }
  for (const args of [{ q: 'a\u0000b' }, '{"q":"a\\u0000b"}']) assert.equal((await registry.execute('f', args)).status, 'success')
  assert.deepEqual(got, [{ q: 'a\u0000b' }, { q: 'a\u0000b' }])
  for (const args of [{ q: '😀' }, '{"q":"\\ud83d\\ude00"}']) assert.equal((await registry.execute('f', args)).status, 'success')
  assert.equal(got[got.length - 1].q, '😀')
})

test('VAL-07 one bad number fails one call, and a big integer is not floated', { timeout: 60_000 }, async () => {
  await using client = await MCPClient.connect([process.execPath, fixturePath('hostile-server.mjs')], { namespace: 'x' })
  const registry = new ToolRegistry({ confirm: () => true })
  registry.registerAll(await client.loadTools())
  const huge = await registry.execute('x_huge', {})
  assert.equal(huge.status, 'error')
  assert.match(huge.text, /number|1e400/i)
  const wide = await registry.execute('x_wide', {})
  if (wide.status !== 'error') {
    const value = (wide.data as { structuredContent: { value: unknown } }).structuredContent.value
    assert.notEqual(typeof value, 'number')
    assert.equal(String(value), '18446744073709551616')
  } else assert.match(wide.text, /number|18446744073709551616/i)
  assert.equal((await registry.execute('x_echo', {})).text, 'ok')
  assert.equal(client.state, 'ready')
})

test('each case of these areas has its test', async () => {
  const { readFileSync } = await import('node:fs')
  const source = ['./field-cases.test.ts', './field-cases-values.test.ts'].map(name => readFileSync(new URL(name, import.meta.url), 'utf8')).join('\n')
  const cases = readJson<{ id: string; area: string }[]>('./field-cases.json').filter(row => ['permissions', 'confirm', 'registry', 'values'].includes(row.area))
  assert.equal(cases.length, 30)
  for (const { id } of cases) assert.match(source, new RegExp(`test\\(['\`]${id} `), id)
})
