// What attacks on the package have shown, each kind with its cure.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { z } from 'zod'
import { CalculatorTool, type ConfirmRequest, ToolPermissions, ToolRegistry, ToolResponse, Tool, sanitizeToolName, tool } from 'toolbolt'
import { bare, coded, ours, sleep, unhandledDuring, within } from './support.ts'

const registryWith = (...tools: Tool[]) => {
  const registry = new ToolRegistry()
  registry.registerAll(tools)
  return registry
}

describe('schemas that cost too much', () => {
  const filter = { $ref: '#/$defs/f' }
  const grammar = {
    type: 'object', properties: { filter }, required: ['filter'],
    $defs: { f: { anyOf: [
      { type: 'object', properties: { and: { type: 'array', items: filter } }, required: ['and'], additionalProperties: false },
      { type: 'object', properties: { or: { type: 'array', items: filter } }, required: ['or'], additionalProperties: false },
      { type: 'object', properties: { not: filter }, required: ['not'], additionalProperties: false },
      { type: 'object', properties: { field: { type: 'string' } }, required: ['field'], additionalProperties: false },
    ] } },
  }
  const nested = (depth: number, leaf: unknown): unknown => depth === 0 ? leaf : depth % 2 === 0 ? { and: [nested(depth - 1, leaf), nested(depth - 1, leaf)].slice(0, 1) } : { not: nested(depth - 1, leaf) }
  test('a wrong leaf deep in a recursive grammar is refused in no time', { timeout: 60_000 }, async () => {
    const registry = registryWith(tool({ name: 't', description: 'T', inputSchema: grammar, run: () => 'ran' }))
    for (const depth of [1, 4, 12, 20, 40]) {
      assert.equal((await registry.execute('t', { filter: nested(depth, { field: 'x' }) } as object)).text, 'ran', `${depth}`)
      const before = process.memoryUsage().rss
      const wrong = await registry.execute('t', { filter: nested(depth, { field: 5 }) } as object)
      assert.equal(wrong.code, 'INVALID_ARGUMENTS')
      assert.ok(process.memoryUsage().rss - before < 200e6, 'memory stays')
    }
  })
  test('references that multiply, or chains that exhaust the stack, cannot be registered', () => {
    for (const keyword of ['allOf', 'anyOf']) {
      const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, i === 39 ? { type: 'string' } : { [keyword]: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]))
      assert.throws(() => registryWith(tool({ name: 't', description: 'T', inputSchema: { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }, run: () => 'x' })), coded('INVALID_OPTIONS'))
    }
    const chain = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]))
    assert.throws(() => registryWith(tool({ name: 't', description: 'T', inputSchema: { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs: chain }, run: () => 'x' })), coded('INVALID_OPTIONS'))
  })
})

describe('callbacks that only listen', () => {
  test('their faults reach nobody', async () => {
    const foreign = runInContext('(async () => { throw new Error("foreign") })', createContext({}))
    const listeners = [() => { throw new Error('now') }, async () => { throw new Error('later') }, foreign, () => ({ then() { throw new Error('then') } })]
    const unhandled = await unhandledDuring(async () => {
      for (const listener of listeners) {
        const registry = new ToolRegistry({ onEvent: listener })
        registry.register(bare('t', (_args, { progress }) => { progress({ progress: 1 }); return 'ran' }))
        assert.equal((await registry.execute('t', {}, { onProgress: listener })).text, 'ran')
      }
      const asks = registryWith(bare('t', () => 'ran', { requiresConfirmation: (async () => { throw new Error('asked') }) as never }))
      assert.equal((await asks.execute('t', {})).code, 'CONFIRMATION_REQUIRED')
      assert.equal(asks.needsConfirmation('t', {}), true)
    })
    assert.deepEqual(unhandled, [])
  })
  test('progress that is none goes nowhere', async () => {
    const got: unknown[] = []
    const registry = registryWith(bare('t', (_args, { progress }) => { for (const update of [null, 'x', {}, { progress: Number.NaN }, { progress: 1 }]) progress(update as never); return 'ran' }))
    await registry.execute('t', {}, { onProgress: update => { got.push(update) } })
    assert.deepEqual(got, [{ progress: 1 }])
  })
})

