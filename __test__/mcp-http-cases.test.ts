// The cases of the area mcp-http in field-cases.json, by id: what servers over HTTP do wrong, or are made to do by others.
// HTTP-09, the callback of an OAuth flow, is in oauth-hostile.test.ts.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MCPClient, type ToolResponse, ToolRegistry } from 'toolbolt'
import { type Script, ScriptedServer, sendJson, stream } from './fixtures/scripted-http.ts'
import { ours, sleep, wellFormed, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
/** Far beyond what "at once" may take here. */
const AT_ONCE_MS = 8_000
const OPTIONS = { namespace: 'far', requiresConfirmation: false, timeoutMs: 60_000, protocol: 'legacy' } as const
const SECRETS = { authorization: 'Bearer planted-token', 'X-Api-Key': 'planted-key' }

const connect = (server: ScriptedServer | string, more: object = {}) => MCPClient.connectHttp(typeof server === 'string' ? server : server.url, { ...OPTIONS, ...more } as any)

/** A script that plays only with calls of tools. */
const onCall = (play: (response: ServerResponse, id: unknown) => unknown): Script => (seen, response, usual) => {
  if (seen.rpc.method === 'tools/call') play(response, seen.rpc.id)
  else usual()
}

function failed(response: ToolResponse, code = 'CONNECTION_FAILED'): void {
  assert.deepEqual([response.status, response.code], ['error', code], response.text)
  assert.ok(response.text.length > 0)
}

describe('HTTP-01: a server restarts and knows no session any more', () => {
  test('one new handshake, the call once more, and all goes on', LIMIT, async () => {
    await using server = await ScriptedServer.start(undefined, { sessions: true })
    await using client = await connect(server)
    await client.loadTools()
    assert.equal((await client.callTool('echo', { message: 'before' })).text, 'before')
    server.sessions.clear()
    assert.equal((await client.callTool('echo', { message: 'after' })).text, 'after')
    assert.equal(server.of('initialize').length, 2)
    assert.equal(server.of('initialize')[1]!.headers['mcp-session-id'], undefined, 'the lost id is dropped')
    assert.deepEqual(server.of('tools/call').map(({ headers }) => headers['mcp-session-id']), ['session-1', 'session-1', 'session-2'])
    assert.equal((await client.callTool('echo', { message: 'later' })).text, 'later')
    assert.equal(server.of('tools/call').at(-1)!.headers['mcp-session-id'], 'session-2')
    assert.equal(client.state, 'ready')
  })
  test('calls that are under way at the same time share the handshake', LIMIT, async () => {
    await using server = await ScriptedServer.start(undefined, { sessions: true })
    await using client = await connect(server)
    server.sessions.clear()
    const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => client.callTool('echo', { message: `${index}` })))
    assert.deepEqual(answers.map(({ text }) => text), answers.map((_, index) => `${index}`))
    assert.equal(server.of('initialize').length, 2)
  })
  test('a second 404 is an error, not a loop', LIMIT, async () => {
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method === 'tools/call') response.writeHead(404).end()
      else usual()
    }, { sessions: true })
    await using client = await connect(server)
    failed(await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call'))
    assert.deepEqual([server.of('initialize').length, server.of('tools/call').length], [2, 2])
    await within(AT_ONCE_MS, client.callTool('echo', {}), 'another call')
    assert.ok(server.of('initialize').length <= 4 && server.of('tools/call').length <= 4)
  })
})

describe('HTTP-02: whether a session is lost does not depend on words', () => {
  const answers: Array<[number, string, string]> = [
    [404, 'text/html', '<html><body>No valid session ID provided</body></html>'],
    [404, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'],
    [404, 'text/plain', ''],
    [400, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}'],
    [400, 'text/plain', 'session expired, please initialize'],
  ]
  for (const [status, type, body] of answers) {
    test(`no id was sent: ${status} with ${body.length} bytes of ${type} is an error`, LIMIT, async () => {
      await using server = await ScriptedServer.start(onCall(response => response.writeHead(status, { 'content-type': type }).end(body)))
      await using client = await connect(server)
      const response = await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call')
      assert.equal(response.status, 'error')
      assert.deepEqual([server.of('initialize').length, server.of('tools/call').length], [1, 1])
    })
  }
  /** What became of a call whose first answer is this, in a session. */
  async function outcome(status: number, type: string, body: string) {
    let times = 0
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method === 'tools/call' && times++ === 0) response.writeHead(status, { 'content-type': type }).end(body)
      else usual()
    }, { sessions: true })
    await using client = await connect(server)
    const response = await within(AT_ONCE_MS, client.callTool('echo', { message: 'back' }), 'a call')
    return [response.status, response.status === 'success' ? response.text : '', server.of('initialize').length, server.of('tools/call').length]
  }
  test('an id was sent: 404 means that the session is lost, whatever the body says', LIMIT, async () => {
    for (const [, type, body] of answers) assert.deepEqual(await outcome(404, type, body), ['success', 'back', 2, 2], body)
  })
  test('an id was sent: what 400 means does not depend on its words', LIMIT, async () => {
    const words = ['No valid session ID provided', 'Session not found', 'Bad Request', 'x', '']
    const bodies: Array<[string, (text: string) => string]> = [
      ['application/json', message => JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })], ['text/html', text => `<html>${text}</html>`], ['text/plain', text => text],
    ]
    for (const [type, body] of bodies) {
      const outcomes = []
      for (const text of words) outcomes.push(await outcome(400, type, body(text)))
      for (const one of outcomes) assert.deepEqual(one, outcomes[0], type)
    }
  })
})

