// What can be done after something failed: the clients that live, connecting what is missing, one more try, registries that lose the tools of a closed client.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MCPClient, type MCPCommandOptions, ToolError, ToolRegistry } from 'toolbolt'
import { ScriptedServer } from './fixtures/scripted-http.ts'
import { scratch } from './machine.ts'
import { bare, coded, fixturePath } from './support.ts'

const LIMIT = { timeout: 120_000 }
const SERVER = fixturePath('changing-server.mjs')
const folder = scratch()
const yes = { confirm: () => true }
const works = (...words: string[]) => ({ command: process.execPath, args: [SERVER, ...words] })
/** Starts as long as a file is there. */
const gated = (gate: string) => ({ command: '/bin/sh', args: ['-c', `test -e ${gate} && exec ${process.execPath} ${SERVER}`] })
const thrown = (work: Promise<unknown>): Promise<ToolError> => work.then(() => assert.fail('it did not throw'), error => { assert.ok(ToolError.isInstance(error)); return error })

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `never: ${what}`)
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}

describe('connectMcpServers after a failure', () => {
  test('the clients that live can be had, and a second call connects what is missing', LIMIT, async () => {
    await using registry = new ToolRegistry(yes)
    const gate = join(folder, 'gate-missing')
    const file = join(folder, 'servers.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { good: works(), late: gated(gate) } }))
    const error = await thrown(registry.connectMcpServers(file))
    assert.deepEqual((error.data as any).failures.map(({ server }: any) => server), ['late'])
    assert.deepEqual([...registry.mcpClients.keys()], ['good'])
    const good = registry.mcpClients.get('good')
    assert.equal(good?.state, 'ready')
    const { pid } = good!

    writeFileSync(gate, '')
    const clients = await registry.connectMcpServers(file)
    assert.deepEqual(clients.map(client => client.namespace), ['good', 'late'])
    assert.equal(clients[0], good)
    assert.equal(good?.pid, pid)
    assert.equal((await registry.execute('late_alpha', {})).status, 'success')
    assert.deepEqual([...registry.mcpClients.keys()].sort(), ['good', 'late'])
    assert.deepEqual(await registry.connectMcpServers(file), clients, 'nothing is missing')
  })
  test('another entry, or another source, under the same name is refused until the client is closed', LIMIT, async () => {
    await using registry = new ToolRegistry(yes)
    const [client] = await registry.connectMcpServers({ mcpServers: { one: { args: [SERVER], command: process.execPath } } })
    assert.deepEqual(await registry.connectMcpServers({ mcpServers: { one: works() } }), [client], 'the order of members does not count')
    const file = join(folder, 'other.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { one: works() } }))
    for (const source of [{ mcpServers: { one: works('another') } }, file]) {
      const error = await thrown(registry.connectMcpServers(source))
      assert.equal(error.code, 'INVALID_OPTIONS')
      assert.match(error.message, /mcpClients/)
      assert.match(error.message, /close/)
    }
    await client?.close()
    assert.equal(registry.mcpClients.size, 0)
    assert.equal(registry.get('one_alpha'), undefined)
    assert.equal((await registry.connectMcpServers(file))[0]?.state, 'ready')
  })
})

describe('a client that is closed', () => {
  test('leaves the registries that follow it, and only with its own tools', LIMIT, async () => {
    const client = await MCPClient.connect({ namespace: 'far', ...works() })
    const [follows, given] = [new ToolRegistry(yes), new ToolRegistry(yes)]
    await client.syncTo(follows)
    follows.register(bare('far_alpha', () => 'mine'), { overwrite: true })
    follows.register(bare('own', () => 'mine'))
    given.registerAll(await client.loadTools())
    const all = given.listTools().length
    await client.close()
    assert.deepEqual(follows.listTools().map(tool => tool.name).sort(), ['far_alpha', 'own'])
    assert.equal(given.listTools().length, all, 'it follows nothing')
    await client.close()
  })
  test('syncTo twice, or after registerAll, works', LIMIT, async () => {
    await using client = await MCPClient.connect({ namespace: 'far', ...works() })
    const registry = new ToolRegistry(yes)
    registry.registerAll(await client.loadTools())
    const before = registry.listTools()
    assert.deepEqual(await client.syncTo(registry), [])
    assert.deepEqual(await client.syncTo(registry), [])
    assert.deepEqual(registry.listTools(), before)
  })
})

describe('reconnect', () => {
  const connect = (options: Partial<MCPCommandOptions>) => MCPClient.connect({ namespace: 'far', requiresConfirmation: false, ...options } as MCPCommandOptions)
  for (const respawn of [false, { attempts: 1, firstDelayMs: 10, maxDelayMs: 10 }] as const) {
    test(`brings a server back that is not started again, respawn ${JSON.stringify(respawn)}`, LIMIT, async () => {
      const gate = join(folder, `gate-${typeof respawn}`)
      writeFileSync(gate, '')
      await using client = await connect({ ...gated(gate), respawn, connectTimeoutMs: 20_000 })
      const registry = new ToolRegistry()
      await client.syncTo(registry)
      const { rmSync } = await import('node:fs')
      rmSync(gate)
      assert.equal((await registry.execute('far_die', {})).code, 'CONNECTION_FAILED')
      await until(() => client.lastError?.message.includes('client.reconnect()') === true, 'given up')
      assert.doesNotMatch(client.lastError?.message ?? '', /\b1 tries\b/)
      assert.equal(client.state, 'degraded')
      const error = await thrown(client.reconnect())
      assert.equal(error.code, 'CONNECTION_FAILED')
      assert.equal(client.state, 'degraded')

      writeFileSync(gate, '')
      await Promise.all([client.reconnect(), client.reconnect()])
      assert.equal(client.state, 'ready')
      assert.equal((await registry.execute('far_alpha', {})).status, 'success')
      await client.reconnect()
      await client.close()
      await assert.rejects(client.reconnect(), coded('CLOSED'))
      assert.ok(existsSync(gate))
    })
  }
  test('does not wait for the pause before the next try', LIMIT, async () => {
    await using client = await connect({ ...works(), respawn: { firstDelayMs: 3_000_000, maxDelayMs: 3_000_000 } })
    await client.callTool('die', {})
    await client.reconnect()
    assert.equal(client.state, 'ready')
  })
  test('asks a server behind an address anew', LIMIT, async () => {
    let broken = 0
    await using server = await ScriptedServer.start((_seen, response, usual) => {
      if (broken === 0) return usual()
      response.writeHead(broken).end()
    })
    await using client = await MCPClient.connectHttp(server.url, { namespace: 'far', requiresConfirmation: false })
    await client.loadTools()
    for (const second of [503, 404]) {
      broken = 503
      assert.equal((await client.callTool('echo', {})).code, 'CONNECTION_FAILED')
      assert.equal(client.state, 'degraded')
      broken = second
      await assert.rejects(client.reconnect(), coded('CONNECTION_FAILED'))
    }
    broken = 503
    await client.callTool('echo', {})
    broken = 0
    await client.reconnect()
    assert.equal(client.state, 'ready')
  })
})
