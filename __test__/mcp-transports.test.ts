// The same calls over every transport and in both eras: what a server means must arrive whichever way it takes.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MCPClient, type MCPTool, ToolRegistry } from 'toolbolt'
import { DUAL, type RunningServer, startDual, startEverything } from './fixtures/http-servers.ts'
import { ScriptedServer, TOOLS, oldTransport, sendJson, stream, usualAnswer } from './fixtures/scripted-http.ts'
import { sleep, wellFormed, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
const EVERYTHING = fileURLToPath(new URL('../node_modules/.bin/mcp-server-everything', import.meta.url))
const OPTIONS = { namespace: 'far', requiresConfirmation: false, timeoutMs: 30_000 } as const

async function registryOf(client: MCPClient): Promise<{ registry: ToolRegistry; tools: MCPTool[] }> {
  const registry = new ToolRegistry()
  const tools = await client.loadTools()
  registry.registerAll(tools)
  return { registry, tools }
}

/** Waits until a condition holds; a late one is a failure. */
async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if (await holds()) return
    await sleep(50)
  }
  assert.fail(`${what}: not within 10 s`)
}

interface Way { name: string; connect(): Promise<MCPClient>; version: string }

describe('server-everything', { concurrency: 1 }, () => {
  const running: Record<string, RunningServer> = {}
  before(async () => { [running.http, running.sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]) }, { timeout: 60_000 })
  after(async () => { await Promise.all(Object.values(running).map(server => server.stop())) })

  const ways: Way[] = [
    { name: 'stdio', connect: () => MCPClient.connect([EVERYTHING, 'stdio'], OPTIONS), version: '2025-11-25' },
    { name: 'Streamable HTTP', connect: () => MCPClient.connectHttp(running.http!.url, OPTIONS), version: '2025-11-25' },
    { name: 'Streamable HTTP, found by itself', connect: () => MCPClient.connect({ ...OPTIONS, url: running.http!.url }), version: '2025-11-25' },
    { name: 'HTTP+SSE', connect: () => MCPClient.connectSse(running.sse!.url, OPTIONS), version: '2025-11-25' },
    { name: 'HTTP+SSE, found by itself', connect: () => MCPClient.connect({ ...OPTIONS, url: running.sse!.url }), version: '2025-11-25' },
  ]
  for (const { name, connect, version } of ways) {
    test(`${name}: tools and their results`, LIMIT, async () => {
      await using client = await connect()
      assert.deepEqual([client.state, client.namespace, client.protocolVersion], ['ready', 'far', version])
      const { registry, tools } = await registryOf(client)
      assert.deepEqual(client.skippedTools, [])
      assert.ok(tools.length >= 10)
      assert.ok(tools.every(tool => tool.origin === 'mcp:far' && tool.name.startsWith('far_') && tool.externalContent))

      const echo = await registry.execute('far_echo', '{"message":"grüße 👋"}')
      wellFormed(echo)
      assert.match(echo.text, /grüße 👋/)
      assert.match((await registry.execute('far_get-sum', { a: 2, b: 3 })).text, /5/)
      assert.equal((await registry.execute('far_get-sum', { a: 2, b: '3' })).code, 'INVALID_ARGUMENTS')

      const structured = (await registry.execute('far_get-structured-content', { location: 'New York' })).data as any
      assert.deepEqual(Object.keys(structured.structuredContent), ['temperature', 'conditions', 'humidity'])

      const image = (await registry.execute('far_get-tiny-image', {})).data as any
      assert.ok(image.content.some((block: any) => block.type === 'image' && block.mimeType === 'image/png' && block.data.length > 100))

      const annotated = (await registry.execute('far_get-annotated-message', { messageType: 'success', includeImage: true })).data as any
      assert.deepEqual(annotated.content[0].annotations, { priority: 0.7, audience: ['user'] })
      assert.deepEqual(annotated.content[1].annotations, { priority: 0.5, audience: ['user'] })

      const links = (await registry.execute('far_get-resource-links', { count: 3 })).data as any
      assert.equal(links.content.filter((block: any) => block.type === 'resource_link' && typeof block.uri === 'string' && typeof block.name === 'string').length, 3)

      const unknown = await client.callTool('nothing_of_that_name', {})
      assert.equal(unknown.status, 'error')
      assert.equal((await registry.execute('far_echo', { message: 'still here' })).status, 'success')
    })

    test(`${name}: progress, limits, cancelling`, LIMIT, async () => {
      await using client = await connect()
      const { registry } = await registryOf(client)
      const seen: number[] = []
      let settled = false
      const counted = await registry.execute('far_trigger-long-running-operation', { duration: 1, steps: 8 }, { onProgress: ({ progress, total }) => {
        assert.ok(!settled, 'progress after the result')
        assert.equal(total, 8)
        seen.push(progress)
      } })
      settled = true
      assert.equal(counted.status, 'success')
      assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8])

      const long = { duration: 30, steps: 2 }
      const started = performance.now()
      assert.equal((await registry.execute('far_trigger-long-running-operation', long, { timeoutMs: 300 })).code, 'TIMEOUT')
      const controller = new AbortController()
      setTimeout(() => { controller.abort() }, 300)
      const aborted = await registry.execute('far_trigger-long-running-operation', long, { signal: controller.signal })
      assert.deepEqual([aborted.code, aborted.executed], ['CANCELLED', true])
      assert.ok(performance.now() - started < 15_000)

      const many = await Promise.all(Array.from({ length: 32 }, (_, index) => registry.execute('far_echo', { message: `number ${index}.` })))
      many.forEach(({ text }, index) => { assert.ok(text.includes(`number ${index}.`), text) })
      await client.close()
      assert.equal(client.state, 'closed')
      assert.deepEqual([(await registry.execute('far_echo', { message: 'x' })).code, (await registry.execute('far_echo', { message: 'x' })).executed], ['CLOSED', false])
    })
  }
})

