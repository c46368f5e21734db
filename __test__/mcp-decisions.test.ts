// Which tools of a server ask: the app decides for each of them, and what the server claims decides nothing by itself.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MCPClient, type MCPCommandOptions, MCPTool, type MCPToolClaims, ToolRegistry, type ToolsChange } from 'toolbolt'
import { coded, fixturePath } from './support.ts'

const LIMIT = { timeout: 120_000 }
const SERVER = fixturePath('changing-server.mjs')
const command = { command: process.execPath, args: [SERVER] }
const connect = (options: Partial<MCPCommandOptions> = {}) => MCPClient.connect({ namespace: 'far', ...command, ...options })
const yes = { confirm: () => true }

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `never: ${what}`)
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}

describe('requiresConfirmation as a function', () => {
  test('is asked for each tool; only strict false means no question', LIMIT, async () => {
    const asked: MCPToolClaims[] = []
    const answers: Record<string, unknown> = { alpha: false, beta: 0, stay: undefined, die: Promise.resolve(false), big: null }
    await using client = await connect({
      requiresConfirmation: tool => {
        asked.push(tool)
        if (tool.remoteName === 'set') throw new Error('undecided')
        return answers[tool.remoteName] as boolean
      },
    })
    const tools = await client.loadTools()
    assert.deepEqual(tools.filter(tool => !tool.requiresConfirmation).map(tool => tool.remoteName), ['alpha'])
    assert.equal(asked.length, tools.length)
    const [alpha] = asked.filter(({ remoteName }) => remoteName === 'alpha')
    assert.deepEqual(alpha, { name: 'far_alpha', remoteName: 'alpha', description: 'The alpha tool', annotations: {} })
    assert.ok(Object.isFrozen(alpha) && Object.isFrozen(alpha?.annotations))
    const registry = new ToolRegistry()
    registry.registerAll(tools)
    assert.equal((await registry.execute('far_alpha', {})).status, 'success')
    assert.equal((await registry.execute('far_beta', {})).code, 'CONFIRMATION_REQUIRED')
  })
  test('is asked again when a tool changes, and the registry follows', LIMIT, async () => {
    const heard: ToolsChange[] = []
    await using client = await connect({ requiresConfirmation: ({ description }) => description.includes('writes'), onToolsChanged: change => { heard.push(change) } })
    const registry = new ToolRegistry(yes)
    await client.syncTo(registry)
    assert.equal(registry.needsConfirmation('far_alpha', {}), false)
    await registry.execute('far_set', { tools: [['alpha', 'Reads, and writes too'], ['fresh']] })
    await until(() => heard.length > 0, 'a change')
    assert.equal(registry.needsConfirmation('far_alpha', {}), true)
    assert.equal(registry.needsConfirmation('far_fresh', {}), false)
  })
  test('holds for the servers of an object, and nothing else is taken', LIMIT, async () => {
    await using registry = new ToolRegistry()
    await registry.connectMcpServers({ mcpServers: { far: command } }, { requiresConfirmation: tool => tool.remoteName !== 'alpha' })
    assert.deepEqual([registry.needsConfirmation('far_alpha', {}), registry.needsConfirmation('far_beta', {})], [false, true])
    for (const wrong of ['never', 0, null]) await assert.rejects(connect({ requiresConfirmation: wrong as never }), coded('INVALID_OPTIONS'))
  })
})

describe('what a server claims', () => {
  test('can be read, is frozen, and decides nothing by itself', LIMIT, async () => {
    await using client = await connect()
    const registry = new ToolRegistry(yes)
    await client.syncTo(registry)
    const more = { title: 'An\u200b Alpha', annotations: { readOnlyHint: true, title: 'Other', extra: { note: 'a\u202eb' } } }
    await registry.execute('far_set', { tools: [['alpha', 'Reads', more], ['beta']] })
    await until(() => (registry.get('far_alpha') as MCPTool).title !== undefined, 'the change')
    const [alpha, beta] = ['far_alpha', 'far_beta'].map(name => registry.get(name) as MCPTool)
    assert.deepEqual([alpha?.title, alpha?.annotations], ['An Alpha', { readOnlyHint: true, title: 'Other', extra: { note: 'ab' } }])
    assert.ok(Object.isFrozen(alpha?.annotations) && Object.isFrozen(alpha?.annotations.extra))
    assert.deepEqual([beta?.title, beta?.annotations], [undefined, {}])
    assert.equal(registry.needsConfirmation('far_alpha', {}), true, 'readOnlyHint is a claim')
    const own = new MCPTool(client, 'far_own', 'Own', { type: 'object' }, { title: 'Own', annotations: { destructiveHint: false } })
    assert.deepEqual([own.title, own.annotations, own.requiresConfirmation], ['Own', { destructiveHint: false }, true])
  })
})
