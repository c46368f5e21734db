// OAuth 2 end to end, on loopback: a real authorization server (oidc-provider), a real MCP server that it guards, and a person with a browser.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type AuthorizeOptions, type ConnectorDefinition, ConnectorRegistry, ConnectorSpec, type CredentialStore, EnvironmentCredentialStore, FileCredentialStore, MemoryCredentialStore, ToolRegistry, builtinConnectors } from 'toolbolt'
import { type World, authorizeAs, browse, world } from './fixtures/oauth-world.ts'
import { scratch } from './machine.ts'
import { coded, deferred, sleep } from './support.ts'

const LIMIT = { timeout: 120_000 }
const PATIENT = { timeoutMs: 60_000 }
const QUICK = { resilient: false, client: { requiresConfirmation: false } } as const

function spec(mcpUrl: string, more: Partial<ConnectorDefinition> = {}): ConnectorSpec {
  return new ConnectorSpec({ name: 'far', displayName: 'Far', category: 'test', description: 'Far', authType: 'OAUTH2', mcpUrl, ...more })
}

/** A store that shows what was put when. */
class Watched implements CredentialStore {
  readonly records = new Map<string, Record<string, string>>()
  readonly puts: Record<string, string>[] = []
  onPut: (record: Record<string, string>) => void = () => {}
  get(name: string) { return this.records.get(name) }
  put(name: string, record: Record<string, string>) {
    this.onPut(record)
    this.puts.push(record)
    this.records.set(name, record)
  }
  delete(name: string) { return this.records.delete(name) }
  list() { return [...this.records.keys()] }
  get far() { return this.records.get('far')! }
}

function registry(server: World, store: CredentialStore = new Watched(), more: Partial<ConnectorDefinition> = {}) {
  const connectors = new ConnectorRegistry({ credentialStore: store })
  connectors.register(spec(server.mcpUrl, more))
  return connectors
}

/** Starts an authorization, and gives the address for the browser. */
async function begin(connectors: ConnectorRegistry, more: AuthorizeOptions = {}) {
  const shown = deferred<string>()
  const authorized = connectors.authorize('far', { ...PATIENT, ...more, open: shown.resolve })
  authorized.catch(shown.reject)
  const url = new URL(await shown.promise)
  return { authorized, url, redirect: url.searchParams.get('redirect_uri')! }
}

async function authorized(server: World, store = new Watched()) {
  const connectors = registry(server, store)
  await connectors.authorize('far', { ...PATIENT, open: browse })
  return { connectors, store }
}

const isClosed = (url: string) => assert.rejects(fetch(url), 'nothing listens any more')

