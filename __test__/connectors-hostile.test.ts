// Connectors given what nobody expects: stores and options that change while they are read, things that only look like specifications,
// names of JavaScript, races of everything with everything, and many servers that die under a monitor.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type ConnectorConnectOptions, ConnectorRegistry, ConnectorSpec, type CredentialStore, type HealthChange, ToolError } from 'toolbolt'
import { SERVER, environmentOf, free, registryOf, remote, spec, storeOf, withVariables } from './connectors-support.ts'
import { isAlive, scratch } from './machine.ts'
import { legacy, serve } from './mcp-http-support.ts'
import { unhandledDuring, within } from './support.ts'

const LIMIT = { timeout: 180_000 }
const folder = scratch()
let files = 0
const file = () => join(folder, `file-${files++}`)
const PLANTED = 'planted-7316'

/** All that can be seen of a value. */
function seen(value: unknown): string {
  const parts = [inspect(value, { depth: 9, showHidden: true, getters: true })]
  for (const look of [() => JSON.stringify(value), () => inspect(structuredClone(value), { depth: 9 })]) {
    try { parts.push(look()) } catch { /* It has none. */ }
  }
  for (let error = value; error instanceof Error; error = error.cause) parts.push(String(error.stack), JSON.stringify((error as ToolError).data))
  return parts.join('\n')
}
const refused = (...codes: string[]) => (error: unknown): true => {
  assert.ok(ToolError.isInstance(error) && codes.includes(error.code), inspect(error))
  assert.doesNotMatch(seen(error), /planted|7316/)
  return true
}

/** Gives one value after the other each time that it is read. */
function changing(...values: unknown[]): Record<string, string> {
  let reads = 0
  return Object.defineProperty({}, 'api_key', { enumerable: true, get: () => values[Math.min(reads++, values.length - 1)] }) as Record<string, string>
}

describe('a store', () => {
  const connect = (get: () => unknown) => registryOf([spec()], { ...storeOf({}), get: get as CredentialStore['get'] }).connect('my-api', { resilient: false })

  test('whose record changes while it is read is read once', LIMIT, async () => {
    for (let good = 1; good < 6; good += 1) {
      const connection = await connect(() => changing('first', ...Array<string>(good).fill('later'), 7316_7316))
      assert.equal((await environmentOf(connection)).MY_API_KEY, 'first')
      await connection.close()
    }
    for (const first of [7316_7316, null, true, {}, ['planted'], Symbol('planted'), 10n]) await assert.rejects(connect(() => changing(first, 'text')), refused('CREDENTIAL_STORE_FAILED'))
  })

  test('that throws wherever it is looked at tells no word of what it threw', LIMIT, async () => {
    const throws = () => { throw new Error(PLANTED) }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const odd = new ToolError('CLOSED', 'x')
    Object.defineProperty(odd, 'message', { get: throws })
    const gives: (() => unknown)[] = [
      () => Object.defineProperty({}, 'api_key', { enumerable: true, get: throws }),
      ...(['getOwnPropertyDescriptor', 'getPrototypeOf', 'get', 'has', 'ownKeys'] as const).map(trap => () => new Proxy({ api_key: 'x' }, { [trap]: throws })),
      () => proxy, () => Object.defineProperty({}, 'then', { get: throws }), () => ({ then: throws }), () => ({ then: (_yes: unknown, no: (why: unknown) => void) => { no(proxy) } }),
      () => { throw odd }, () => { throw proxy }, () => Promise.reject(new Proxy(new Error(PLANTED), { get: throws })), () => { throw Object.create(null) }, () => { throw undefined },
    ]
    for (const [index, get] of gives.entries()) {
      // A trap that is not reached hides nothing.
      await connect(get).then(connection => connection.close(), error => refused('CREDENTIAL_STORE_FAILED')(error)).catch(error => { throw new Error(`${index}`, { cause: error }) })
    }
  })

  test('that gives a Map, a list or an instance is not taken for an empty one', LIMIT, async () => {
    class Row { api_key = PLANTED }
    await withVariables({ MY_API_KEY: 'of-another-account' }, async () => {
      for (const record of [new Map([['api_key', PLANTED]]), new Set(), [], new Row(), Object.create({ api_key: PLANTED }), 'text', 5, () => ({})]) await assert.rejects(connect(() => record), refused('CREDENTIAL_STORE_FAILED'), inspect(record))
      for (const none of [undefined, null, {}, Object.create(null)]) {
        const connection = await connect(() => none)
        assert.equal((await environmentOf(connection)).MY_API_KEY, 'of-another-account')
        await connection.close()
      }
    })
  })

  test('that changes its methods later, or never answers, harms no other attempt', LIMIT, async () => {
    const store = storeOf({ 'my-api': { api_key: 'x' } })
    await using registry = registryOf([spec()], store)
    store.get = undefined as never
    await assert.rejects(registry.connect('my-api'), refused('CREDENTIAL_STORE_FAILED'))
    store.get = () => new Promise(() => {})
    const stuck = assert.rejects(registry.connect('my-api'), refused('CANCELLED'))
    // The second one waits for its turn; what ends it ends it at once, and not the first.
    await within(10_000, assert.rejects(registry.connect('my-api', { signal: AbortSignal.timeout(200) }), refused('CANCELLED')))
    await within(10_000, assert.rejects(registry.connect('my-api', { signal: AbortSignal.abort() }), refused('CANCELLED')))
    store.get = () => ({ api_key: 'y' })
    const third = registry.connect('my-api')
    assert.equal(await Promise.race([third.then(() => 'connected', () => 'failed'), new Promise(done => { setTimeout(done, 300, 'waits') })]), 'waits', 'turns are kept')
    await within(10_000, registry.disconnect('my-api'))
    await Promise.all([stuck, assert.rejects(third, refused('CANCELLED'))])
    assert.equal((await environmentOf(await registry.connect('my-api'))).MY_API_KEY, 'y')
  })
})

