// The life of connections to MCP servers: servers that die and come back, tools that change, registries that follow, the shared
// configuration file, bounds. Tests named after a field case (STD-05, TOOL-10, …) cover it from the side of JavaScript.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { MCPClient, type MCPCommandOptions, MCPTool, ToolRegistry, type ToolsChange } from 'toolbolt'
import { scratch } from './machine.ts'
import { bare, coded } from './support.ts'

const LIMIT = { timeout: 120_000 }
const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const SERVER = fixture('changing-server.mjs')
const QUICK = { attempts: 3, firstDelayMs: 20, maxDelayMs: 50 }
const folder = scratch()
let files = 0

const connect = (options: Partial<MCPCommandOptions> = {}) => MCPClient.connect({ namespace: 'far', command: process.execPath, args: [SERVER], requiresConfirmation: false, ...options })
const startsFile = () => join(folder, `starts-${files++}`)
const lives = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : [])

function alive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] !== 'Z'
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `never: ${what}`)
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}

const pause = (ms: number) => new Promise(resolve => { setTimeout(resolve, ms) })

describe('a server that goes away', () => {
  test('STD-05: comes back, and the same tools work; what was sent is not sent again', LIMIT, async () => {
    const starts = startsFile()
    await using client = await connect({ env: { CHANGING_STARTS: starts, TOKEN: 'planted-secret' }, respawn: QUICK })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const { lastError: none } = client
    assert.equal(none, undefined)
    const before = client.pid
    const [lost, pending] = await Promise.all([registry.execute('far_die', {}), registry.execute('far_stay', {})])
    assert.deepEqual([lost.code, lost.executed, pending.code, pending.executed], ['CONNECTION_FAILED', true, 'CONNECTION_FAILED', true])
    await until(() => client.pid !== before && client.state === 'ready', 'ready again')
    assert.equal((await registry.execute('far_alpha', {})).text, 'alpha of life 2')
    assert.equal(lives(starts).length, 2)
    const error = client.lastError ?? assert.fail('no reason')
    assert.equal(error.code, 'CONNECTION_FAILED')
    assert.match(error.message, /status 7/)
    assert.match(error.message, /last words/)
    assert.doesNotMatch(inspect([client, error]), /planted-secret/)
  })
  test('a call waits while it is being started, a call between tries fails fast', LIMIT, async () => {
    const starts = startsFile()
    await using client = await connect({ env: { CHANGING_STARTS: starts, CHANGING_SLOW: '1500' }, respawn: QUICK })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    await registry.execute('far_die', {})
    await until(() => client.state === 'connecting', 'connecting')
    const short = await registry.execute('far_alpha', {}, { timeoutMs: 50 })
    assert.deepEqual([short.status, short.text.includes('life')], ['error', false])
    assert.equal((await registry.execute('far_alpha', {})).text, 'alpha of life 2')

    await using patient = await connect({ respawn: { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 } })
    await patient.callTool('die', {})
    await until(() => patient.state === 'degraded', 'degraded')
    const fast = await patient.callTool('alpha', {})
    assert.deepEqual([fast.code, fast.executed], ['CONNECTION_FAILED', false])
  })
  test('is not started anew without respawn, after close, or for ever', LIMIT, async () => {
    const starts = startsFile()
    await using once = await connect({ env: { CHANGING_STARTS: starts }, respawn: false })
    await once.callTool('die', {})
    await pause(300)
    assert.deepEqual([once.state, lives(starts).length], ['degraded', 1])

    const closed = startsFile()
    const client = await connect({ env: { CHANGING_STARTS: closed, CHANGING_SLOW: '60000' }, respawn: QUICK })
    await client.callTool('die', {})
    await until(() => lives(closed).length === 2, 'a second start')
    await client.close()
    assert.equal(client.state, 'closed')
    assert.equal(lives(closed).some(alive), false, 'also the one that was being started is gone')
    await pause(300)
    assert.equal(lives(closed).length, 2)

    const doomed = startsFile()
    await using short = await connect({ env: { CHANGING_STARTS: doomed }, respawn: { ...QUICK, attempts: 2 } })
    for (let life = 1; life <= 3; life++) {
      await until(() => short.state === 'ready', `life ${life}`)
      await short.callTool('die', {})
    }
    await until(() => short.state === 'degraded', 'degraded')
    await pause(300)
    assert.deepEqual([short.state, lives(doomed).length], ['degraded', 3])
  })
  test('keeps no process alive, and none is left behind', LIMIT, async () => {
    const starts = startsFile()
    const script = `import { MCPClient } from 'toolbolt'
      globalThis.kept = await MCPClient.connect([process.execPath, ${JSON.stringify(SERVER)}], { env: { CHANGING_STARTS: ${JSON.stringify(starts)}, CHANGING_SLOW: '60000' }, respawn: { firstDelayMs: 1, attempts: 100 } })
      await kept.callTool('die', {})
      while ((await import('node:fs')).readFileSync(${JSON.stringify(starts)}, 'utf8').split('\\n').length < 3) await new Promise(done => setTimeout(done, 10))`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore', cwd: fileURLToPath(new URL('..', import.meta.url)) })
    assert.equal(await new Promise(resolve => { host.on('close', resolve) }), 0)
    await until(() => !lives(starts).some(alive), 'nothing alive')
    await pause(500)
    assert.equal(lives(starts).some(alive), false)
  })
})

