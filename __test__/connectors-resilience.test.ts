// What connectors do about servers that die, hang, are slow or come and go: calls are repeated only where that is safe, and every call ends.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type ConnectorConnectOptions, type ConnectorConnection, ConnectorRegistry, ConnectorSpec, type ResilienceOptions, ToolRegistry, type ToolResponse } from 'toolbolt'
import { scratch } from './machine.ts'
import { json, legacy, serve, text } from './mcp-http-support.ts'

const LIMIT = { timeout: 180_000 }
const SERVER = fileURLToPath(new URL('./fixtures/connector-server.mjs', import.meta.url))
const folder = scratch()
let files = 0
const file = () => join(folder, `file-${files++}`)
const QUICK: ResilienceOptions = { retries: 4, firstDelayMs: 40, maxDelayMs: 100, budgetMs: 20_000, breakerFailures: 100 }
const RESPAWN = { attempts: 20, firstDelayMs: 20, maxDelayMs: 50 }
const pause = (ms: number) => new Promise(resolve => { setTimeout(resolve, ms) })

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `never: ${what}`)
    await pause(10)
  }
}

/** A connection to the fixture whose tools stand in a registry. */
class Rig implements AsyncDisposable {
  readonly connectors = new ConnectorRegistry()
  readonly registry = new ToolRegistry()
  readonly log = file()
  readonly mode = file()
  connection!: ConnectorConnection

  static async up(resilient: boolean | ResilienceOptions = QUICK, options: ConnectorConnectOptions = {}, client: object = {}): Promise<Rig> {
    const set = new Rig()
    set.connectors.register(new ConnectorSpec({ name: 'far', displayName: 'Far', category: 'test', description: 'Test', authType: 'NONE', mcpCommand: [process.execPath, SERVER] }))
    set.connection = await set.connectors.connect('far', {
      resilient, ...options, client: { requiresConfirmation: false, respawn: RESPAWN, env: { CONNECTOR_LOG: set.log, CONNECTOR_MODE: set.mode }, ...client },
    })
    set.registry.registerAll(set.connection.tools)
    return set
  }

  call(name: string, args: object, options: object = {}): Promise<ToolResponse> { return this.registry.execute(`far_${name}`, args, options) }
  /** How often a tool ran with a token. */
  runs(token: string): number { return this.lines().filter(line => line.endsWith(` ${token}`) && line.startsWith('run')).length }
  lines(): string[] { return existsSync(this.log) ? readFileSync(this.log, 'utf8').split('\n') : [] }
  kill(): void { process.kill(this.connection.client.pid!, 'SIGKILL') }
  async [Symbol.asyncDispose](): Promise<void> { await this.connectors.close() }
}

const shape = ({ status, code, executed }: ToolResponse) => [status, code, executed]

