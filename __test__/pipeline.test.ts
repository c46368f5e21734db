// One call: the order of its steps, its entries, its arguments, its context, its events, and what a caller may do wrong.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ToolError, ToolPermissions, ToolRegistry, ToolResponse } from 'toolbolt'
import type { ExecuteOptions, ToolContext, ToolEvent } from 'toolbolt'
import { bare, coded, ours, paths, sleep, unhandledDuring, wellFormed } from './support.ts'

const strict = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

/** A registry whose every step leaves a mark. */
function marked(options: ConstructorParameters<typeof ToolRegistry>[0] = {}) {
  const steps: string[] = []
  const events: ToolEvent[] = []
  const registry = new ToolRegistry({ confirm: () => { steps.push('confirm'); return true }, onEvent: event => { events.push(event) }, ...options })
  registry.registerFunction(() => { steps.push('run'); return 'ran' }, 't', 'T', [{ name: 'n', type: 'integer', description: 'n' }], { requiresConfirmation: true })
  return { registry, steps, events }
}

describe('order', () => {
  test('look up, permit, validate, confirm, run', async () => {
    const denied = marked({ permissions: new ToolPermissions({ deny: ['t', 'nobody'] }) })
    assert.equal((await denied.registry.execute('nobody', {})).code, 'TOOL_NOT_FOUND')
    assert.equal((await denied.registry.execute('t', { n: 'wrong' })).code, 'PERMISSION_DENIED')
    assert.equal((await denied.registry.execute('t', '{"broken')).code, 'PERMISSION_DENIED')
    assert.deepEqual(denied.steps, [])
    const { registry, steps } = marked()
    assert.equal((await registry.execute('t', { n: 'wrong' })).code, 'INVALID_ARGUMENTS')
    assert.deepEqual(steps, [], 'nobody is asked about arguments that cannot run')
    assert.equal((await registry.execute('t', { n: 1 })).status, 'success')
    assert.deepEqual(steps, ['confirm', 'run'])
  })
  test('setPermissions holds from the next call on', async () => {
    const { registry } = marked()
    registry.setPermissions(new ToolPermissions({ allow: [] }))
    assert.equal((await registry.execute('t', { n: 1 })).code, 'PERMISSION_DENIED')
    registry.setPermissions(null)
    assert.equal((await registry.execute('t', { n: 1 })).status, 'success')
  })
  test('an unknown name is answered with what exists, bounded', async () => {
    const registry = new ToolRegistry()
    assert.ok((await registry.execute('nobody', {})).text.includes('nobody'))
    for (let i = 0; i < 5000; i++) registry.registerFunction(() => 'ran', `a_tool_with_a_rather_long_name_${i}`, 'x')
    const { text, code } = await registry.execute('nobody', {})
    assert.equal(code, 'TOOL_NOT_FOUND')
    assert.ok(text.includes('a_tool_with_a_rather_long_name_0') && text.length < 20_000, String(text.length))
    assert.ok((await registry.execute('x'.repeat(1_000_000), {})).text.length < 20_000)
  })
  test('an error names no host path and no stack', async () => {
    const registry = new ToolRegistry()
    registry.register(bare('t', () => { throw new RangeError('boom') }))
    const { text } = await registry.execute('t', {})
    assert.match(text, /boom/)
    assert.ok(!/\n\s+at |\.test\.ts|node_modules|file:\/\//.test(text), text)
  })
})

describe('entries', () => {
  test('execute, executeChecked, executeSync and executeSyncChecked agree', async () => {
    for (const [args, status, executed] of [[{ n: 1 }, 'success', true], [{ n: 'x' }, 'error', false], ['{"n":2}', 'success', true], ['{', 'error', false]] as const) {
      const { registry } = marked()
      const [checked, ran] = await registry.executeChecked('t', args)
      const [syncChecked, syncRan] = registry.executeSyncChecked('t', args)
      for (const response of [await registry.execute('t', args), checked, registry.executeSync('t', args), syncChecked]) {
        wellFormed(response)
        assert.deepEqual([response.status, response.executed, response.origin], [status, executed, 'builtin'])
      }
      assert.deepEqual([ran, syncRan], [executed, executed])
    }
  })
  test('execute answers a promise even where everything is synchronous', async () => {
    const answer = marked().registry.execute('t', { n: 1 })
    assert.ok(answer instanceof Promise)
    assert.equal((await answer).status, 'success')
  })
  test('an asynchronous body on the synchronous path fails, as executed, with no stray rejection', async () => {
    const registry = new ToolRegistry()
    registry.register(bare('late', async () => { await sleep(1); throw new Error('late') }))
    registry.register(bare('thenable', () => ({ then(done: (value: string) => void) { done('x') } })))
    const unhandled = await unhandledDuring(async () => {
      for (const name of ['late', 'thenable']) {
        const [response, executed] = registry.executeSyncChecked(name, {})
        assert.deepEqual([response.status, response.code, executed], ['error', 'EXECUTION_FAILED', true], name)
      }
    })
    assert.deepEqual(unhandled, [])
    assert.equal((await registry.execute('thenable', {})).text, 'x', 'a thenable is awaited on the asynchronous path')
  })
  test('an asynchronous confirmation on the synchronous path denies', async () => {
    const { registry, steps } = marked({ confirm: async () => true })
    const unhandled = await unhandledDuring(async () => {
      assert.equal(registry.executeSync('t', { n: 1 }).code, 'CONFIRMATION_REJECTED')
      assert.equal(registry.executeSync('t', { n: 1 }, { confirm: () => Promise.reject(new Error('no')) as never }).code, 'CONFIRMATION_REJECTED')
    })
    assert.deepEqual([unhandled, steps], [[], []])
  })
  test('the confirm of a call comes before that of the registry', async () => {
    const { registry, steps } = marked()
    assert.equal((await registry.execute('t', { n: 1 }, { confirm: () => false })).code, 'CONFIRMATION_REJECTED')
    assert.deepEqual(steps, [])
  })
})

describe('arguments', () => {
  test('text is parsed: empty is {}, all else must be one JSON object', async () => {
    const got: unknown[] = []
    const registry = new ToolRegistry()
    registry.registerFunction(args => { got.push(args); return 'ran' }, 't', 'T')
    for (const text of ['', '{}', ' \n{ "a" : 1 }\t', '{"ü":"\\u00e9\\n"}']) assert.equal((await registry.execute('t', text)).status, 'success', text)
    assert.deepEqual(got, [{}, {}, { a: 1 }, { ü: 'é\n' }])
    for (const text of ['{', '}', '{"a":}', '{a:1}', "{'a':1}", '{"a":1,}', '{"a":1} x', '{"a":NaN}', '{"a":Infinity}', '{"a":01}', '{"a":"\n"}', '\ufeff{}x', 'null', 'undefined', '[]', '1', '"{}"', 'true', '{"a":"\\x"}', '/* */{}']) {
      const response = await registry.execute('t', text)
      assert.deepEqual([response.code, response.executed], ['INVALID_ARGUMENTS', false], JSON.stringify(text))
      assert.ok(response.text.length > 0 && response.text.length < 5_000)
    }
    assert.equal(got.length, 4)
  })
  test('values that JSON has no word for are refused', async () => {
    const { registry, steps } = marked()
    for (const args of [[], [{ n: 1 }], null, 5, true, () => 1, Symbol('x'), 1n]) {
      const response = await registry.execute('t', args as never)
      assert.deepEqual([response.code, response.executed], ['INVALID_ARGUMENTS', false])
    }
    for (const args of [{ n: 1, f: () => 1 }, { n: 1, s: Symbol('x') }, { n: 1, x: NaN }, { n: 1, x: Infinity }, { n: 1, get x() { throw new Error('getter') } }, { n: 1, toJSON() { throw new Error('toJSON') } }]) {
      const response = await registry.execute('t', args)
      assert.ok(response.code === 'INVALID_ARGUMENTS' || (response.status === 'success' && !('x' in args)), 'refused, or dropped as JSON.stringify drops it')
    }
    assert.ok(steps.length <= 4)
  })
  test('the arguments are a snapshot, and the body cannot change those of the caller', async () => {
    const args = { n: 1, list: [1] }
    const registry = new ToolRegistry({ confirm: async () => { args.n = 2; args.list.push(2); return true } })
    registry.register(bare('t', got => { const seen = JSON.stringify(got); got.n = 9; got.list.push(9); return seen }, { requiresConfirmation: true }))
    assert.equal((await registry.execute('t', args)).text, '{"n":1,"list":[1]}')
    assert.deepEqual(args, { n: 2, list: [1, 2] })
  })
  test('a wrong call lists every violation in text and data', async () => {
    const registry = new ToolRegistry()
    registry.register({ name: 't', description: 'T', parameters: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a', 'c'] }, handler: () => 'ran' })
    const response = await registry.execute('t', { a: 1, b: 'x' })
    assert.deepEqual(paths(response), ['', '/a', '/b'])
    for (const word of ['a', 'b', 'c']) assert.ok(response.text.includes(word))
  })
  test('thousands of violations and huge wrong values make a bounded answer', async () => {
    const registry = new ToolRegistry()
    registry.register({ name: 't', description: 'T', parameters: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' } } } }, handler: () => 'ran' })
    const response = await registry.execute('t', { list: Array.from({ length: 5000 }, () => 'x'.repeat(1000)) })
    assert.deepEqual([response.code, response.executed], ['INVALID_ARGUMENTS', false])
    assert.ok(response.text.length <= 101_000, String(response.text.length))
  })
})

describe('context', () => {
  test('carries callId, origin, state, signal and progress', async () => {
    const contexts: ToolContext[] = []
    const registry = new ToolRegistry()
    registry.register(bare('t', (_args, context) => { contexts.push(context); context.progress({ progress: 1 }); return `${context.signal.aborted}` }, { origin: 'crm' }))
    const state = { user: 'ann' }
    const response = await registry.execute('t', {}, { callId: 'call-1', state })
    assert.deepEqual([response.text, response.callId, response.origin], ['false', 'call-1', 'crm'])
    assert.deepEqual([contexts[0]!.callId, contexts[0]!.origin], ['call-1', 'crm'])
    assert.equal(contexts[0]!.state, state)
    assert.ok(contexts[0]!.signal instanceof AbortSignal)
    assert.equal(contexts[0]!.signal, contexts[0]!.signal)
  })
  test('ids made for calls are all different, and reach the confirmation', async () => {
    const asked: string[] = []
    const registry = new ToolRegistry({ confirm: ({ callId }) => { asked.push(callId); return true } })
    registry.register(bare('t', (_args, { callId }) => callId, { requiresConfirmation: true }))
    const responses = await Promise.all(Array.from({ length: 200 }, () => registry.execute('t', {})))
    assert.equal(new Set(responses.map(r => r.callId)).size, 200)
    assert.deepEqual(responses.map(r => r.text), responses.map(r => r.callId))
    assert.deepEqual([...asked].sort(), responses.map(r => r.callId!).sort())
  })
  test('the request of a confirmation is complete', async () => {
    const registry = new ToolRegistry()
    const subject = bare('t', () => 'ran', { requiresConfirmation: true, origin: 'crm' })
    registry.register(subject)
    await registry.execute('t', { a: [1] }, {
      callId: 'c', confirm: request => {
        assert.equal(request.tool, subject)
        assert.deepEqual([request.name, request.origin, request.callId, request.args], ['t', 'crm', 'c', { a: [1] }])
        assert.ok(request.signal instanceof AbortSignal && !request.signal.aborted && request.preview.length > 0)
        return true
      },
    }).then(response => assert.equal(response.status, 'success'))
  })
})

describe('events', () => {
  const types = (events: ToolEvent[]) => events.map(event => event.type)
  test('their order and shape', async () => {
    const ok = marked()
    await ok.registry.execute('t', { n: 1 }, { callId: 'c1' })
    assert.deepEqual(types(ok.events), ['call', 'confirmed', 'executed', 'finished'])
    for (const event of ok.events) {
      assert.deepEqual([event.callId, event.name, event.origin], ['c1', 't', 'builtin'])
      assert.ok(Number.isFinite(event.timeMs) && event.timeMs >= 0)
    }
    assert.equal(ok.events[3]!.status, 'success')
    const wrong = marked()
    await wrong.registry.execute('t', { n: 'x' })
    assert.ok(!types(wrong.events).includes('executed') && types(wrong.events)[0] === 'call')
    assert.deepEqual([wrong.events.at(-1)!.type, wrong.events.at(-1)!.status, wrong.events.at(-1)!.code], ['finished', 'error', 'INVALID_ARGUMENTS'])
    const denied = marked({ permissions: new ToolPermissions({ deny: ['t'] }) })
    await denied.registry.execute('t', { n: 1 })
    assert.deepEqual(types(denied.events), ['call', 'denied', 'finished'])
    assert.equal(denied.events[2]!.code, 'PERMISSION_DENIED')
    const rejected = marked({ confirm: () => false })
    await rejected.registry.execute('t', { n: 1 })
    assert.ok(!types(rejected.events).includes('executed') && !types(rejected.events).includes('confirmed'))
    assert.equal(rejected.events.at(-1)!.code, 'CONFIRMATION_REJECTED')
    const unknown = marked()
    await unknown.registry.execute('nobody', {})
    assert.deepEqual([types(unknown.events)[0], unknown.events.at(-1)!.type, unknown.events.at(-1)!.code], ['call', 'finished', 'TOOL_NOT_FOUND'])
  })
  test('every call has one call and one finished event, synchronous ones too', async () => {
    const { registry, events } = marked()
    await Promise.all(Array.from({ length: 50 }, (_, n) => registry.execute('t', { n })))
    registry.executeSync('t', { n: 1 })
    await registry.executeAll([{ id: 'x', name: 't', arguments: '{"n":1}' }, { id: 'y', name: 'nobody', arguments: '' }])
    assert.equal(events.filter(event => event.type === 'call').length, 53)
    assert.equal(events.filter(event => event.type === 'finished').length, 53)
  })
  test('a listener that throws breaks no call', async () => {
    const { registry, steps } = marked({ onEvent: () => { throw new Error('logger broke') } })
    const unhandled = await unhandledDuring(async () => assert.equal((await registry.execute('t', { n: 1 })).status, 'success'))
    assert.deepEqual([unhandled, steps], [[], ['confirm', 'run']])
    assert.equal(registry.executeSync('t', { n: 1 }).status, 'success')
  })
})

describe('mistakes of the caller', () => {
  test('wrong registry options', () => {
    for (const wrong of [{ timeoutMs: 'x' }, { timeoutMs: -1 }, { timeoutMs: NaN }, { confirmTimeoutMs: 'x' }, { maxTextChars: -1 }, { maxTextChars: 'x' }, { confirm: true }, { onEvent: 'log' }, { permissions: {} }, { prompts: {} }]) {
      assert.throws(() => new ToolRegistry(wrong as never), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
    }
    for (const wrong of ['x', 5, true]) assert.throws(() => new ToolRegistry(wrong as never), coded('INVALID_OPTIONS'))
  })
  test('wrong call options', async () => {
    const { registry, steps } = marked()
    for (const wrong of [{ timeoutMs: 'x' }, { timeoutMs: -1 }, { timeoutMs: NaN }, { confirmTimeoutMs: {} }, { signal: {} }, { signal: 'x' }, { confirm: true }, { onProgress: 1 }, { callId: 5 }]) {
      await assert.rejects(registry.execute('t', { n: 1 }, wrong as unknown as ExecuteOptions), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
      await assert.rejects(registry.executeChecked('t', { n: 1 }, wrong as unknown as ExecuteOptions), coded('INVALID_OPTIONS'))
    }
    for (const wrong of [{ confirm: true }, { callId: 5 }]) assert.throws(() => registry.executeSync('t', { n: 1 }, wrong as never), coded('INVALID_OPTIONS'))
    for (const name of [5, null, undefined, {}]) await assert.rejects(registry.execute(name as never, {}), ours)
    assert.deepEqual(steps, [])
  })
  test('a closed registry refuses everything, closing twice is fine', async () => {
    const { registry } = marked()
    await registry.close()
    await registry.close()
    await assert.rejects(registry.execute('t', { n: 1 }), coded('CLOSED'))
    await assert.rejects(registry.executeChecked('t', { n: 1 }), coded('CLOSED'))
    await assert.rejects(registry.executeAll([{ id: '1', name: 't', arguments: '{"n":1}' }]), coded('CLOSED'))
    assert.throws(() => registry.executeSync('t', { n: 1 }), coded('CLOSED'))
    assert.throws(() => registry.executeSyncChecked('t', { n: 1 }), coded('CLOSED'))
    const other = marked().registry
    await other[Symbol.asyncDispose]()
    await assert.rejects(other.execute('t', { n: 1 }), (error: unknown) => ToolError.isInstance(error) && error.code === 'CLOSED')
  })
})

test('a schema with as const runs as declared', async () => {
  const registry = new ToolRegistry()
  registry.register({ name: 't', description: 'T', parameters: strict, handler: ({ n }: { n: number }) => ToolResponse.ok(`${n}`, { n }) })
  assert.deepEqual((await registry.execute('t', '{"n":3}')).data, { n: 3 })
})