describe('the authorization code', () => {
  test('leads to tokens in the store, with which the server is reached', LIMIT, async () => {
    await using server = await world()
    const store = new MemoryCredentialStore()
    await store.put('far', { note: 'kept' })
    await using connectors = registry(server, store)
    assert.equal(await connectors.authorization('far'), undefined)
    await assert.rejects(connectors.connect('far', QUICK), coded('AUTHORIZATION_REQUIRED'))
    let query = new URLSearchParams()
    const result = await connectors.authorize('far', {
      ...PATIENT, clientName: 'My program',
      open: async url => {
        query = new URL(url).searchParams
        const { status, html } = await browse(url)
        assert.equal(status, 200)
        assert.doesNotMatch(html, /https?:|src=|<script/)
      },
    })
    assert.deepEqual([query.get('code_challenge_method'), query.get('response_type'), query.get('resource')], ['S256', 'code', server.mcpUrl])
    assert.match(query.get('redirect_uri')!, /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    assert.equal(query.get('state')!.length, 43)
    assert.deepEqual([result.scopes, result.refreshable, Math.abs(result.expiresAt!.getTime() - Date.now() - 3_570_000) < 60_000], [['tools'], true, true])
    assert.deepEqual(await connectors.authorization('far'), result)
    const kept = (await store.get('far'))!
    assert.deepEqual(Object.keys(kept), ['access_token', 'expires_at', 'note', 'oauth_client', 'refresh_token', 'scope', 'token_type'])
    assert.equal((await server.provider.Client.find(JSON.parse(kept['oauth_client']!).clientId)).clientName, 'My program')
    assert.deepEqual(server.of('authorization_code').map(({ resource, error }) => [resource, error]), [[server.mcpUrl, undefined]])
    const connection = await connectors.connect('far', QUICK)
    assert.equal((await connection.client.callTool('echo', {})).text, 'done')
    assert.deepEqual([...new Set(server.state.tokens)], [kept['access_token']])
  })

  test('is found where the server says nothing of it, in the well-known place', LIMIT, async () => {
    await using server = await world({ tells: false })
    const { connectors } = await authorized(server)
    await using _ = connectors
    await connectors.connect('far', QUICK)
  })

  test('needs a person who says yes', LIMIT, async () => {
    await using server = await world()
    const store = new Watched()
    await using connectors = registry(server, store)
    const { authorized: attempt, url, redirect } = await begin(connectors)
    const outcome = assert.rejects(attempt, (error: any) => coded('AUTHORIZATION_FAILED')(error) && error.data.reason === 'denied' && error.data.error === 'access_denied')
    assert.equal((await browse(url.href, { denies: true })).status, 200)
    await outcome
    await isClosed(redirect)
    assert.deepEqual([store.puts, server.state.grants], [[], []])
  })

  test('counts once, with its own state alone', LIMIT, async () => {
    await using server = await world()
    await using connectors = registry(server)
    const { authorized: attempt, url } = await begin(connectors)
    const back = new URL(await authorizeAs(url.href))
    for (const state of ['', 'x'.repeat(43), undefined]) {
      const wrong = new URL(back)
      if (state === undefined) wrong.searchParams.delete('state')
      else wrong.searchParams.set('state', state)
      assert.equal((await fetch(wrong)).status, 400)
    }
    const twice = new URL(back)
    twice.searchParams.append('state', back.searchParams.get('state')!)
    assert.equal((await fetch(twice)).status, 400)
    assert.deepEqual(server.state.grants, [])
    assert.equal((await fetch(back)).status, 200)
    await attempt
    await isClosed(back.href)
    const { authorized: next, url: other } = await begin(connectors, { redirectPort: Number(back.port) })
    assert.notEqual(other.searchParams.get('state'), back.searchParams.get('state'))
    assert.equal((await fetch(back)).status, 400, 'the state of an authorization that is over')
    await browse(other.href)
    await next
    assert.equal(server.of('authorization_code').length, 2)
  })

  test('is given up when its time is over, when it is aborted, and when the registry closes', LIMIT, async () => {
    await using server = await world()
    const connectors = registry(server)
    const late = await begin(connectors, { timeoutMs: 300 })
    await assert.rejects(late.authorized, coded('TIMEOUT'))
    await isClosed(late.redirect)
    const controller = new AbortController()
    const aborted = await begin(connectors, { signal: controller.signal })
    controller.abort()
    await assert.rejects(aborted.authorized, coded('CANCELLED'))
    await isClosed(aborted.redirect)
    await assert.rejects(connectors.authorize('far', { ...PATIENT, open: () => {}, signal: AbortSignal.abort() }), coded('CANCELLED'))
    const closed = await begin(connectors)
    const outcome = assert.rejects(closed.authorized, coded('CANCELLED'))
    await connectors.close()
    await outcome
    const thrown = new Error('no browser')
    for (const open of [() => { throw thrown }, async () => { throw thrown }]) {
      await assert.rejects(connectors.authorize('far', { ...PATIENT, open }), (error: any) => coded('AUTHORIZATION_FAILED')(error) && error.cause === thrown && error.data.reason === 'callback')
    }
  })

  test('is not disturbed by what else comes to its port', LIMIT, async () => {
    await using server = await world()
    await using connectors = registry(server)
    const { authorized: attempt, url, redirect } = await begin(connectors)
    const { origin, port } = new URL(redirect)
    const idle = Array.from({ length: 40 }, () => connectSocket(Number(port), '127.0.0.1').on('error', () => {}))
    const say = (text: string) => new Promise<string>(resolve => {
      let answer = ''
      const socket = connectSocket(Number(port), '127.0.0.1', () => { socket.write(text) })
      socket.on('data', chunk => { answer += chunk }).on('close', () => { resolve(answer) }).on('error', () => {})
    })
    for (const path of ['/favicon.ico', '/', '/callback/', '/callback/x?code=a']) assert.equal((await fetch(origin + path)).status, 404)
    assert.equal((await fetch(redirect, { method: 'POST', body: 'x' })).status, 404)
    assert.match(await say('GET /callback?code=a&state=b HTTP/1.1\r\nHost: evil.example\r\n\r\n'), /^HTTP\/1\.1 404/)
    assert.match(await say('\u0000\u0001 nonsense\r\n\r\n'), /^HTTP\/1\.1 404/)
    assert.equal(await say(`GET /callback HTTP/1.1\r\nX: ${'x'.repeat(40_000)}`), '')
    assert.equal((await browse(url.href)).status, 200)
    await attempt
    for (const socket of idle) socket.destroy()
  })

  test('a port that is taken, and one that is wanted', LIMIT, async () => {
    await using server = await world()
    await using connectors = registry(server)
    const first = await begin(connectors)
    const redirectPort = Number(new URL(first.redirect).port)
    await assert.rejects(begin(connectors, { redirectPort }), (error: any) => coded('AUTHORIZATION_FAILED')(error) && error.data.reason === 'port')
    await browse(first.url.href)
    await first.authorized
    const second = await begin(connectors, { redirectPort })
    assert.equal(second.redirect, `http://127.0.0.1:${redirectPort}/callback`)
    await browse(second.url.href)
    await second.authorized
  })
})

describe('clients', () => {
  const redirects = { redirect_uris: ['http://127.0.0.1/callback'], application_type: 'native', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] }

  test('one that somebody registered, where programs cannot register themselves', LIMIT, async () => {
    await using server = await world({ registers: false, clients: [{ client_id: 'known', token_endpoint_auth_method: 'none', ...redirects }] })
    await using connectors = registry(server)
    await assert.rejects(begin(connectors), (error: any) => coded('AUTHORIZATION_FAILED')(error) && error.data.reason === 'registration')
    await connectors.authorize('far', { ...PATIENT, open: browse, clientId: 'known' })
    connectors.register(spec(server.mcpUrl, { oauth: { clientId: 'known' } }), { overwrite: true })
    await connectors.authorize('far', { ...PATIENT, open: browse })
    assert.deepEqual(server.state.grants.map(({ client }) => client), ['known', 'known'])
  })

  for (const method of ['client_secret_basic', 'client_secret_post']) {
    test(`one with a secret: ${method}`, LIMIT, async () => {
      await using server = await world({ registers: false, seconds: 1, clients: [{ client_id: 'known', client_secret: 'a secret: %+', token_endpoint_auth_method: method, ...redirects }] })
      const store = new Watched()
      store.put('far', { client_id: 'known', client_secret: 'a secret: %+' })
      await using connectors = registry(server, store, { authFields: [{ key: 'client_id', label: 'Id' }, { key: 'client_secret', label: 'Secret' }] })
      await connectors.authorize('far', { ...PATIENT, open: browse })
      await sleep(1_100)
      await connectors.connect('far', QUICK)
      assert.deepEqual(server.of('refresh_token').map(({ client, error }) => [client, error]), [['known', undefined]])
      assert.deepEqual([store.far['client_id'], store.far['client_secret'], JSON.parse(store.far['oauth_client']!).clientSecret], ['known', 'a secret: %+', undefined])
    })
  }
})

