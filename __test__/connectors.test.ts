// Connectors: what a specification may say, where credentials come from and go to, one connection of each. Tests named CONN-… cover a
// field case.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { AuthType, ConnectorRegistry, ConnectorSpec, type CredentialStore, ToolError, ToolRegistry, builtinConnectors } from 'toolbolt'
import { environmentOf, free, registryOf, remote, spec, storeOf, withVariables } from './connectors-support.ts'
import { scratch } from './machine.ts'
import { legacy, serve } from './mcp-http-support.ts'
import { coded, vectors } from './support.ts'

const LIMIT = { timeout: 120_000 }
const folder = scratch()
let files = 0
const file = () => join(folder, `file-${files++}`)
const TEMPLATE = ['$', '{MY_API_KEY}'].join('')
const QUICK = { retries: 3, firstDelayMs: 20, maxDelayMs: 60 }

describe('a specification', () => {
  test('has every field, defaults included, and does not change', () => {
    const { agentDescription, verified, authFields, docsUrl, mcpUrl } = spec()
    assert.deepEqual([agentDescription, verified, docsUrl, mcpUrl], ['', false, undefined, undefined])
    assert.deepEqual(authFields, [{ key: 'api_key', label: 'API Key', envVar: 'MY_API_KEY', secret: true, hint: '' }])
    const made = spec()
    assert.throws(() => { (made as any).name = 'x' }, TypeError)
    assert.throws(() => { (made.authFields as any)[0].envVar = 'PATH' }, TypeError)
    assert.throws(() => { (made.mcpCommand as any).push('x') }, TypeError)
    assert.deepEqual(new ConnectorSpec(JSON.parse(JSON.stringify(made))), made)
  })

  test('CONN-02: names are checked', () => {
    for (const name of ['', 'a/b', 'a b', '../x', '__proto__', '-x', 'é', 'x'.repeat(65), 'x'.repeat(200), 'a\n', '\0']) assert.throws(() => spec({ name }), coded('INVALID_NAME'), name)
    for (const name of ['a', 'x'.repeat(64), 'my-api', 'knowledge_graph', '7']) assert.equal(spec({ name }).name, name)
  })

  test('says wrong things', () => {
    const field = (more: object) => ({ authFields: [{ key: 'k', label: 'K', envVar: 'MY_K', ...more }] })
    const wrong: object[] = [
      { mcpCommand: undefined }, { mcpUrl: 'https://example.com' }, { mcpCommand: [] }, { mcpCommand: [''] }, { mcpCommand: 'node server' }, { mcpCommand: [1] },
      { displayName: '' }, { category: ' ' }, { description: '' }, { displayName: 1 }, { authType: 'api_key' }, { authType: undefined }, { docsUrl: 'javascript:1' },
      { authFields: [] }, { authFields: 'x' }, { authFields: [null] }, { authType: 'NONE' }, { verified: 'yes' }, { unknown: 1 }, { agentDescription: 5 },
      field({ key: '' }), field({ key: '__proto__' }), field({ key: 'a b' }), field({ label: '' }), field({ label: undefined }), field({ envVar: undefined }), field({ envVar: '1A' }),
      field({ envVar: 'A-B' }), field({ envVar: 'A=B' }), field({ envVar: '' }), field({ envVar: 'PATH' }), field({ envVar: 'LD_PRELOAD' }), field({ envVar: 'node_options' }), field({ header: 'X' }), field({ secret: 1 }), field({ oops: 1 }),
      { authFields: [{ key: 'k', label: 'K', envVar: 'A' }, { key: 'k', label: 'L', envVar: 'B' }] }, { authFields: [{ key: 'k', label: 'K', envVar: 'A' }, { key: 'l', label: 'L', envVar: 'A' }] },
    ]
    for (const more of wrong) assert.throws(() => spec(more), coded('INVALID_OPTIONS'), JSON.stringify(more))
    for (const none of [undefined, null, 'x', []]) assert.throws(() => new ConnectorSpec(none as any), coded('INVALID_OPTIONS'))
    for (const url of ['', 'example.com', 'ftp://example.com', 'https://u:p@example.com', 'https://example.com/{key}/mcp', `https://example.com/${TEMPLATE}`, 'https://example.com/?api_key=1', 'https://example.com/ghp_aaaaaaaaaaaaaaaaaaaa/mcp']) {
      assert.throws(() => remote(url), coded('INVALID_OPTIONS'), url)
    }
    assert.throws(() => remote('https://example.com', { authType: 'ENV_KEY' }), coded('INVALID_OPTIONS'))
    assert.throws(() => remote('https://example.com', { authFields: [{ key: 'a', label: 'A' }, { key: 'b', label: 'B' }] }), coded('INVALID_OPTIONS'), 'both in one header')
  })

  test('what is wrong is told in words of a specification, not of the text that the core reads', () => {
    for (const more of [{ name: undefined }, { displayName: undefined }, { authType: 'oauth' }, { authType: undefined }, { authFields: [{ label: 'K' }] }, { authFields: [{ key: 'k' }] }]) {
      assert.throws(() => spec(more as object), error => coded('INVALID_OPTIONS')(error) && !/line \d|column \d|unknown variant|missing field/.test((error as Error).message), JSON.stringify(more))
    }
  })

  test('CONN-03: no credential, and no template for one, stands among the arguments', LIMIT, async () => {
    for (const words of [['--key', TEMPLATE], ['$MY_API_KEY'], ['%MY_API_KEY%'], ['{api_key}'], ['{{api_key}}'], ['--api-key', 'x'], ['--token=x'], ['-password', 'x'], ['sk-abcdefghijkl'], ['Authorization: Bearer abc'], ['ghp_abcdefghijklmnop']]) {
      assert.throws(() => spec({ mcpCommand: ['server', ...words] }), error => {
        assert.ok(coded('INVALID_OPTIONS')(error))
        assert.doesNotMatch(inspect(error), /sk-abcdefghijkl|ghp_abc/)
        return true
      }, words.join(' '))
    }
    for (const words of [['-y', '@scope/server@1.2.3'], ['--port', '1'], ['--token-budget'], ['a=b']]) assert.ok(spec({ mcpCommand: ['server', ...words] }))
    const registry = registryOf([spec(), remote('https://example.com/planted-value', { name: 'far' })])
    const started = file()
    const planted = (error: unknown) => coded('INVALID_OPTIONS')(error) && !inspect(error).includes('planted-value')
    await assert.rejects(registry.connect('my-api', { credentials: { api_key: 'planted-value' }, args: ['--x', 'y=planted-value'], client: { env: { CONNECTOR_LOG: started } } }), planted)
    await assert.rejects(registry.connect('my-api', { credentials: { api_key: 'planted-value' }, args: [TEMPLATE], client: { env: { CONNECTOR_LOG: started } } }), planted)
    await assert.rejects(registry.connect('far', { credentials: { api_key: 'planted-value' } }), planted)
    assert.equal(existsSync(started), false, 'nothing was started')
  })

  test('what the originals list can be said', () => {
    interface Row { name: string; category: string; auth_type: string; auth_fields: { key: string; env_var: string; secret: boolean }[]; docs_url: string; mcp_command: string[] }
    const rows = vectors<Row[]>('sagewai_builtin_connectors')
    const registry = new ConnectorRegistry()
    for (const row of rows) {
      registry.register(new ConnectorSpec({
        name: row.name, displayName: row.name, category: row.category, description: row.name, authType: row.auth_type.toUpperCase() as AuthType,
        authFields: row.auth_fields.map(({ key, env_var, secret }) => ({ key, label: key, envVar: env_var, secret })), mcpCommand: row.mcp_command, docsUrl: row.docs_url,
      }))
    }
    assert.deepEqual(registry.catalog().map(({ name, category, authType, authFields, docsUrl }) => [name, category, authType.toLowerCase(), authFields.map(({ key, envVar, secret }) => [key, envVar, secret]), docsUrl]),
      rows.map(row => [row.name, row.category, row.auth_type, row.auth_fields.map(({ key, env_var, secret }) => [key, env_var, secret]), row.docs_url]))
  })

  test('those that come along', () => {
    const specs = builtinConnectors()
    const registry = new ConnectorRegistry()
    registry.register(free({ name: 'git' }))
    assert.deepEqual(registry.registerBuiltins(), specs.map(({ name }) => name).filter(name => name !== 'git'))
    assert.deepEqual(registry.registerBuiltins(), [])
    for (const { verified, mcpUrl, mcpCommand, name } of specs) assert.equal(verified, mcpUrl === undefined && mcpCommand !== undefined, name)
    for (const name of ['github', 'slack', 'notion', 'linear', 'stripe', 'sentry', 'atlassian', 'hubspot']) assert.equal(registry.get(name).verified, false)
    for (const name of ['filesystem', 'memory', 'sequential-thinking', 'time', 'git', 'fetch', 'sqlite', 'everything']) assert.ok(specs.some(one => one.name === name && one.verified))
  })
})