describe('a call that goes on after it was given up', () => {
  const never = () => new Promise<string>(() => {})
  const cases: Record<string, (registry: ToolRegistry, controller: AbortController) => Partial<Record<'confirm' | 'run', (request?: any) => unknown>>> = {
    'confirm aborts, then says yes': (_registry, controller) => ({ confirm: () => { controller.abort(); return true } }),
    'confirm aborts before its first await': (_registry, controller) => ({ confirm: async () => { controller.abort(); return true } }),
    'confirm closes the registry, then says yes': registry => ({ confirm: () => { void registry.close(); return true } }),
    'aborted one microtask after the yes': (_registry, controller) => ({ confirm: () => { void Promise.resolve().then(() => { controller.abort() }); return true }, run: never }),
    'aborted two microtasks after the yes': (_registry, controller) => ({ confirm: async () => { void Promise.resolve().then(() => {}).then(() => { controller.abort() }); return true }, run: never }),
    'the body aborts, then never ends': (_registry, controller) => ({ run: () => { controller.abort(); return never() } }),
    'the body closes the registry, then never ends': registry => ({ run: () => { void registry.close(); return never() } }),
  }
  for (const [name, make] of Object.entries(cases)) {
    test(name, { timeout: 20_000 }, async () => {
      const controller = new AbortController()
      let ran = 0
      const registry = new ToolRegistry()
      const { confirm = () => true, run = () => 'ran' } = make(registry, controller)
      registry.register(bare('t', () => { ran++; return run() }, { requiresConfirmation: true }))
      const response = await within(10_000, registry.execute('t', {}, { confirm: confirm as never, signal: controller.signal }))
      assert.ok(['CONFIRMATION_REJECTED', 'CANCELLED'].includes(response.code ?? ''), `${response.code}`)
      if (name.startsWith('confirm')) assert.deepEqual([ran, response.executed], [0, false])
    })
  }
  test('a native tool does not run either, and a body sees the abort at once', async () => {
    const controller = new AbortController()
    class Careful extends CalculatorTool { override requiresConfirmation = true }
    const registry = registryWith(new Careful(), bare('t', (_args, context) => { controller.abort(); return `${context.signal.aborted}` }))
    assert.equal((await registry.execute('t', {}, { signal: controller.signal })).text, 'true')
    const late = new AbortController()
    const response = await registry.execute('calculator', { expression: '1' }, { signal: late.signal, confirm: () => { late.abort(); return true } })
    assert.deepEqual([response.code, response.executed], ['CONFIRMATION_REJECTED', false])
  })
})

describe('promises and schemas of a kind of their own', () => {
  test('end their call, at once and for good', { timeout: 20_000 }, async () => {
    const throwing = () => Object.assign(Promise.resolve('x'), { then() { throw new Error('own then') } })
    const sync = () => Object.assign(Promise.resolve('x'), { then(done: (value: string) => void) { done('sync then') } })
    const registry = registryWith(bare('throwing', throwing), bare('sync', sync))
    assert.deepEqual([(await registry.execute('throwing', {})).code, registry.executeSync('throwing', {}).code], ['EXECUTION_FAILED', 'EXECUTION_FAILED'])
    const start = Date.now()
    assert.equal((await registry.execute('sync', {}, { timeoutMs: 15_000 })).text, 'sync then')
    assert.ok(Date.now() - start < 5_000)
  })
  test('odd answers of a schema fail the call the same way, awaited or not', async () => {
    const base = z.object({ a: z.string() })['~standard'] as any
    for (const answer of [{ issues: null }, { issues: 'abc' }, { issues: [null] }, { issues: [] }, null, 5, {}, { issues: [{ message: 'x', path: 5 }] }]) {
      for (const validate of [() => answer, async () => answer]) {
        const registry = registryWith(tool({ name: 't', description: 'T', inputSchema: { '~standard': { ...base, validate } } as never, run: () => 'ran' }))
        const response = await registry.execute('t', { a: 'x' })
        assert.deepEqual([response.code, response.executed], ['EXECUTION_FAILED', false], JSON.stringify(answer))
      }
    }
    const lone = registryWith(tool({ name: 't', description: 'T', inputSchema: { '~standard': { ...base, validate: async () => ({ issues: [{ message: 'bad \ud800', path: ['\udfff'] }] }) } } as never, run: () => 'ran' }))
    assert.equal((await lone.execute('t', { a: 'x' })).code, 'INVALID_ARGUMENTS')
    const long = registryWith(tool({ name: 't', description: 'T', inputSchema: { '~standard': { ...base, validate: () => ({ issues: [{ message: 'x'.repeat(5e6) }] }) } } as never, run: () => 'ran' }))
    assert.ok((await long.execute('t', { a: 'x' })).text.length < 2_000)
  })
})

