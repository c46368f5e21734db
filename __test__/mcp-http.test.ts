// The MCP client over HTTP, with servers that people use and one that does what it is told.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server'
import { MCPClient, ToolError, ToolRegistry } from 'toolbolt'
import { z } from 'zod'
import { events, freePort, json, legacy, modern, refusal, result, serve, startEverything, text } from './mcp-http-support.ts'

const options = { namespace: 'n', requiresConfirmation: false }
const code = (expected: string) => (error: unknown) => ToolError.isInstance(error) && error.code === expected

async function exercise(client: MCPClient): Promise<void> {
  const registry = new ToolRegistry()
  registry.registerAll(await client.loadTools())
  assert.equal(client.pid, undefined)
  assert.match((await registry.execute('n_echo', { message: 'hi' })).text, /hi/)
  assert.equal((await registry.execute('n_get-sum', { a: 2, b: '3' } as any)).code, 'INVALID_ARGUMENTS')
  assert.match((await registry.execute('n_get-sum', { a: 2, b: 3 })).text, /5/)
  const structured = await registry.execute('n_get-structured-content', { location: 'New York' })
  assert.equal(typeof (structured.data as any).structuredContent, 'object')
  const seen: number[] = []
  await registry.execute('n_trigger-long-running-operation', { duration: 1, steps: 4 }, { onProgress: update => { seen.push(update.progress) } })
  assert.deepEqual(seen, [1, 2, 3, 4])
  const together = await Promise.all(Array.from({ length: 100 }, (_, n) => registry.execute('n_echo', { message: `m${n}` })))
  assert.ok(together.every((response, n) => response.text.includes(`m${n}`)))
  assert.equal((await registry.execute('n_trigger-long-running-operation', { duration: 20, steps: 2 }, { timeoutMs: 200 })).code, 'TIMEOUT')
  assert.match((await registry.execute('n_echo', { message: 'still' })).text, /still/)
  assert.equal(client.state, 'ready')
}

describe('server-everything', () => {
  test('streamable HTTP', { timeout: 120_000 }, async () => {
    await using server = await startEverything('streamableHttp')
    const url = `http://127.0.0.1:${server.port}/mcp`
    await using client = await MCPClient.connect({ ...options, url })
    assert.equal(client.protocolVersion, '2025-11-25')
    await exercise(client)
    await client.close()
    assert.equal(client.state, 'closed')
    assert.equal((await client.callTool('echo', { message: 'x' })).code, 'CLOSED')
    await using direct = await MCPClient.connectHttp(url, { protocol: 'legacy' })
    assert.equal(direct.namespace, 'mcp')
  })
  test('HTTP+SSE, named and found out', { timeout: 120_000 }, async () => {
    await using server = await startEverything('sse')
    const url = `http://127.0.0.1:${server.port}/sse`
    await using client = await MCPClient.connectSse(url, options)
    await exercise(client)
    await using found = await MCPClient.connect({ ...options, url })
    assert.match((await found.callTool('echo', { message: 'hi' })).text, /hi/)
    await assert.rejects(MCPClient.connectHttp(url), code('CONNECTION_FAILED'))
    const pending = found.callTool('trigger-long-running-operation', { duration: 60, steps: 2 }, { timeoutMs: 60_000 })
    await new Promise(resolve => { setTimeout(resolve, 300) })
    server.child.kill('SIGKILL')
    const response = await pending
    assert.deepEqual([response.code, response.executed], ['CONNECTION_FAILED', true])
  })
  test('a restarted server gets a new session', { timeout: 120_000 }, async () => {
    const first = await startEverything('streamableHttp')
    await using client = await MCPClient.connect({ ...options, url: `http://127.0.0.1:${first.port}/mcp` })
    assert.match((await client.callTool('echo', { message: 'one' })).text, /one/)
    await first[Symbol.asyncDispose]()
    const away = await client.callTool('echo', { message: 'two' })
    assert.equal(away.code, 'CONNECTION_FAILED')
    assert.equal(client.state, 'degraded')
    await using _second = await startEverything('streamableHttp', first.port)
    const together = await Promise.all([1, 2, 3].map(n => client.callTool('echo', { message: `three${n}` })))
    assert.ok(together.every((response, n) => response.text.includes(`three${n + 1}`)))
    assert.equal(client.state, 'ready')
  })
})

