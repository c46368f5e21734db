// OAuth 2 against authorization servers that lie, lead elsewhere, answer too much or nothing, and against the mix-up of two of them.
// Tests named HTTP-… cover a field case.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type AuthorizeOptions, type ConnectorDefinition, ConnectorRegistry, ConnectorSpec, type CredentialStore, ToolError } from 'toolbolt'
import { coded, sleep, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
const AT_ONCE_MS = 15_000
const PATIENT = { timeoutMs: 30_000 }
const SECRETS = ['planted-code', 'planted-access', 'planted-refresh', 'planted-device']

interface Asked { path: string; form: URLSearchParams; body: string; headers: IncomingHttpHeaders }
type Reply = (response: ServerResponse, asked: Asked) => unknown
const json = (body: unknown, status = 200): Reply => response => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)) }

/** An authorization server and an MCP server in one, which answers each path as a test says. */
async function scripted(answers: Record<string, Reply> = {}, more: object = {}) {
  const seen: Asked[] = []
  const server = createServer((request, response) => {
    let body = ''
    response.on('error', () => {})
    request.on('data', chunk => { body += chunk }).on('end', () => {
      const asked = { path: new URL(request.url!, origin).pathname, form: new URLSearchParams(body), body, headers: request.headers }
      seen.push(asked)
      const answer = state.answers[asked.path]
      if (answer === undefined) response.writeHead(404).end()
      else answer(response, asked)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const metadata = {
    issuer: origin, authorization_endpoint: `${origin}/auth`, token_endpoint: `${origin}/token`, registration_endpoint: `${origin}/register`, device_authorization_endpoint: `${origin}/device`,
    code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'], ...more,
  }
  const state = {
    answers: {
      '/mcp': response => { response.writeHead(401, { 'www-authenticate': 'Bearer' }).end() },
      '/.well-known/oauth-protected-resource/mcp': json({ resource: `${origin}/mcp`, authorization_servers: [origin] }),
      '/.well-known/oauth-authorization-server': json(metadata),
      '/register': json({ client_id: 'me' }, 201),
      '/token': json({ access_token: 'planted-access', refresh_token: 'planted-refresh', token_type: 'Bearer' }),
      '/device': json({ device_code: 'planted-device', user_code: 'AB-CD', verification_uri: `${origin}/verify`, expires_in: 60, interval: 1 }),
      ...answers,
    } as Record<string, Reply>,
  }
  return {
    origin, metadata, seen, state,
    of: (path: string) => seen.filter(asked => asked.path === path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What a server of the older revisions without tools answers. */
const legacyAnswer: Reply = (response, { body }) => {
  const { id, method } = JSON.parse(body || '{}')
  if (method === 'server/discover') json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }, 400)(response, undefined as never)
  else if (id === undefined) response.writeHead(202).end()
  else json({ jsonrpc: '2.0', id, result: method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } : { tools: [] } })(response, undefined as never)
}

type Scripted = Awaited<ReturnType<typeof scripted>>

function registry(server: Pick<Scripted, 'origin'>, more: Partial<ConnectorDefinition> = {}) {
  const records = new Map<string, Record<string, string>>()
  const store: CredentialStore = { get: name => records.get(name), put: (name, record) => { records.set(name, record) }, delete: name => records.delete(name), list: () => [...records.keys()] }
  const connectors = new ConnectorRegistry({ credentialStore: store })
  connectors.register(new ConnectorSpec({ name: 'far', displayName: 'Far', category: 'test', description: 'Far', authType: 'OAUTH2', mcpUrl: `${server.origin}/mcp`, ...more }))
  return { connectors, records, store }
}

/** Comes back at once, with a code and whatever else is given. */
const back = (more: Record<string, string> = {}) => async (url: string) => {
  const { searchParams } = new URL(url)
  const to = new URL(searchParams.get('redirect_uri')!)
  for (const [name, value] of Object.entries({ state: searchParams.get('state')!, code: 'planted-code', ...more })) if (value !== '') to.searchParams.set(name, value)
  const response = await fetch(to)
  await response.text()
  return response.status
}

const failing = (reason: string) => (error: unknown) => {
  coded('AUTHORIZATION_FAILED')(error)
  const text = inspect(error, { depth: 9 }) + JSON.stringify(error)
  for (const secret of SECRETS) assert.ok(!text.includes(secret), text)
  assert.equal(((error as ToolError).data as any).reason, reason, text)
  return true
}

const authorize = (server: Pick<Scripted, 'origin'>, more: AuthorizeOptions = {}, definition: Partial<ConnectorDefinition> = {}) => registry(server, definition).connectors.authorize('far', { ...PATIENT, open: back(), ...more })

describe('HTTP-09 the callback: state and issuer come before the code', () => {
  test('wrong state: the answer is not taken, and the right one still is', LIMIT, async () => {
    await using server = await scripted()
    await authorize(server, {
      open: async url => {
        for (const state of ['wrong', '', `${new URL(url).searchParams.get('state')}x`]) assert.equal(await back({ state })(url), 400)
        assert.deepEqual(server.of('/token'), [])
        assert.equal(await back()(url), 200)
      },
    })
    assert.equal(server.of('/token').length, 1)
    const { form } = server.of('/token')[0]!
    assert.deepEqual([form.get('code'), form.get('code_verifier')?.length, form.get('resource'), form.get('client_id')], ['planted-code', 43, `${server.origin}/mcp`, 'me'])
  })
  for (const [title, announces, issuer] of [['wrong iss', false, 'https://other.example'], ['missing iss where it is announced', true, ''], ['iss that is almost right', true, 'SLASH'], ['iss of another, with an error', true, 'ERROR']] as const) {
    test(`${title}: nothing is sent to the token endpoint`, LIMIT, async () => {
      await using server = await scripted({}, { authorization_response_iss_parameter_supported: announces })
      const iss = issuer === 'SLASH' ? `${server.origin}/` : issuer === 'ERROR' ? 'https://other.example' : issuer
      await assert.rejects(authorize(server, { open: back({ iss, ...(issuer === 'ERROR' ? { error: 'access_denied' } : {}) }) }), failing('issuer'))
      assert.deepEqual(server.of('/token'), [])
    })
  }
  test('right iss', LIMIT, async () => {
    await using server = await scripted({}, { authorization_response_iss_parameter_supported: true })
    await authorize(server, { open: back({ iss: server.origin }) })
  })
  test('code twice: the second finds nobody', LIMIT, async () => {
    await using server = await scripted()
    let again = async () => 0
    await authorize(server, {
      open: async url => {
        again = () => back()(url)
        await Promise.allSettled([again(), again(), again()])
      },
    })
    await assert.rejects(again())
    assert.equal(server.of('/token').length, 1)
  })
  test('a code without a state, and a return without a code', LIMIT, async () => {
    await using server = await scripted()
    await assert.rejects(authorize(server, { open: async url => { assert.equal(await back({ state: '' })(url), 400); await back({ code: '' })(url) } }), failing('response'))
    assert.deepEqual(server.of('/token'), [])
  })
})

describe('metadata that is not to be trusted', () => {
  const wrong: [string, object, string][] = [
    ['another issuer', { issuer: 'https://other.example' }, 'issuer'],
    ['no PKCE', { code_challenge_methods_supported: undefined }, 'metadata'],
    ['plain PKCE', { code_challenge_methods_supported: ['plain'] }, 'metadata'],
    ['a token endpoint without encryption', { token_endpoint: 'http://other.example/token' }, 'metadata'],
    ['a script to authorize with', { authorization_endpoint: 'javascript:alert(1)' }, 'metadata'],
    ['a file to authorize with', { authorization_endpoint: 'file:///bin/sh' }, 'metadata'],
    ['a command in the address', { authorization_endpoint: 'https://a.example/$(id)' }, 'metadata'],
    ['the metadata of a cloud', { token_endpoint: 'https://169.254.169.254/token' }, 'metadata'],
    ['no token endpoint', { token_endpoint: undefined }, 'response'],
    ['no page to authorize at', { authorization_endpoint: undefined }, 'metadata'],
    ['no registration', { registration_endpoint: undefined }, 'registration'],
  ]
  for (const [title, more, reason] of wrong) {
    test(title, LIMIT, async () => {
      await using server = await scripted({}, more)
      let opened = 0
      await assert.rejects(authorize(server, { open: () => { opened += 1 } }), failing(reason))
      assert.deepEqual([opened, server.of('/token')], [0, []])
    })
  }
  for (const [title, resource, servers, reason] of [['about another resource', 'https://other.example/mcp', 'SELF', 'metadata'], ['without a server', 'SELF', undefined, 'metadata'], ['that names a server without encryption', 'SELF', 'http://other.example', 'metadata']] as const) {
    test(`metadata of the resource ${title}`, LIMIT, async () => {
      await using server = await scripted()
      const own = (value: string | undefined, path: string) => (value === 'SELF' ? server.origin + path : value)
      server.state.answers['/.well-known/oauth-protected-resource/mcp'] = json({ resource: own(resource, '/mcp'), authorization_servers: servers === undefined ? [] : [own(servers, '')] })
      await assert.rejects(authorize(server), failing(reason))
      assert.deepEqual(server.of('/register'), [])
    })
  }
  test('HTML, nothing, and a fault instead of metadata', LIMIT, async () => {
    for (const [answer, reason] of [[(response: ServerResponse) => { response.end('<html>') }, 'response'], [json({}, 404), 'metadata'], [json({}, 503), 'unreachable'], [json({ error: 'x' }, 302), 'response']] as const) {
      await using server = await scripted({ '/.well-known/oauth-authorization-server': answer })
      await assert.rejects(authorize(server), failing(reason))
    }
  })
  test('an MCP server from before there was metadata of resources', LIMIT, async () => {
    await using server = await scripted({ '/.well-known/oauth-protected-resource/mcp': json({}, 404) })
    await authorize(server)
  })
})

describe('token endpoints', () => {
  const endless: Reply = response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"access_token":"')
    const more = () => { while (!response.destroyed && response.write('planted-access'.repeat(5_000))); }
    response.on('drain', more)
    more()
  }
  const wrong: [string, Reply, string][] = [
    ['a gigabyte', endless, 'response'],
    ['a gigabyte that is announced', response => { response.writeHead(200, { 'content-length': 2 ** 30 }).flushHeaders() }, 'response'],
    ['HTML', response => { response.end('<html>planted-access</html>') }, 'response'],
    ['nothing', response => { response.end() }, 'response'],
    ['a token of another type', json({ access_token: 'planted-access', token_type: 'mac' }), 'response'],
    ['no token', json({ token_type: 'Bearer' }), 'response'],
    ['a token that is empty', json({ access_token: '', token_type: 'Bearer' }), 'response'],
    ['a token with a line feed', json({ access_token: 'planted-access\r\nX: y', token_type: 'Bearer' }), 'response'],
    ['a token that is a number', json({ access_token: 7, token_type: 'Bearer' }), 'response'],
    ['a token of a megabyte', json({ access_token: 'x'.repeat(40_000), token_type: 'Bearer' }), 'response'],
    ['a refusal', json({ error: 'invalid_client', error_description: 'planted-code' }, 401), 'refused'],
    ['a refusal with the status of a success', json({ error: 'bad_verification_code', error_description: 'planted-code' }), 'refused'],
    ['a refusal of its own', json({ error: 'planted-code' }, 400), 'refused'],
    ['a fault', json({}, 500), 'unreachable'],
    ['a connection that breaks', response => { response.destroy() }, 'unreachable'],
  ]
  for (const [title, answer, reason] of wrong) {
    test(title, LIMIT, async () => {
      await using server = await scripted({ '/token': answer })
      const { connectors, records } = registry(server)
      await assert.rejects(within(AT_ONCE_MS, connectors.authorize('far', { ...PATIENT, open: back() })), failing(reason))
      assert.equal(records.size, 0)
    })
  }
  test('a redirect to another host gets nothing', LIMIT, async () => {
    await using other = await scripted()
    for (const status of [301, 302, 303, 307, 308]) {
      await using server = await scripted({ '/token': response => { response.writeHead(status, { location: `${other.origin}/token` }).end() } })
      await assert.rejects(authorize(server), failing('response'))
    }
    assert.deepEqual(other.seen, [])
  })
  test('one that never answers can be given up', LIMIT, async () => {
    await using server = await scripted({ '/token': () => {} })
    const controller = new AbortController()
    const attempt = authorize(server, { signal: controller.signal })
    while (server.of('/token').length === 0) await sleep(20)
    controller.abort()
    await assert.rejects(within(AT_ONCE_MS, attempt), coded('CANCELLED'))
  })
  for (const [value, lasts] of [[3600, true], ['3600', true], [1e300, true], [Number.MAX_SAFE_INTEGER, true], [0, false], [-5, false], ['soon', false], [null, false], [[], false], [{}, false]] as const) {
    test(`expires_in ${JSON.stringify(value)}`, LIMIT, async () => {
      await using server = await scripted({ '/token': json({ access_token: 'planted-access', token_type: 'bearer', expires_in: value }) })
      const { expiresAt, refreshable } = await authorize(server)
      assert.deepEqual([expiresAt !== undefined && expiresAt.getTime() > Date.now() + 3_000_000 && expiresAt.getTime() < Date.now() + 4e11, refreshable], [lasts, false])
      assert.equal(expiresAt === undefined, !lasts)
    })
  }
  test('a secret travels in the form where the server wants it there', LIMIT, async () => {
    await using server = await scripted({}, { token_endpoint_auth_methods_supported: ['client_secret_post'] })
    server.state.answers['/register'] = json({ client_id: 'me', client_secret: 'planted-secret', token_endpoint_auth_method: 'client_secret_post' }, 201)
    const { connectors, records } = registry(server)
    await connectors.authorize('far', { ...PATIENT, open: back() })
    const [{ form, headers }] = server.of('/token') as [Asked]
    assert.deepEqual([form.get('client_id'), form.get('client_secret'), headers.authorization], ['me', 'planted-secret', undefined])
    assert.equal(JSON.parse(records.get('far')!['oauth_client']!).clientSecret, 'planted-secret')
  })
})

describe('renewing', () => {
  const over = { access_token: 'planted-access', refresh_token: 'planted-refresh', expires_at: '1' }
  const kept = (server: Scripted, more: object = {}) => ({ ...over, oauth_client: JSON.stringify({ server: `${server.origin}/mcp`, tokenUrl: `${server.origin}/token`, clientId: 'me', method: 'none', registered: true }), ...more })
  const connect = (connectors: ConnectorRegistry) => connectors.connect('far', { resilient: false })

  for (const [title, answer, code] of [
    ['is away', json({}, 503), 'CONNECTION_FAILED'], ['breaks off', (response: ServerResponse) => { response.destroy() }, 'CONNECTION_FAILED'], ['has a fault', json({ error: 'server_error' }, 400), 'CONNECTION_FAILED'],
    ['has forgotten the client', json({ error: 'invalid_client' }, 401), 'AUTHORIZATION_REQUIRED'], ['refuses', json({ error: 'invalid_grant' }, 400), 'AUTHORIZATION_REQUIRED'], ['sends HTML', (response: ServerResponse) => { response.end('<html>') }, 'AUTHORIZATION_FAILED'],
  ] as const) {
    test(`with a server that ${title}, nothing is lost`, LIMIT, async () => {
      await using server = await scripted({ '/token': answer })
      const { connectors, records } = registry(server)
      records.set('far', kept(server))
      await assert.rejects(connect(connectors), (error: unknown) => {
        const text = inspect(error, { depth: 9 })
        for (const secret of SECRETS) assert.ok(!text.includes(secret), text)
        return coded(code)(error)
      })
      assert.deepEqual(records.get('far'), kept(server))
      assert.equal(server.of('/token').length, 1)
    })
  }

  test('a token endpoint that is away for a moment does not stop a connector that is resilient', LIMIT, async () => {
    let away = 2
    await using server = await scripted({ '/token': (response, asked) => (away-- > 0 ? json({}, 503) : json({ access_token: 'new-access', token_type: 'Bearer', expires_in: 60 }))(response, asked) })
    server.state.answers['/mcp'] = legacyAnswer
    const { connectors, records } = registry(server)
    records.set('far', kept(server))
    await connectors.connect('far', { resilient: { firstDelayMs: 20 } })
    assert.equal(server.of('/token').length, 3)
    await connectors.close()
  })

  test('the old refresh token stays where no new one comes', LIMIT, async () => {
    await using server = await scripted({ '/token': json({ access_token: 'new-access', token_type: 'Bearer', expires_in: 60 }) })
    const { connectors, records } = registry(server)
    records.set('far', kept(server, { scope: 'a b', other: 'kept' }))
    await assert.rejects(connect(connectors), ToolError)
    const { access_token, refresh_token, scope, other } = records.get('far')!
    assert.deepEqual([access_token, refresh_token, scope, other], ['new-access', 'planted-refresh', 'a b', 'kept'])
  })

  test('a refresh token that was refused is not asked about again', LIMIT, async () => {
    await using server = await scripted({ '/token': json({ error: 'invalid_grant' }, 400) })
    const { connectors, records } = registry(server)
    records.set('far', kept(server))
    for (let round = 0; round < 3; round++) await assert.rejects(connectors.connect('far'), coded('AUTHORIZATION_REQUIRED'))
    assert.equal(server.of('/token').length, 1)
    records.set('far', kept(server, { refresh_token: 'another' }))
    await assert.rejects(connectors.connect('far'), coded('AUTHORIZATION_REQUIRED'))
    assert.equal(server.of('/token').length, 2)
  })

  test('another process was faster with the same token', LIMIT, async () => {
    await using server = await scripted()
    const { connectors, records } = registry(server)
    records.set('far', kept(server))
    server.state.answers['/token'] = (response, asked) => {
      if (asked.form.get('refresh_token') !== 'planted-refresh') throw new Error('the new one is not to be used up')
      records.set('far', { ...kept(server), access_token: 'theirs', refresh_token: 'other-refresh', expires_at: String(Date.now() + 600_000) })
      json({ error: 'invalid_grant' }, 400)(response, asked)
    }
    const used = new Set<string | undefined>()
    server.state.answers['/mcp'] = (response, { headers }) => {
      used.add(headers.authorization)
      response.writeHead(404).end()
    }
    await assert.rejects(connect(connectors), coded('CONNECTION_FAILED'))
    assert.deepEqual([...used], ['Bearer theirs'])
  })

  test('a store that cannot keep a renewed token gets it the next time', LIMIT, async () => {
    await using server = await scripted({ '/token': json({ access_token: 'new-access', refresh_token: 'new-refresh', token_type: 'Bearer', expires_in: 600 }) })
    const { connectors, records, store } = registry(server)
    records.set('far', kept(server))
    const { put } = store
    store.put = () => { throw new Error('planted-refresh') }
    await assert.rejects(connect(connectors), coded('CREDENTIAL_STORE_FAILED'))
    store.put = put
    server.state.answers['/token'] = () => { throw new Error('the old one is not to be used again') }
    server.state.answers['/mcp'] = json({}, 404)
    await assert.rejects(connect(connectors), coded('CONNECTION_FAILED'))
    assert.equal(records.get('far')!['refresh_token'], 'new-refresh')
  })
})

describe('the device endpoint', () => {
  const device = (server: Scripted, more: AuthorizeOptions = {}) => authorize(server, { method: 'device', onDeviceCode: () => {}, ...more })
  const pending = (answers: Reply[]): Reply => (response, asked) => (answers.shift() ?? json({ access_token: 'planted-access', token_type: 'Bearer' }))(response, asked)

  test('is asked again, and less often when it says so or does not answer', LIMIT, async () => {
    await using server = await scripted({ '/token': pending([json({ error: 'authorization_pending' }, 400), json({}, 503), json({ error: 'slow_down' }, 400)]) })
    const started = Date.now()
    await device(server)
    // 1 s, 1 s, then twice that, then five more.
    assert.ok(Date.now() - started >= 11_000, `${Date.now() - started} ms`)
    assert.deepEqual(server.of('/token').map(({ form }) => form.get('device_code')), Array(4).fill('planted-device'))
  })
  test('a code that runs out', LIMIT, async () => {
    await using server = await scripted({ '/token': json({ error: 'expired_token' }, 400) })
    await assert.rejects(device(server), coded('TIMEOUT'))
  })
  const page = { device_code: 'planted-device', user_code: 'AB', verification_uri: 'https://a.example', expires_in: 60 }
  for (const [title, answer, reason] of [
    ['a page that is a script', json({ ...page, verification_uri: 'javascript:alert(1)' }), 'metadata'], ['a page with a command', json({ ...page, verification_uri_complete: 'https://a.example/`id`' }), 'metadata'],
    ['a code of many lines', json({ ...page, user_code: 'A\nB' }), 'response'], ['no code', json({}), 'response'], ['a refusal', json({ error: 'unauthorized_client' }, 400), 'refused'],
  ] as const) {
    test(title, LIMIT, async () => {
      await using server = await scripted({ '/device': answer })
      let shown = 0
      await assert.rejects(device(server, { onDeviceCode: () => { shown += 1 } }), failing(reason))
      assert.equal(shown, 0)
    })
  }
})
