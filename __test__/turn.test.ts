// executeAll: a whole turn of calls, as a model sends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToolError, ToolPermissions, ToolRegistry, ToolResponse } from 'toolbolt'
import type { ToolCall } from 'toolbolt'
import { bare, coded, deferred, sleep, unhandledDuring, wellFormed, within } from './support.ts'

const call = (id: string, name: string, args: string | object = '{}'): ToolCall => ({ id, name, arguments: args })

/** Tools `P` (parallel) and `S` (serial) that note how many run at once. */
function counting(options: ConstructorParameters<typeof ToolRegistry>[0] = {}) {
  const log: string[] = []
  const peak = { all: 0, serial: 0 }
  let now = 0
  const body = (kind: string) => async ({ ms = 5 }: { ms?: number }, { callId }: { callId: string }) => {
    log.push(`+${callId}`)
    peak.all = Math.max(peak.all, ++now)
    if (kind === 'S') peak.serial = Math.max(peak.serial, now)
    await sleep(ms)
    now--
    log.push(`-${callId}`)
    return callId
  }
  const registry = new ToolRegistry(options)
  registry.register(bare('P', body('P'), { supportsParallel: true }))
  registry.register(bare('S', body('S')))
  registry.register(bare('C', body('C'), { supportsParallel: true, requiresConfirmation: true }))
  registry.register(bare('boom', async () => { await sleep(1); throw new Error('boom') }, { supportsParallel: true }))
  return { registry, log, peak }
}

test('results come in call order, however long each call takes', async () => {
  const { registry } = counting()
  const calls = [50, 1, 30, 5, 20].map((ms, i) => call(`c${i}`, 'P', { ms }))
  assert.deepEqual((await registry.executeAll(calls)).map(r => [r.callId, r.text]), calls.map(c => [c.id, c.id]))
})

test('an empty turn has no results', async () => assert.deepEqual(await counting().registry.executeAll([]), []))

test('maxConcurrency bounds what runs at once, 8 by default', async () => {
  const calls = Array.from({ length: 40 }, (_, i) => call(`${i}`, 'P'))
  for (const [options, most] of [[undefined, 8], [{ maxConcurrency: 3 }, 3], [{ maxConcurrency: 1 }, 1], [{ maxConcurrency: 100 }, 40]] as const) {
    const { registry, peak } = counting()
    await registry.executeAll(calls, options)
    assert.equal(peak.all, most)
  }
  for (const maxConcurrency of [0, -1, 1.5, NaN, '2', null]) await assert.rejects(counting().registry.executeAll(calls, { maxConcurrency: maxConcurrency as never }), coded('INVALID_OPTIONS'), String(maxConcurrency))
})

test('a place that gets free is taken at once: one slow call does not hold up its batch', async () => {
  const { registry, log } = counting()
  await registry.executeAll([call('slow', 'P', { ms: 400 }), ...Array.from({ length: 10 }, (_, i) => call(`${i}`, 'P', { ms: 5 }))], { maxConcurrency: 2 })
  assert.equal(log.at(-1), '-slow')
})

test('a serial call runs alone and in its place', async () => {
  const { registry, log, peak } = counting()
  await registry.executeAll([call('a', 'P'), call('b', 'P'), call('c', 'S'), call('d', 'S'), call('e', 'P'), call('f', 'P')])
  assert.equal(peak.serial, 1)
  assert.equal(peak.all, 2)
  assert.deepEqual(log.slice(4, 8), ['+c', '-c', '+d', '-d'])
  assert.deepEqual([log.slice(0, 4).sort(), log.slice(8).sort()], [['+a', '+b', '-a', '-b'], ['+e', '+f', '-e', '-f']])
})

test('a failing call costs no other its result', async () => {
  const { registry } = counting()
  const unhandled = await unhandledDuring(async () => {
    const responses = await registry.executeAll([call('a', 'P'), call('b', 'boom'), call('c', 'P'), call('d', 'nobody'), call('e', 'P', '{'), call('f', 'S')])
    assert.deepEqual(responses.map(r => [r.callId, r.code, r.executed]), [
      ['a', undefined, true], ['b', 'EXECUTION_FAILED', true], ['c', undefined, true], ['d', 'TOOL_NOT_FOUND', false], ['e', 'INVALID_ARGUMENTS', false], ['f', undefined, true],
    ])
    responses.forEach(wellFormed)
  })
  assert.deepEqual(unhandled, [])
})