test('a host that is killed takes its servers and programs along', { ...LIMIT, skip: process.platform !== 'linux' }, async () => {
  const place = scratch()
  const host = spawn(process.execPath, [fixture('killed-host.mjs'), place], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(resolve => { host.stdout.once('data', resolve) })
  const pids = ['server', 'plain', 'confined'].map(name => Number(readFileSync(join(place, name), 'utf8')))
  assert.deepEqual(pids.map(alive), [true, true, true])
  host.kill('SIGKILL')
  await until(() => !pids.some(alive), 'all gone')
})

describe('tools that change', () => {
  const watching = async (options: Partial<MCPCommandOptions> = {}) => {
    const events: ToolsChange[] = []
    const client = await connect({ onToolsChanged: change => { events.push(change) }, ...options })
    return { client, events }
  }
  const shape = ({ added, changed, removed }: ToolsChange) => [added.map(tool => tool.name), changed.map(tool => tool.name), removed]

  test('are listed again and told; a registry that follows has them', LIMIT, async () => {
    const { client, events } = await watching()
    await using _ = client
    const registry = new ToolRegistry()
    registry.register(bare('far_taken', () => 'mine'))
    const names = await client.syncTo(registry)
    assert.ok(names.includes('far_alpha') && names.includes('far_beta'))
    const alpha = registry.get('far_alpha')
    await registry.execute('far_set', { tools: [['alpha', 'The alpha tool'], ['beta', 'another'], ['gamma'], ['taken']] })
    await until(() => events.length === 1, 'an event')
    assert.deepEqual(shape(events[0]!), [['far_gamma', 'far_taken'], ['far_beta'], []])
    assert.equal(events[0]!.client, client)
    assert.equal(registry.get('far_alpha'), alpha, 'what is the same stays the same object')
    assert.equal(registry.get('far_beta')?.description, 'another')
    assert.ok(registry.get('far_gamma') instanceof MCPTool)
    assert.equal((await registry.execute('far_gamma', {})).text, 'gamma of life 1')
    assert.equal((await registry.execute('far_taken', {})).text, 'mine', 'no silent overwrite')
    assert.ok(client.skippedTools.some(({ remoteName }) => remoteName === 'taken'))
    await registry.execute('far_set', { tools: [] })
    await until(() => events.length === 2, 'another event')
    assert.deepEqual(shape(events[1]!), [[], [], ['far_alpha', 'far_beta', 'far_gamma', 'far_taken']])
    assert.deepEqual(['far_alpha', 'far_gamma', 'far_taken'].map(name => registry.get(name) !== undefined), [false, false, true])
  })
  test('registerAll alone follows nothing', LIMIT, async () => {
    const { client, events } = await watching()
    await using _ = client
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    await client.callTool('set', { tools: [['gamma']] })
    await until(() => events.length === 1, 'an event')
    assert.deepEqual([registry.get('far_gamma'), registry.get('far_alpha') !== undefined], [undefined, true])
  })
  test('a change of schema, title or annotations counts; loadTools tells too', LIMIT, async () => {
    const { client, events } = await watching()
    await using _ = client
    await client.loadTools()
    for (const [number, more] of [{ title: 'T' }, { annotations: { readOnlyHint: true } }, { outputSchema: { type: 'object' } }, { inputSchema: { type: 'object', properties: { a: { default: 1 } } } }].entries()) {
      await client.callTool('set', { tools: [['alpha', 'The alpha tool', more], ['beta']], notices: 0 })
      await client.loadTools()
      await until(() => events.length === number + 1, `event ${number}`)
      assert.deepEqual(shape(events[number]!), [[], ['far_alpha'], []])
    }
  })
  test('STD-09: a flood costs one listing a second and starves no call', LIMIT, async () => {
    const { client, events } = await watching({ maxNotificationsPerSecond: 100 })
    await using _ = client
    await client.loadTools()
    const started = performance.now()
    await client.callTool('flood', { count: 50_000 })
    assert.match((await client.callTool('alpha', {})).text, /alpha/)
    assert.ok(performance.now() - started < 30_000)
    assert.ok(client.diagnostics.droppedMessages > 10_000, inspect(client.diagnostics))
    assert.deepEqual([events.length, client.state], [0, 'ready'])
  })
  test('after a restart the tools are compared', LIMIT, async () => {
    const { client, events } = await watching({ respawn: QUICK })
    await using _ = client
    const registry = new ToolRegistry()
    await client.syncTo(registry)
    await registry.execute('far_set', { tools: [['alpha'], ['later']] })
    await until(() => events.length === 1, 'an event')
    await registry.execute('far_die', {})
    await until(() => events.length === 2, 'another event')
    assert.deepEqual(shape(events[1]!), [['far_beta'], [], ['far_later']])
    assert.ok(registry.get('far_beta') !== undefined && registry.get('far_later') === undefined)
  })
  test('a listener that throws, a registry that is closed', LIMIT, async () => {
    let heard = 0
    await using client = await connect({ onToolsChanged: () => { heard += 1; throw new Error('listener') } })
    const registry = new ToolRegistry()
    await client.syncTo(registry)
    await registry.close()
    await client.callTool('set', { tools: [['gamma']] })
    await until(() => heard === 1, 'heard')
    assert.equal(client.state, 'ready')
    await assert.rejects(client.syncTo(registry), coded('CLOSED'))
    await assert.rejects(client.syncTo({} as never), coded('INVALID_OPTIONS'))
    await assert.rejects(client.syncTo(new ToolRegistry(), { on: 1 } as never), coded('INVALID_OPTIONS'))
  })
})

describe('bounds', () => {
  test('what is no bound is refused', LIMIT, async () => {
    for (const wrong of [
      { maxTools: 0 }, { maxInFlight: 1.5 }, { maxResultChars: -1 }, { maxResultBytes: '1' }, { maxSchemaDepth: 101 }, { maxFrameBytes: 10 }, { maxSchemaBytes: Number.NaN },
      { maxNotificationsPerSecond: 0 }, { connectTimeoutMs: 0 }, { connectTimeoutMs: null }, { respawn: 1 }, { respawn: null }, { respawn: { tries: 1 } }, { respawn: { attempts: 0 } },
      { respawn: { firstDelayMs: null } }, { onToolsChanged: 'x' },
    ]) await assert.rejects(connect(wrong as never), coded('INVALID_OPTIONS'), inspect(wrong))
  })
  test('TOOL-14: text and data of results, in a registry and past it', LIMIT, async () => {
    await using client = await connect({ maxResultChars: 100, maxResultBytes: 3_000_000 })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    for (const response of [await registry.execute('far_big', { chars: 1000 }), await client.callTool('big', { chars: 1000 })]) {
      assert.deepEqual([response.status, response.text.startsWith('x'.repeat(100)), response.text.includes('x'.repeat(101))], ['partial', true, false])
      assert.equal((response.data as any).structuredContent.length, 1000)
    }
    // Above the usual 1 MiB, as asked.
    assert.equal(((await registry.execute('far_big', { chars: 1_200_000 })).data as any).structuredContent.length, 1_200_000)
    assert.deepEqual((await registry.execute('far_big', { chars: 2_000_000 })).data, { truncated: true })
    assert.deepEqual((await client.callTool('big', { chars: 2_000_000 })).data, { truncated: true })
  })
  test('calls at once, tools, the time of a start', LIMIT, async () => {
    await using client = await connect({ maxInFlight: 1, maxTools: 3 })
    assert.equal((await client.loadTools()).length, 3)
    const stays = client.callTool('stay', {}, { timeoutMs: 800 })
    const waits = await client.callTool('alpha', {}, { timeoutMs: 100 })
    assert.deepEqual([waits.code, waits.executed], ['TIMEOUT', false])
    const later = client.callTool('alpha', {})
    assert.equal((await stays).executed, true)
    assert.match((await later).text, /alpha/)
    await assert.rejects(connect({ args: ['-e', 'setInterval(() => {}, 1000)'], connectTimeoutMs: 300 }), coded('TIMEOUT'))
  })
})

describe('structured content', () => {
  test('that is not what the server promised is an error with all of its data', LIMIT, async () => {
    await using client = await connect()
    await client.callTool('set', { tools: [['structured', 'S', { outputSchema: { type: 'array', items: { type: 'integer' } } }]], notices: 0 })
    const registry = new ToolRegistry()
    const tools = await client.loadTools()
    const tool = tools.findLast(({ remoteName }) => remoteName === 'structured')!
    assert.deepEqual(tool.outputSchema, { type: 'array', items: { type: 'integer' } })
    registry.register(tool)
    const good = await registry.execute(tool.name, { value: [1, 2] })
    assert.deepEqual([good.status, (good.data as any).structuredContent], ['success', [1, 2]])
    for (const value of [['1'], 5, null]) {
      const bad = await registry.execute(tool.name, { value })
      assert.deepEqual([bad.status, bad.code, bad.executed, (bad.data as any).structuredContent], ['error', 'EXECUTION_FAILED', true, value])
    }
    assert.equal((await registry.execute(tool.name, {})).status, 'error', 'none at all')
  })
  test('is checked for tools declared by hand; a broken schema of a server only skips the check', LIMIT, async () => {
    await using client = await connect()
    const tool = new MCPTool(client, 'own', 'O', { type: 'object' }, { remoteName: 'structured', outputSchema: { type: 'string' } })
    assert.equal((await tool.run({ value: 'text' })).status, 'success')
    assert.equal((await tool.run({ value: 1 })).status, 'error')
    assert.throws(() => new MCPTool(client, 'own', 'O', { type: 'object' }, { outputSchema: { $ref: 'https://example.com/x' } }), coded('INVALID_OPTIONS'))
    await client.callTool('set', { tools: [['structured', 'S', { outputSchema: { type: 'strin' } }], ['far', 'F', { outputSchema: { $ref: 'https://example.com/x' } }]], notices: 0 })
    const tools = await client.loadTools()
    assert.ok(tools.some(({ remoteName }) => remoteName === 'far'))
    assert.ok(client.skippedTools.some(({ reason }) => reason.includes('far')), inspect(client.skippedTools))
    const broken = tools.findLast(({ remoteName }) => remoteName === 'structured')!
    assert.equal((await broken.run({ value: 1 })).status, 'success')
    assert.ok(client.diagnostics.notes.some(note => note.includes('structured')))
  })
})

describe('connectMcpServers', () => {
  /** How these files name a variable. */
  const use = (variable: string) => `$\{${variable}}`
  const entry = (env: Record<string, string> = {}) => ({ command: process.execPath, args: [SERVER], env })
  test('registers, follows, and closes with the registry', LIMIT, async () => {
    const path = join(folder, 'servers.json')
    writeFileSync(path, `// ours\n{ "mcpServers": { "one": ${JSON.stringify(entry({ CHANGING_TOOLS: 'uno' }))}, /* two */ "two": ${JSON.stringify({ ...entry(), autoApprove: ['x'] })}, "off": { "disabled": true }, } }`)
    const registry = new ToolRegistry({ confirm: () => true })
    const clients = await registry.connectMcpServers(path)
    assert.deepEqual(clients.map(client => client.namespace), ['one', 'two'])
    assert.ok(registry.get('one_uno') && registry.get('two_alpha'))
    assert.ok(clients[1]!.diagnostics.notes.some(note => note.includes('autoApprove')))
    await registry.execute('one_set', { tools: [['due']] })
    await until(() => registry.get('one_due') !== undefined, 'the registry follows')
    await assert.rejects(registry.connectMcpServers({ mcpServers: { one: entry() } }), coded('INVALID_OPTIONS'))
    await registry.close()
    assert.deepEqual(clients.map(client => client.state), ['closed', 'closed'])
  })
  test('names what failed, keeps the others, shows no secret', LIMIT, async () => {
    process.env.TOOLBOLT_TEST_PLANTED = 'planted-secret'
    const registry = new ToolRegistry({ confirm: () => true })
    const servers = { good: entry(), gone: { command: 'no-such-program-anywhere', env: { KEY: use('TOOLBOLT_TEST_PLANTED') } }, missing: { ...entry(), cwd: use('TOOLBOLT_TEST_NONE') }, input: { ...entry(), env: { A: use('input:token') } }, both: { command: 'x', url: 'http://127.0.0.1:1/' } }
    const error: any = await registry.connectMcpServers({ mcpServers: servers }).then(() => assert.fail('connected'), reason => reason)
    delete process.env.TOOLBOLT_TEST_PLANTED
    assert.ok(coded('CONNECTION_FAILED')(error))
    assert.deepEqual(error.data.failures.map((failure: any) => failure.server), ['gone', 'missing', 'input', 'both'])
    assert.match(error.message, /TOOLBOLT_TEST_NONE/)
    assert.doesNotMatch(inspect(error, { depth: 9 }), /planted-secret/)
    assert.equal((await registry.execute('good_alpha', {})).status, 'success')
    await registry.close()
  })
  test('TOOL-03: names that meet across servers are refused, never overwritten', LIMIT, async () => {
    const registry = new ToolRegistry({ confirm: () => true })
    const servers = { web: entry({ CHANGING_TOOLS: 'search_x' }), web_search: entry({ CHANGING_TOOLS: 'x' }) }
    const error: any = await registry.connectMcpServers({ mcpServers: servers }).then(() => assert.fail('connected'), reason => reason)
    assert.deepEqual([error.code, error.data.failures.length], ['DUPLICATE_NAME', 1])
    assert.equal(registry.get('web_search_x')?.origin, 'mcp:web')
    assert.equal(registry.get('web_search_alpha'), undefined)
    await registry.close()
    for (const options of [{ namespace: 'x' }, { url: 'x' }, { nonsense: 1 }]) {
      const refused = new ToolRegistry()
      await assert.rejects(refused.connectMcpServers({ mcpServers: { web: entry() } }, options as never), coded('INVALID_OPTIONS'))
    }
  })
})