describe('arguments are judged one way', () => {
  const odd: [string, () => unknown][] = [
    ['2**53', () => ({ n: 2 ** 53 })], ['2**60', () => ({ n: 2 ** 60 })], ['null', () => null], ['5', () => 5], ['array', () => [1]], ['date', () => new Date(0)],
    ['boxed', () => new String('{}')], ['function', () => () => 1], ['symbol', () => Symbol('x')], ['boxed bigint', () => ({ n: Object(1n) })], ['NaN', () => ({ n: Number.NaN })],
    ['negative zero', () => ({ n: -0 })], ['deep', () => JSON.parse(`${'{"a":'.repeat(126)}{}${'}'.repeat(126)}`)], ['too deep', () => JSON.parse(`${'{"a":'.repeat(130)}{}${'}'.repeat(130)}`)],
    ['undefined inside', () => ({ a: undefined, b: [undefined] })], ['toJSON', () => ({ toJSON: () => ({ a: 1 }) })], ['getter throws', () => ({ get a() { throw new Error('getter') } })],
    ['proxy', () => new Proxy({ a: 1 }, {})], ['map', () => ({ m: new Map([[1, 2]]) })], ['huge', () => ({ s: 'x'.repeat(17 << 20) })], ['own __proto__', () => JSON.parse('{"__proto__":{"x":1}}')],
  ]
  for (const [name, make] of odd) {
    test(name, async () => {
      const seen: string[] = []
      const run = (args: unknown) => { seen.push(JSON.stringify(args)); return 'ran' }
      const schemas = [{ type: 'object' }, z.looseObject({})] as const
      const outcomes = new Set<string>()
      for (const inputSchema of schemas) for (const onEvent of [undefined, () => {}]) for (const requiresConfirmation of [false, true]) {
        const registry = new ToolRegistry({ onEvent, confirm: () => true })
        registry.register(tool({ name: 't', description: 'T', inputSchema, requiresConfirmation, run }))
        const response = await registry.execute('t', make() as object)
        outcomes.add(`${response.status} ${response.code}`)
      }
      assert.equal(outcomes.size, 1, [...outcomes].join(' | '))
      // zod leaves out a key named __proto__; everything else reaches each body the same.
      if (name !== 'own __proto__') assert.ok(new Set(seen).size <= 1, seen.join(' '))
    })
  }
  test('whole numbers that a double rounds are refused however they are written', async () => {
    const registry = registryWith(bare('t', args => JSON.stringify(args)))
    for (const literal of ['9007199254740993', '9007199254740993.0', '90071992547409931e0', '0.9007199254740993e16']) assert.equal((await registry.execute('t', `{"n":${literal}}`)).code, 'INVALID_ARGUMENTS', literal)
    for (const literal of ['1e300', '0.1', '123.456e3', '1e21', '9007199254740991', '12345678901234567.5']) assert.equal((await registry.execute('t', `{"n":${literal}}`)).status, 'success', literal)
  })
})

