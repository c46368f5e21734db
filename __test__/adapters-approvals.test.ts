// What an adapter remembers of a framework's questions, without a framework: which call is which, what is forgotten, who is asked about.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { toAISDKTools } from 'toolbolt/ai-sdk'
import { z } from 'zod'
import { desk } from './adapters-support.ts'
import { bare, coded } from './support.ts'

const approving = (registry: ToolRegistry) => toAISDKTools(registry, { approval: 'framework' })
const asks = (registry: ToolRegistry, name: string, input: unknown, toolCallId = '1') => approving(registry)[name]!.needsApproval!(input, { toolCallId, messages: [] })
const runs = (registry: ToolRegistry, name: string, input: unknown, toolCallId = '1') => approving(registry)[name]!.execute(input, { toolCallId })
const refused = coded('CONFIRMATION_REJECTED')

test('a call is its id, its tool and its arguments, in whatever order', async () => {
  const registry = new ToolRegistry()
  for (const name of ['one', 'two']) registry.register(bare(name, () => name, { requiresConfirmation: true }))
  assert.equal(asks(registry, 'one', { a: 1, b: { c: [1, 2], d: null } }), true)
  for (const [name, args, id] of [['two', { a: 1, b: { c: [1, 2], d: null } }], ['one', { a: 1, b: { c: [2, 1], d: null } }], ['one', { a: 1, b: { c: [1, 2] } }], ['one', { a: '1', b: { c: [1, 2], d: null } }], ['one', { a: 1, b: { c: [1, 2], d: null } }, '2']] as const) {
    await assert.rejects(runs(registry, name, args, id), refused)
  }
  const again = { b: { d: null, c: [1, 2] }, a: 1 }
  assert.equal((await runs(registry, 'one', again)).text, 'one')
  await assert.rejects(runs(registry, 'one', again), refused)
})

test('a tool that took the name of another meanwhile is not the one that was approved', async () => {
  const registry = new ToolRegistry()
  registry.register(bare('one', () => 'the first', { requiresConfirmation: true }))
  asks(registry, 'one', {})
  registry.register(bare('one', () => 'the second', { requiresConfirmation: true }), { overwrite: true })
  await assert.rejects(runs(registry, 'one', {}), refused)
  const tools = approving(registry)
  registry.unregister('one')
  await assert.rejects(tools.one!.execute({}, { toolCallId: '1' }), coded('TOOL_NOT_FOUND'))
})

test('a call without an id, or with numbers that were rounded, cannot be approved', async () => {
  const registry = new ToolRegistry()
  registry.register(bare('one', () => 'ran', { requiresConfirmation: true }))
  assert.equal(asks(registry, 'one', {}, ''), true)
  await assert.rejects(runs(registry, 'one', {}, ''), refused)
  asks(registry, 'one', { a: 2 ** 53 })
  await assert.rejects(runs(registry, 'one', { a: 2 ** 53 }))
})

test('the oldest of 10,000 questions is forgotten', async () => {
  const { registry, ran } = desk()
  for (let index = 0; index <= 10_000; index += 1) asks(registry, 'erase', { path: 'a' }, `call-${index}`)
  await assert.rejects(runs(registry, 'erase', { path: 'a' }, 'call-0'), refused)
  await runs(registry, 'erase', { path: 'a' }, 'call-1')
  assert.deepEqual(ran, ['a'])
})

test('who is asked about: calls that would run and need a yes', () => {
  const registry = new ToolRegistry()
  const dangerous = z.object({ path: z.string() })
  registry.register(tool({ name: 'always', description: 'x', inputSchema: dangerous, requiresConfirmation: true, run: () => 'x' }))
  registry.register(tool({ name: 'sometimes', description: 'x', inputSchema: dangerous, requiresConfirmation: ({ path }) => path === 'a', run: () => 'x' }))
  registry.register(tool({ name: 'later', description: 'x', inputSchema: dangerous.refine(async () => true), requiresConfirmation: true, run: () => 'x' }))
  registry.register(tool({ name: 'unsure', description: 'x', inputSchema: dangerous, requiresConfirmation: () => { throw new Error('who knows') }, run: () => 'x' }))
  const all = approving(registry)
  const asked = (name: string, input: unknown) => all[name]!.needsApproval!(input, { toolCallId: '1', messages: [] })
  assert.deepEqual(['always', 'sometimes', 'later', 'unsure'].map(name => [asked(name, { path: 'a' }), asked(name, { path: 5 })]), [[true, false], [true, false], [true, false], [true, false]])
  assert.equal(asked('sometimes', { path: 'b' }), false)
  registry.setPermissions(new ToolPermissions({ deny: ['always'] }))
  registry.unregister('sometimes')
  assert.deepEqual([asked('always', { path: 'a' }), asked('sometimes', { path: 'a' })], [false, false])
  assert.equal(registry.needsConfirmation('unsure', { path: 5 }), true, 'and what cannot be told still counts as a question for others')
})