describe('a call', () => {
  test('that was not sent is made when the server is back, with the same tool objects', LIMIT, async () => {
    await using set = await Rig.up()
    const pid = set.connection.client.pid
    set.kill()
    await until(() => set.connection.client.state !== 'ready', 'gone')
    const response = await set.call('once', { token: 'a' })
    assert.deepEqual([response.text, response.status, set.runs('a')], ['a', 'success', 1])
    assert.notEqual(set.connection.client.pid, pid)
  })

  test('that was sent is not repeated, unless the server says that this is safe', LIMIT, async () => {
    await using set = await Rig.up()
    assert.deepEqual([shape(await set.call('once', { token: 'a', act: 'die' })), set.runs('a')], [['error', 'CONNECTION_FAILED', true], 1])
    for (const tool of ['put', 'read']) {
      const response = await set.call(tool, { token: tool, act: 'die-once' })
      assert.deepEqual([response.status, response.text, set.runs(tool)], ['success', tool, 2])
    }
    assert.deepEqual([shape(await set.call('read', { token: 'b', act: 'die' })), set.runs('b')], [['error', 'CONNECTION_FAILED', true], 5])
    const direct = await set.connection.client.callTool('read', { token: 'c', act: 'die' })
    assert.deepEqual([shape(direct), set.runs('c')], [['error', 'CONNECTION_FAILED', true], 1], 'nothing is known of a tool that is called by its remote name')
  })

  test('that may have been run says so, whatever became of later tries', LIMIT, async () => {
    await using set = await Rig.up({ ...QUICK, retries: 2 }, {}, { respawn: { attempts: 1, firstDelayMs: 1 } })
    writeFileSync(set.mode, 'dead')
    assert.deepEqual([shape(await set.call('put', { token: 'a', act: 'die' })), set.runs('a')], [['error', 'CONNECTION_FAILED', true], 1])
  })

  test('that the tool answers with an error, and one that takes too long, are not repeated', LIMIT, async () => {
    await using set = await Rig.up()
    assert.deepEqual([shape(await set.call('read', { token: 'a', act: 'fail' })), set.runs('a')], [['error', undefined, true], 1])
    assert.deepEqual([shape(await set.call('read', { token: 'b', act: 'hang' }, { timeoutMs: 300 })), set.runs('b')], [['error', 'TIMEOUT', true], 1])
  })

  test('ends when it is cancelled, also between two tries', LIMIT, async () => {
    await using set = await Rig.up({ ...QUICK, firstDelayMs: 60_000, maxDelayMs: 60_000, budgetMs: 600_000 })
    set.kill()
    await until(() => set.connection.client.state !== 'ready', 'gone')
    const started = performance.now()
    const response = await set.call('once', { token: 'a' }, { signal: AbortSignal.timeout(300) })
    assert.equal(response.code === 'CANCELLED' || response.status === 'success', true)
    assert.ok(performance.now() - started < 30_000)
    const timed = await set.call('read', { token: 'b', act: 'die' }, { timeoutMs: 1000 })
    assert.equal(timed.executed, true)
  })

  test('reaches a server that was given up', LIMIT, async () => {
    await using set = await Rig.up(QUICK, {}, { respawn: { attempts: 2, firstDelayMs: 1 } })
    writeFileSync(set.mode, 'dead')
    set.kill()
    await until(() => /not started again/.test(set.connection.client.lastError?.message ?? ''), 'given up')
    rmSync(set.mode)
    assert.equal((await set.call('once', { token: 'a' })).text, 'a')
    const { pid } = set.connection.client
    set.kill()
    await until(() => set.connection.client.state === 'ready' && set.connection.client.pid !== pid, 'looked after again')
    assert.equal((await set.call('once', { token: 'b' })).text, 'b')
  })

  test('without resilience: one try, no breaker, and a server that died stays away', LIMIT, async () => {
    await using set = await Rig.up(false)
    assert.equal(set.connection.breaker, undefined)
    set.kill()
    await until(() => set.connection.client.state === 'degraded', 'gone')
    assert.deepEqual([shape(await set.call('once', { token: 'a' })), set.runs('a')], [['error', 'CONNECTION_FAILED', false], 0])
    assert.equal((await set.connection.health()).status, 'degraded')
    assert.equal(set.lines().filter(line => line.startsWith('start')).length, 1)
  })
})

describe('the breaker', () => {
  test('opens after failures in a row, refuses before anybody is asked, and lets one call through to see', LIMIT, async () => {
    await using set = await Rig.up({ ...QUICK, retries: 0, breakerFailures: 3, breakerResetMs: 1500 })
    for (const token of ['a', 'b']) await set.call('once', { token, act: 'hang' }, { timeoutMs: 400 })
    assert.equal((await set.call('once', { token: 'fine' })).status, 'success')
    for (const token of ['c', 'd', 'e']) {
      assert.equal(set.connection.breaker, 'closed')
      assert.equal((await set.call('once', { token, act: 'hang' }, { timeoutMs: 400 })).code, 'TIMEOUT')
    }
    assert.equal(set.connection.breaker, 'open')
    const tool = set.connection.tools.find(({ name }) => name === 'far_once')!
    let asked = 0
    const asking = new ToolRegistry({ confirm: () => { asked += 1; return true } })
    tool.requiresConfirmation = true
    asking.register(tool)
    const started = performance.now()
    const refused = await asking.execute('far_once', { token: 'f' })
    assert.deepEqual([shape(refused), asked, set.runs('f')], [['error', 'CONNECTION_FAILED', false], 0, 0])
    const { breaker, failures, retryAfterMs } = refused.data as any
    assert.deepEqual([breaker, failures, retryAfterMs > 0 && retryAfterMs <= 1500], ['open', 3, true])
    assert.ok(performance.now() - started < 1000)
    await until(() => set.connection.breaker === 'half-open', 'half open')
    const [trial, ...others] = await Promise.all(['g', 'h', 'i'].map(token => set.call('once', { token, act: 'slow', ms: 300 })))
    assert.deepEqual([trial?.status, ...others.map(({ code }) => code)], ['success', 'CONNECTION_FAILED', 'CONNECTION_FAILED'], 'one trial')
    assert.deepEqual([set.connection.breaker, set.runs('h') + set.runs('i')], ['closed', 0])
  })

  test('a trial that fails opens it again; a look that succeeds closes it', LIMIT, async () => {
    await using set = await Rig.up({ ...QUICK, retries: 0, breakerFailures: 1, breakerResetMs: 300 })
    const hang = () => set.call('once', { token: 'a', act: 'hang' }, { timeoutMs: 400 })
    await hang()
    await until(() => set.connection.breaker === 'half-open', 'half open')
    await hang()
    assert.equal(set.connection.breaker, 'open')
    assert.equal((await set.connection.health()).status, 'healthy')
    assert.equal(set.connection.breaker, 'closed')
  })
})

