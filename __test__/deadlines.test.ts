// Timeouts, AbortSignal, progress, and results that come too late.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { ToolRegistry } from 'toolbolt'
import type { Progress, ToolContext } from 'toolbolt'
import { bare, deferred, sleep, unhandledDuring, within } from './support.ts'

const never = (): Promise<never> => new Promise(() => {})
const takes = (ms: number) => async () => { await sleep(ms); return 'done' }

describe('timeouts', () => {
  test('of the call, the tool and the registry; the nearest one counts', async () => {
    const registry = new ToolRegistry({ timeoutMs: 60 })
    registry.register(bare('plain', never))
    registry.register(bare('patient', takes(250), { timeoutMs: 30_000 }))
    registry.register(bare('hasty', never, { timeoutMs: 30 }))
    const results = await within(30_000, Promise.all([
      registry.execute('plain', {}), registry.execute('patient', {}), registry.execute('hasty', {}),
      registry.execute('patient', {}, { timeoutMs: 30 }), registry.execute('hasty', {}, { timeoutMs: 90 }),
    ]))
    assert.deepEqual(results.map(r => [r.status, r.code, r.executed]), [
      ['error', 'TIMEOUT', true], ['success', undefined, true], ['error', 'TIMEOUT', true], ['error', 'TIMEOUT', true], ['error', 'TIMEOUT', true],
    ])
  })
  test('without one a slow body is awaited', async () => {
    const registry = new ToolRegistry()
    registry.register(bare('slow', takes(300)))
    assert.equal((await registry.execute('slow', {})).text, 'done')
  })
  test('the clock starts with the body, not with the question', async () => {
    const registry = new ToolRegistry({ confirm: async () => { await sleep(200); return true }, timeoutMs: 150 })
    registry.register(bare('quick', takes(1), { requiresConfirmation: true }))
    assert.equal((await registry.execute('quick', {})).status, 'success')
  })
  test('the body sees it through its signal', async () => {
    const seen = deferred<ToolContext['signal']>()
    const registry = new ToolRegistry({ timeoutMs: 40 })
    registry.register(bare('listens', (_args, { signal }) => new Promise((_done, fail) => signal.addEventListener('abort', () => { seen.resolve(signal); fail(signal.reason) }))))
    assert.equal((await registry.execute('listens', {})).code, 'TIMEOUT')
    const signal = await within(10_000, seen.promise)
    assert.ok(signal.aborted && signal.reason instanceof Error)
  })
  test('a signal first read after the deadline is aborted already', async () => {
    const seen = deferred<boolean>()
    const registry = new ToolRegistry()
    registry.register(bare('reads_late', async (_args, context) => { await sleep(80); seen.resolve(context.signal.aborted); return 'late' }))
    assert.equal((await registry.execute('reads_late', {}, { timeoutMs: 20 })).code, 'TIMEOUT')
    assert.equal(await seen.promise, true)
  })
  test('a late value or a late throw has no effect', async () => {
    const registry = new ToolRegistry({ timeoutMs: 20 })
    registry.register(bare('late_value', takes(60)))
    registry.register(bare('late_throw', async () => { await sleep(60); throw new Error('late') }))
    const unhandled = await unhandledDuring(async () => {
      const [value, error] = await Promise.all([registry.execute('late_value', {}), registry.execute('late_throw', {})])
      const before = JSON.stringify([value, error])
      await sleep(100)
      assert.equal(JSON.stringify([value, error]), before)
      assert.deepEqual([value!.code, error!.code], ['TIMEOUT', 'TIMEOUT'])
    })
    assert.deepEqual(unhandled, [])
  })
  test('a hanging call holds up no other', async () => {
    const registry = new ToolRegistry()
    registry.register(bare('hangs', never))
    registry.register(bare('quick', () => 'ran'))
    const hanging = registry.execute('hangs', {}, { timeoutMs: 300 })
    for (let i = 0; i < 100; i++) assert.equal((await registry.execute('quick', {})).text, 'ran')
    assert.equal((await hanging).code, 'TIMEOUT')
  })
})