describe('a credential', () => {
  test('that changes while it is read is read once', LIMIT, async () => {
    for (let good = 1; good < 6; good += 1) {
      const connection = await registryOf([spec()]).connect('my-api', { credentials: changing('first', ...Array<string>(good).fill('later'), 7316_7316) })
      assert.equal((await environmentOf(connection)).MY_API_KEY, 'first')
      await connection.close()
    }
    await assert.rejects(registryOf([spec()]).connect('my-api', { credentials: changing(7316_7316, 'x') }), refused('INVALID_OPTIONS'))
  })

  test('of every shape arrives as it is, or is refused before anything starts', LIMIT, async () => {
    await using server = await serve(legacy())
    const registry = registryOf([spec(), remote(server.url, { name: 'far' })])
    const far = (api_key: string) => registry.connect('far', { credentials: { api_key } })
    for (const value of ['a\nb\r\n', ' blanks ', '=', '"\'\\$`', 'é日本👋', 'x'.repeat(32 * 1024)]) {
      assert.equal((await environmentOf(await registry.connect('my-api', { credentials: { api_key: value } }))).MY_API_KEY, value)
    }
    for (const value of ['\ud800', 'a\udfffb', 'a\0b', 'x'.repeat(32 * 1024 + 1)]) {
      await assert.rejects(registry.connect('my-api', { credentials: { api_key: `${PLANTED}${value}` } }), refused('INVALID_OPTIONS'))
      await assert.rejects(far(`${PLANTED}${value}`), refused('INVALID_OPTIONS'))
    }
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', '\t', 'é', '\x7f']) await assert.rejects(far(`${PLANTED}${value}`), refused('INVALID_OPTIONS'))
    assert.equal(server.received.length, 0)
    for (const [given, stored] of [[{ ['__proto__']: 'x' }, {}], [{ constructor: 'x' }, {}], [{}, '\ud800']] as const) {
      await assert.rejects(registryOf([spec()], storeOf({ 'my-api': { api_key: stored } })).connect('my-api', { credentials: given as never }), refused('INVALID_OPTIONS', 'CREDENTIAL_STORE_FAILED'))
    }
    await registry.close()
  })

  test('of several lines, or with a line break at its end, is in nothing that a server repeats', LIMIT, async () => {
    const key = '-----BEGIN KEY-----\nplanted7316planted\n  planted-second-7316\n-----END KEY-----\n'
    const says = `const { MY_API_KEY } = process.env; for (const line of MY_API_KEY.split('\\n')) { console.log(line); console.error('key: ' + line.trim()) }; console.error(JSON.stringify({ MY_API_KEY }))`
    for (const value of [key, key.replaceAll('\n', '\r\n'), `${PLANTED}\n`, `  ${PLANTED} `]) {
      for (const rest of ['process.exit(3)', `await import(${JSON.stringify(SERVER)})`]) {
        const program = file()
        writeFileSync(`${program}.mjs`, `${says}; ${rest}`)
        const registry = registryOf([spec({ mcpCommand: [process.execPath, `${program}.mjs`] })])
        const outcome = await registry.connect('my-api', { credentials: { api_key: value }, resilient: false }).then(({ client }) => [client.diagnostics, client.lastError], (error: unknown) => error)
        assert.match(seen(outcome), /\*\*\*/)
        assert.doesNotMatch(seen(outcome), /planted|7316/)
        await registry.close()
      }
      await assert.rejects(registryOf([spec()]).connect('my-api', { credentials: { api_key: value }, args: [value.trim().split('\n').at(-1)!, `--x=${value.trim()}`] }), refused('INVALID_OPTIONS'))
    }
  })
})