test('confirmations are asked one at a time, in order, and never beside a running call', async () => {
  let open = 0
  const asked: string[] = []
  const { registry, log } = counting({
    confirm: async ({ callId }) => {
      assert.equal(++open, 1)
      assert.equal(log.length % 2, 0, 'nothing runs while a person is asked')
      asked.push(callId)
      await sleep(10)
      open--
      return callId !== 'c'
    },
  })
  const responses = await registry.executeAll([call('a', 'P'), call('b', 'C'), call('c', 'C'), call('d', 'C'), call('e', 'P')])
  assert.deepEqual(asked, ['b', 'c', 'd'])
  assert.deepEqual(responses.map(r => r.code), [undefined, undefined, 'CONFIRMATION_REJECTED', undefined, undefined])
  assert.deepEqual(log, ['+a', '-a', '+b', '-b', '+d', '-d', '+e', '-e'])
})

test('whether a call needs a confirmation is decided by its own arguments', async () => {
  const { registry, peak } = counting({ confirm: () => true })
  registry.register(bare('mixed', async () => { await sleep(5); return 'ran' }, { supportsParallel: true, requiresConfirmation: ({ wipe }) => wipe === true }))
  const asked: unknown[] = []
  const responses = await registry.executeAll([call('a', 'mixed'), call('b', 'mixed', { wipe: true }), call('c', 'mixed')], { confirm: ({ args }) => { asked.push(args); return true } })
  assert.deepEqual([asked, responses.map(r => r.status), peak.all], [[{ wipe: true }], ['success', 'success', 'success'], 0])
})

test('denied calls are answered and nobody is asked', async () => {
  const { registry, log } = counting({ permissions: new ToolPermissions({ deny: ['C'] }), confirm: () => assert.fail('asked') })
  const responses = await registry.executeAll([call('a', 'C'), call('b', 'P')])
  assert.deepEqual(responses.map(r => r.code), ['PERMISSION_DENIED', undefined])
  assert.deepEqual(log, ['+b', '-b'])
})

test('an abort in the middle: every call is answered, those not begun do not run', async () => {
  const controller = new AbortController()
  const begun = deferred()
  const { registry, log } = counting()
  registry.register(bare('waits', (_args, { callId }) => { log.push(`+${callId}`); begun.resolve(); return new Promise(() => {}) }))
  const turn = registry.executeAll([call('a', 'P'), call('b', 'waits'), call('c', 'P'), call('d', 'S'), call('e', 'nobody')], { signal: controller.signal })
  await begun.promise
  controller.abort()
  const responses = await within(10_000, turn)
  assert.deepEqual(responses.map(r => r.callId), ['a', 'b', 'c', 'd', 'e'])
  assert.deepEqual(responses.slice(0, 4).map(r => [r.code, r.executed]), [[undefined, true], ['CANCELLED', true], ['CANCELLED', false], ['CANCELLED', false]])
  assert.equal(responses[4]!.status, 'error')
  assert.deepEqual(log, ['+a', '-a', '+b'])
})

test('an abort reaches every running call of a batch', async () => {
  const { registry } = counting()
  let aborted = 0
  registry.register(bare('waits', (_args, { signal }) => new Promise(() => signal.addEventListener('abort', () => { aborted++ })), { supportsParallel: true }))
  const responses = await within(10_000, registry.executeAll(Array.from({ length: 12 }, (_, i) => call(`${i}`, 'waits')), { signal: AbortSignal.timeout(50), maxConcurrency: 4 }))
  assert.deepEqual(responses.map(r => [r.code, r.executed]), Array.from({ length: 12 }, (_, i) => ['CANCELLED', i < 4]))
  assert.equal(aborted, 4)
})

test('timeoutMs holds for each call, not for the turn', async () => {
  const { registry } = counting()
  const responses = await registry.executeAll([call('a', 'S', { ms: 60 }), call('b', 'S', { ms: 60 }), call('c', 'S', { ms: 5000 }), call('d', 'S', { ms: 60 })], { timeoutMs: 600 })
  assert.deepEqual(responses.map(r => r.code), [undefined, undefined, 'TIMEOUT', undefined])
})