describe('the official server 2.4, which speaks both eras', () => {
  async function start() {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'dual', version: '1' })
      server.registerTool('add', { description: 'A', inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }: { a: number; b: number }) => ({ content: [{ type: 'text', text: String(a + b) }] }))
      return server
    })
    const server = createServer(async (incoming, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method ?? 'GET', headers: incoming.headers as Record<string, string>, ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      })
      const answer = await handler.fetch(request)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of answer.body ?? []) response.write(chunk)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, async [Symbol.asyncDispose]() { server.closeAllConnections(); server.close() } }
  }
  test('each era', { timeout: 60_000 }, async () => {
    await using server = await start()
    for (const [protocol, version] of [['auto', '2026-07-28'], ['2026-07-28', '2026-07-28'], ['legacy', '2025-11-25']] as const) {
      await using client = await MCPClient.connect({ ...options, url: server.url, protocol })
      assert.equal(client.protocolVersion, version)
      const registry = new ToolRegistry()
      registry.registerAll(await client.loadTools())
      assert.equal((await registry.execute('n_add', { a: 2, b: 3 })).text, '5')
      assert.equal((await client.callTool('nothing', {})).status, 'error')
    }
  })
})

describe('sessions', () => {
  test('HTTP-01 a lost session is opened anew once, for all who notice', { timeout: 60_000 }, async () => {
    let session = 'one'
    await using server = await serve(legacy({ session: () => session }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    assert.equal(server.of('server/discover').length, 1)
    assert.equal(server.of('notifications/initialized')[0]?.headers['mcp-protocol-version'], '2025-11-25')
    assert.equal(server.of('notifications/initialized')[0]?.headers['mcp-session-id'], 'one')
    session = 'two'
    const responses = await Promise.all([1, 2, 3, 4].map(() => client.callTool('echo', {})))
    assert.deepEqual(responses.map(response => response.text), ['done', 'done', 'done', 'done'])
    assert.equal(server.of('initialize').length, 2)
    assert.equal(server.of('initialize')[1]?.headers['mcp-session-id'], undefined)
    assert.equal(server.of('tools/call').at(-1)?.headers['mcp-session-id'], 'two')
    await client.close()
    const last = server.received.at(-1)
    assert.deepEqual([last?.method, last?.headers['mcp-session-id']], ['DELETE', 'two'])
  })
  test('HTTP-01 a second refusal is an error', { timeout: 60_000 }, async () => {
    let session = 0
    await using server = await serve(legacy({ session: () => `${session++}` }))
    await assert.rejects(async () => {
      await using client = await MCPClient.connect({ ...options, url: server.url })
      await client.loadTools()
    }, code('CONNECTION_FAILED'))
    assert.ok(server.of('initialize').length <= 2)
  })
  test('HTTP-02 what counts is the status and whether an id was sent, not the words', { timeout: 60_000 }, async () => {
    let answers = 0
    await using plain = await serve(legacy({ call: (_request, response) => { answers += 1; response.writeHead(404, { 'content-type': 'text/html' }).end('<p>No valid session</p>') } }))
    await using sessionless = await MCPClient.connect({ ...options, url: plain.url })
    const response = await sessionless.callTool('echo', {})
    assert.deepEqual([response.code, response.executed, (response.data as any).status, answers, plain.of('initialize').length], ['CONNECTION_FAILED', false, 404, 1, 1])
    let lost = true
    await using nameless = await serve(legacy({ session: () => 'same', call: (request, answer) => {
      json(answer, lost ? refusal(null, -32000, 'whatever') : text(request, 'ok'), lost ? 400 : 200)
      lost = false
    } }))
    await using client = await MCPClient.connect({ ...options, url: nameless.url })
    assert.equal((await client.callTool('echo', {})).text, 'ok')
    assert.equal(nameless.of('initialize').length, 2)
  })
  test('an error without id settles its own request at once', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (request, response) => {
      if (request.body.params.arguments.bad) json(response, refusal(null, -32600, 'no such thing'), 400)
      else setTimeout(() => { json(response, text(request, 'good')) }, 300)
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const [good, bad] = await Promise.all([client.callTool('echo', {}), client.callTool('echo', { bad: true })])
    assert.deepEqual([good.text, bad.code], ['good', 'EXECUTION_FAILED'])
    assert.match(bad.text, /no such thing/)
  })
})

describe('streams', () => {
  test('HTTP-04 a stream that ends without the answer fails its call at once, and nothing is sent twice', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (_request, response) => {
      events(response)({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
      setTimeout(() => { response.destroy() }, 50)
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const response = await client.callTool('echo', {})
    assert.deepEqual([response.code, response.executed, server.of('tools/call').length], ['CONNECTION_FAILED', true, 1])
  })
  test('a stream with a place to go on from is taken up there', { timeout: 60_000 }, async () => {
    let call: any
    const asked: (string | undefined)[] = []
    const answer = legacy({ call: (request, response) => {
      call = request
      events(response)({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: request.body.params._meta.progressToken, progress: 1 } }, 'id: 7\nretry: 30\n')
      setTimeout(() => { response.end() }, 20)
    } })
    await using server = await serve((request, response) => {
      if (request.method !== 'GET') return answer(request, response)
      if (request.headers['last-event-id'] === undefined) { response.writeHead(405).end(); return }
      asked.push(request.headers['last-event-id'] as string)
      const write = events(response)
      write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: call.body.params._meta.progressToken, progress: 2 } }, `id: ${7 + asked.length}\n`)
      if (asked.length === 2) write(text(call, 'late'))
      response.end()
    })
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const seen: number[] = []
    const response = await client.callTool('echo', {}, { onProgress: update => { seen.push(update.progress) } })
    assert.deepEqual([response.text, asked, seen, server.of('tools/call').length], ['late', ['7', '8'], [1, 2, 2], 1])
  })
  test('HTTP-05 bytes that lead nowhere do not stretch the time', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => { response.write(': alive\n\n') }, 10)
      response.on('close', () => { clearInterval(timer) })
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const started = Date.now()
    const response = await client.callTool('echo', {}, { timeoutMs: 500 })
    assert.equal(response.code, 'TIMEOUT')
    assert.ok(Date.now() - started < 10_000)
    await new Promise(resolve => { setTimeout(resolve, 200) })
    assert.equal(server.of('notifications/cancelled').length, 1)
  })
  test('HTTP-06 an answer that is none fails at once', { timeout: 60_000 }, async () => {
    for (const [body, status] of [['{"jsonrpc":"2.0","id"', 200], ['<html>', 200], ['', 200], ['', 202], ['[]', 200], ['{"jsonrpc":"2.0","id":1,"result":{}}', 200]] as const) {
      await using server = await serve(legacy({ call: (_request, response) => { json(response, body, status) } }))
      await using client = await MCPClient.connect({ ...options, url: server.url })
      const response = await client.callTool('echo', {})
      assert.deepEqual([response.code, response.executed], ['CONNECTION_FAILED', true], body)
    }
  })
  test('a batch, requests of the server, and messages on the stream of the session', { timeout: 60_000 }, async () => {
    const answer = legacy({ call: (request, response) => {
      const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: request.body.params._meta.progressToken, progress: 1 } }
      json(response, [note, { jsonrpc: '2.0', id: 'p', method: 'ping' }, text(request, 'batched')])
    } })
    let listening = 0
    await using server = await serve((request, response) => {
      if (request.method !== 'GET') return answer(request, response)
      listening += 1
      events(response)({ jsonrpc: '2.0', id: 'g', method: 'ping' })
    })
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const seen: number[] = []
    assert.equal((await client.callTool('echo', {}, { onProgress: update => { seen.push(update.progress) } })).text, 'batched')
    for (let tries = 0; tries < 100 && server.received.filter(request => request.body?.result !== undefined).length < 2; tries += 1) await new Promise(resolve => { setTimeout(resolve, 50) })
    assert.deepEqual([seen, listening], [[1], 1])
    assert.deepEqual(server.received.filter(request => request.body?.result !== undefined).map(request => request.body.id).sort(), ['g', 'p'])
  })
  test('progress comes in order and before the result', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (request, response) => {
      const write = events(response)
      for (let progress = 1; progress <= 300; progress += 1) write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: request.body.params._meta.progressToken, progress } })
      write(text(request, 'end'))
      response.end()
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    await Promise.all([1, 2, 3].map(async () => {
      const seen: number[] = []
      await client.callTool('echo', {}, { onProgress: update => { seen.push(update.progress) } })
      assert.deepEqual(seen, Array.from({ length: 300 }, (_, n) => n + 1))
    }))
  })
  test('numbers and blocks come back as they were written', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (request, response) => {
      json(response, `\n{ "jsonrpc": "2.0",\n "id": ${request.body.id}, "result": {"content": [{"type":"new","x":0.70}],\n "structuredContent": [12345678901234567890] } }\n`)
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const data = (await client.callTool('echo', {})).data as any
    assert.deepEqual(data, { content: [{ type: 'new', x: 0.7 }], structuredContent: [12345678901234567890n] })
  })
})