describe('a registry', () => {
  test('CONN-02: names what is not there, and keeps what is', async () => {
    const registry = registryOf([spec()])
    for (const name of ['nope', '__proto__', 'constructor', 'toString', '', undefined]) {
      assert.throws(() => registry.get(name as string), coded('CONNECTOR_NOT_FOUND'))
      await assert.rejects(registry.connect(name as string), coded('CONNECTOR_NOT_FOUND'))
    }
    assert.throws(() => registry.register(spec({ displayName: 'Other' })), coded('DUPLICATE_NAME'))
    assert.throws(() => registry.register(spec(), { custom: true }), coded('DUPLICATE_NAME'), 'custom only marks who made it')
    registry.register(spec({ displayName: 'Other' }), { overwrite: true, custom: true })
    assert.deepEqual([registry.list().length, registry.get('my-api').displayName, registry.catalog()[0]?.isCustom], [1, 'Other', true])
    for (const wrong of [{}, null, { ...spec() }]) assert.throws(() => registry.register(wrong as any), coded('INVALID_OPTIONS'))
    assert.throws(() => registry.register(free({ name: 'x' }), { custom: 1 } as any), coded('INVALID_OPTIONS'))
    assert.equal(await registry.unregister('nope'), false)
    assert.equal(await registry.unregister('my-api'), true)
    assert.deepEqual(registry.catalog(), [])
    for (const options of [{ credentialStore: null }, { credentialStore: {} }, { store: 1 }]) assert.throws(() => new ConnectorRegistry(options as any), coded('INVALID_OPTIONS'))
  })

  test('connects, disconnects and connects again; one connection of each', LIMIT, async () => {
    await using registry = registryOf([free(), free({ name: 'other' })])
    const first = await registry.connect('my-api')
    assert.deepEqual(first.tools.map(({ name, origin }) => [name, origin])[0], ['my-api_once', 'mcp:my-api'])
    assert.equal(registry.connection('my-api'), first)
    assert.deepEqual(registry.catalog().map(({ connected }) => connected), [true, false])
    assert.throws(() => registry.register(free(), { overwrite: true }), coded('DUPLICATE_NAME'))
    const second = await registry.connect('my-api')
    assert.deepEqual([first.client.state, second.client.state, registry.connection('my-api') === second], ['closed', 'ready', true])
    await registry.connect('other')
    assert.equal(await registry.disconnect('my-api'), true)
    assert.equal(await registry.disconnect('my-api'), false)
    assert.equal(second.client.state, 'closed')
    const [one, two, three] = await Promise.all([registry.connect('my-api'), registry.connect('my-api'), registry.connect('other')])
    assert.deepEqual([one.client.state, two.client.state, three.client.state], ['closed', 'ready', 'ready'])
    assert.equal(await registry.unregister('my-api'), true)
    assert.equal(two.client.state, 'closed')
    await three.close()
    assert.equal(registry.connection('other'), undefined)
    const last = await registry.connect('other')
    await registry.disconnectAll()
    assert.equal(last.client.state, 'closed')
  })

  test('an attempt that is given up ends at once, whatever it waits for', LIMIT, async () => {
    const hangs: CredentialStore = { ...storeOf({}), get: () => new Promise(() => {}) }
    const mute = file()
    writeFileSync(mute, 'mute')
    const [stuck, registry] = [registryOf([spec()], hangs), registryOf([free()])]
    for (const begin of [() => stuck.connect('my-api'), () => registry.connect('my-api', { client: { env: { CONNECTOR_MODE: mute } } })]) {
      const attempt = assert.rejects(begin(), coded('CANCELLED'))
      setTimeout(() => { void stuck.disconnect('my-api'); void registry.disconnectAll() }, 300)
      await attempt
    }
    await assert.rejects(registry.connect('my-api', { signal: AbortSignal.abort() }), coded('CANCELLED'))
    await assert.rejects(registry.connect('my-api', { signal: AbortSignal.timeout(200), client: { env: { CONNECTOR_MODE: mute } } }), coded('CANCELLED'))
    const silent = file()
    writeFileSync(silent, 'silent')
    await assert.rejects(registry.connect('my-api', { signal: AbortSignal.timeout(500), client: { env: { CONNECTOR_MODE: silent } } }), coded('CANCELLED'))
    assert.equal((await registry.connect('my-api')).client.state, 'ready')
    await registry.close()
  })

  test('wrong options', async () => {
    const registry = registryOf([spec(), free({ name: 'free' })])
    const wrong: object[] = [
      { credentials: { other: 'x' } }, { credentials: { api_key: 1 } }, { credentials: 'x' }, { resilient: 1 }, { resilient: { retries: -1 } }, { resilient: { budgetMs: 0 } }, { resilient: { x: 1 } }, { args: 'x' }, { args: [1] },
      { client: { command: 'x' } }, { client: { namespace: 'x' } }, { client: { url: 'x' } }, { client: { unknown: 1 } }, { client: 1 }, { oops: 1 }, { signal: {} }, { credentials: { api_key: 'a\0b' } }, { credentials: { api_key: 'x'.repeat(40_000) } },
    ]
    for (const options of wrong) await assert.rejects(registry.connect('my-api', { credentials: { api_key: 'given' }, ...options } as any), coded('INVALID_OPTIONS'), JSON.stringify(options).slice(0, 100))
    await assert.rejects(registry.connect('free', { credentials: { api_key: 'x' } }), coded('INVALID_OPTIONS'))
  })
})