describe('HTTP-03: redirects', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`${status} to another origin is not followed: no secret leaves`, LIMIT, async () => {
      await using elsewhere = await ScriptedServer.start()
      const away = (response: ServerResponse) => { response.writeHead(status, { location: `${elsewhere.origin}/mcp` }).end() }
      await using first = await ScriptedServer.start((_seen, response) => { away(response) })
      await assert.rejects(within(AT_ONCE_MS, connect(first, { headers: SECRETS }), 'connecting'), (error: any) => ours(error) && error.code === 'CONNECTION_FAILED')

      await using server = await ScriptedServer.start(onCall(away))
      await using client = await connect(server, { headers: SECRETS })
      failed(await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call'))
      assert.equal(server.of('tools/call').length, 1)
      assert.deepEqual(elsewhere.seen, [])
    })
  }
  test('a loop of redirects ends', LIMIT, async () => {
    await using server = await ScriptedServer.start((seen, response) => { response.writeHead(307, { location: seen.path }).end() })
    await assert.rejects(within(AT_ONCE_MS, connect(server), 'connecting'), ours)
    assert.ok(server.seen.length < 50, `${server.seen.length} requests`)
  })
})

describe('HTTP-04: an answer that does not come to its end', () => {
  const endings: Record<string, (response: ServerResponse, id: unknown) => unknown> = {
    'a stream that ends without an answer': response => { stream(response); response.end() },
    'a stream that ends after another message': response => {
      stream(response).event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
      response.end()
    },
    'a stream that is cut in the middle of the answer': (response, id) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: {"jsonrpc":"2.0","id":${id},"resu`)
      setTimeout(() => response.destroy(), 50)
    },
    'a body that is cut': (response, id) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write(`{"jsonrpc":"2.0","id":${id},`)
      setTimeout(() => response.destroy(), 50)
    },
    'a connection that is reset before any byte': response => response.destroy(),
  }
  for (const [what, end] of Object.entries(endings)) {
    test(`${what}: the call fails at once and is not sent again`, LIMIT, async () => {
      await using server = await ScriptedServer.start(onCall(end))
      await using client = await connect(server)
      const registry = new ToolRegistry()
      registry.registerAll(await client.loadTools())
      const response = await within(AT_ONCE_MS, registry.execute('far_echo', {}), 'a call')
      wellFormed(response)
      failed(response)
      assert.equal(response.executed, true)
      await sleep(300)
      assert.equal(server.of('tools/call').length, 1)
    })
  }
  test('a server that dies fails all its calls, and connects again when it is back', LIMIT, async () => {
    let gone = false
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (gone) response.destroy()
      else if (seen.rpc.params?.name !== 'other') usual()
    })
    await using client = await connect(server)
    const calls = Array.from({ length: 8 }, () => client.callTool('other', {}))
    for (let round = 0; server.of('tools/call').length < 8 && round < 100; round++) await sleep(20)
    gone = true
    await server[Symbol.asyncDispose]()
    for (const response of await within(AT_ONCE_MS, Promise.all(calls), 'the calls')) failed(response)
    failed(await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call to nobody'))
  })
})