describe('a server behind an address', () => {
  async function behind(answers: (call: number) => { status: number; headers?: Record<string, string> } | undefined, annotations: object = {}) {
    let calls = 0
    const server = await serve(legacy({
      tools: [{ name: 'echo', description: 'E', inputSchema: { type: 'object' }, annotations }],
      call: (request, response) => {
        const wrong = answers(calls++)
        if (wrong === undefined) json(response, text(request, 'done'))
        else json(response, {}, wrong.status, wrong.headers)
      },
    }))
    const connectors = new ConnectorRegistry()
    connectors.register(new ConnectorSpec({ name: 'far', displayName: 'Far', category: 'test', description: 'Test', authType: 'NONE', mcpUrl: server.url }))
    const connection = await connectors.connect('far', { resilient: QUICK, client: { requiresConfirmation: false } })
    const registry = new ToolRegistry()
    registry.registerAll(connection.tools)
    const response = await registry.execute('far_echo', {})
    await connectors.close()
    await server[Symbol.asyncDispose]()
    return { response, calls }
  }

  test('is asked again as late as it wants, and not at all where that is no use or not safe', LIMIT, async () => {
    const started = performance.now()
    const busy = await behind(call => (call === 0 ? { status: 429, headers: { 'retry-after': '1' } } : undefined))
    assert.deepEqual([busy.response.status, busy.calls], ['success', 2])
    assert.ok(performance.now() - started >= 990)
    const broken = await behind(() => ({ status: 503 }))
    assert.deepEqual([shape(broken.response), broken.calls], [['error', 'CONNECTION_FAILED', true], 1])
    const repeated = await behind(call => (call < 2 ? { status: 503 } : undefined), { idempotentHint: true })
    assert.deepEqual([repeated.response.status, repeated.calls], ['success', 3])
    const denied = await behind(() => ({ status: 403 }), { idempotentHint: true })
    assert.deepEqual([shape(denied.response), denied.calls], [['error', 'CONNECTION_FAILED', false], 1])
  })
})

test('chaos: servers killed, hung, slow and flapping; every call ends, and none that must not be repeated runs twice', LIMIT, async () => {
  const sets = await Promise.all(['killed', 'hung', 'slow', 'flapping'].map(() => Rig.up({ ...QUICK, breakerFailures: 8, breakerResetMs: 200 }, {}, { timeoutMs: 2000 })))
  const [killed, , , flapping] = sets
  let over = false
  const killing = (async () => {
    while (!over) {
      await pause(30 + Math.random() * 100)
      try { killed!.kill() } catch { /* It is away already. */ }
    }
  })()
  const flap = (async () => {
    while (!over) {
      writeFileSync(flapping!.mode, Math.random() < 0.5 ? 'dead' : 'ok')
      await pause(20 + Math.random() * 60)
      try { flapping!.kill() } catch { /* It is away already. */ }
    }
    rmSync(flapping!.mode, { force: true })
  })()
  const acts = [() => ({}), () => (Math.random() < 0.3 ? { act: 'hang' } : {}), () => ({ act: 'slow', ms: Math.random() * 200 }), () => ({})]
  const tokens: { set: Rig; name: string; token: string; response: Promise<ToolResponse> }[] = []
  for (let round = 0; round < 40; round += 1) {
    for (const [index, set] of sets.entries()) {
      for (const name of ['once', 'read', 'put']) {
        const token = `${index}-${round}-${name}`
        tokens.push({ set, name, token, response: set.call(name, { token, ...acts[index]!() }, { timeoutMs: 4000 }) })
      }
    }
    await pause(50)
  }
  const ended = await Promise.all(tokens.map(async ({ response, ...call }) => ({ ...call, response: await response })))
  over = true
  await Promise.all([killing, flap])
  const counts: Record<string, number> = {}
  for (const { set, name, token, response } of ended) {
    const runs = set.runs(token)
    const told = `${token}: ${runs} runs, ${JSON.stringify(response)}`
    assert.ok(response.status === 'success' || ['CONNECTION_FAILED', 'TIMEOUT'].includes(response.code ?? ''), told)
    if (response.status === 'success') assert.equal(response.text, token, told)
    if (name === 'once') assert.ok(runs <= 1, told)
    if (response.executed === false) assert.equal(runs, 0, told)
    counts[response.code ?? response.status] = (counts[response.code ?? response.status] ?? 0) + 1
  }
  assert.ok((counts.success ?? 0) > ended.length / 4, JSON.stringify(counts))
  // What is left alone comes back by itself.
  for (const set of sets) {
    const deadline = performance.now() + 60_000
    for (let number = 0; (await set.call('once', { token: `last-${number}` })).status !== 'success'; number += 1) {
      assert.ok(performance.now() < deadline)
      await pause(100)
    }
  }
  await Promise.all(sets.map(set => set[Symbol.asyncDispose]()))
})
