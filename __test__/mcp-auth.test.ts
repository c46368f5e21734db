// Secrets on the way to a server over HTTP: static headers, and the `auth` callback that supplies a token and a new one.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { MCPClient, ToolRegistry } from 'toolbolt'
import { type Seen, type Script, ScriptedServer, oldTransport, sendJson } from './fixtures/scripted-http.ts'
import { deferred, ours, sleep, unhandledDuring, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
const AT_ONCE_MS = 8_000
const OPTIONS = { namespace: 'far', requiresConfirmation: false, timeoutMs: 60_000 } as const
type Auth = (context: { url: string; reason: string }) => unknown

const connect = (server: ScriptedServer, more: object = {}) => MCPClient.connectHttp(server.url, { ...OPTIONS, ...more } as any)
const bearer = ({ headers }: Seen) => headers.authorization

/** A server that knows one token, which a test may change. Every other is 401. */
async function guarded(options: { modern?: boolean; sessions?: boolean } = {}, also?: Script) {
  const state = { token: 'token-1' }
  const server = await ScriptedServer.start((seen, response, usual) => {
    if (bearer(seen) !== `Bearer ${state.token}`) response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    else if (also === undefined) usual()
    else also(seen, response, usual)
  }, options)
  return { server, state }
}

describe('static headers', () => {
  for (const protocol of ['legacy', '2026-07-28'] as const) {
    test(`${protocol}: every request has them`, LIMIT, async () => {
      await using server = await ScriptedServer.start(undefined, { modern: protocol !== 'legacy', sessions: protocol === 'legacy' })
      const client = await connect(server, { protocol, headers: { 'X-Api-Key': 'planted-key', authorization: 'Basic cGxhbnRlZA==' } })
      await client.loadTools()
      await client.callTool('echo', {})
      await client.close()
      assert.ok(server.seen.length >= 3)
      for (const { headers, method } of server.seen) assert.deepEqual([headers['x-api-key'], headers.authorization], ['planted-key', 'Basic cGxhbnRlZA=='], method)
    })
  }
  test('the old transport: the stream and what is posted', LIMIT, async () => {
    await using server = await ScriptedServer.start(oldTransport().play)
    const client = await MCPClient.connectSse(`${server.origin}/sse`, { ...OPTIONS, headers: { 'X-Api-Key': 'planted-key' } })
    assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
    await client.close()
    assert.ok(server.of('GET').length >= 1 && server.of('POST').length >= 3)
    for (const { headers, method } of server.seen) assert.equal(headers['x-api-key'], 'planted-key', method)
  })
})

describe('the auth callback', () => {
  for (const protocol of ['legacy', '2026-07-28', 'auto'] as const) {
    test(`${protocol}: is asked before the first request, once`, LIMIT, async () => {
      const { server, state } = await guarded({ modern: protocol === '2026-07-28' })
      await using _ = server
      const asked: unknown[] = []
      await using client = await connect(server, { protocol, auth: (async context => {
        assert.deepEqual(server.seen, [])
        asked.push({ ...context })
        await sleep(20)
        return state.token
      }) satisfies Auth })
      await client.loadTools()
      assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
      assert.deepEqual(asked, [{ url: server.url, reason: 'first' }])
      assert.ok(server.seen.every(seen => bearer(seen) === 'Bearer token-1'))
    })
  }
  test('the old transport uses it too', LIMIT, async () => {
    const { play } = oldTransport()
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (bearer(seen) === 'Bearer token-1') play(seen, response, usual)
      else response.writeHead(401).end()
    })
    await using client = await MCPClient.connectSse(`${server.origin}/sse`, { ...OPTIONS, auth: () => 'token-1' } as any)
    assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
  })
  for (const protocol of ['legacy', '2026-07-28'] as const) {
    test(`${protocol}: parallel 401s ask once for a new token, then all calls go through`, LIMIT, async () => {
      const { server, state } = await guarded({ modern: protocol === '2026-07-28' })
      await using _ = server
      const reasons: string[] = []
      await using client = await connect(server, { protocol, auth: (async ({ reason }) => {
        reasons.push(reason)
        await sleep(50)
        return state.token
      }) satisfies Auth })
      for (const token of ['token-2', 'token-3']) {
        reasons.length = 0
        state.token = token
        const answers = await within(AT_ONCE_MS, Promise.all(Array.from({ length: 24 }, (_, index) => client.callTool('echo', { message: `${index}` }))), 'the calls')
        assert.deepEqual(answers.map(({ text }) => text), answers.map((_, index) => `${index}`))
        assert.deepEqual(reasons, ['rejected'])
      }
      const calls = server.of('tools/call')
      assert.equal(calls.filter(seen => bearer(seen) === 'Bearer token-3').length, 24, 'each is answered once')
    })
  }
  test('a 401 for the old token that comes late does not ask again', LIMIT, async () => {
    const late = deferred()
    let token = 'token-1'
    await using server = await ScriptedServer.start(async (seen, response, usual) => {
      if (bearer(seen) === `Bearer ${token}`) { usual(); return }
      if (seen.rpc.params?.arguments?.message === 'slow') await late.promise
      response.writeHead(401).end()
    })
    const reasons: string[] = []
    await using client = await connect(server, { protocol: 'legacy', auth: (({ reason }) => { reasons.push(reason); return token }) satisfies Auth })
    token = 'token-2'
    const slow = client.callTool('echo', { message: 'slow' })
    assert.equal((await client.callTool('echo', { message: 'quick' })).text, 'quick')
    late.resolve()
    assert.equal((await within(AT_ONCE_MS, slow, 'the slow call')).text, 'slow')
    assert.deepEqual(reasons, ['first', 'rejected'])
  })
  test('a second 401 is an error: no third attempt', LIMIT, async () => {
    const { server, state } = await guarded()
    await using _ = server
    const reasons: string[] = []
    await using client = await connect(server, { protocol: 'legacy', auth: (({ reason }) => { reasons.push(reason); return 'token-1' }) satisfies Auth })
    // The stream in the background has its own token to ask for.
    while (server.of('GET').length === 0) await sleep(10)
    state.token = 'another'
    const response = await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call')
    assert.deepEqual([response.status, server.of('tools/call').length], ['error', 2])
    assert.deepEqual(reasons, ['first', 'rejected'])
    assert.doesNotMatch(response.text, /token-1/)
    state.token = 'token-1'
    assert.equal((await client.callTool('echo', { message: 'again' })).text, 'again', 'the next call tries anew')
  })
  test('at the handshake: one more try, then an error', LIMIT, async () => {
    const { server } = await guarded()
    await using _ = server
    const reasons: string[] = []
    const auth: Auth = ({ reason }) => { reasons.push(reason); return reason === 'first' ? 'old' : 'token-1' }
    await using client = await connect(server, { auth })
    assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
    assert.deepEqual(reasons, ['first', 'rejected'])
    await assert.rejects(within(AT_ONCE_MS, connect(server, { auth: () => 'planted-wrong' }), 'connecting'), (error: any) => ours(error) && error.code === 'CONNECTION_FAILED' && !/planted-wrong/.test(error.message))
  })
  test('without a callback a 401 is an error at once', LIMIT, async () => {
    const { server } = await guarded()
    await using _ = server
    await assert.rejects(within(AT_ONCE_MS, connect(server), 'connecting'), (error: any) => error.code === 'CONNECTION_FAILED')
    assert.ok(server.seen.length <= 4, 'detection of the transport aside, nothing is tried again')
  })
  test('403 is no reason to ask', LIMIT, async () => {
    let asked = 0
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method === 'tools/call') sendJson(response, { error: 'insufficient_scope' }, 403)
      else usual()
    })
    await using client = await connect(server, { protocol: 'legacy', auth: () => { asked += 1; return 'token-1' } })
    const response = await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call')
    assert.deepEqual([response.status, asked, server.of('tools/call').length], ['error', 1, 1])
  })
})