describe('renewing', () => {
  test('twenty calls after the end of a token cause one renewal, which is kept before it is used', LIMIT, async () => {
    await using server = await world({ seconds: 2 })
    const { connectors, store } = await authorized(server)
    await using _ = connectors
    const connection = await connectors.connect('far', QUICK)
    const tools = new ToolRegistry()
    tools.registerAll(connection.tools)
    const before = store.far
    store.onPut = record => { assert.ok(!server.state.tokens.includes(record['access_token']!), 'it is kept before it is used') }
    server.state.seconds = 3600
    await sleep(2_100)
    const refusals = server.state.refusals
    const responses = await Promise.all(Array.from({ length: 20 }, () => tools.execute('far_echo', {})))
    assert.deepEqual(responses.map(({ status }) => status), Array(20).fill('success'))
    assert.deepEqual(server.of('refresh_token').map(({ error }) => error), [undefined])
    assert.equal(server.state.refusals, refusals, 'the end was known without a 401')
    assert.notEqual(store.far['refresh_token'], before['refresh_token'])
    assert.ok(server.state.tokens.includes(store.far['access_token']!))
    assert.equal(store.puts.length, 2)
  })

  test('twenty calls with a token that the server rejects cause one renewal', LIMIT, async () => {
    await using server = await world()
    const { connectors, store } = await authorized(server)
    await using _ = connectors
    const connection = await connectors.connect('far', QUICK)
    await (await server.provider.AccessToken.find(store.far['access_token'])).destroy()
    const responses = await Promise.all(Array.from({ length: 20 }, () => connection.client.callTool('echo', {})))
    assert.deepEqual(responses.map(({ status }) => status), Array(20).fill('success'))
    assert.equal(server.of('refresh_token').length, 1)
  })

  test('many connects with a token that is over cause one renewal', LIMIT, async () => {
    await using server = await world({ seconds: 1 })
    const { connectors, store } = await authorized(server)
    await using _ = connectors
    server.state.seconds = 3600
    await sleep(1_100)
    connectors.register(spec(server.mcpUrl, { name: 'other' }))
    store.records.set('other', store.far)
    await Promise.all([connectors.connect('far', QUICK), connectors.connect('far', QUICK), connectors.connect('far', QUICK)])
    assert.equal(server.of('refresh_token').length, 1)
  })

  test('a refresh token that was used before ends the authorization', LIMIT, async () => {
    await using server = await world({ seconds: 1 })
    const { connectors, store } = await authorized(server)
    await using _ = connectors
    const old = store.far
    const connection = await connectors.connect('far', QUICK)
    await sleep(1_100)
    assert.equal((await connection.client.callTool('echo', {})).status, 'success')
    assert.notEqual(store.far['refresh_token'], old['refresh_token'])
    // Somebody stole the old one and uses it: the provider withdraws them all.
    store.records.set('far', old)
    await sleep(1_100)
    const response = await connection.client.callTool('echo', {})
    assert.deepEqual([response.status, response.code, response.executed], ['error', 'AUTHORIZATION_REQUIRED', false])
    assert.equal(server.of('refresh_token').at(-1)!.error, 'invalid_grant')
    await assert.rejects(connectors.connect('far'), (error: any) => coded('AUTHORIZATION_REQUIRED')(error) && /authorize/.test(error.message))
    await connectors.authorize('far', { ...PATIENT, open: browse })
    await connectors.connect('far', QUICK)
  })

  test('what was given for one server is not sent to another of the same name', LIMIT, async () => {
    await using server = await world()
    await using other = await world()
    const { store } = await authorized(server)
    await using connectors = registry(other, store)
    await assert.rejects(connectors.connect('far', QUICK), coded('AUTHORIZATION_REQUIRED'))
    assert.deepEqual(other.state.tokens, [])
  })

  test('a token that somebody put into the store themselves is used as it is', LIMIT, async () => {
    await using server = await world()
    const { store } = await authorized(server)
    const own = new Watched()
    own.put('far', { access_token: store.far['access_token']! })
    await using connectors = registry(server, own)
    await connectors.connect('far', QUICK)
    own.put('far', { access_token: 'wrong' })
    await assert.rejects(connectors.connect('far', QUICK), coded('AUTHORIZATION_REQUIRED'))
  })
})