describe('credentials', () => {
  const both = spec({ authFields: [{ key: 'api_key', label: 'The Key', envVar: 'MY_API_KEY' }, { key: 'team', label: 'The Team', envVar: 'MY_TEAM', secret: false }] })

  test('CONN-01: given, then the store, then the environment, field by field; an empty one is none', LIMIT, async () => {
    const cases: [given: Record<string, string> | undefined, stored: unknown, environment: Record<string, string>, expected: [string, string]][] = [
      [{ api_key: 'given1', team: 'given2' }, { api_key: 'stored' }, { MY_API_KEY: 'variable' }, ['given1', 'given2']],
      [undefined, undefined, { MY_API_KEY: 'variable1', MY_TEAM: 'variable2' }, ['variable1', 'variable2']],
      [undefined, { api_key: 'stored1', team: 'stored2', more: 'unused' }, { MY_API_KEY: 'variable1' }, ['stored1', 'stored2']],
      [undefined, { api_key: '', team: 'stored2' }, { MY_API_KEY: 'variable1', MY_TEAM: '' }, ['variable1', 'stored2']],
      [{ api_key: '', team: 'given2' }, { api_key: 'stored1' }, {}, ['stored1', 'given2']],
    ]
    for (const [credentials, stored, variables, expected] of cases) {
      await withVariables(variables, async () => {
        for (const promised of [false, true]) {
          const store: CredentialStore = { ...storeOf({}), get: () => (promised ? Promise.resolve(stored) : stored) as any }
          await using registry = registryOf([both], store)
          const { MY_API_KEY, MY_TEAM, more } = await environmentOf(await registry.connect('my-api', { credentials }))
          assert.deepEqual([MY_API_KEY, MY_TEAM, more], [...expected, undefined])
        }
      })
    }
  })

  test('CONN-01: what is missing is told by label before anything starts, a store that fails is no empty one', LIMIT, async () => {
    const started = file()
    const options = { client: { env: { CONNECTOR_LOG: started } } }
    const missing = (...labels: string[]) => (error: unknown) => {
      assert.ok(coded('CREDENTIALS_MISSING')(error) && ToolError.isInstance(error))
      for (const label of ['The Key', 'The Team']) assert.equal(error.message.includes(label), labels.includes(label), error.message)
      assert.deepEqual((error.data as any).missing.map(({ label }: { label: string }) => label), labels)
      assert.doesNotMatch(inspect(error), /planted/)
      return true
    }
    await withVariables({ MY_API_KEY: '' }, async () => {
      await assert.rejects(registryOf([both]).connect('my-api', options), missing('The Key', 'The Team'))
      await assert.rejects(registryOf([both], storeOf({ 'my-api': { api_key: 'planted' } })).connect('my-api', options), missing('The Team'))
      await assert.rejects(registryOf([both], storeOf({ 'my-api': { api_key: '', team: 'planted' } })).connect('my-api', options), missing('The Key'))
    })
    const secret = new Error('planted: the password is planted')
    await withVariables({ MY_API_KEY: 'planted1', MY_TEAM: 'planted2' }, async () => {
      const odd: unknown[] = ['planted', { api_key: 5 }, [], { api_key: { toString: () => 'planted' } }]
      const stores = [
        ...odd.map(value => storeOf({ 'my-api': value })),
        ...[() => { throw secret }, () => Promise.reject(secret), () => { throw 'planted' }].map(get => ({ ...storeOf({}), get }) as CredentialStore),
      ]
      for (const store of stores) {
        await assert.rejects(registryOf([both], store).connect('my-api', options), error => coded('CREDENTIAL_STORE_FAILED')(error) && !inspect(error).includes('planted'))
      }
      let asked = 0
      const counting: CredentialStore = { ...storeOf({}), get: () => { asked += 1; throw secret } }
      await using registry = registryOf([both], counting)
      await registry.connect('my-api', { credentials: { api_key: 'a', team: 'b' } })
      assert.equal(asked, 0, 'a store is not asked for what was given')
    })
    assert.equal(existsSync(started), false)
  })

  test('CONN-04: a child gets its own credentials and nothing else of the host; process.env is never written', LIMIT, async () => {
    const a = spec({ name: 'a', authFields: [{ key: 'key', label: 'A', envVar: 'A_KEY' }] })
    const b = spec({ name: 'b', authFields: [{ key: 'key', label: 'B', envVar: 'B_KEY' }] })
    await withVariables({ HOST_SECRET: 'planted', AWS_SECRET_ACCESS_KEY: 'planted' }, async () => {
      const before = { ...process.env }
      const writes: unknown[] = []
      const real = process.env
      process.env = new Proxy(real, { set: (_, name) => { writes.push(name); return true }, defineProperty: (_, name) => { writes.push(name); return true }, deleteProperty: (_, name) => { writes.push(name); return true } })
      try {
        await using registry = registryOf([a, b, free({ name: 'c' })], storeOf({ a: { key: 'value-of-a' }, b: { key: 'value-of-b' } }))
        const connections = await Promise.all(['a', 'b', 'c'].map(name => registry.connect(name)))
        const [ofA, ofB, ofC] = await Promise.all(connections.map(environmentOf))
        const usual = ['PATH', 'HOME', 'LANG', 'LOGNAME', 'SHELL', 'TERM', 'USER', 'TMPDIR']
        for (const [environment, own] of [[ofA, 'A_KEY'], [ofB, 'B_KEY'], [ofC, '']] as const) assert.deepEqual(Object.keys(environment!).filter(name => name !== own && !usual.includes(name)), [])
        assert.deepEqual([ofA?.A_KEY, ofB?.B_KEY], ['value-of-a', 'value-of-b'])
      } finally {
        process.env = real
      }
      assert.deepEqual([writes, { ...process.env }], [[], before])
    })
  })

  test('a server behind an address gets them as headers', LIMIT, async () => {
    const headers: Record<string, unknown>[] = []
    const answer = legacy()
    await using server = await serve((request, response) => { headers.push(request.headers); return answer(request, response) })
    const url = `${server.url}`
    const fields = [{ key: 'token', label: 'Token', envVar: 'MY_TOKEN' }, { key: 'team', label: 'Team', header: 'X-Team', secret: false }, { key: 'id', label: 'Id', header: 'X-Id', prefix: 'id=' }]
    await using registry = registryOf([remote(url, { authFields: fields }), remote(url, { name: 'oauth', authType: 'OAUTH2', authFields: [] })], storeOf({ oauth: { access_token: 'the-token' } }))
    await registry.connect('my-api', { credentials: { token: 'abc', team: 'blue', id: '7' }, client: { headers: { 'X-More': 'm' } } })
    assert.ok(headers.length > 2)
    for (const seen of headers) assert.deepEqual([seen.authorization, seen['x-team'], seen['x-id'], seen['x-more']], ['Bearer abc', 'blue', 'id=7', 'm'])
    headers.length = 0
    await registry.connect('oauth')
    for (const seen of headers) assert.equal(seen.authorization, 'Bearer the-token')
    await assert.rejects(registry.connect('my-api', { credentials: { token: 'a\r\nX-Evil: planted', team: 'b', id: 'c' } }), error => coded('INVALID_OPTIONS')(error) && !inspect(error).includes('planted'))
  })

  test('where only OAuth 2 helps that is said', async () => {
    const oauth = remote('https://example.com/mcp', { authType: 'OAUTH2', authFields: [] })
    const program = spec({ name: 'program', authType: 'OAUTH2', authFields: [{ key: 'client_id', label: 'Id', envVar: 'X_CLIENT_ID' }] })
    const registry = registryOf([oauth, program], storeOf({ 'my-api': { access_token: '' } }))
    await assert.rejects(registry.connect('my-api'), coded('AUTHORIZATION_REQUIRED'))
    await assert.rejects(registry.connect('program', { credentials: { client_id: 'x', access_token: 'y' } }), coded('AUTHORIZATION_REQUIRED'))
  })

  test('CONN-05: a server that is down is tried a few times, and the error has a cause and no token', LIMIT, async () => {
    let asked = 0
    const down = createServer((_request, response) => { asked += 1; response.writeHead(503).end('planted-token') })
    await new Promise<void>(resolve => { down.listen(0, '127.0.0.1', resolve) })
    const { port } = down.address() as { port: number }
    try {
      const registry = registryOf([remote(`http://127.0.0.1:${port}/mcp`, { authType: 'OAUTH2', authFields: [] })])
      const failed = (tries: number) => (error: unknown) => {
        assert.ok(coded('CONNECTION_FAILED')(error) && error instanceof Error && ToolError.isInstance(error.cause))
        assert.equal((error as any).data.tries, tries)
        assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), /planted-token/)
        return true
      }
      await assert.rejects(registry.connect('my-api', { credentials: { access_token: 'planted-token' }, resilient: QUICK }), failed(4))
      assert.ok(asked >= 4 && asked <= 12, String(asked))
      asked = 0
      await assert.rejects(registry.connect('my-api', { credentials: { access_token: 'planted-token' }, resilient: { retries: 1000, firstDelayMs: 50, budgetMs: 600 } }), error => coded('CONNECTION_FAILED')(error))
      assert.ok(asked < 1000, 'the budget ends it')
      asked = 0
      await assert.rejects(registry.connect('my-api', { credentials: { access_token: 'planted-token' }, resilient: false }), coded('CONNECTION_FAILED'))
      assert.ok(asked <= 3, String(asked))
    } finally {
      down.close()
    }
  })

  test('CONN-05: what no repetition cures is not repeated', LIMIT, async () => {
    let asked = 0
    const refuses = createServer((_request, response) => { asked += 1; response.writeHead(401).end() })
    await new Promise<void>(resolve => { refuses.listen(0, '127.0.0.1', resolve) })
    try {
      const { port } = refuses.address() as { port: number }
      const registry = registryOf([remote(`http://127.0.0.1:${port}/mcp`), free({ name: 'none', mcpCommand: ['no-such-program-here'] })])
      await assert.rejects(registry.connect('my-api', { credentials: { api_key: 'planted' } }), coded('CONNECTION_FAILED'))
      assert.ok(asked <= 3, String(asked))
      const started = performance.now()
      await assert.rejects(registry.connect('none', { resilient: { firstDelayMs: 20_000 } }), coded('CONNECTION_FAILED'))
      assert.ok(performance.now() - started < 5_000)
    } finally {
      refuses.close()
    }
  })

  test('a program that is broken is started a few times and then given up', LIMIT, async () => {
    const [mode, log] = [file(), file()]
    writeFileSync(mode, 'dead')
    const registry = registryOf([free()])
    const options = { client: { env: { CONNECTOR_MODE: mode, CONNECTOR_LOG: log } } }
    await assert.rejects(registry.connect('my-api', { ...options, resilient: QUICK }), error => coded('CONNECTION_FAILED')(error) && (error as any).data.tries === 4)
    const starts = () => readFileSync(log, 'utf8').split('start').length - 1
    assert.ok(starts() >= 4 && starts() <= 8, String(starts()))
    setTimeout(() => { writeFileSync(mode, 'ok') }, 300)
    const connection = await registry.connect('my-api', { ...options, resilient: { retries: 50, firstDelayMs: 50, maxDelayMs: 100 } })
    assert.equal(connection.client.state, 'ready')
    await registry.close()
  })
})

test('a program: the registry of tools runs them through the gate', LIMIT, async () => {
  await using connectors = registryOf([free()])
  const { tools } = await connectors.connect('my-api', { client: { requiresConfirmation: false } })
  const registry = new ToolRegistry()
  registry.registerAll(tools)
  const response = await registry.execute('my-api_once', { token: 'hello' })
  assert.deepEqual([response.status, response.text, response.origin], ['success', 'hello', 'mcp:my-api'])
})