describe('AbortSignal', () => {
  test('aborted before: nothing is asked, nothing runs', async () => {
    const steps: string[] = []
    const registry = new ToolRegistry({ confirm: () => { steps.push('confirm'); return true } })
    registry.register(bare('t', () => { steps.push('run'); return 'ran' }, { requiresConfirmation: true }))
    registry.register(bare('plain', () => { steps.push('run'); return 'ran' }))
    for (const name of ['t', 'plain']) {
      const [response, executed] = await registry.executeChecked(name, {}, { signal: AbortSignal.abort(new Error('stop')) })
      assert.deepEqual([response.status, response.code, executed], ['error', 'CANCELLED', false])
    }
    assert.deepEqual(steps, [])
  })
  test('aborted while the body runs: the reason is handed on as it is', async () => {
    for (const reason of [new Error('user left'), 'plain text', { code: 7 }, undefined]) {
      const controller = new AbortController()
      const seen = deferred<unknown>()
      const registry = new ToolRegistry()
      registry.register(bare('t', (_args, { signal }) => new Promise(() => signal.addEventListener('abort', () => seen.resolve(signal.reason)))))
      const call = registry.execute('t', {}, { signal: controller.signal })
      await sleep(5)
      controller.abort(reason)
      const response = await within(10_000, call)
      assert.deepEqual([response.status, response.code, response.executed], ['error', 'CANCELLED', true])
      assert.equal(await seen.promise, controller.signal.reason)
    }
  })
  test('aborted during the question: denied, the dialog is told, a late yes has no effect', async () => {
    const controller = new AbortController()
    const answer = deferred<boolean>()
    const asked = deferred<AbortSignal>()
    let ran = 0
    const registry = new ToolRegistry({ confirm: ({ signal }) => { asked.resolve(signal); return answer.promise } })
    registry.register(bare('t', () => { ran++; return 'ran' }, { requiresConfirmation: true }))
    const call = registry.execute('t', {}, { signal: controller.signal })
    const signal = await asked.promise
    controller.abort()
    const response = await within(10_000, call)
    assert.deepEqual([response.code, response.executed, signal.aborted], ['CONFIRMATION_REJECTED', false, true])
    answer.resolve(true)
    await sleep(20)
    assert.equal(ran, 0)
  })
  test('aborted after: the response stays', async () => {
    const controller = new AbortController()
    const registry = new ToolRegistry()
    registry.register(bare('t', () => 'ran'))
    const response = await registry.execute('t', {}, { signal: controller.signal })
    controller.abort()
    await sleep(5)
    assert.deepEqual([response.status, response.text], ['success', 'ran'])
  })
  test('a body that throws the reason of its signal is cancelled, not failed', async () => {
    const controller = new AbortController()
    const registry = new ToolRegistry()
    registry.register(bare('t', async (_args, { signal }) => { while (true) { signal.throwIfAborted(); await sleep(1) } }))
    const call = registry.execute('t', {}, { signal: controller.signal })
    await sleep(5)
    controller.abort()
    assert.equal((await within(10_000, call)).code, 'CANCELLED')
    assert.equal((await registry.execute('t', {}, { signal: AbortSignal.any([AbortSignal.timeout(20)]) })).code, 'CANCELLED')
  })
  test('no listener stays on a long-lived signal', async () => {
    const { signal } = new AbortController()
    const registry = new ToolRegistry({ confirm: async () => true })
    registry.register(bare('sync', () => 'ran'))
    registry.register(bare('async', async (_args, context) => { context.signal.addEventListener('abort', () => {}); await null; return 'ran' }))
    registry.register(bare('throws', async () => { throw new Error('boom') }))
    registry.register(bare('asks', () => 'ran', { requiresConfirmation: true }))
    registry.register(bare('hangs', never, { timeoutMs: 1 }))
    for (let i = 0; i < 200; i++) {
      for (const name of ['sync', 'async', 'throws', 'asks', 'nobody']) await registry.execute(name, {}, { signal })
    }
    await Promise.all(Array.from({ length: 20 }, () => registry.execute('hangs', {}, { signal })))
    await registry.executeAll(Array.from({ length: 20 }, (_, i) => ({ id: `${i}`, name: 'async', arguments: '{}' })), { signal })
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('progress', () => {
  test('arrives in order, before the result, as it was given', async () => {
    const got: Progress[] = []
    const registry = new ToolRegistry()
    registry.register(bare('t', async (_args, { progress }) => {
      for (let i = 0; i < 100; i++) { progress({ progress: i, total: 100, message: `step ${i}` }); if (i % 10 === 0) await null }
      return 'done'
    }))
    await registry.execute('t', {}, { onProgress: update => { got.push(update) } })
    assert.deepEqual(got, Array.from({ length: 100 }, (_, i) => ({ progress: i, total: 100, message: `step ${i}` })))
  })
  test('after the end it goes nowhere, and a listener that throws breaks nothing', async () => {
    const got: Progress[] = []
    let late!: ToolContext['progress']
    const registry = new ToolRegistry()
    registry.register(bare('t', (_args, context) => { late = update => context.progress(update); context.progress({ progress: 1 }); return 'done' }))
    const unhandled = await unhandledDuring(async () => {
      assert.equal((await registry.execute('t', {}, { onProgress: update => { got.push(update); throw new Error('listener broke') } })).status, 'success')
      late({ progress: 2 })
      assert.equal((await registry.execute('t', {})).status, 'success', 'without a listener too')
    })
    assert.deepEqual([unhandled, got], [[], [{ progress: 1 }]])
  })
})
