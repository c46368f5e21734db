// What a newcomer is told when something is wrong: each error names the option, key or method that mends it.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MCPClient, ToolError, ToolRegistry } from 'toolbolt'
import { ScriptedServer } from './fixtures/scripted-http.ts'
import { scratch } from './machine.ts'
import { bare, coded, fixturePath, ours } from './support.ts'

const LIMIT = { timeout: 120_000 }
const SERVER = fixturePath('changing-server.mjs')
const works = (...words: string[]) => ({ command: process.execPath, args: [SERVER, ...words] })
const folder = scratch()

/** What was thrown, which is one of ours, with the code, and names all of the parts. */
async function told(work: Promise<unknown>, code: string, parts: readonly string[] = [], absent: readonly string[] = []): Promise<ToolError> {
  const error = await work.then(() => assert.fail('it did not throw'), error => error)
  ours(error)
  assert.equal(error.code, code, error.message)
  for (const part of parts) assert.ok(error.message.includes(part), `${part} is not in: ${error.message}`)
  for (const part of absent) assert.ok(!error.message.includes(part), `${part} is in: ${error.message}`)
  return error
}

describe('options of a client', () => {
  test('a command that is a command line is shown as it is meant', LIMIT, async () => {
    await told(MCPClient.connect({ namespace: 'x', command: 'no-such-program -y "a b"' }), 'CONNECTION_FAILED', ['args', '"no-such-program"', '["-y", "a b"]'])
    await told(MCPClient.connect({ namespace: 'x', command: 'no-such-program' }), 'CONNECTION_FAILED', ['no-such-program'], ['args'])
  })
  test('a wrong value is named by its key, and not shown', LIMIT, async () => {
    await told(MCPClient.connect({ namespace: 'x', command: 'y', env: { PORT: 12345 as never } }), 'INVALID_OPTIONS', ['env', 'PORT', 'number'], ['12345'])
    await told(MCPClient.connect({ namespace: 'x', url: 'https://localhost', headers: { 'X-Key': null as never } }), 'INVALID_OPTIONS', ['headers', 'X-Key', 'null'])
    for (const env of [{ NOTHING: undefined }, process.env]) {
      await using client = await MCPClient.connect({ namespace: 'x', ...works(), env })
      assert.equal(client.state, 'ready')
    }
  })
  test('a misspelt option is recognised', LIMIT, async () => {
    await told(MCPClient.connect({ namespace: 'x', command: 'y', timeoutMS: 1 } as never), 'INVALID_OPTIONS', ["mean 'timeoutMs'"])
    await told(MCPClient.connect({ namespace: 'x', command: 'y', nothingLikeIt: 1 } as never), 'INVALID_OPTIONS', ['nothingLikeIt', 'timeoutMs'], ['mean'])
    const registry = new ToolRegistry()
    await told(registry.execute('a', {}, { timoutMs: 1 } as never), 'INVALID_OPTIONS', ["mean 'timeoutMs'"])
  })
})