describe('a server of both eras', { concurrency: 1 }, () => {
  let running: RunningServer
  before(async () => { running = await startDual() }, { timeout: 60_000 })
  after(async () => { await running.stop() })

  const overStdio = (more: object) => MCPClient.connect({ ...OPTIONS, command: process.execPath, args: [DUAL, 'stdio'], ...more } as any)
  const overHttp = (more: object) => MCPClient.connectHttp(running.url, { ...OPTIONS, ...more } as any)
  const ways: Array<Way & { tellsOfCancelling: boolean }> = [
    { name: 'stdio, legacy', connect: () => overStdio({ protocol: 'legacy' }), version: '2025-11-25', tellsOfCancelling: true },
    { name: 'stdio, 2026-07-28', connect: () => overStdio({ protocol: '2026-07-28' }), version: '2026-07-28', tellsOfCancelling: true },
    { name: 'stdio, found by itself', connect: () => overStdio({}), version: '2026-07-28', tellsOfCancelling: true },
    // This server's legacy side over HTTP has no session, so that no message can reach a call that is under way.
    { name: 'HTTP, legacy', connect: () => overHttp({ protocol: 'legacy' }), version: '2025-11-25', tellsOfCancelling: false },
    { name: 'HTTP, 2026-07-28', connect: () => overHttp({ protocol: '2026-07-28' }), version: '2026-07-28', tellsOfCancelling: true },
    { name: 'HTTP, found by itself', connect: () => overHttp({}), version: '2026-07-28', tellsOfCancelling: true },
  ]
  for (const { name, connect, version, tellsOfCancelling } of ways) {
    test(`${name}: pages, results, progress`, LIMIT, async () => {
      await using client = await connect()
      assert.deepEqual([client.state, client.protocolVersion], ['ready', version])
      const { registry, tools } = await registryOf(client)
      assert.deepEqual(tools.map(tool => tool.remoteName), ['echo', 'sum', 'weather', 'blocks', 'fails', 'steps', 'waits', 'counts'], 'all four pages, in order')

      assert.equal((await registry.execute('far_echo', { message: 'grüße 👋' })).text, 'grüße 👋')
      assert.equal((await registry.execute('far_sum', '{"a":2,"b":3}')).text, '5')
      assert.deepEqual(((await registry.execute('far_weather', {})).data as any).structuredContent, { degrees: 0.1 })

      const { data, status } = await registry.execute('far_blocks', {})
      const { content, _meta } = data as any
      assert.equal(status, 'success')
      assert.deepEqual(content.map((block: any) => block.type), ['text', 'image', 'audio', 'resource', 'resource_link'])
      assert.deepEqual([content[0].annotations, content[0]._meta], [{ audience: ['user'], priority: 0.7 }, { 'example.org/key': 1 }])
      assert.deepEqual(content[3].resource, { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' })
      assert.deepEqual([content[4].uri, content[4].name, content[4].annotations], ['file:///b.txt', 'b', { priority: 0.3 }])
      assert.equal(_meta['example.org/trace'], 'abc')

      const failed = await registry.execute('far_fails', {})
      assert.deepEqual([failed.status, failed.executed], ['error', true])
      assert.match(failed.text, /it failed/)
      assert.equal((await client.callTool('nothing_of_that_name', {})).status, 'error')

      for (const [steps, pauseMs] of [[300, 0], [5, 20]] as const) {
        const seen: number[] = []
        const done = await registry.execute('far_steps', { steps, pauseMs }, { onProgress: ({ progress }) => { seen.push(progress) } })
        assert.equal(done.text, 'done')
        assert.deepEqual(seen, Array.from({ length: steps }, (_, index) => index + 1), 'all of it, in order, before the result')
      }
    })

    test(`${name}: limits and cancelling`, LIMIT, async () => {
      await using client = await connect()
      const { registry } = await registryOf(client)
      const counts = async () => JSON.parse((await client.callTool('counts', {})).text) as { cancelled: number; entered: number }
      const before = await counts()

      assert.equal((await registry.execute('far_waits', {}, { timeoutMs: 500 })).code, 'TIMEOUT')
      const controller = new AbortController()
      const call = registry.execute('far_waits', {}, { signal: controller.signal })
      await eventually('the call is under way', async () => (await counts()).entered === before.entered + 2)
      controller.abort()
      const aborted = await within(5_000, call, 'an aborted call')
      assert.deepEqual([aborted.code, aborted.executed], ['CANCELLED', true])
      if (tellsOfCancelling) await eventually('the server knows that both are over', async () => (await counts()).cancelled === before.cancelled + 2)
      assert.equal((await registry.execute('far_echo', { message: 'still here' })).text, 'still here')
    })
  }

  for (const [name, connect] of [['stdio', overStdio], ['HTTP', overHttp]] as const) {
    test(`${name}: progress restarts the limit of a call, ten times at most`, LIMIT, async () => {
      await using client = await connect({})
      const onProgress = () => undefined
      assert.equal((await client.callTool('steps', { steps: 8, pauseMs: 200 }, { timeoutMs: 800, onProgress })).text, 'done')
      const started = performance.now()
      const endless = await client.callTool('steps', { steps: 300, pauseMs: 100 }, { timeoutMs: 400, onProgress })
      const ms = performance.now() - started
      assert.equal(endless.code, 'TIMEOUT')
      assert.ok(ms > 1_500 && ms < 12_000, `${Math.round(ms)} ms`)
    })
  }

  test('an era that a server does not speak is refused, with the reason', LIMIT, async () => {
    await using server = await ScriptedServer.start((_seen, _response, usual) => usual())
    await assert.rejects(MCPClient.connectHttp(server.url, { ...OPTIONS, protocol: '2026-07-28' } as any), (error: any) => error.code === 'CONNECTION_FAILED')
    await using modern = await ScriptedServer.start(undefined, { modern: true })
    await assert.rejects(MCPClient.connectHttp(modern.url, { ...OPTIONS, protocol: 'legacy' } as any), (error: any) => error.code === 'CONNECTION_FAILED')
  })
})

describe('what the wire shows', () => {
  test('legacy over HTTP: cancelling sends the cancellation, closing ends the session', LIMIT, async () => {
    await using server = await ScriptedServer.start((seen, _response, usual) => { if (seen.rpc.params?.name !== 'other') usual() }, { sessions: true })
    const client = await MCPClient.connectHttp(server.url, { ...OPTIONS, protocol: 'legacy' } as any)
    const controller = new AbortController()
    const call = client.callTool('other', {}, { signal: controller.signal })
    await eventually('the call is under way', () => server.of('tools/call').length === 1)
    controller.abort()
    assert.equal((await within(5_000, call, 'an aborted call')).code, 'CANCELLED')
    await eventually('the cancellation', () => server.of('notifications/cancelled').length === 1)
    assert.equal(server.of('notifications/cancelled')[0]!.rpc.params.requestId, server.of('tools/call')[0]!.rpc.id)
    await client.close()
    assert.deepEqual(server.of('DELETE').map(({ headers }) => headers['mcp-session-id']), ['session-1'])

    const afterHandshake = server.seen.filter(({ rpc }) => rpc.method !== 'initialize' && rpc.method !== 'server/discover')
    for (const { headers, method } of afterHandshake) {
      assert.deepEqual([headers['mcp-session-id'], headers['mcp-protocol-version']], ['session-1', '2025-11-25'], method)
    }
    for (const { headers } of server.of('POST')) {
      assert.match(headers.accept ?? '', /application\/json/)
      assert.match(headers.accept ?? '', /text\/event-stream/)
      assert.match(headers['content-type'] ?? '', /^application\/json/)
    }
    assert.equal(server.of('notifications/initialized').length, 1)
  })

  test('2026-07-28 over HTTP: headers tell what the body says; no session, no stream; cancelling closes the stream', LIMIT, async () => {
    let closed = 0
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.params?.name !== 'other') { usual(); return }
      stream(response)
      response.on('close', () => { closed += 1 })
    }, { modern: true })
    const client = await MCPClient.connectHttp(server.url, { ...OPTIONS } as any)
    await client.loadTools()
    assert.equal((await client.callTool('echo', { message: 'x' })).text, 'x')
    const controller = new AbortController()
    const call = client.callTool('other', {}, { signal: controller.signal })
    await eventually('the call is under way', () => server.of('tools/call').length === 2)
    controller.abort()
    assert.equal((await within(5_000, call, 'an aborted call')).code, 'CANCELLED')
    await eventually('the stream is closed', () => closed === 1)
    await client.close()

    assert.deepEqual([...new Set(server.seen.map(({ method }) => method))], ['POST'])
    assert.deepEqual(['initialize', 'notifications/initialized', 'ping'].flatMap(method => server.of(method)), [])
    const ids = server.seen.map(({ rpc }) => rpc.id).filter(id => id !== undefined)
    assert.equal(new Set(ids).size, ids.length, 'no id is used twice')
    for (const { headers, rpc } of server.seen) {
      assert.equal(headers['mcp-protocol-version'], '2026-07-28')
      assert.equal(headers['mcp-method'], rpc.method)
      assert.equal(headers['mcp-name'], rpc.method === 'tools/call' ? rpc.params.name : undefined)
      assert.equal(headers['mcp-session-id'], undefined)
      if (rpc.id === undefined) continue
      assert.equal(rpc.params._meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28')
      assert.equal(typeof rpc.params._meta['io.modelcontextprotocol/clientCapabilities'], 'object')
    }
  })

  test('the old transport: cancelling, and a stream that breaks', LIMIT, async () => {
    const old = oldTransport((seen, _response, usual) => { if (seen.rpc.params?.name !== 'other') usual() })
    await using server = await ScriptedServer.start(old.play)
    await using client = await MCPClient.connectSse(`${server.origin}/sse`, OPTIONS)
    assert.deepEqual((await client.loadTools()).map(tool => tool.remoteName), TOOLS.map(tool => tool.name))
    const controller = new AbortController()
    const call = client.callTool('other', {}, { signal: controller.signal })
    await eventually('the call is under way', () => server.of('tools/call').length === 1)
    controller.abort()
    assert.equal((await within(5_000, call, 'an aborted call')).code, 'CANCELLED')
    await eventually('the cancellation', () => server.of('notifications/cancelled').length === 1)
    assert.equal(server.of('notifications/cancelled')[0]!.rpc.params.requestId, server.of('tools/call')[0]!.rpc.id)

    const lost = client.callTool('other', {})
    await eventually('the second call is under way', () => server.of('tools/call').length === 2)
    for (const open of old.streams) open.destroy()
    const response = await within(5_000, lost, 'a call whose stream broke')
    assert.deepEqual([response.status, response.code, response.executed], ['error', 'CONNECTION_FAILED', true])
    assert.equal(server.of('tools/call').length, 2, 'nothing is sent twice')
  })

  test('the old transport: messages go to the origin of the stream alone', LIMIT, async () => {
    await using elsewhere = await ScriptedServer.start((_seen, response) => { response.writeHead(202).end() })
    await using server = await ScriptedServer.start(oldTransport(undefined, `${elsewhere.origin}/messages`).play)
    await assert.rejects(within(20_000, MCPClient.connectSse(`${server.origin}/sse`, { ...OPTIONS, timeoutMs: 3_000, headers: { 'X-Api-Key': 'planted-secret' } })), (error: any) => typeof error.code === 'string')
    assert.deepEqual(elsewhere.seen, [])
  })

  test('listing: every page once, a cursor that comes again ends it, a malformed tool is left out alone', LIMIT, async () => {
    const pages: Record<string, unknown> = {
      '': { tools: [TOOLS[0]], nextCursor: 'a' }, a: { tools: [{ name: 'broken', inputSchema: 'none' }, TOOLS[1]], nextCursor: 'b' }, b: { tools: [{ ...TOOLS[1], name: 'third' }], nextCursor: 'a' },
    }
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method !== 'tools/list') { usual(); return }
      sendJson(response, { jsonrpc: '2.0', id: seen.rpc.id, result: pages[seen.rpc.params?.cursor ?? ''] })
    })
    await using client = await MCPClient.connectHttp(server.url, { ...OPTIONS, protocol: 'legacy' } as any)
    assert.deepEqual((await client.loadTools()).map(tool => tool.remoteName), ['echo', 'other', 'third'])
    assert.deepEqual(server.of('tools/list').map(({ rpc }) => rpc.params?.cursor), [undefined, 'a', 'b'])
    assert.ok(client.skippedTools.some(({ remoteName }) => remoteName === 'broken'))
  })

  test('answers as streams of events: split anywhere, with any line ends, in several lines, and with other messages before', LIMIT, async () => {
    await using server = await ScriptedServer.start(async (seen, response, usual) => {
      if (seen.rpc.method !== 'tools/call') { usual(); return }
      const answer = JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, ...usualAnswer(seen.rpc) }).replace(',"result"', ',\n"result"')
      const [eol, size] = ({ lf: ['\n', 7], crlf: ['\r\n', 1], cr: ['\r', 3] } as Record<string, [string, number]>)[seen.rpc.params.arguments.ends as string]!
      const lines = [': a comment', 'event: message', 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}', '', 'unknown: field', 'id: 1', ...answer.split('\n').map(line => `data:${line}`), '', '']
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      const bytes = Buffer.from(lines.join(eol))
      for (let from = 0; from < bytes.length; from += size) {
        response.write(bytes.subarray(from, from + size))
        if (from % 50 < size) await sleep(1)
      }
      response.end()
    })
    await using client = await MCPClient.connectHttp(server.url, { ...OPTIONS, protocol: 'legacy' } as any)
    for (const ends of ['lf', 'crlf', 'cr']) {
      const { status, text } = await client.callTool('echo', { message: 'grüße 👋', ends })
      assert.deepEqual([status, text], ['success', 'grüße 👋'], ends)
    }
  })

  test('numbers arrive as they were written, and are sent as the model wrote them', LIMIT, async () => {
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method !== 'tools/call') { usual(); return }
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${JSON.stringify(seen.rpc.id)},"result":{"content":[],"structuredContent":{"price":0.7,"wide":18446744073709551617}}}`)
    })
    await using client = await MCPClient.connectHttp(server.url, { ...OPTIONS, protocol: 'legacy' } as any)
    const { data } = await client.callTool('echo', '{"n":18446744073709551617,"price":1.10}')
    assert.deepEqual((data as any).structuredContent, { price: 0.7, wide: 18446744073709551617n })
    assert.match(server.of('tools/call')[0]!.body, /"n":\s*18446744073709551617\b.*"price":\s*1\.10\b/)
  })

  test('a client takes exactly one way to its server', LIMIT, async () => {
    const wrong: object[] = [
      {}, { command: 'node', url: 'http://127.0.0.1:1/mcp' }, { url: 'http://127.0.0.1:1/mcp', args: ['x'] }, { url: 'http://127.0.0.1:1/mcp', env: {} }, { url: 'http://127.0.0.1:1/mcp', cwd: '/' },
      { command: 'node', headers: {} }, { command: 'node', auth: () => 'x' }, { url: 5 }, { url: 'http://127.0.0.1:1/mcp', transport: 'stdio' }, { url: 'http://127.0.0.1:1/mcp', protocol: '2024' },
      { url: 'http://127.0.0.1:1/mcp', headers: { a: 1 } }, { url: 'http://127.0.0.1:1/mcp', headers: 'x' }, { url: 'http://127.0.0.1:1/mcp', auth: 'token' },
    ]
    for (const options of wrong) await assert.rejects(MCPClient.connect({ namespace: 'x', ...options } as any), (error: any) => error.code === 'INVALID_OPTIONS', JSON.stringify(options))
  })

  test('nobody listens', LIMIT, async () => {
    let url = ''
    { await using server = await ScriptedServer.start(); ({ url } = server) }
    for (const connect of [() => MCPClient.connectHttp(url, OPTIONS), () => MCPClient.connectSse(url, OPTIONS), () => MCPClient.connect({ ...OPTIONS, url } as any)]) {
      await assert.rejects(within(10_000, connect(), 'connecting to nobody'), (error: any) => error.code === 'CONNECTION_FAILED')
    }
  })
})
