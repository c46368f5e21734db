// Calls that do not begin in JavaScript: every JavaScript tool and every confirm callback must be reachable from another thread.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { CalculatorTool, MCPClient, ToolPermissions, ToolRegistry, type ConfirmRequest, type ToolEvent, tool } from 'toolbolt'
import { operation } from '../dist/dispatch.js'

// Not part of the types: nothing outside the package may use it.
const { insideOf } = (await import('../dist/registry.js')) as any

async function fromRust(registry: ToolRegistry, name: string, args: string, signal?: AbortSignal): Promise<any> {
  return JSON.parse(await operation(token => { insideOf(registry).native.execute(token, name, args, `rust-${name}`) }, undefined, signal))
}

const asks = { type: 'object', properties: { path: { type: 'string' } } } as const

test('JavaScript tools of every kind run, with validation, defaults and confirmation', async () => {
  const asked: ConfirmRequest[] = []
  const registry = new ToolRegistry({ confirm: async request => { asked.push(request); return request.args.path !== 'no' } })
  registry.register(tool({ name: 'sync', description: 'S', inputSchema: z.object({ n: z.number().default(2) }), run: ({ n }) => `${n}` }))
  registry.register(tool({ name: 'later', description: 'L', inputSchema: asks, run: async ({ path }, { callId }) => `${path} ${callId}` }))
  registry.register(tool({ name: 'risky', description: 'R', inputSchema: asks, requiresConfirmation: true, run: ({ path }) => `did ${path}` }))
  registry.register(tool({ name: 'throws', description: 'T', inputSchema: asks, run: () => { throw new TypeError('broken') } }))
  assert.equal((await fromRust(registry, 'sync', '{}')).text, '2')
  assert.equal((await fromRust(registry, 'sync', '{"n":"x"}')).code, 'INVALID_ARGUMENTS')
  assert.equal((await fromRust(registry, 'later', '{"path":"a"}')).text, 'a rust-later')
  assert.equal((await fromRust(registry, 'risky', '{"path":"a"}')).text, 'did a')
  assert.equal((await fromRust(registry, 'risky', '{"path":"no"}')).code, 'CONFIRMATION_REJECTED')
  assert.deepEqual(asked.map(request => [request.name, request.args.path, request.callId]), [['risky', 'a', 'rust-risky'], ['risky', 'no', 'rust-risky']])
  const failed = await fromRust(registry, 'throws', '{}')
  assert.deepEqual([failed.code, failed.executed], ['EXECUTION_FAILED', true])
  assert.equal((await fromRust(registry, 'nobody', '{}')).code, 'TOOL_NOT_FOUND')
})

test('permissions hold, and nothing is asked of a denied tool', async () => {
  let asked = 0
  const registry = new ToolRegistry({ permissions: new ToolPermissions({ deny: ['risky', 'calculator'] }), confirm: () => { asked++; return true } })
  registry.register(tool({ name: 'risky', description: 'R', inputSchema: asks, requiresConfirmation: true, run: () => 'ran' }))
  registry.register(new CalculatorTool())
  assert.equal((await fromRust(registry, 'risky', '{}')).code, 'PERMISSION_DENIED')
  assert.equal((await fromRust(registry, 'calculator', '{"expression":"1"}')).code, 'PERMISSION_DENIED')
  assert.equal(asked, 0)
})

test('the confirmation of a native tool is asked in JavaScript; only strict true passes', async () => {
  const fixture = new URL('./fixtures/hostile-server.mjs', import.meta.url)
  await using client = await MCPClient.connect({ namespace: 'far', command: process.execPath, args: [fixture.pathname] })
  const [remote] = await client.loadTools()
  assert.ok(remote)
  const answers: (() => unknown)[] = [() => true, () => false, () => 'yes', () => 1, () => undefined, async () => false, async () => { throw new Error('no') }]
  const expected = [true, false, false, false, false, false, false]
  for (const [index, answer] of answers.entries()) {
    const seen: ConfirmRequest[] = []
    const registry = new ToolRegistry({ confirm: request => { seen.push(request); return answer() as boolean } })
    registry.register(remote)
    const response = await fromRust(registry, remote.name, '{}')
    assert.equal(response.code !== 'CONFIRMATION_REJECTED', expected[index], String(index))
    assert.deepEqual(seen.map(request => [request.tool === remote, request.origin, typeof request.preview]), [[true, 'mcp:far', 'string']])
  }
  const silent = new ToolRegistry()
  silent.register(remote)
  assert.equal((await fromRust(silent, remote.name, '{}')).code, 'CONFIRMATION_REQUIRED')
  const throwing = new ToolRegistry({ confirm: () => { throw new Error('callback broke') } })
  throwing.register(remote)
  assert.equal((await fromRust(throwing, remote.name, '{}')).code, 'CONFIRMATION_REJECTED')
  const slow = new ToolRegistry({ confirm: () => new Promise(() => {}), confirmTimeoutMs: 50 })
  slow.register(remote)
  assert.equal((await fromRust(slow, remote.name, '{}')).code, 'CONFIRMATION_REJECTED')
})

test('cancelling ends a call that JavaScript does not finish', { timeout: 30_000 }, async () => {
  let aborted = false
  const registry = new ToolRegistry()
  registry.register(tool({ name: 'hangs', description: 'H', inputSchema: asks, run: (_args, { signal }) => new Promise<string>(() => { signal.addEventListener('abort', () => { aborted = true }) }) }))
  const call = fromRust(registry, 'hangs', '{}', AbortSignal.timeout(50))
  const response = await call
  assert.deepEqual([response.code, response.executed, aborted], ['CANCELLED', true, true])
})

test('events of native calls arrive, in order', async () => {
  const events: ToolEvent[] = []
  const registry = new ToolRegistry({ onEvent: event => { events.push(event) } })
  registry.register(new CalculatorTool())
  assert.equal((await fromRust(registry, 'calculator', '{"expression":"6*7"}')).text, '42')
  await new Promise(resolve => { setTimeout(resolve, 20) })
  assert.deepEqual(events.map(event => [event.type, event.callId]), ['call', 'executed', 'finished'].map(type => [type, 'rust-calculator']))
})

test('a thousand at once', async () => {
  const registry = new ToolRegistry()
  registry.register(tool({ name: 'echo', description: 'E', inputSchema: asks, run: async ({ path }) => path ?? '' }))
  const texts = await Promise.all(Array.from({ length: 1000 }, async (_, index) => (await fromRust(registry, 'echo', `{"path":"${index}"}`)).text))
  assert.deepEqual(texts, Array.from({ length: 1000 }, (_, index) => String(index)))
})
