// 100,000 random calls over tools of every kind. TOOLBOLT_SEED repeats a run; the seed is printed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { CalculatorTool, Tool, ToolError, ToolPermissions, ToolRegistry, ToolResponse, tool } from 'toolbolt'
import type { ConfirmRequest, InputSchema, ToolContext, ToolEvent } from 'toolbolt'
import { bare, prng, sleep, wellFormed } from './support.ts'

const CALLS = 100_000
const ROUND = 250

test(`${CALLS} random calls`, { timeout: 600_000 }, async t => {
  const seed = Number(process.env.TOOLBOLT_SEED ?? Date.now() % 2 ** 31)
  t.diagnostic(`seed ${seed}`)
  console.log(`property.test.ts: TOOLBOLT_SEED=${seed}`)
  const random = prng(seed)
  const { int, chance, pick } = random

  /** Bodies entered, by tool. */
  const entered = new Map<string, number>()
  const enter = (name: string) => { entered.set(name, (entered.get(name) ?? 0) + 1) }
  /** Ids of the calls whose body was entered, where the body knows its id. */
  const ids = new Set<string>()
  const known = (name: string, body: (args: any, context: ToolContext) => unknown) => (args: any, context: ToolContext) => { enter(name); ids.add(context.callId); return body(args, context) }
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle

  class Sub extends Tool<{ n?: number }> {
    override supportsParallel = true
    getParameters(): InputSchema { return [{ name: 'n', type: 'integer', description: 'n', required: false, default: 1 }] }
    override needsConfirmation({ n }: { n?: number }) { if (n === 13) throw new Error('odd'); return (n ?? 0) > 50 }
    run(args: { n?: number }, context: ToolContext) { return known('sub', ({ n }) => ToolResponse.ok(`${n}`, { n }))(args, context) as ToolResponse }
  }
  const events: Record<ToolEvent['type'], number> = { call: 0, denied: 0, confirmed: 0, executed: 0, finished: 0 }
  const registry = new ToolRegistry({
    permissions: new ToolPermissions({ deny: ['denied'], denyOrigins: ['lab'] }),
    confirm: ({ callId }: ConfirmRequest) => { const kind = callId.length % 5; if (kind === 0) throw new Error('dialog broke'); return kind === 1 ? new Promise(done => setImmediate(done, true)) : kind === 2 ? 'yes' as never : kind === 3 },
    onEvent: event => { events[event.type]++; if (event.callId.endsWith('7')) throw new Error('logger broke') },
  })
  const bodies: Record<string, (args: any, context: ToolContext) => unknown> = {
    sync: ({ n }) => n, object: args => args, nothing: () => undefined, throws: () => { throw new Error('boom') }, throws_text: () => { throw 'boom' },
    rejects: async () => { await null; throw new TypeError('boom') }, slow: async () => { await new Promise(setImmediate); return 'slow' }, fn: () => () => 1, bigint: () => 1n, cycle: () => cycle,
    partial: () => ToolResponse.partial('half'), error: async () => ToolResponse.error('no'), progress: (_args, context) => { context.progress({ progress: 1 }); return `${context.signal.aborted}` },
  }
  for (const [name, body] of Object.entries(bodies)) registry.register(bare(name, known(name, body), { supportsParallel: name.length % 2 === 0, externalContent: name === 'slow' }))
  registry.register(bare('hangs', known('hangs', () => new Promise(() => {})), { timeoutMs: 2 }))
  registry.register(bare('late', known('late', async () => { await sleep(8); throw new Error('late') }), { timeoutMs: 3, supportsParallel: true }))
  registry.register(bare('asks', known('asks', () => 'asked'), { requiresConfirmation: true }))
  registry.register(bare('denied', known('denied', () => 'never')))
  registry.register(bare('lab', known('lab', () => 'never'), { origin: 'lab' }))
  registry.register(tool({ name: 'zod', description: 'Z', inputSchema: z.object({ n: z.number().int().default(1), s: z.string().optional() }), run: known('zod', ({ n }) => n) as never }))
  registry.register(new Sub('sub', 'S'))
  registry.register(new CalculatorTool())
  registry.register({ name: 'spec', description: 'S', parameters: { type: 'object', properties: { n: { type: 'integer' } } }, handler: ({ n }) => { enter('spec'); return `${n}` } })
  registry.register({ name: 'hollow', description: 'H' })
  registry.registerFunction(args => { enter('function'); return JSON.stringify(args) }, 'function', 'F', [{ name: 'n', type: 'integer', description: 'n' }])
  registry.registerCallable(function callable(n: number, s = 'x') { enter('callable'); return `${n}${s}` }, { description: 'C', inputSchema: { type: 'object', properties: { n: {}, s: {} } } })
  const counted = registry.listTools().map(t => t.name).filter(name => name !== 'calculator')
  const names = registry.listTools().map(t => t.name)
  const rare = ['hangs', 'late']

  const garbageText = () => Array.from({ length: int(12) }, () => pick(['{', '}', '"', ':', ',', '[', ']', 'n', '1', '\\', '\u0000', '\ud800', '😀', ' ', 'null', '-', '.'])).join('')
  const value = (depth: number): unknown => {
    switch (int(depth > 3 ? 9 : 12)) {
      case 0: return null
      case 1: return chance(0.5)
      case 2: return int(100)
      case 3: return (random.next() - 0.5) * 1e21
      case 4: return garbageText()
      case 5: return undefined
      case 6: return pick([NaN, Infinity, -0, 2 ** 53, 1n, Symbol('s'), () => 1, new Date(0), new Map()])
      case 7: return 'x'.repeat(int(50))
      case 8: return cycle
      case 9: return Array.from({ length: int(4) }, () => value(depth + 1))
      default: return Object.fromEntries(Array.from({ length: int(4) }, () => [pick(['n', 's', 'expression', '__proto__', 'constructor', 'a/b', '']), value(depth + 1)]))
    }
  }
  const args = (): any => {
    switch (int(8)) {
      case 0: return garbageText()
      case 1: return value(0)
      case 2: return ''
      case 3: return JSON.stringify({ n: int(100), s: 'text' })
      case 4: return { n: pick([1, 13, 60, '1', null, 1.5, 2 ** 53]) }
      case 5: return { expression: pick(['1+1', '2**99', '1/0', '((((', '', '9**9**9']), n: 1 }
      default: return { n: int(100), s: 'text' }
    }
  }
  const name = (): string => chance(0.03) ? pick(['nobody', '', '__proto__', 'a.b', 'x'.repeat(300)]) : chance(0.004) ? pick(rare) : pick(names.filter(each => !rare.includes(each)))

  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.on('unhandledRejection', note)
  let made = 0
  let mistakes = 0
  const executed = new Map<string, number>()
  const withIds = new Set([...Object.keys(bodies), 'hangs', 'late', 'asks', 'denied', 'lab', 'zod', 'sub'])

  const check = (called: string, response: unknown, ran?: boolean) => {
    wellFormed(response)
    if (ran !== undefined) assert.equal(response.executed, ran)
    if (response.executed) executed.set(called, (executed.get(called) ?? 0) + 1)
    if (withIds.has(called)) assert.equal(ids.has(response.callId!), response.executed, `${called}: executed says whether the body was entered`)
    assert.equal(typeof registry.render(response), 'string')
    JSON.stringify(response)
  }
  const one = async (): Promise<void> => {
    const called = name()
    const callId = `${'c'.repeat(int(5))}${made++}`
    if (chance(0.01)) {
      mistakes++
      await assert.rejects(registry.execute(called, args(), { timeoutMs: 'soon' as never }), error => ToolError.isInstance(error) && error.code === 'INVALID_OPTIONS')
      return
    }
    if (chance(0.15)) return check(called, ...registry.executeSyncChecked(called, args(), { callId }))
    const signal = chance(0.02) ? chance(0.5) ? AbortSignal.abort() : AbortSignal.timeout(1 + int(3)) : undefined
    return check(called, ...await registry.executeChecked(called, args(), { callId, signal }))
  }
  const several = async (): Promise<void> => {
    const calls = Array.from({ length: 1 + int(8) }, () => ({ id: `${'t'.repeat(int(5))}${made++}`, name: name(), arguments: args() }))
    const responses = await registry.executeAll(calls, { maxConcurrency: 1 + int(10) })
    assert.deepEqual(responses.map(r => r.callId), calls.map(c => c.id))
    responses.forEach((response, i) => check(calls[i]!.name, response))
  }

  try {
    while (made < CALLS) {
      const until = Math.min(made + ROUND, CALLS)
      const work: Promise<void>[] = []
      while (made < until) work.push(chance(0.05) ? several() : one())
      await Promise.all(work)
      for (const each of counted) assert.equal(executed.get(each) ?? 0, entered.get(each) ?? 0, `${each}: as many executed as entered`)
    }
    await sleep(50)
  } finally {
    process.off('unhandledRejection', note)
  }
  assert.deepEqual(unhandled, [])
  assert.ok(made >= CALLS && mistakes > 0)
  assert.equal(events.call, made - mistakes)
  assert.equal(events.finished, events.call)
  assert.ok((entered.get('denied') ?? 0) === 0 && (entered.get('lab') ?? 0) === 0, 'what is denied never ran')
  for (const each of counted.filter(each => !['denied', 'lab', 'hollow'].includes(each))) assert.ok((entered.get(each) ?? 0) > 0, `${each} was reached`)
  assert.equal(({} as { n?: unknown }).n, undefined, 'nothing was polluted')
  t.diagnostic(`${made} calls, ${[...executed.values()].reduce((a, b) => a + b, 0)} executed, ${mistakes} mistakes of the caller`)
})