describe('the device code', () => {
  test('is typed in elsewhere', LIMIT, async () => {
    await using server = await world()
    const store = new Watched()
    await using connectors = registry(server, store)
    let page = ''
    await connectors.authorize('far', {
      ...PATIENT, method: 'device',
      onDeviceCode: async ({ userCode, verificationUri, verificationUriComplete, expiresInMs }) => {
        assert.deepEqual([new URL(verificationUri).origin, verificationUriComplete?.includes(userCode), expiresInMs], [server.issuer, true, 60_000])
        page = await authorizeAs(verificationUri, { code: userCode })
      },
    })
    assert.match(page, /Success/)
    await connectors.connect('far', QUICK)
    assert.match(store.far['oauth_client']!, /"registered":true/)
  })

  test('is refused, runs out, is given up', LIMIT, async () => {
    await using server = await world()
    await using connectors = registry(server)
    const device = (more: AuthorizeOptions) => connectors.authorize('far', { ...PATIENT, method: 'device', ...more })
    const refused = device({ onDeviceCode: ({ verificationUri, userCode }) => authorizeAs(verificationUri, { code: userCode, denies: true }) })
    const late = device({ timeoutMs: 500, onDeviceCode: () => {} })
    const controller = new AbortController()
    const aborted = device({ signal: controller.signal, onDeviceCode: () => { controller.abort() } })
    await Promise.all([
      assert.rejects(refused, (error: any) => coded('AUTHORIZATION_FAILED')(error) && error.data.reason === 'denied'),
      assert.rejects(late, coded('TIMEOUT')),
      assert.rejects(aborted, coded('CANCELLED')),
    ])
  })
})