describe('HTTP-05: bytes, and never a result', () => {
  const drips: Record<string, (response: ServerResponse) => NodeJS.Timeout> = {
    'comments every 10 ms': response => {
      stream(response)
      return setInterval(() => response.write(': keep-alive\n\n'), 10)
    },
    'other messages every 10 ms': response => {
      const { event } = stream(response)
      return setInterval(() => event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'debug', data: 'x' } }), 10)
    },
    'a body of one byte at a time': response => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{')
      return setInterval(() => response.write(' '), 50)
    },
  }
  for (const [what, drip] of Object.entries(drips)) {
    test(`${what}: the limit holds`, LIMIT, async () => {
      const timers: NodeJS.Timeout[] = []
      let closed = false
      await using server = await ScriptedServer.start(onCall(response => {
        timers.push(drip(response))
        response.on('close', () => { closed = true; timers.forEach(clearInterval) })
      }))
      await using client = await connect(server)
      const started = performance.now()
      const response = await within(AT_ONCE_MS, client.callTool('echo', {}, { timeoutMs: 700 }), 'a call with a limit')
      failed(response, 'TIMEOUT')
      assert.ok(performance.now() - started >= 650)
      for (let round = 0; !closed && round < 100; round++) await sleep(50)
      assert.ok(closed, 'the connection is given up')
    })
  }
  test('a handshake that never ends', LIMIT, async () => {
    await using server = await ScriptedServer.start((_seen, response) => {
      const { event } = stream(response)
      const timer = setInterval(() => event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'debug', data: 'x' } }), 10)
      response.on('close', () => clearInterval(timer))
    })
    for (const protocol of ['legacy', 'auto']) {
      await assert.rejects(within(AT_ONCE_MS, connect(server, { protocol, timeoutMs: 700 }), 'connecting'), (error: any) => error.code === 'TIMEOUT')
    }
  })
})

describe('HTTP-06: an answer that is none', () => {
  const bodies: Record<string, [string, string | Buffer]> = {
    'malformed JSON': ['application/json', '{"jsonrpc":"2.0","id":\u001b[31m broken\u202e'],
    'a page of HTML': ['text/html', '<html><script>alert(1)</script></html>'],
    'HTML that says it is JSON': ['application/json', '<html></html>'],
    nothing: ['application/json', ''],
    'JSON that is no message': ['application/json', '[1,2,3]'],
    'the answer to something else': ['application/json', '{"jsonrpc":"2.0","id":123456789,"result":{"content":[{"type":"text","text":"not yours"}]}}'],
    'bytes that are no text': ['application/json', Buffer.from([0xff, 0xfe, 0x7b])],
    'no type at all': ['', '{}'],
  }
  for (const [what, [type, body]] of Object.entries(bodies)) {
    test(`${what}: the call fails at once, and what is shown of it is harmless`, LIMIT, async () => {
      await using server = await ScriptedServer.start(onCall(response => response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body)))
      await using client = await connect(server)
      const response = await within(AT_ONCE_MS, client.callTool('echo', {}), 'a call')
      assert.equal(response.status, 'error')
      assert.doesNotMatch(response.text, /[\p{Cc}\p{Bidi_Control}]/u)
      assert.notEqual(response.text, 'not yours')
      assert.doesNotMatch(JSON.stringify(response.data ?? null), /not yours/)
      assert.ok(response.text.length < 5_000)
      assert.equal(server.of('tools/call').length, 1)
    })
  }
  test('202 to a request: nothing will come', LIMIT, async () => {
    await using server = await ScriptedServer.start(onCall(response => response.writeHead(202).end()))
    await using client = await connect(server)
    const response = await within(AT_ONCE_MS, client.callTool('echo', {}, { timeoutMs: 2_000 }), 'a call')
    assert.equal(response.status, 'error')
  })
  test('more than the cap is not read', LIMIT, async () => {
    let written = 0
    const flood = (response: ServerResponse, chunk: string) => {
      const more = () => {
        while (!response.destroyed && written < 200e6) {
          written += chunk.length
          if (!response.write(chunk)) { response.once('drain', more); return }
        }
        response.end()
      }
      more()
    }
    for (const type of ['application/json', 'text/event-stream']) {
      written = 0
      await using server = await ScriptedServer.start(onCall(response => flood(response.writeHead(200, { 'content-type': type }), type === 'application/json' ? ' '.repeat(1 << 16) : `data: ${'x'.repeat(1 << 16)}\n`)))
      await using client = await connect(server)
      const response = await within(30_000, client.callTool('echo', {}), 'a call')
      assert.equal(response.status, 'error', type)
      assert.ok(written < 100e6, `${type}: ${written} bytes were taken`)
    }
  })
})