describe('a callback that does not behave', () => {
  const bad: Record<string, Auth> = {
    throws: () => { throw new Error('the vault is closed') },
    rejects: async () => { throw new Error('the vault is closed') },
    'throws something odd': () => { throw undefined },
    'gives nothing': () => undefined,
    'gives a number': () => 5,
    'gives an object': () => ({ token: 'planted-token' }),
    'gives an empty text': () => '',
    'gives a line break': () => 'planted-token\r\nX-Injected: yes',
    'gives what no header can hold': () => 'planted-tökén',
  }
  for (const [what, auth] of Object.entries(bad)) {
    test(`${what}: connecting fails, nothing is sent, nothing is left open`, LIMIT, async () => {
      await using server = await ScriptedServer.start()
      const stray = await unhandledDuring(() => assert.rejects(within(AT_ONCE_MS, connect(server, { auth }), 'connecting'), (error: any) => ours(error) && !/planted/.test(inspect(error))))
      assert.deepEqual([stray, server.seen], [[], []])
    })
    test(`${what}, when a new token is needed: the call fails, the connection lives on`, LIMIT, async () => {
      const { server, state } = await guarded()
      await using _ = server
      let mean = false
      await using client = await connect(server, { protocol: 'legacy', auth: (context => (mean ? auth(context) : state.token)) satisfies Auth })
      mean = true
      state.token = 'token-2'
      const stray = await unhandledDuring(async () => {
        const response = await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call')
        assert.equal(response.status, 'error')
        assert.doesNotMatch(JSON.stringify(response), /planted|token-1/)
      })
      assert.deepEqual(stray, [])
      mean = false
      assert.equal((await within(AT_ONCE_MS, client.callTool('echo', { message: 'x' }), 'the next call')).text, 'x')
    })
  }
  test('never answers: the limit holds', LIMIT, async () => {
    await using server = await ScriptedServer.start()
    await assert.rejects(within(AT_ONCE_MS, connect(server, { timeoutMs: 500, auth: () => new Promise(() => undefined) }), 'connecting'), (error: any) => error.code === 'TIMEOUT')
  })
  test('uses the client\'s own tools while it is asked', LIMIT, async () => {
    const { server, state } = await guarded()
    await using _ = server
    await using vault = await ScriptedServer.start()
    await using keys = await connect(vault, { protocol: 'legacy' })
    await using client = await connect(server, { protocol: 'legacy', auth: async () => (await keys.callTool('echo', { message: state.token })).text })
    assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
  })
})

