// What a program can find out about its servers, and what a model is told of results that are more than text.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MCPClient, type MCPClientOptions, ToolRegistry } from 'toolbolt'
import { ScriptedServer } from './fixtures/scripted-http.ts'
import { coded, fixturePath, sleep } from './support.ts'

const LIMIT = { timeout: 120_000 }
const ODD = fixturePath('odd-server.mjs')
const odd = (code: string, more: object = {}) => MCPClient.connect({
  namespace: 's', command: process.execPath, args: [ODD, code], requiresConfirmation: false, respawn: false, ...more,
} as MCPClientOptions)

describe('results', () => {
  test('the text of a resource is text; what is no text is mentioned, and is in the data', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = ({ id }) => send({ id, result: { content: [
      { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# All' } },
      { type: 'image', data: 'AA==', mimeType: 'image/png' }, { type: 'resource_link', uri: 'https://x.example/', name: 'x' }] } })`)
    const { text, data } = await client.callTool('go', {})
    const [first, ...mentions] = text.split('\n')
    assert.equal(first, '# All')
    assert.deepEqual([mentions.length, mentions[0]!.includes('image/png'), mentions[1]!.includes('https://x.example/')], [2, true, true])
    assert.equal((data as { content: unknown[] }).content.length, 3)
  })
})

describe('what was left out', () => {
  test('is known after a listing that the server called for, and forgotten when it is mended', LIMIT, async () => {
    await using client = await odd(`const lists = [[tool('go'), tool('bad', { inputSchema: { type: 'string' } })], [tool('go'), tool('bad')]]
      on['tools/call'] = message => { state.tools = lists.shift() ?? state.tools; changed(); usual(message) }`)
    await using registry = new ToolRegistry()
    await client.syncTo(registry)
    assert.deepEqual(client.skippedTools, [])
    await client.callTool('go', {})
    while (client.skippedTools.length === 0) await sleep(20)
    assert.deepEqual(client.skippedTools.map(({ remoteName }) => remoteName), ['bad'])
    await client.callTool('go', {})
    while (registry.get('s_bad') === undefined) await sleep(20)
    assert.deepEqual(client.skippedTools, [])
  })
})

describe('connections', () => {
  for (const status of [401, 403, 503]) {
    test(`${status} is a fact, not only a word`, LIMIT, async () => {
      await using server = await ScriptedServer.start((_seen, response) => { response.writeHead(status, { 'retry-after': '7' }).end() })
      const facts = (data: any) => data?.status === status && (status !== 503 || data.retryAfterMs === 7000)
      await assert.rejects(MCPClient.connectHttp(server.url), (error: any) => coded('CONNECTION_FAILED')(error) && facts(error.data))
      await using registry = new ToolRegistry()
      await assert.rejects(registry.connectMcpServers({ mcpServers: { a: { url: server.url } } }), (error: any) => facts(error.data.failures[0].data))
    })
  }
  test('there is no process id without a process', LIMIT, async () => {
    const client = await odd(`on['tools/call'] = () => process.exit(3)`)
    assert.ok(client.pid! > 0)
    assert.equal((await client.callTool('go', {})).code, 'CONNECTION_FAILED')
    assert.deepEqual([client.state, client.pid], ['degraded', undefined])
    await client.close()
    assert.equal(client.pid, undefined)
  })
})

describe('calls', () => {
  test('callTool asks nobody, and says so to whoever wants to be asked', LIMIT, async () => {
    await using client = await odd('')
    for (const options of [{ confirm: () => false }, { callId: 'x' }, { state: 1 }]) await assert.rejects(client.callTool('go', {}, options as object), coded('INVALID_OPTIONS'))
  })
  test('executeSync does not claim that a remote tool ran', LIMIT, async () => {
    await using client = await odd('')
    await using registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const response = registry.executeSync('s_go', {})
    assert.deepEqual([response.code, response.executed, / ran/.test(response.text)], ['EXECUTION_FAILED', false, false])
  })
})