test('duplicate ids: each call has its own result', async () => {
  const { registry } = counting()
  registry.register(bare('say', ({ text }) => text, { supportsParallel: true }))
  const responses = await registry.executeAll([call('same', 'say', { text: 'one' }), call('same', 'say', { text: 'two' }), call('same', 'nobody')])
  assert.deepEqual(responses.map(r => [r.callId, r.status]), [['same', 'success'], ['same', 'success'], ['same', 'error']])
  assert.deepEqual(responses.slice(0, 2).map(r => r.text), ['one', 'two'])
})

test('the confirmation of a duplicate id binds to its own call', async () => {
  const { registry } = counting()
  registry.register(bare('say', ({ text }) => text, { requiresConfirmation: true }))
  const responses = await registry.executeAll([call('same', 'say', { text: 'one' }), call('same', 'say', { text: 'two' })], { confirm: ({ args }) => args.text === 'two' })
  assert.deepEqual(responses.map(r => r.code), ['CONFIRMATION_REJECTED', undefined])
  assert.equal(responses[1]!.text, 'two')
})

test('bad arguments of an entry are answered in their place', async () => {
  const { registry, log } = counting()
  const calls = [call('a', 'P'), ...[5, true, [], '[]', '5', '"x"', '{"a":1,"a":2}'].map((args, i) => ({ id: `bad${i}`, name: 'P', arguments: args })), call('z', 'P')]
  const responses = await registry.executeAll(calls as ToolCall[])
  assert.equal(responses.length, calls.length)
  assert.deepEqual([responses[0]!.status, responses.at(-1)!.status], ['success', 'success'])
  assert.deepEqual([...new Set(responses.slice(1, -1).map(r => `${r.code} ${r.executed}`))], ['INVALID_ARGUMENTS false'])
  assert.equal(log.length, 4)
})

test('entries that are no calls: refused before anything runs, or answered in their place', async () => {
  for (const bad of [null, undefined, 5, 'P', {}, { id: 'x' }, { id: 'x', name: 5, arguments: '{}' }, { id: 5, name: 'P', arguments: '{}' }]) {
    const { registry, log } = counting()
    let responses: ToolResponse[]
    try {
      responses = await registry.executeAll([call('a', 'P'), bad as never, call('b', 'P')])
    } catch (error) {
      assert.ok(ToolError.isInstance(error) && error.code === 'INVALID_OPTIONS', String(error))
      assert.deepEqual(log, [], 'refused as a whole, so nothing has run')
      continue
    }
    assert.deepEqual(responses.map(r => r.status), ['success', 'error', 'success'])
    assert.equal(responses[1]!.executed, false)
  }
  for (const wrong of [null, 5, 'x', {}]) await assert.rejects(counting().registry.executeAll(wrong as never), coded('INVALID_OPTIONS'))
})

test('the array may change while the turn runs', async () => {
  const { registry } = counting()
  const calls = [call('a', 'S'), call('b', 'S'), call('c', 'S')]
  const turn = registry.executeAll(calls)
  calls.length = 0
  assert.deepEqual((await turn).map(r => r.text), ['a', 'b', 'c'])
})

test('state and progress reach every call', async () => {
  const { registry } = counting()
  const state = { turn: 1 }
  const got: number[] = []
  registry.register(bare('t', ({ n }, context) => { assert.equal(context.state, state); context.progress({ progress: n }); return 'ran' }))
  const responses = await registry.executeAll([1, 2, 3].map(n => call(`${n}`, 't', { n })), { state, onProgress: ({ progress }) => { got.push(progress) } })
  assert.deepEqual([responses.map(r => r.status), got], [['success', 'success', 'success'], [1, 2, 3]])
})

test('1,000 mixed calls', async () => {
  const { registry, peak } = counting({ confirm: ({ callId }) => Number(callId) % 2 === 0 })
  registry.register(bare('quick', ({ n }) => n, { supportsParallel: true }))
  const names = ['quick', 'quick', 'quick', 'C', 'boom', 'nobody', 'quick']
  const calls = Array.from({ length: 1000 }, (_, i) => call(`${i}`, names[i % names.length]!, JSON.stringify({ n: i, ms: 0 })))
  const responses = await registry.executeAll(calls)
  responses.forEach((response, i) => {
    wellFormed(response)
    assert.equal(response.callId, `${i}`)
    const expected = { quick: undefined, C: i % 2 ? 'CONFIRMATION_REJECTED' : undefined, boom: 'EXECUTION_FAILED', nobody: 'TOOL_NOT_FOUND' }[calls[i]!.name]
    assert.equal(response.code, expected)
  })
  assert.equal(peak.all, 1, 'what asks never runs beside another')
})