describe('a server behind an address', () => {
  test('headers that are not accepted, and none', LIMIT, async () => {
    await using server = await ScriptedServer.start((_seen, response) => response.writeHead(401).end())
    await told(MCPClient.connectHttp(server.url, { headers: { authorization: 'Bearer planted' } }), 'CONNECTION_FAILED', ['401', 'not accept', 'headers'], ['planted'])
    await told(MCPClient.connectHttp(server.url), 'CONNECTION_FAILED', ['401', 'auth', 'headers'], ['not accept'])
  })
  test('what the auth callback did', LIMIT, async () => {
    await using server = await ScriptedServer.start()
    const connect = (auth: () => any, more = {}) => MCPClient.connectHttp(server.url, { auth, ...more })
    await told(connect(() => new Promise(() => {}), { connectTimeoutMs: 300 }), 'TIMEOUT', ['auth callback', 'connectTimeoutMs'])
    await told(connect(() => 'Bearer planted'), 'CONNECTION_FAILED', ['Bearer', 'auth'], ['planted'])
    const reason = new TypeError('planted secret')
    const error = await told(connect(() => { throw reason }), 'CONNECTION_FAILED', ['auth', 'TypeError'], ['planted'])
    assert.equal(error.cause, reason)
    await using registry = new ToolRegistry()
    const one = await told(registry.connectMcpServers({ mcpServers: { one: { url: server.url } } }, { auth: () => { throw reason } }), 'CONNECTION_FAILED', ['`one`'], ['planted'])
    assert.equal(one.cause, reason)
  })
  test('a redirect: its status, the rule, and the target where it is of the same origin', LIMIT, async () => {
    let location = '/v2/mcp?key=planted'
    await using server = await ScriptedServer.start((_seen, response) => response.writeHead(302, { location }).end())
    for (const connect of [MCPClient.connectHttp, MCPClient.connectSse]) await told(connect.call(MCPClient, server.url), 'CONNECTION_FAILED', ['302', '307', `${server.origin}/v2/mcp`], ['planted'])
    location = 'https://elsewhere.example/mcp'
    await told(MCPClient.connectHttp(server.url), 'CONNECTION_FAILED', ['302', 'origin'], ['elsewhere'])
  })
  test('the other transport is named at once', LIMIT, async () => {
    for (const status of [400, 405]) {
      await using server = await ScriptedServer.start((seen, response, usual) => (seen.method === 'GET' ? response.writeHead(status).end() : usual()))
      await told(MCPClient.connectSse(server.url, { connectTimeoutMs: 60_000 }), 'CONNECTION_FAILED', [`${status}`, 'connectHttp'])
      await using older = await ScriptedServer.start((seen, response) => (seen.method === 'POST' ? response.writeHead(status).end() : response.writeHead(500).end()))
      await told(MCPClient.connectHttp(older.url, { connectTimeoutMs: 60_000 }), 'CONNECTION_FAILED', [`${status}`, 'connectSse'])
      await told(MCPClient.connect({ namespace: 'x', url: older.url }), 'CONNECTION_FAILED', [`${status}`], ['connectSse'])
    }
  })
})

describe('who is told what', () => {
  test('errors of loadTools are for a program', LIMIT, async () => {
    let answer: unknown = { code: -32000, message: 'not today' }
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method !== 'tools/list') return usual()
      if (answer !== undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error: answer }))
    })
    await using client = await MCPClient.connectHttp(server.url, { namespace: 'far', timeoutMs: 500, connectTimeoutMs: 30_000 })
    await told(client.loadTools(), 'CONNECTION_FAILED', ['far', 'not today', '-32000'], ['arguments', 'another tool', 'tell the user'])
    answer = undefined
    await told(client.loadTools(), 'TIMEOUT', ['far', 'timeoutMs'], ['another tool', 'tell the user'])
  })
  test('what a model reads has no address and no advice for a program', LIMIT, async () => {
    let broken = false
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method === 'tools/call' && broken) response.writeHead(404).end()
      else if (seen.rpc.method === 'tools/call') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: seen.rpc.id, error: { code: -32603, message: 'inside' } }))
      else usual()
    })
    await using client = await MCPClient.connectHttp(server.url, { namespace: 'far', requiresConfirmation: false })
    const failed = await client.callTool('echo', {})
    assert.ok(failed.text.includes('inside') && !failed.text.includes('arguments'), failed.text)
    broken = true
    const response = await client.callTool('echo', {})
    assert.equal(response.code, 'CONNECTION_FAILED')
    assert.ok(response.text.includes('404') && !/127\.0\.0\.1|\/mcp|url/.test(response.text), response.text)
    assert.match(client.lastError?.message ?? '', /127\.0\.0\.1/)
  })
  test('a call whose server died may have acted; one that was not made can be repeated', LIMIT, async () => {
    await using client = await MCPClient.connect({ namespace: 'far', ...works(), respawn: { firstDelayMs: 3_000_000, maxDelayMs: 3_000_000 } })
    const midway = await client.callTool('die', {})
    assert.deepEqual([midway.code, midway.executed, /may have acted/.test(midway.text)], ['CONNECTION_FAILED', true, true])
    const after = await client.callTool('alpha', {})
    assert.deepEqual([after.code, after.executed, /repeated in a moment/.test(after.text), /another tool/.test(after.text)], ['CONNECTION_FAILED', false, true, false], after.text)
  })
  test('tools past the limit are one entry', LIMIT, async () => {
    await using client = await MCPClient.connect({ namespace: 'far', ...works(), maxTools: 2 })
    assert.equal((await client.loadTools()).length, 2)
    assert.equal(client.skippedTools.length, 1)
    for (const part of ['6 tools', 'limit of 2', 'maxTools', 'alpha', 'beta']) assert.ok(client.skippedTools[0]?.reason.includes(part), part)
  })
})