describe('a server that is started', () => {
  const server = fileURLToPath(new URL('./fixtures/connector-server.mjs', import.meta.url))
  test('gets the token in its variable, a new one where the old one is over', LIMIT, async () => {
    await using authority = await world({ seconds: 1 })
    const connectors = new ConnectorRegistry({ credentialStore: new Watched() })
    await using _ = connectors
    const definition = { name: 'far', displayName: 'Far', category: 'test', description: 'Far', authType: 'OAUTH2', authFields: [{ key: 'access_token', label: 'Token', envVar: 'FAR_TOKEN' }], mcpCommand: [process.execPath, server] } as const
    connectors.register(new ConnectorSpec(definition))
    await assert.rejects(connectors.authorize('far', { ...PATIENT, open: browse }), coded('INVALID_OPTIONS'))
    await assert.rejects(connectors.connect('far', QUICK), (error: any) => coded('AUTHORIZATION_REQUIRED')(error) && /authorize/.test(error.message))
    connectors.register(new ConnectorSpec({ ...definition, oauth: { issuer: authority.issuer, scopes: ['openid', 'offline_access'] } }), { overwrite: true })
    await connectors.authorize('far', { ...PATIENT, open: browse })
    await sleep(1_100)
    const connection = await connectors.connect('far', QUICK)
    const { FAR_TOKEN: token } = JSON.parse((await connection.client.callTool('environment', {})).text)
    assert.equal((await authority.provider.AccessToken.find(token)).scope, 'openid offline_access')
    assert.equal(authority.of('refresh_token').length, 1)
  })
})

test('the first program of the page runs as it stands there, and asks once', LIMIT, async () => {
  await using server = await world()
  const root = fileURLToPath(new URL('..', import.meta.url))
  const [, code] = /## OAuth 2\n[\s\S]*?```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs', 'connectors.md'), 'utf8')) ?? []
  const folder = scratch()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'toolbolt'))
  writeFileSync(join(folder, 'first.mjs'), code!)
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const key = FileCredentialStore.generateKey()
  const run = async () => {
    const child = spawn(process.execPath, ['first.mjs', server.mcpUrl], { cwd: folder, env: { ...env, MY_APP_KEY: key }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let asked = 0
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const url = /Open this page: (\S+)\n/.exec(output)?.[1]
        if (url === undefined || asked > 0) return
        asked += 1
        void browse(url)
      })
    }
    await once(child, 'close')
    return { asked, last: output.trimEnd().split('\n').at(-1) }
  }
  assert.deepEqual([await run(), await run()], [{ asked: 1, last: "[ 'tickets_echo' ]" }, { asked: 0, last: "[ 'tickets_echo' ]" }])
})