describe('options', () => {
  test('of a client that are no records are refused, not passed over', LIMIT, async () => {
    const connect = (client: unknown) => registryOf([free()]).connect('my-api', { client } as ConnectorConnectOptions)
    for (const env of ['A=b', null, ['A'], new Map([['A', 'b']]), 5, { A: 5 }, { A: null }, new Date()]) await assert.rejects(connect({ env }), refused('INVALID_OPTIONS'), inspect(env))
    await using server = await serve(legacy())
    const reach = (headers: unknown) => registryOf([remote(server.url)]).connect('my-api', { credentials: { api_key: 'cred' }, client: { headers } } as ConnectorConnectOptions)
    for (const headers of ['X: y', null, new Headers({ 'x-more': 'm' }), new Map(), [['x-more', 'm']], { 'X-More': 1 }, { 'X-More': ['m'] }]) await assert.rejects(reach(headers), refused('INVALID_OPTIONS'), inspect(headers))
    assert.equal(server.received.length, 0)
    for (const name of ['authorization', 'AUTHORIZATION', 'Authorization']) await reach({ [name]: 'Bearer mine' })
    for (const { headers } of server.received) assert.equal(headers.authorization, 'Bearer cred', 'credentials win, however their header is written')
  })

  test('of the wrong kind are refused with a code', LIMIT, async () => {
    const registry = registryOf([free()])
    const wrong: unknown[] = [
      null, 5, 'x', [], { args: ['\ud800'] }, { args: { length: 1, 0: 'x' } }, { args: new Set(['x']) }, { credentials: new Map() }, { credentials: [] }, { credentials: null }, { client: [] }, { client: null },
      { resilient: null }, { resilient: 'yes' }, { resilient: { retries: 1.5 } }, { resilient: { retries: 2 ** 31 } }, { resilient: { budgetMs: Infinity } }, { resilient: { firstDelayMs: Number.NaN } }, { resilient: { breakerFailures: 0 } }, { signal: null }, { signal: { aborted: false } },
    ]
    for (const options of wrong) await assert.rejects(registry.connect('my-api', options as ConnectorConnectOptions), refused('INVALID_OPTIONS'), inspect(options))
    for (const resilient of [{ budgetMs: Number.MAX_VALUE }, { firstDelayMs: Number.MAX_VALUE, maxDelayMs: Number.MAX_VALUE, breakerResetMs: Number.MAX_VALUE }, { firstDelayMs: Number.MIN_VALUE, budgetMs: Number.MIN_VALUE }]) {
      const connection = await registry.connect('my-api', { resilient })
      assert.equal((await connection.health({ timeoutMs: Number.MAX_VALUE })).status, 'healthy')
    }
    await registry.close()
  })

  test('a server that asks for endless patience gets what the budget has', LIMIT, async () => {
    for (const after of ['18446744073709551615', '99999999999999999999', '1e300', '-1', 'Fri, 31 Dec 9999 23:59:59 GMT', '\xff']) {
      const busy = createServer((_request, response) => { response.writeHead(503, { 'retry-after': after }).end() })
      await new Promise<void>(resolve => { busy.listen(0, '127.0.0.1', resolve) })
      const registry = registryOf([remote(`http://127.0.0.1:${(busy.address() as AddressInfo).port}/mcp`)])
      await within(30_000, assert.rejects(registry.connect('my-api', { credentials: { api_key: 'cred' }, resilient: { firstDelayMs: 10, budgetMs: 1_000 } }), refused('CONNECTION_FAILED')))
      busy.closeAllConnections()
      busy.close()
    }
  })
})