describe('safety options', () => {
  test('a misspelt or misplaced one is refused', async () => {
    const spec = { name: 'spec', description: 'S', handler: () => 'ran', requiresConfirmation: true }
    assert.throws(() => { new ToolRegistry().register(spec) }, ours)
    assert.throws(() => new ToolRegistry({ permisions: new ToolPermissions({ allow: [] }) } as never), coded('INVALID_OPTIONS'))
    for (const wrong of [{ needsConfirmation: () => true }, { requireConfirmation: true }]) {
      assert.throws(() => tool({ name: 't', description: 'T', inputSchema: { type: 'object' }, run: () => 'x', ...wrong } as never), ours)
      assert.throws(() => { new ToolRegistry().registerFunction(() => 'x', 't', 'T', [], wrong as never) }, ours)
    }
    await assert.rejects(registryWith(bare('t', () => 'x')).execute('t', {}, { timeout: 5 } as never), coded('INVALID_OPTIONS'))
  })
  test('a native tool whose schema was replaced is checked by it', async () => {
    class Short extends CalculatorTool { override getParameters() { return z.object({ expression: z.string().max(3) }) as never } }
    const registry = registryWith(new Short())
    assert.equal((await registry.execute('calculator', { expression: '1+1+1' })).code, 'INVALID_ARGUMENTS')
    assert.equal((await registry.execute('calculator', { expression: '1+1' })).text, '2')
  })
  test('whether to ask is decided with defaults, and calls that may ask run alone', async () => {
    let open = 0
    let most = 0
    const confirm = async () => { most = Math.max(most, ++open); await sleep(5); open--; return true }
    for (const inputSchema of [{ type: 'object', properties: { force: { type: 'boolean', default: true } } }, z.object({ force: z.boolean().default(true) })]) {
      const registry = new ToolRegistry({ confirm })
      registry.register(tool({ name: 't', description: 'T', inputSchema: inputSchema as never, supportsParallel: true, requiresConfirmation: (args: any) => args.force, run: () => 'ran' }))
      assert.deepEqual([registry.needsConfirmation('t', '{}'), registry.needsConfirmation('t', { force: false })], [true, false])
      await registry.executeAll(['1', '2', '3'].map(id => ({ id, name: 't', arguments: '{}' })))
    }
    assert.equal(most, 1)
  })
  test('what a person is told does not change after registration', async () => {
    const seen: ConfirmRequest[] = []
    const registry = new ToolRegistry({ confirm: request => { seen.push(request); request.tool.run = () => 'swapped'; return true } })
    const subject = bare('t', () => 'ran', { requiresConfirmation: true })
    registry.register(subject)
    assert.throws(() => { (subject as { name: string }).name = 'safe' }, TypeError)
    assert.throws(() => { (subject as { origin: string }).origin = 'mcp:trusted' }, TypeError)
    assert.equal((await registry.execute('t', {})).text, 'ran')
    assert.deepEqual([seen[0]!.name, seen[0]!.origin], ['t', 'builtin'])
    for (const origin of [' mcp:x', 'mcp\u200b:x', 'ｍｃｐ:x', '\nmcp:x', 'builtin\n- evil: x', '']) assert.throws(() => bare('t', () => 'x', { origin }), ours, JSON.stringify(origin))
  })
})

describe('external content keeps its mark', () => {
  test('in copies, imitations and answers that are passed on', async () => {
    const registry = new ToolRegistry()
    registry.register(bare('far', () => 'from outside', { externalContent: true }))
    registry.register(bare('launder', () => registry.execute('far', {})))
    registry.register(bare('near', () => 'from here'))
    const far = await registry.execute('far', {})
    const near = await registry.execute('near', {})
    assert.equal(registry.render(near), 'from here')
    for (const copy of [far, { ...far }, JSON.parse(JSON.stringify(far)), structuredClone(far), Object.create(far), new Proxy(far, {}), await registry.execute('launder', {}), Object.assign(Object.create(ToolResponse.prototype), far)]) {
      assert.notEqual(registry.render(copy), 'from outside')
      assert.ok(registry.render(copy).includes('from outside'))
    }
    assert.equal(registry.render(ToolResponse.ok('my own')), 'my own')
    for (const wrong of [null, undefined, 'x', 5, {}]) assert.throws(() => registry.render(wrong as never), coded('INVALID_OPTIONS'))
  })
  test('look-alikes of every kind are defused', async () => {
    const names = ['external-content', 'EXTERNAL CONTENT', 'ᴇxᴛᴇʀɴᴀʟ-ᴄᴏɴᴛᴇɴᴛ', 'ėxternal-content', 'ɛxternal-content', '🄴xternal-content', '🅴xternal-content', '⒠xternal-content', 'Ꭼxternal-content', 'ꓰxternal-content', '3xternal-content', 'externaI-content', 'exـternal-content', 'ᵉxternal-content', 'external:content', 'e*x*t*e*r*n*a*l content']
    const brackets = ['<', '</', '< /', '≺', '⋖', '⦑', '˱', '&lt;', '&LT;/', '&#60;', '&#x3C;', '＜', '<"', '<*', '<(', '<[', '<~', '<`', '<=']
    for (const bracket of brackets) for (const name of names) {
      const registry = registryWith(bare('t', () => `a ${bracket}${name}> b`, { externalContent: true }))
      const shown = registry.render(await registry.execute('t', {}))
      assert.ok(!shown.includes(`${bracket}${name}> b`), `${bracket}${name}`)
    }
  })
})