describe('the rest', () => {
  test('withdrawing', LIMIT, async () => {
    await using server = await world()
    const { connectors, store } = await authorized(server)
    await using _ = connectors
    store.put('far', { ...store.far, note: 'kept' })
    const { access_token: token } = store.far
    assert.equal(await connectors.revoke('far'), true)
    assert.equal(await server.provider.AccessToken.find(token), undefined)
    assert.deepEqual(store.far, { note: 'kept' })
    assert.deepEqual([await connectors.revoke('far'), await connectors.authorization('far')], [false, undefined])
  })

  test('options that cannot be', LIMIT, async () => {
    const url = 'http://127.0.0.1:9/mcp'
    const without = new ConnectorRegistry()
    without.register(spec(url))
    const open = () => {}
    await assert.rejects(without.authorize('far', { open }), coded('INVALID_OPTIONS'))
    const reading = new ConnectorRegistry({ credentialStore: new EnvironmentCredentialStore({ variables: {} }) })
    reading.register(spec(url))
    await assert.rejects(reading.authorize('far', { open }), coded('INVALID_OPTIONS'))
    const connectors = new ConnectorRegistry({ credentialStore: new Watched() })
    connectors.register(spec(url))
    connectors.register(spec(url, { name: 'key', authType: 'API_KEY', authFields: [{ key: 'k', label: 'K' }] }))
    await assert.rejects(connectors.authorize('key', { open }), coded('INVALID_OPTIONS'))
    await assert.rejects(connectors.authorize('nobody', { open }), coded('CONNECTOR_NOT_FOUND'))
    const wrong: object[] = [
      {}, { open, method: 'phone' }, { method: 'device', open }, { open: 'x' }, { open, scopes: 'a' }, { open, scopes: ['a b'] }, { open, scopes: ['"'] }, { open, clientId: '' }, { open, clientId: 'a b' },
      { open, redirectPort: 0 }, { open, redirectPort: 70_000 }, { open, timeoutMs: 0 }, { open, timeoutMs: 1e12 }, { open, signal: {} }, { open, clientSecret: 'x' },
    ]
    for (const options of wrong) await assert.rejects(connectors.authorize('far', options as AuthorizeOptions), coded('INVALID_OPTIONS'), JSON.stringify(options))
  })

  test('what a specification may say', LIMIT, () => {
    const url = 'https://mcp.example.com'
    const whole = { authorizationUrl: 'https://a.example/auth', tokenUrl: 'https://a.example/token' }
    for (const oauth of [{}, { issuer: 'https://a.example' }, whole, { ...whole, scopes: ['a:b', 'c'], clientId: 'https://me.example/client.json' }, { tokenUrl: 'http://127.0.0.1:1/t', deviceUrl: 'http://127.0.0.1:1/d' }]) {
      assert.deepEqual(spec(url, { oauth }).oauth, oauth)
      assert.deepEqual(new ConnectorSpec({ ...spec(url, { oauth }) } as ConnectorDefinition).oauth, oauth)
    }
    const wrong: object[] = [
      { clientSecret: 'x' }, { issuer: 'http://a.example' }, { issuer: 'javascript:alert(1)' }, { ...whole, tokenUrl: 'https://u:p@a.example' }, { authorizationUrl: 'https://a.example' },
      { tokenUrl: 'https://a.example' }, { ...whole, scopes: ['a b'] }, { ...whole, scopes: 'a' }, { ...whole, clientId: 'ghp_0123456789012345678901234567890123456' }, { issuer: 'https://169.254.169.254' },
    ]
    for (const oauth of wrong) assert.throws(() => spec(url, { oauth }), coded('INVALID_OPTIONS'), JSON.stringify(oauth))
    assert.throws(() => spec(url, { authType: 'NONE', oauth: {} }), coded('INVALID_OPTIONS'))
    assert.ok(builtinConnectors().filter(({ authType }) => authType === 'OAUTH2').every(({ mcpUrl }) => mcpUrl?.startsWith('https://')))
  })
})