test('names of JavaScript and things that are no names', LIMIT, async () => {
  const registry = registryOf([free()])
  const throws = { toString: () => { throw new Error(PLANTED) }, toJSON: () => { throw new Error(PLANTED) } }
  using monitor = registry.monitor()
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', Symbol('planted'), null, undefined, 5n, {}, Object.create(null), throws, () => {}, new Proxy({}, { get: throws.toString })]) {
    assert.throws(() => registry.get(name as string), refused('CONNECTOR_NOT_FOUND'))
    await assert.rejects(registry.connect(name as string), refused('CONNECTOR_NOT_FOUND'))
    assert.deepEqual([await registry.disconnect(name as string), await registry.unregister(name as string), registry.connection(name as string), monitor.status(name as string).status], [false, false, undefined, 'unknown'])
  }
  for (const name of ['constructor', 'toString', 'valueOf', 'then']) {
    registry.register(free({ name }))
    const connection = await registry.connect(name)
    assert.deepEqual([connection.tools[0]?.name, Object.keys(await monitor.check()).includes(name)], [`${name}_once`, true])
  }
  assert.equal(({} as { once?: unknown }).once, undefined)
  await registry.close()
})

test('what only looks like a specification is none', () => {
  const real = spec()
  class Sub extends ConnectorSpec {}
  const fakes: unknown[] = [Object.create(ConnectorSpec.prototype), Object.assign(Object.create(ConnectorSpec.prototype), { name: 'x', authFields: [] }), new Proxy(real, {}), structuredClone(real), JSON.parse(JSON.stringify(real)), { ...real }, Object.create(real), null, 'x', ConnectorSpec]
  for (const fake of fakes) assert.throws(() => { new ConnectorRegistry().register(fake as ConnectorSpec) }, refused('INVALID_OPTIONS'), inspect(fake))
  new ConnectorRegistry().register(new Sub(real))
  // What is read again says the same, whatever a definition did in between.
  let reads = 0
  const definition = { ...real, get description() { reads += 1; return reads === 1 ? 'first' : `later ${reads}` } }
  const made = new ConnectorSpec(definition)
  assert.equal(new ConnectorSpec(JSON.parse(JSON.stringify(made))).description, made.description)
  for (const odd of [{ name: 'a\ud800' }, { description: '\ud800' }, { authFields: [{ key: 'k', label: '\udfff', envVar: 'A' }] }, { mcpCommand: ['\ud800'] }, { name: { toString: () => 'x' } }, { toJSON: () => real }]) assert.throws(() => new ConnectorSpec({ ...real, ...odd } as never), refused('INVALID_OPTIONS', 'INVALID_NAME'), inspect(odd))
  assert.equal(remote('https://example.com/mcp', { authFields: [{ key: 'k', label: 'K', header: 'VENDOR_API_KEY' }] }).authFields[0]?.header, 'VENDOR_API_KEY')
  for (const header of ['a b', 'a:b', 'é', 'a\r\nb', '']) assert.throws(() => remote('https://example.com/mcp', { authFields: [{ key: 'k', label: 'K', header }] }), refused('INVALID_OPTIONS'))
})