describe('a file of servers', () => {
  let files = 0
  const refused = (entry: unknown, parts: readonly string[], options = {}, absent: readonly string[] = []) => {
    const file = join(folder, `servers-${files++}.json`)
    writeFileSync(file, JSON.stringify({ mcpServers: { one: entry } }))
    const registry = new ToolRegistry()
    return told(registry.connectMcpServers(file, options), 'INVALID_OPTIONS', parts, absent)
  }
  test('hints fit a file', LIMIT, async () => {
    await refused({ ...works(), cwd: '~/x' }, ["'one'", 'cwd', `$\{HOME}`], {}, ['homedir'])
    await refused({ command: '~/run.sh' }, ['command', `$\{HOME}`])
    await refused({ comand: 'node' }, ["'comand'", "mean 'command'"])
    await refused({ command: 'node', env: { PORT: 80 } }, ['env', 'PORT'])
    await refused({ command: 'node', args: [`$\{HOME`] }, [`$\{`, '}'])
  })
  test('options are refused before anything starts, with those that there are', LIMIT, async () => {
    const error = await refused(works(), ["mean 'timeoutMs'", 'requiresConfirmation', 'auth'], { timeoutMS: 1 }, ['expectedFingerprints', 'namespace'])
    assert.equal(error.data, undefined, 'no server was tried')
    await refused(works(), ['timeoutMs'], { timeoutMs: -1 })
  })
  test('the key that VS Code has', LIMIT, async () => {
    const file = join(folder, 'vscode.json')
    writeFileSync(file, JSON.stringify({ inputs: [], servers: { one: { type: 'stdio', ...works() } } }))
    await using registry = new ToolRegistry()
    assert.equal((await registry.connectMcpServers(file)).length, 1)
  })
  test('auth is passed over for a program, ./ counts from the folder of the file, a server is named once', LIMIT, async () => {
    writeFileSync(join(folder, 'run.sh'), `#!/bin/sh\nexec ${process.execPath} ${SERVER}\n`, { mode: 0o755 })
    const file = join(folder, 'mixed.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { command: './run.sh' } } }))
    await using registry = new ToolRegistry()
    assert.equal((await registry.connectMcpServers(file, { auth: () => 'token', allowInsecureHttp: false }))[0]?.state, 'ready')
    const error = await told(new ToolRegistry().connectMcpServers({ mcpServers: { none: { command: 'no-such-program' } } }), 'CONNECTION_FAILED')
    assert.equal(error.message.match(/none/g)?.length, 1, error.message)
  })
})

describe('registering', () => {
  test('a promise has to be awaited', LIMIT, async () => {
    await using client = await MCPClient.connect({ namespace: 'far', ...works() })
    const tools = client.loadTools()
    assert.throws(() => new ToolRegistry().registerAll(tools as never), error => coded('INVALID_OPTIONS')(error) && /await/.test((error as Error).message))
    await tools
  })
  test('a name that is taken: an option that there is, and the namespace', LIMIT, async () => {
    await using client = await MCPClient.connect({ namespace: 'far', ...works() })
    await using twin = await MCPClient.connect({ namespace: 'far', ...works() })
    const registry = new ToolRegistry()
    await client.syncTo(registry)
    await told(twin.syncTo(registry), 'DUPLICATE_NAME', ['far_', 'namespace', 'onConflict'], ['overwrite: true'])
    const other = new ToolRegistry()
    other.register(bare('far_alpha', () => 'mine'))
    await told(client.syncTo(other), 'DUPLICATE_NAME', ['far_alpha', 'namespace', 'onConflict'])
    assert.throws(() => other.registerAll([bare('far_alpha', () => 'mine')]), error => coded('DUPLICATE_NAME')(error) && /onConflict/.test((error as Error).message))
    await told(other.connectMcpServers({ mcpServers: { far: works() } }), 'DUPLICATE_NAME', ['far_alpha', 'rename'], ['onConflict', 'overwrite'])
  })
})