describe('secrets stay where they belong', () => {
  const PLANTED = 'planted-4f9a1c'
  const FORMS = [PLANTED, Buffer.from(PLANTED).toString('base64').replace(/=+$/, ''), encodeURIComponent(PLANTED)]
  const shows = (value: unknown) => {
    const text = typeof value === 'string' ? value : `${inspect(value, { depth: 12, showHidden: true, getters: true })} ${String(value)}`
    return FORMS.filter(form => text.includes(form))
  }

  test('a token goes to the origin of its server alone', LIMIT, async () => {
    await using elsewhere = await ScriptedServer.start()
    for (const status of [302, 307, 308]) {
      await using server = await ScriptedServer.start((seen, response, usual) => {
        if (seen.rpc.method === 'tools/call') response.writeHead(status, { location: elsewhere.url }).end()
        else usual()
      })
      await using client = await connect(server, { protocol: 'legacy', auth: () => PLANTED, headers: { 'X-Api-Key': PLANTED } })
      assert.equal((await client.callTool('echo', {})).status, 'error')
    }
    assert.deepEqual(elsewhere.seen, [])
  })

  test('nothing prints them: errors, responses, events, the client itself', LIMIT, async () => {
    // This server says all that it was told, wherever it can.
    const reflected = ({ headers }: Seen) => JSON.stringify(headers)
    const places: Array<(seen: Seen, response: Parameters<Script>[1], usual: () => void) => void> = [
      (seen, response) => sendJson(response, { jsonrpc: '2.0', id: seen.rpc.id, error: { code: -32000, message: reflected(seen), data: reflected(seen) } }),
      (seen, response) => response.writeHead(403, { 'content-type': 'text/plain', 'www-authenticate': `Bearer realm="${bearer(seen)}"` }).end(reflected(seen)),
      (seen, response) => response.writeHead(500, { 'content-type': 'application/json' }).end(reflected(seen)),
      (seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(reflected(seen)),
      (seen, response) => response.writeHead(302, { location: `/mcp?${encodeURIComponent(bearer(seen) ?? '')}` }).end(),
    ]
    for (const [index, place] of places.entries()) {
      await using server = await ScriptedServer.start((seen, response, usual) => { if (seen.rpc.method === 'tools/call') place(seen, response, usual); else usual() })
      const events: unknown[] = []
      await using client = await connect(server, { protocol: 'legacy', auth: () => PLANTED, headers: { 'X-Api-Key': PLANTED } })
      const registry = new ToolRegistry({ onEvent: event => { events.push(event) } })
      registry.registerAll(await client.loadTools())
      const response = await registry.execute('far_echo', {})
      assert.equal(response.status, 'error')
      for (const [what, value] of Object.entries({ response, text: response.text, json: JSON.stringify(response), events, eventsJson: JSON.stringify(events), client, state: client.state, clientJson: JSON.stringify(client), tool: registry.get('far_echo'), registry })) {
        assert.deepEqual(shows(value), [], `place ${index}: ${what}`)
      }

      await using hostile = await ScriptedServer.start((seen, answer, usual) => place(seen, answer, usual))
      await assert.rejects(within(AT_ONCE_MS, connect(hostile, { protocol: 'legacy', auth: () => PLANTED, headers: { 'X-Api-Key': PLANTED } }), 'connecting'), (error: any) => {
        assert.deepEqual([shows(error), shows(error.stack), shows(error.data)], [[], [], []], `place ${index}: the error`)
        return ours(error)
      })
    }
  })
})