test('races of connect, disconnect, unregister, register and close leave one state and no process', LIMIT, async () => {
  const log = file()
  const registry = registryOf([free({ name: 'a' }), free({ name: 'b' })])
  const monitors = [registry.monitor({ intervalMs: 5, jitter: 1 }), registry.monitor({ intervalMs: 7, onChange: () => Promise.reject(new Error('not heard')) })]
  const outcomes: Record<string, number> = {}
  const count = (what: string) => { outcomes[what] = (outcomes[what] ?? 0) + 1 }
  const acts: ((name: string) => Promise<unknown>)[] = [
    name => registry.connect(name, { client: { env: { CONNECTOR_LOG: log } } }), name => registry.connect(name, { signal: AbortSignal.timeout(Math.floor(Math.random() * 200)), client: { env: { CONNECTOR_LOG: log } } }), name => registry.disconnect(name),
    async name => { await registry.unregister(name); registry.register(free({ name })) }, async name => { registry.register(free({ name }), { overwrite: true }) }, async name => registry.connection(name)?.close(), async name => registry.connection(name)?.health(), () => registry.disconnectAll(), () => registry.close(),
  ]
  const unhandled = await unhandledDuring(async () => {
    const running: Promise<void>[] = []
    for (let round = 0; round < 120; round += 1) {
      const act = Math.random() < 0.5 ? 0 : Math.floor(Math.random() * acts.length)
      running.push(acts[act]!(Math.random() < 0.5 ? 'a' : 'b').then(() => { count(`${act} ok`) }, (error: unknown) => { refused('CANCELLED', 'DUPLICATE_NAME', 'CONNECTOR_NOT_FOUND', 'CLOSED', 'CONNECTION_FAILED')(error); count(`${act} ${(error as ToolError).code}`) }))
      if (round % 3 === 0) await new Promise(resolve => { setTimeout(resolve, Math.random() * 30) })
    }
    await within(120_000, Promise.all(running), JSON.stringify(outcomes))
  })
  assert.deepEqual(unhandled, [])
  assert.ok((outcomes['0 ok'] ?? 0) > 0, JSON.stringify(outcomes))
  for (const { name } of registry.list()) {
    const connection = registry.connection(name)
    if (connection !== undefined) assert.equal(connection.client.state, 'ready')
    assert.equal(registry.catalog().find(entry => entry.name === name)?.connected, connection !== undefined)
  }
  await registry.close()
  for (const monitor of monitors) monitor.stop()
  assert.deepEqual(registry.list().filter(({ name }) => registry.connection(name) !== undefined), [])
  const pids = readFileSync(log, 'utf8').split('\n').filter(line => line.startsWith('start')).map(line => Number(line.split(' ')[1]))
  assert.deepEqual(pids.filter(isAlive), [])
})

test('a registry that is closed while it connects keeps nothing', LIMIT, async () => {
  for (let ms = 0; ms < 160; ms += 20) {
    const log = file()
    const registry = registryOf([free()])
    const attempt = registry.connect('my-api', { client: { env: { CONNECTOR_LOG: log } } })
    const ended = attempt.then(({ client }) => client, refused('CANCELLED'))
    await new Promise(resolve => { setTimeout(resolve, ms) })
    await registry.close()
    const client = await ended
    if (client !== true) assert.equal(client.state, 'closed')
    assert.equal(registry.connection('my-api'), undefined)
  }
})

test('fifty servers that die, come back and die again: each status is told, and nothing is left', LIMIT, async () => {
  const names = Array.from({ length: 50 }, (_, index) => `s${index}`)
  const modes = new Map(names.map(name => [name, file()]))
  const registry = registryOf(names.map(name => free({ name })))
  const changes: HealthChange[] = []
  const unhandled = await unhandledDuring(async () => {
    const connections = await Promise.all(names.map(name => registry.connect(name, { client: { env: { CONNECTOR_MODE: modes.get(name)! }, connectTimeoutMs: 120_000, respawn: { attempts: 1, firstDelayMs: 1 } } })))
    using monitor = registry.monitor({ intervalMs: 300, timeoutMs: 60_000, onChange: change => { changes.push(change) } })
    const all = (statuses: readonly string[]) => names.every((name, index) => monitor.status(name).status === statuses[index % statuses.length])
    const until = async (statuses: readonly string[]) => {
      const deadline = performance.now() + 120_000
      while (!all(statuses)) {
        assert.ok(performance.now() < deadline, inspect(monitor.statuses, { depth: 4 }))
        await new Promise(resolve => { setTimeout(resolve, 50) })
      }
    }
    await until(['healthy'])
    for (const [index, { name, client }] of connections.entries()) {
      if (index % 2 === 1) continue
      writeFileSync(modes.get(name)!, 'dead')
      process.kill(client.pid!, 'SIGKILL')
    }
    await until(['disconnected', 'healthy'])
    for (const name of names) rmSync(modes.get(name)!, { force: true })
    await until(['healthy'])
    await registry.disconnectAll()
    await until(['disconnected'])
  })
  assert.deepEqual(unhandled, [])
  for (const name of names) {
    const told = changes.filter(change => change.name === name)
    for (const [at, { previous }] of told.entries()) assert.equal(previous, at === 0 ? 'unknown' : told[at - 1]!.current.status)
  }
  await registry.close()
})