describe('results', () => {
  test('what has no JSON form of its own fails, and data does not change later', async () => {
    const later = { a: 1 }
    class Account { constructor(readonly id: number) {} }
    const registry = registryWith(
      bare('generator', function* () { yield 1 }), bare('map', () => new Map([[1, 2]])), bare('error', () => new Error('x')), bare('response', () => new Response('x')),
      bare('empty', () => ({})), bare('account', () => new Account(1)), bare('later', () => later), bare('code', () => ({ ...ToolResponse.ok('x') })),
    )
    for (const name of ['generator', 'map', 'error', 'response']) assert.equal((await registry.execute(name, {})).code, 'EXECUTION_FAILED', name)
    assert.deepEqual([(await registry.execute('empty', {})).text, (await registry.execute('account', {})).text], ['{}', '{"id":1}'])
    const response = await registry.execute('later', {})
    later.a = 2
    assert.deepEqual([response.text, response.data], ['{"a":1}', { a: 1 }])
  })
  test('a turn of 200,000 calls, and one with entries that throw', { timeout: 120_000 }, async () => {
    const registry = registryWith(bare('t', ({ n }) => `${n}`, { supportsParallel: true }))
    const many = await registry.executeAll(Array.from({ length: 200_000 }, (_, n) => ({ id: `${n}`, name: 't', arguments: { n } })))
    assert.deepEqual([many.length, many[199_999]!.text], [200_000, '199999'])
    const bad = { id: 'x', name: 't', get arguments(): object { throw new Error('getter') } }
    const turn = await registry.executeAll([{ id: 'a', name: 't', arguments: { n: 1 } }, bad, { id: 'b', name: 't', arguments: { n: 2 } }])
    assert.deepEqual(turn.map(response => response.status), ['success', 'error', 'success'])
  })
})

test('wrong types get errors of ours', () => {
  const registry = registryWith(bare('t', () => 'x'))
  const attempts: (() => unknown)[] = [
    () => registry.unregister(5 as never), () => sanitizeToolName(5 as never), () => { registry.register(bare('u', () => 'x'), null as never) }, () => registry.registerAll([], null as never),
    () => { registry.registerFunction(() => 'x', 'f', 'F', [], null as never) }, () => { registry.registerCallable(() => 'x', null as never) }, () => { registry.registerCallable(() => 'x', undefined as never) },
  ]
  for (const attempt of attempts) assert.throws(attempt, ours, String(attempt))
})

describe('what newcomers tried', () => {
  test('an object of a library that cannot show itself as JSON Schema is refused', () => {
    class Old { _def = {}; parse() { return 1 } }
    for (const schema of [new Old(), { _def: {}, parse: () => 1 }, { type: 'object', safeParse: () => 1 }, () => 1]) {
      assert.throws(() => registryWith(tool({ name: 't', description: 'T', inputSchema: schema as never, run: () => 'x' })), coded('INVALID_OPTIONS'))
    }
  })
  test("the gate's own refusals are not taken for text from outside", async () => {
    const registry = registryWith(tool({ name: 't', description: 'T', externalContent: true, inputSchema: { type: 'object', required: ['a'] }, run: () => { throw new Error('far away') } }))
    const refused = await registry.execute('t', {})
    assert.equal(registry.render(refused), refused.text)
    const failed = await registry.execute('t', { a: 1 })
    assert.notEqual(registry.render(failed), failed.text)
  })
  test('every call is recorded with its arguments, also one that is refused', async () => {
    const seen: unknown[] = []
    const registry = new ToolRegistry({ permissions: new ToolPermissions({ deny: ['denied'] }), onEvent: event => { if (event.type === 'call') seen.push(event.args) } })
    registry.registerAll([bare('denied', () => 'x'), tool({ name: 't', description: 'T', inputSchema: z.object({ a: z.number().default(1) }), run: () => 'x' }), { name: 'j', description: 'J', parameters: { type: 'object', required: ['a'] }, handler: () => 'x' }])
    for (const name of ['denied', 'nobody', 't', 'j']) await registry.execute(name, { b: 2, password: 'hunter2' })
    await registry.execute('t', '[1]')
    assert.deepEqual(seen, [...Array.from({ length: 4 }, () => ({ b: 2, password: '***' })), undefined])
  })
  test("a turn takes OpenAI's calls as they come", async () => {
    const registry = registryWith(bare('t', ({ n }) => `${n}`))
    const [response] = await registry.executeAll([{ id: 'call_1', type: 'function', function: { name: 't', arguments: '{"n":3}' } } as never])
    assert.deepEqual([response!.callId, response!.text], ['call_1', '3'])
    await assert.rejects(registry.execute('t', {}, { maxConcurrency: 3 } as never), coded('INVALID_OPTIONS'))
    assert.throws(() => { registry.register(tool({ name: 'x', description: 'X', inputSchema: { type: 'object' } } as never) as never) }, /run/)
  })
})