describe('revision 2026-07-28', () => {
  const annotated = { name: 'été', inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, limit: { type: 'integer', 'x-mcp-header': 'Limit' } } } }
  test('headers name the method, the tool and mirrored arguments; a bad annotation costs its own tool', { timeout: 60_000 }, async () => {
    const bad = { name: 'bad', inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } }
    await using server = await serve(modern({ tools: [annotated, bad] }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    assert.equal(client.protocolVersion, '2026-07-28')
    assert.deepEqual([(await client.loadTools()).length, client.skippedTools.map(tool => tool.remoteName)], [1, ['bad']])
    await client.callTool('été', { region: 'Köln', limit: 5 })
    const { headers, body } = server.of('tools/call')[0]!
    assert.deepEqual(
      [headers['mcp-method'], headers['mcp-name'], headers['mcp-param-region'], headers['mcp-param-limit'], headers['mcp-session-id'], body.params._meta['io.modelcontextprotocol/protocolVersion']],
      ['tools/call', `=?base64?${Buffer.from('été').toString('base64')}?=`, `=?base64?${Buffer.from('Köln').toString('base64')}?=`, '5', undefined, '2026-07-28'],
    )
    assert.ok(server.received.every(request => request.method === 'POST'))
    await client.close()
    assert.ok(server.received.every(request => request.method === 'POST'))
  })
  test('a server that refuses the first choice of version is asked again', { timeout: 60_000 }, async () => {
    const answer = modern()
    let first = true
    await using server = await serve((request, response) => {
      if (!first) return answer(request, response)
      first = false
      json(response, refusal(request.body.id, -32022, 'Unsupported protocol version'), 400)
    })
    await using client = await MCPClient.connect({ ...options, url: server.url })
    assert.deepEqual([client.protocolVersion, server.of('server/discover').length, server.of('initialize').length], ['2026-07-28', 2, 0])
  })
  test('a mismatch of headers lists anew and tries once more', { timeout: 60_000 }, async () => {
    await using server = await serve(modern({ tools: [annotated], call: (request, response) => {
      if (request.headers['mcp-param-region'] === 'eu') json(response, text(request, 'ran'))
      else json(response, refusal(request.body.id, -32020, 'HeaderMismatch'), 400)
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    assert.equal((await client.callTool('été', { region: 'eu' })).text, 'ran')
    assert.deepEqual([server.of('tools/list').length, server.of('tools/call').length], [1, 2])
    assert.equal((await client.callTool('été', { region: 'us' })).code, 'EXECUTION_FAILED')
    assert.deepEqual([server.of('tools/list').length, server.of('tools/call').length], [2, 4])
  })
  test('a state of the server goes back as it came; questions are not answered', { timeout: 60_000 }, async () => {
    await using server = await serve(modern({ call: (request, response) => {
      const round = Number(request.body.params.requestState?.slice(1) ?? 0)
      const { rounds, asks } = request.body.params.arguments
      if (round === rounds) json(response, text(request, `after ${round}`))
      else json(response, result(request, { resultType: 'input_required', requestState: `s${round + 1}`, ...(asks ? { inputRequests: { q: { method: 'elicitation/create' } } } : {}) }))
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    assert.equal((await client.callTool('echo', { rounds: 3 })).text, 'after 3')
    const calls = server.of('tools/call').map(request => [request.body.params.requestState, request.body.params.arguments.rounds])
    assert.deepEqual(calls, [[undefined, 3], ['s1', 3], ['s2', 3], ['s3', 3]])
    assert.equal(new Set(server.of('tools/call').map(request => request.body.id)).size, 4)
    assert.equal((await client.callTool('echo', { rounds: 99 })).status, 'error')
    assert.equal(server.of('tools/call').length, 4 + 11)
    assert.equal((await client.callTool('echo', { rounds: 1, asks: true })).status, 'error')
    assert.equal(server.of('tools/call').length, 4 + 11 + 1)
  })
  test('a cancelled call ends its stream and says nothing', { timeout: 60_000 }, async () => {
    let closed = 0
    await using server = await serve(modern({ call: (_request, response) => {
      events(response)
      response.on('close', () => { closed += 1 })
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    const controller = new AbortController()
    setTimeout(() => { controller.abort() }, 300)
    assert.equal((await client.callTool('echo', {}, { signal: controller.signal })).code, 'CANCELLED')
    for (let tries = 0; tries < 100 && closed === 0; tries += 1) await new Promise(resolve => { setTimeout(resolve, 20) })
    assert.deepEqual([closed, server.of('notifications/cancelled').length], [1, 0])
  })
})

describe('changes and recovery', () => {
  const soon = async (what: () => boolean) => { for (let tries = 0; !what() && tries < 400; tries += 1) await new Promise(resolve => { setTimeout(resolve, 25) }) }
  test('a server of each era says that its tools changed', { timeout: 60_000 }, async () => {
    let tools: unknown[] = [{ name: 'one', inputSchema: { type: 'object' } }]
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    let tell = () => {}
    const old = legacy({ call: () => {} })
    const newer = modern({ list: () => tools, call: (request, response) => {
      const write = events(response)
      tell = () => { write(changed) }
      write({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { subscriptionId: request.body.id } })
    } })
    const servers = {
      legacy: await serve((request, response) => {
        if (request.method === 'GET') { const write = events(response); tell = () => { write(changed) }; return }
        if (request.body?.method === 'tools/list') return json(response, result(request, { tools }))
        return old(request, response)
      }),
      '2026-07-28': await serve((request, response) => {
        if (request.body?.method !== 'server/discover') return newer(request, response)
        json(response, result(request, { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } }))
      }),
    } as const
    for (const [protocol, server] of Object.entries(servers)) {
      await using _server = server
      tools = [{ name: 'one', inputSchema: { type: 'object' } }]
      tell = () => {}
      const before = tell
      const heard: string[] = []
      await using client = await MCPClient.connect({ ...options, url: server.url, protocol: protocol as 'legacy', onToolsChanged: ({ added, removed }) => { heard.push(...added.map(tool => tool.remoteName), ...removed) } })
      await client.loadTools()
      await soon(() => tell !== before)
      tools = [{ name: 'two', inputSchema: { type: 'object' } }]
      tell()
      await soon(() => heard.length === 2)
      assert.deepEqual(heard, ['two', 'n_one'], protocol)
      assert.equal(client.state, 'ready')
    }
  })
  test('a stream of HTTP+SSE that is lost is opened anew', { timeout: 60_000 }, async () => {
    let stream: any
    const answer = legacy()
    const relay = (write: (data: unknown) => void) => ({ writeHead: () => ({ end: () => {} }), end: (body?: string) => { if (body) write(body) }, headersSent: false })
    let write: any
    await using server = await serve(async (request, response) => {
      if (request.method === 'GET') {
        stream = response
        write = events(response)
        write('/messages', 'event: endpoint\n')
        return
      }
      response.writeHead(202).end()
      await answer(request, relay(write) as any)
    })
    await using client = await MCPClient.connectSse(server.url, { ...options, respawn: { firstDelayMs: 50 } })
    assert.equal((await client.callTool('echo', {})).text, 'done')
    stream.destroy()
    await soon(() => client.state !== 'ready')
    await soon(() => client.state === 'ready')
    assert.equal((await client.callTool('echo', {})).text, 'done')
    assert.equal(client.lastError?.code, 'CONNECTION_FAILED')
  })
  test('a client is closed while a stream of HTTP+SSE is waited for', { timeout: 60_000 }, async () => {
    const streams: any[] = []
    const answer = legacy()
    const relay = (write: (data: unknown) => void) => ({ writeHead: () => ({ end: () => {} }), end: (body?: string) => { if (body) write(body) }, headersSent: false })
    let write: any
    await using server = await serve(async (request, response) => {
      if (request.method === 'GET') {
        // The second one never says where to send messages.
        if (streams.push(response) > 1) return
        write = events(response)
        write('/messages', 'event: endpoint\n')
        return
      }
      response.writeHead(202).end()
      await answer(request, relay(write) as any)
    })
    const client = await MCPClient.connectSse(server.url, { ...options, timeoutMs: null, connectTimeoutMs: 50_000, respawn: { firstDelayMs: 10 } })
    streams[0].destroy()
    await soon(() => streams.length === 2)
    const started = Date.now()
    await client.close()
    assert.ok(Date.now() - started < 10_000)
    assert.equal(client.state, 'closed')
  })
})

describe('credentials', () => {
  test('a token is asked for once and renewed once for all that are refused', { timeout: 60_000 }, async () => {
    let valid = 'token-1'
    let given = valid
    const asked: string[] = []
    const answer = legacy({ call: async (request, response) => {
      await new Promise(resolve => { setTimeout(resolve, 50) })
      json(response, text(request, 'in'))
    } })
    await using server = await serve((request, response) => {
      if (request.headers.authorization !== `Bearer ${valid}`) { response.writeHead(401).end(); return }
      return answer(request, response)
    })
    await using client = await MCPClient.connect({ ...options, url: server.url, auth: async ({ url, reason }) => {
      asked.push(reason)
      assert.equal(url, server.url)
      await new Promise(resolve => { setTimeout(resolve, 100) })
      return given
    } })
    assert.deepEqual(asked, ['first'])
    given = valid = 'token-2'
    const responses = await Promise.all(Array.from({ length: 10 }, () => client.callTool('echo', {})))
    assert.ok(responses.every(response => response.text === 'in'))
    assert.deepEqual(asked, ['first', 'rejected'])
    valid = 'token-3'
    const refused = await client.callTool('echo', {})
    assert.deepEqual([refused.code, refused.executed, (refused.data as any).status], ['CONNECTION_FAILED', false, 401])
    assert.ok(!inspect([client, refused], { depth: 9, showHidden: true }).includes('token-2'))
  })
  test('a web token is replaced when its time is over', { timeout: 60_000 }, async () => {
    const asked: string[] = []
    const seen: (string | undefined)[] = []
    const answer = legacy()
    await using server = await serve((request, response) => {
      seen.push(request.headers.authorization)
      return answer(request, response)
    })
    const web = (seconds: number) => `e30.${Buffer.from(JSON.stringify({ exp: Date.now() / 1000 + seconds })).toString('base64url')}.s`
    await using client = await MCPClient.connect({ ...options, url: server.url, auth: ({ reason }) => { asked.push(reason); return web(asked.length === 1 ? 2 : 600) } })
    await new Promise(resolve => { setTimeout(resolve, 2_100) })
    assert.equal((await client.callTool('echo', {})).text, 'done')
    assert.deepEqual([asked, new Set(seen).size], [['first', 'expired'], 2])
  })
  test('a callback that fails fails the request, without its words', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy())
    for (const auth of [() => { throw new TypeError('hunter2hunter2') }, () => Promise.reject('hunter2hunter2'), () => 5, () => 'two words', () => '', () => 'a\r\nX: y'] as any[]) {
      await assert.rejects(MCPClient.connect({ ...options, url: server.url, auth }), (error: any) => error.code === 'CONNECTION_FAILED' && /token/.test(error.message) && !/hunter2|two words/.test(error.message))
    }
    assert.equal(server.received.length, 0)
  })
  test('refusals name the fix', { timeout: 60_000 }, async () => {
    for (const status of [401, 403]) {
      await using server = await serve((_request, response) => { response.writeHead(status, { 'www-authenticate': 'Bearer realm="hunter2hunter2"' }).end('hunter2hunter2') })
      await assert.rejects(MCPClient.connect({ ...options, url: server.url }), (error: any) => error.code === 'CONNECTION_FAILED' && error.message.includes(String(status)) && !error.message.includes('hunter2'))
      assert.equal(server.received.length, 1)
    }
  })
  test('HTTP-03 a redirect to another origin is not followed, one that repeats the request within its own is', { timeout: 60_000 }, async () => {
    await using other = await serve(legacy())
    for (const status of [301, 302, 303, 307, 308]) {
      await using server = await serve((_request, response) => { response.writeHead(status, { location: other.url }).end() })
      await assert.rejects(MCPClient.connect({ ...options, url: server.url, headers: { 'X-Api-Key': 'hunter2hunter2' }, auth: () => 'hunter3hunter3' }), code('CONNECTION_FAILED'))
    }
    assert.equal(other.received.length, 0)
    const answer = legacy()
    await using near = await serve((request, response) => {
      if (request.path === '/mcp') { response.writeHead(307, { location: '/there' }).end(); return }
      return answer(request, response)
    })
    await using client = await MCPClient.connect({ ...options, url: near.url, headers: { 'X-Api-Key': 'hunter2hunter2' } })
    assert.equal((await client.callTool('echo', {})).text, 'done')
    assert.equal(near.of('tools/call').at(-1)?.headers['x-api-key'], 'hunter2hunter2')
  })
  test('what a server repeats of them is hidden', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (request, response) => {
      if (request.body.params.arguments.error) json(response, refusal(request.body.id, -32000, `you sent ${request.headers['x-api-key']} ${request.headers.authorization}`))
      else json(response, `<p>${request.headers['x-api-key']} ${request.headers.authorization}`)
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url, headers: { 'X-Api-Key': 'hunter2hunter2' }, auth: () => 'hunter3hunter3' })
    for (const args of [{ error: true }, {}]) {
      const response = await client.callTool('echo', args)
      assert.equal(response.status, 'error')
      assert.ok(!/hunter/.test(response.text), response.text)
    }
  })
})

describe('trouble', () => {
  test('statuses, with the time to wait', { timeout: 60_000 }, async () => {
    for (const [status, executed] of [[429, false], [503, true], [500, true], [413, false]] as const) {
      await using server = await serve(legacy({ call: (_request, response) => { response.writeHead(status, { 'retry-after': '7' }).end('busy') } }))
      await using client = await MCPClient.connect({ ...options, url: server.url })
      const response = await client.callTool('echo', {})
      assert.deepEqual([response.code, response.executed, response.data], ['CONNECTION_FAILED', executed, { status, retryAfterMs: 7000 }])
      assert.equal(server.of('tools/call').length, 1)
    }
  })
  test('nobody there', { timeout: 60_000 }, async () => {
    const port = await freePort()
    const started = Date.now()
    await assert.rejects(MCPClient.connect({ ...options, url: `http://127.0.0.1:${port}/mcp` }), code('CONNECTION_FAILED'))
    assert.ok(Date.now() - started < 5000)
    await assert.rejects(MCPClient.connectSse(`http://127.0.0.1:${port}/sse`), code('CONNECTION_FAILED'))
  })
  test('a server that never answers', { timeout: 60_000 }, async () => {
    await using server = await serve(() => {})
    await assert.rejects(MCPClient.connect({ ...options, url: server.url, timeoutMs: 700 }), code('TIMEOUT'))
    await assert.rejects(MCPClient.connectSse(server.url, { timeoutMs: 700 }), code('TIMEOUT'))
  })
  test('a body over the cap', { timeout: 60_000 }, async () => {
    await using server = await serve(legacy({ call: (request, response) => {
      const padding = 'x'.repeat(11 * 1024 * 1024)
      if (request.body.params.arguments.stream) { events(response)(padding); response.end() } else json(response, text(request, padding))
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url })
    for (const args of [{}, { stream: true }]) assert.deepEqual([(await client.callTool('echo', args)).code, client.state === 'closed'], ['CONNECTION_FAILED', false])
  })
  test('at most so many requests at a time', { timeout: 60_000 }, async () => {
    let now = 0
    let most = 0
    await using server = await serve(legacy({ call: async (request, response) => {
      now += 1
      most = Math.max(most, now)
      await new Promise(resolve => { setTimeout(resolve, 20) })
      now -= 1
      json(response, text(request, 'x'))
    } }))
    await using client = await MCPClient.connect({ ...options, url: server.url, maxInFlight: 3 })
    await Promise.all(Array.from({ length: 30 }, () => client.callTool('echo', {})))
    assert.equal(most, 3)
  })
  test('HTTP+SSE whose endpoint is elsewhere', { timeout: 60_000 }, async () => {
    await using other = await serve(legacy())
    await using server = await serve((_request, response) => { events(response)(`${other.url}?x`, 'event: endpoint\n') })
    await assert.rejects(MCPClient.connectSse(server.url), code('CONNECTION_FAILED'))
    assert.equal(other.received.length, 0)
  })
})

describe('options', () => {
  test('HTTP-07, HTTP-10, HTTP-11 addresses and headers that are refused', async () => {
    const wrong = (given: any) => assert.rejects(MCPClient.connect({ namespace: 'n', ...given }), code('INVALID_OPTIONS'), inspect(given))
    for (const url of ['file:///x', 'http://169.254.169.254/', 'https://[::ffff:169.254.169.254]/', 'http://2852039166/', 'https://metadata.google.internal', 'http://example.com/', 'https://u:p@example.com/', 'mcp', '', 5]) await wrong({ url })
    const url = 'https://example.com/mcp'
    for (const headers of [{ 'X': 'a\r\nX: y' }, { 'X Y': 'a' }, { X: 'grün' }, { X: 5 }, [], { 'Mcp-Session-Id': 'x' }]) await wrong({ url, headers })
    for (const given of [{}, { url, command: 'x' }, { url, args: ['x'] }, { url, env: {} }, { url, cwd: '.' }, { command: 'x', headers: {} }, { command: 'x', auth: () => 't' }, { command: 'x', transport: 'http' },
      { url, transport: 'ws' }, { url, auth: 't' }, { url, protocol: '2025-11-25' }, { url, transport: 'sse', protocol: '2026-07-28' }, { url, timeoutMs: 0 }, { url, connectTimeoutMs: 0 }, { url, maxInFlight: 0 },
      { url, headers: { Authorization: 'x' }, auth: () => 't' }, { url, allowInsecureHttp: 1 }, { url, other: 1 }]) await wrong(given)
    await assert.rejects(MCPClient.connect('https://example.com/mcp'), code('INVALID_OPTIONS'))
    await assert.rejects(MCPClient.connectHttp(url, { transport: 'sse' }), code('INVALID_OPTIONS'))
  })
})