describe('HTTP-07: addresses', () => {
  test('what is no address of a server, or nobody\'s business, is refused', LIMIT, async () => {
    const never = [
      'file:///x', 'ftp://127.0.0.1/', 'javascript:1', 'not a url', '', 'http://', 'http://user:planted-secret@127.0.0.1:9/mcp', 'http://@127.0.0.1:9/mcp',
      'http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://2852039166/', 'http://0xa9fea9fe/', 'http://0251.0376.0251.0376/', 'http://metadata.google.internal/', 'http://[fe80::1]/', 'http://0.0.0.0:9/mcp', 'http://localhost.evil.example/mcp',
      'http://example.org/mcp',
    ]
    for (const url of never) {
      await assert.rejects(within(AT_ONCE_MS, connect(url), url), (error: any) => ours(error) && error.code === 'INVALID_OPTIONS' && !/planted-secret/.test(error.message), url)
    }
  })
  test('link-local and metadata addresses are refused whatever is allowed', LIMIT, async () => {
    for (const url of ['http://169.254.169.254/', 'https://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://2852039166/', 'https://[fe80::1]/', 'http://[fd00:ec2::254]/', 'https://metadata.google.internal/']) {
      await assert.rejects(within(AT_ONCE_MS, connect(url, { allowInsecureHttp: true }), url), (error: any) => ours(error) && ['INVALID_OPTIONS', 'CONNECTION_FAILED'].includes(error.code), url)
    }
  })
  test('loopback is fine in each of its forms', LIMIT, async () => {
    await using server = await ScriptedServer.start()
    const { port } = new URL(server.url)
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST']) {
      await using client = await connect(`http://${host}:${port}/mcp`)
      assert.equal((await client.callTool('echo', { message: host })).text, host)
    }
  })
})

describe('HTTP-08: addresses that a server names', () => {
  test('are not visited', LIMIT, async () => {
    await using canary = await ScriptedServer.start((_seen, response) => { sendJson(response, { authorization_servers: ['http://10.0.0.1'] }) })
    for (const status of [401, 403]) {
      const challenge = { 'www-authenticate': `Bearer resource_metadata="${canary.origin}/meta", authorization_uri="${canary.origin}/authorize"`, link: `<${canary.origin}/next>; rel="next"` }
      await using server = await ScriptedServer.start((_seen, response) => { response.writeHead(status, challenge).end('{"error":"x"}') })
      await assert.rejects(within(AT_ONCE_MS, connect(server), 'connecting'), (error: any) => error.code === 'CONNECTION_FAILED')
    }
    assert.deepEqual(canary.seen, [])
  })
})

describe('HTTP-10: headers', () => {
  test('what cannot stand in a header is refused before anything is sent', LIMIT, async () => {
    await using server = await ScriptedServer.start()
    const wrong: Array<[string, unknown]> = [
      ['X-A', 'a\r\nX: y'], ['X-A', 'a\nb'], ['X-A', 'a\0b'], ['X-A', 'tökén'], ['X-A', '\u{1f511}'], ['X-A\r\nX', 'y'], ['X A', 'y'], ['', 'y'], ['X:A', 'y'], ['Xä', 'y'], ['__proto__', 'y'], ['X-A', 5], ['X-A', undefined], ['X-A', null], ['X-A', ['y']],
    ]
    for (const [name, value] of wrong) {
      const headers = Object.fromEntries([[name, value]])
      await assert.rejects(connect(server, { headers }), (error: any) => ours(error) && error.code === 'INVALID_OPTIONS' && !/tökén|a.?b/.test(error.message), JSON.stringify([name, value]))
    }
    assert.deepEqual(server.seen, [])
  })
  test('nor may they be what the protocol itself says', LIMIT, async () => {
    await using server = await ScriptedServer.start(undefined, { sessions: true })
    const set = { 'Mcp-Session-Id': 'stolen', 'MCP-Protocol-Version': '1999-01-01', 'Content-Length': '3', Host: 'evil.example', 'Transfer-Encoding': 'chunked' }
    for (const [name, value] of Object.entries(set)) {
      const client = await connect(server, { headers: { [name]: value } }).catch((error: any) => { assert.equal(error.code, 'INVALID_OPTIONS', name) })
      await client?.callTool('echo', {})
      await client?.close()
    }
    for (const { headers } of server.seen) for (const [name, value] of Object.entries(set)) assert.notEqual(headers[name.toLowerCase()], value, name)
  })
})

describe('HTTP-11: secrets in clear text', () => {
  test('http to anything but loopback is refused, the more with secrets', LIMIT, async () => {
    for (const more of [{}, { headers: SECRETS }, { auth: () => 'planted-token' }]) {
      await assert.rejects(connect('http://192.0.2.1/mcp', more), (error: any) => ours(error) && error.code === 'INVALID_OPTIONS' && !/planted/.test(error.message))
    }
  })
  test('a certificate that nobody vouches for is an error', LIMIT, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'toolbolt-tls-'))
    t.after(() => { rmSync(folder, { recursive: true }) })
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { encoding: 'utf8' })
    assert.equal(made.status, 0, made.stderr)
    await using server = await ScriptedServer.start(undefined, { tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } })
    for (const more of [{}, { headers: SECRETS }, { allowInsecureHttp: true }]) {
      await assert.rejects(within(AT_ONCE_MS, connect(server, more), 'connecting'), (error: any) => ours(error) && error.code === 'CONNECTION_FAILED' && !/planted/.test(error.message))
    }
    assert.deepEqual(server.seen, [])
  })
})
