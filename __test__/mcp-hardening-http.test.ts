// A hostile or odd server behind an address, odd tokens, and odd files of servers.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { MCPClient, ToolRegistry } from 'toolbolt'
import type { MCPClientOptions } from 'toolbolt'
import { ScriptedServer, type Script, type Seen, oldTransport, sendJson, stream } from './fixtures/scripted-http.ts'
import { coded, sleep, unhandledDuring, within } from './support.ts'

const LIMIT = { timeout: 120_000 }

async function reach(script: Script, options: Partial<MCPClientOptions> = {}) {
  const server = await ScriptedServer.start(script, { modern: options.protocol === '2026-07-28' })
  const close = () => server[Symbol.asyncDispose]()
  try {
    const client = await MCPClient.connect({ namespace: 'h', requiresConfirmation: false, url: server.url, ...options } as MCPClientOptions)
    return { server, client, async [Symbol.asyncDispose]() { await client.close(); await close() } }
  } catch (error) {
    await close()
    throw error
  }
}

/** Answers calls by the word that they carry. */
const called = (answers: Record<string, (seen: Seen, response: ServerResponse) => unknown>): Script => (seen, response, usual) => {
  const answer = seen.rpc.method === 'tools/call' ? answers[seen.rpc.params.arguments.message] : undefined
  if (answer === undefined) usual()
  else answer(seen, response)
}
const reply = (seen: Seen, words = 'R') => ({ jsonrpc: '2.0', id: seen.rpc.id, result: { content: [{ type: 'text', text: words }] } })
const body = (response: ServerResponse, text: string | Buffer, headers: Record<string, string>, status = 200) => { response.writeHead(status, headers).end(text) }
const EVENTS = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }

describe('answers', () => {
  const fine: Record<string, (seen: Seen, response: ServerResponse) => unknown> = {
    'another content type': (seen, response) => body(response, JSON.stringify(reply(seen)), { 'content-type': 'text/html' }),
    'no content type': (seen, response) => body(response, JSON.stringify(reply(seen)), {}),
    'a 202 that has one': (seen, response) => sendJson(response, reply(seen), 202),
    compressed: (seen, response) => body(response, gzipSync(JSON.stringify(reply(seen))), { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    'CR alone, a mark of the byte order, an id with NUL': (seen, response) => body(response, `\ufeff: c\rid: a\0b\rretry: 0\rdata: ${JSON.stringify(reply(seen))}\r\r`, EVENTS),
    'others before and after': (seen, response) => body(response, [seen.rpc.id as number + 1, seen.rpc.id, seen.rpc.id].map(id => `data: ${JSON.stringify({ ...reply(seen), id })}\n\n`).join(''), EVENTS),
    'a stream that stays open': (seen, response) => { stream(response).event(reply(seen)) },
  }
  const failing: Record<string, (seen: Seen, response: ServerResponse) => unknown> = {
    'an event without its blank line': (seen, response) => body(response, `data: ${JSON.stringify(reply(seen))}\n`, EVENTS),
    'an event of another kind': (seen, response) => body(response, `event: other\ndata: ${JSON.stringify(reply(seen))}\n\n`, EVENTS),
    'a bomb': (_seen, response) => body(response, gzipSync(Buffer.alloc(50e6, 32)), { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    'a bomb of events': (_seen, response) => body(response, gzipSync(Buffer.alloc(50e6, 100)), { ...EVENTS, 'content-encoding': 'gzip' }),
    'no gzip': (_seen, response) => body(response, 'xxxx', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    'a length beyond everything': (_seen, response) => { response.writeHead(200, { ...JSON_TYPE, 'content-length': '99999999999' }).write('{') },
    'a length that is too short': (seen, response) => { response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n${JSON.stringify(reply(seen))}`) },
    'thousands of headers': (_seen, response) => { response.socket?.end(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n{}`) },
    'another protocol': (_seen, response) => { response.socket?.end('SSH-2.0-x\r\n') },
    'a way to a file': (_seen, response) => body(response, '', { location: 'file:///etc/passwd' }, 307),
    'a way to nowhere': (_seen, response) => body(response, '', { location: 'http://[' }, 308),
    'a switch of protocols': (_seen, response) => { response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n') },
    'status 999': (_seen, response) => { response.socket?.end('HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n') },
  }
  for (const protocol of ['legacy', '2026-07-28'] as const) {
    test(`${protocol}: the odd ones count, the broken ones fail at once, the next call goes through`, LIMIT, async () => {
      await using it = await reach(called({ ...fine, ...failing }), { protocol })
      for (const message of Object.keys(fine)) assert.equal((await within(10_000, it.client.callTool('echo', { message }), message)).text, 'R', message)
      for (const message of Object.keys(failing)) {
        const response = await within(15_000, it.client.callTool('echo', { message }), message)
        assert.equal(response.code, 'CONNECTION_FAILED', message)
        assert.doesNotMatch(response.text, /passwd/)
      }
      assert.equal((await it.client.callTool('echo', { message: 'well' })).text, 'well')
    })
  }

  test('an announced length takes no memory, whatever a message may be', LIMIT, async () => {
    await using it = await reach(called({ long: (_seen, response) => { response.writeHead(200, { ...JSON_TYPE, 'content-length': '2000000000' }).write('{') } }), { maxFrameBytes: 2 ** 31 - 1 })
    assert.equal((await it.client.callTool('echo', { message: 'long' }, { timeoutMs: 300 })).code, 'TIMEOUT')
  })

  test('the longest time to wait is a number', LIMIT, async () => {
    await using it = await reach(called({ wait: (_seen, response) => body(response, '', { 'retry-after': '18446744073709551615' }, 429) }))
    const { data } = await it.client.callTool('echo', { message: 'wait' }) as { data?: { retryAfterMs?: unknown } }
    assert.ok(Number.isSafeInteger(data?.retryAfterMs), String(data?.retryAfterMs))
  })

  test('a header that an answer repeats in parts is hidden', LIMIT, async () => {
    const parted = (seen: Seen) => [...String(seen.headers['x-key'])].join('\u200b')
    await using it = await reach(called({ echo: (seen, response) => body(response, `no JSON: ${parted(seen)}`, JSON_TYPE) }), { headers: { 'X-Key': 'planted-secret' } })
    assert.doesNotMatch((await it.client.callTool('echo', { message: 'echo' })).text, /planted-secret/)
  })
})

describe('streams and sessions', () => {
  test('a stream that ends at once with an event is not asked for without a pause', LIMIT, async () => {
    await using it = await reach((seen, response, usual) => {
      if (seen.method === 'GET') body(response, 'id: 1\nretry: 0\n\n', EVENTS)
      else usual()
    }, { protocol: 'legacy' })
    await sleep(1_000)
    const asked = it.server.of('GET').length
    assert.ok(asked >= 1 && asked <= 15, String(asked))
  })

  test('an endpoint that names a user, or lies elsewhere, is refused', LIMIT, async () => {
    for (const endpoint of ['http://user:pw@HOST/messages', 'http://user@HOST/messages', '//evil.example/messages', '\\\\evil.example\\messages', 'file:///etc', 'javascript:1']) {
      const { streams, play } = oldTransport()
      await using server = await ScriptedServer.start((seen, response, usual) => {
        if (seen.method !== 'GET') { play(seen, response, usual); return }
        streams.push(response)
        stream(response).event(endpoint.replace('HOST', server.origin.slice('http://'.length)), 'endpoint')
      })
      await assert.rejects(MCPClient.connectSse(server.url, { timeoutMs: 5_000 }), coded('CONNECTION_FAILED'), endpoint)
      assert.ok(server.seen.every(seen => seen.method === 'GET'), endpoint)
    }
  })

  test('an id of a session that could not be sent back counts as none', LIMIT, async () => {
    for (const [id, sent] of [['a b', undefined], ['\u00e9', undefined], ['x'.repeat(2000), undefined], ['', undefined], ['"q";a=b,c', '"q";a=b,c']] as const) {
      await using it = await reach((seen, response, usual) => {
        if (seen.rpc.method === 'initialize') response.setHeader('mcp-session-id', id)
        usual()
      }, { protocol: 'legacy' })
      assert.equal((await it.client.callTool('echo', { message: 'm' })).text, 'm')
      assert.equal(it.server.of('tools/call')[0]?.headers['mcp-session-id'], sent)
    }
  })
})

describe('tokens', () => {
  test('whatever the callback throws or gives, nothing else ends', LIMIT, async () => {
    const hostile = () => {
      const error = new Error('planted')
      Object.defineProperty(error, 'name', { get() { throw new Error('planted') } })
      return error
    }
    const odd: (() => unknown)[] = [
      () => { throw hostile() }, () => { throw null }, () => { throw new Proxy(new Error('planted'), { get() { throw new Error('planted') }, getPrototypeOf() { throw new Error('planted') } }) },
      () => Promise.reject(hostile()), () => ({ get then() { throw hostile() } }), () => Symbol('planted'), () => 5, () => 'a\nb',
    ]
    const stray = await unhandledDuring(async () => {
      for (const auth of odd) await assert.rejects(reach((_seen, _response, usual) => usual(), { auth: auth as never }), coded('CONNECTION_FAILED'))
    })
    assert.deepEqual(stray, [])
  })

  test('the callback closes the client', LIMIT, async () => {
    let client: MCPClient | undefined
    await using it = await reach((seen, response, usual) => { if (seen.rpc.method === 'tools/call') body(response, '', {}, 401); else usual() }, {
      auth: async () => { await client?.close(); return 'token' },
    })
    client = it.client
    assert.equal((await within(10_000, client.callTool('echo', {}))).code, 'CLOSED')
    assert.equal(client.state, 'closed')
  })
})

describe('variables in a file of servers', () => {
  const use = (name: string) => `\${${name}}`
  const refusal = async (value: string) => {
    await using registry = new ToolRegistry()
    return await registry.connectMcpServers({ mcpServers: { one: { command: value, args: [] } } }).then(() => assert.fail('connected'), (error: Error) => error)
  }
  test('one within another, and forms of a shell, are refused and not half filled in', LIMIT, async () => {
    process.env.TOOLBOLT_TEST_SET = 'set'
    try {
      for (const value of [`TOOLBOLT_TEST_SET:-${use('HOME')}`, `TOOLBOLT_TEST_NONE:-${use('TOOLBOLT_TEST_SET')}`, 'TOOLBOLT_TEST_SET:?planted', 'TOOLBOLT_TEST_SET:+planted', 'TOOLBOLT_TEST_SET-planted', 'input:planted', use('HOME')].map(use)) {
        const error = await refusal(value)
        assert.ok(coded('INVALID_OPTIONS')(error), value)
        assert.doesNotMatch(error.message, /planted/, value)
      }
    } finally {
      delete process.env.TOOLBOLT_TEST_SET
    }
  })
})

test('interim answers without end hold up neither the host nor the limit of the call', LIMIT, async () => {
  const server = spawn(process.execPath, [fileURLToPath(new URL('fixtures/flooding-http.mjs', import.meta.url))], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const port = Number(String((await once(server.stdout, 'data'))[0]))
    const client = await MCPClient.connect({ namespace: 'h', requiresConfirmation: false, url: `http://127.0.0.1:${port}/mcp`, protocol: 'legacy' })
    let latest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      const now = performance.now()
      latest = Math.max(latest, now - last)
      last = now
    }, 10)
    // Each begins on the JavaScript thread, over a connection that was used before.
    for (let turn = 0; turn < 3; turn++) {
      const answer = await within(60_000, client.callTool('flood', {}, { timeoutMs: 500 }))
      assert.equal(answer.code, 'TIMEOUT')
      await client.loadTools()
    }
    clearInterval(timer)
    await client.close()
    assert.ok(latest < 2_000, `a timer of the host came ${Math.round(latest)} ms late`)
  } finally {
    server.kill()
  }
})
