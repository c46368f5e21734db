// The MCP client with real servers: those that people use, and one that misbehaves.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MCPClient, MCPTool, PromptRegistry, ToolError, ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { isAlive } from './machine.ts'

const bin = (name: string) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url))
const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'toolbolt-mcp-'))
after(() => { rmSync(folder, { recursive: true }) })
writeFileSync(join(folder, 'hello.txt'), 'hello from a file')

const connectFiles = () => MCPClient.connect({ namespace: 'files', command: bin('mcp-server-filesystem'), args: [folder] })
const connectEverything = () => MCPClient.connect([bin('mcp-server-everything')], { namespace: 'every', requiresConfirmation: false })

describe('server-filesystem', () => {
  test('asks by default, obeys permissions, guards what comes back', { timeout: 60_000 }, async () => {
    await using client = await connectFiles()
    const registry = new ToolRegistry({ permissions: new ToolPermissions({ deny: ['files_write_file'] }) })
    const tools = await client.loadTools()
    assert.ok(tools.every(t => t instanceof MCPTool && t.origin === 'mcp:files' && t.name.startsWith('files_') && t.requiresConfirmation && t.externalContent))
    assert.deepEqual(client.skippedTools, [])
    registry.registerAll(tools)
    const read = { path: join(folder, 'hello.txt') }
    assert.equal((await registry.execute('files_read_text_file', read)).code, 'CONFIRMATION_REQUIRED')
    assert.equal((await registry.execute('files_read_text_file', read, { confirm: () => false })).code, 'CONFIRMATION_REJECTED')
    const text = await registry.execute('files_read_text_file', read, { confirm: ({ origin, preview }) => origin === 'mcp:files' && preview.includes('hello.txt') })
    assert.match(text.text, /hello from a file/)
    assert.ok(Array.isArray((text.data as any).content))
    assert.notEqual(registry.render(text), text.text)
    assert.equal((await registry.execute('files_write_file', { path: 'x', content: 'y' }, { confirm: () => true })).code, 'PERMISSION_DENIED')
    assert.ok(!registry.toOpenAISchema().some(entry => entry.function.name === 'files_write_file'))
    const outside = await registry.execute('files_read_text_file', { path: '/etc/passwd' }, { confirm: () => true })
    assert.deepEqual([outside.status, outside.executed], ['error', true])
    assert.notEqual(registry.render(outside), outside.text, 'errors of a server are its words too')
  })
  test('origins rule', { timeout: 60_000 }, async () => {
    await using client = await connectFiles()
    const registry = new ToolRegistry({ permissions: new ToolPermissions({ allowOrigins: ['builtin'] }), confirm: () => true })
    registry.register(tool({ name: 'own', description: 'O', inputSchema: { type: 'object' }, run: () => 'ran' }))
    registry.registerAll(await client.loadTools())
    assert.equal((await registry.execute('own', {})).text, 'ran')
    assert.equal((await registry.execute('files_list_allowed_directories', {})).code, 'PERMISSION_DENIED')
    assert.equal(registry.getCatalog().split('\n').length, 1)
  })
})

describe('server-everything', () => {
  test('text, structured content, progress, validation', { timeout: 60_000 }, async () => {
    await using client = await connectEverything()
    assert.deepEqual([client.state, client.namespace], ['ready', 'every'])
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    assert.match((await registry.execute('every_echo', '{"message":"hi"}')).text, /hi/)
    const wrong = await registry.execute('every_get-sum', { a: 2, b: '3' })
    assert.deepEqual([wrong.code, (wrong.data as any).violations[0].path], ['INVALID_ARGUMENTS', '/b'])
    assert.match((await registry.execute('every_get-sum', { a: 2, b: 3 })).text, /5/)
    assert.equal(typeof ((await registry.execute('every_get-structured-content', { location: 'New York' })).data as any).structuredContent, 'object')
    const seen: number[] = []
    await registry.execute('every_trigger-long-running-operation', { duration: 1, steps: 4 }, { onProgress: update => { seen.push(update.progress) } })
    assert.deepEqual(seen, [1, 2, 3, 4])
  })
  test('a limit and a signal end a call, the connection lives on', { timeout: 60_000 }, async () => {
    await using client = await connectEverything()
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const long = { duration: 20, steps: 2 }
    assert.equal((await registry.execute('every_trigger-long-running-operation', long, { timeoutMs: 200 })).code, 'TIMEOUT')
    const controller = new AbortController()
    setTimeout(() => { controller.abort() }, 200)
    const cancelled = await registry.execute('every_trigger-long-running-operation', long, { signal: controller.signal })
    assert.deepEqual([cancelled.code, cancelled.executed], ['CANCELLED', true])
    assert.match((await registry.execute('every_echo', { message: 'still here' })).text, /still here/)
  })
  test('the environment of the host stays here', { timeout: 60_000 }, async () => {
    process.env.TOOLBOLT_TEST_SECRET = 'planted-secret'
    for (const env of [undefined, { GIVEN: 'yes' }]) {
      await using client = await MCPClient.connect({ namespace: 'every', command: bin('mcp-server-everything'), ...(env === undefined ? {} : { env }) })
      const seen = await client.callTool('get-env', {})
      assert.ok(!JSON.stringify(seen).includes('planted-secret'))
      assert.equal(seen.text.includes('GIVEN'), env !== undefined)
    }
    delete process.env.TOOLBOLT_TEST_SECRET
  })
  test('callTool and run go past the registry', { timeout: 60_000 }, async () => {
    await using client = await connectEverything()
    assert.match((await client.callTool('echo', '{"message":"direct"}')).text, /direct/)
    const echo = (await client.loadTools()).find(t => t.remoteName === 'echo')
    assert.match((await echo!.run({ message: 'by itself' })).text, /by itself/)
    const unknown = await client.callTool('nothing_of_that_name', {})
    assert.equal(unknown.status, 'error')
  })
})

test('a result that is nested too deep loses its data, not its text', { timeout: 60_000 }, async () => {
  await using client = await MCPClient.connect({ namespace: 'far', command: process.execPath, args: [fixture('hostile-server.mjs')], requiresConfirmation: false })
  const registry = new ToolRegistry()
  registry.registerAll(await client.loadTools())
  const response = await registry.execute('far_deep', {})
  assert.deepEqual([response.status, response.text, response.data], ['partial', 'deep', { truncated: true }])
  assert.equal(JSON.parse(JSON.stringify(response)).text, 'deep')
  const direct = await client.callTool('echo', {}, { onProgress: () => { throw new Error('listener') } })
  assert.equal(direct.text, 'ok')
  assert.equal((await client.callTool('echo', { n: Number.NaN })).code, 'INVALID_ARGUMENTS')
  await assert.rejects(client.callTool(null as never, {}), (error: unknown) => ToolError.isInstance(error))
})

describe('connecting and closing', () => {
  test('what cannot be connected says why', { timeout: 60_000 }, async () => {
    const rejects = async (options: any, code: string, words: RegExp) => {
      await assert.rejects(MCPClient.connect(options), (error: unknown) => ToolError.isInstance(error) && error.code === code && words.test(error.message))
    }
    await rejects({ namespace: 'none', command: 'no-such-program-anywhere' }, 'CONNECTION_FAILED', /no-such-program/)
    await rejects({ namespace: 'bad name', command: 'node' }, 'INVALID_NAME', /bad name/)
    await rejects({ namespace: 'x', command: process.execPath, args: ['-e', 'console.error("last words"); process.exit(3)'] }, 'CONNECTION_FAILED', /last words/)
    await rejects({ namespace: 'x', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], timeoutMs: 300 }, 'TIMEOUT', /connectTimeoutMs/)
    await rejects({ namespace: 'x', command: 'node\0' }, 'INVALID_OPTIONS', /NUL/i)
    for (const wrong of [5, null, {}, { namespace: 'x' }, { namespace: 'x', command: 'y', args: 'z' }, { namespace: 'x', command: 'y', env: { A: 1 } }, { namespace: 'x', command: 'y', origin: 'builtin' }, []]) {
      await assert.rejects(MCPClient.connect(wrong as never), (error: unknown) => ToolError.isInstance(error) && error.code === 'INVALID_OPTIONS', JSON.stringify(wrong))
    }
    for (const wrong of ['', "node 'open"]) await assert.rejects(MCPClient.connect(wrong, { namespace: 'x' }), (error: any) => error.code === 'INVALID_OPTIONS')
  })
  test('closed: nothing is left, calls say so, closing again is fine', { timeout: 60_000 }, async () => {
    const client = await connectEverything()
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const pid = client.pid!
    assert.ok(isAlive(pid))
    await Promise.all([client.close(), client.close()])
    await client.close()
    assert.deepEqual([client.state, isAlive(pid)], ['closed', false])
    const late = await registry.execute('every_echo', { message: 'hi' })
    assert.deepEqual([late.code, late.executed], ['CLOSED', false])
    await assert.rejects(client.loadTools(), (error: any) => error.code === 'CLOSED')
  })
  test('a server that dies fails its calls at once', { timeout: 60_000 }, async () => {
    await using client = await connectEverything()
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const call = registry.execute('every_trigger-long-running-operation', { duration: 20, steps: 2 })
    setTimeout(() => { process.kill(client.pid!, 'SIGKILL') }, 200)
    const response = await call
    assert.deepEqual([response.status, response.code, response.executed], ['error', 'CONNECTION_FAILED', true])
    assert.equal(client.state, 'degraded')
  })
  test('a client that nobody holds any more ends its server', { timeout: 60_000 }, async () => {
    const gc = globalThis.gc
    assert.ok(gc, 'run with --expose-gc')
    const pid = await (async () => (await connectEverything()).pid!)()
    for (let round = 0; isAlive(pid) && round < 100; round++) {
      gc()
      await new Promise(resolve => { setTimeout(resolve, 50) })
    }
    assert.equal(isAlive(pid), false)
  })
})

describe('however the process ends, no server is left', () => {
  for (const how of ['end', 'close', 'exit', 'uncaught', 'rejection', 'worker']) {
    test(how, { timeout: 60_000 }, async () => {
      const child = spawn(process.execPath, [fixture('mcp-child.mjs'), how], { stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      child.stdout.on('data', data => { output += data })
      const code = await new Promise(resolve => { child.on('close', resolve) })
      const [group, left] = output.trim().split('\n').map(line => JSON.parse(line) as number[])
      assert.ok(group !== undefined && group.length >= 2, `a shell and a server: ${output}`)
      if (how === 'worker') assert.deepEqual(left, [], 'already gone while the process lived on')
      assert.equal(code, how === 'uncaught' || how === 'rejection' ? 1 : 0)
      // The kill is sent before the process ends; the kernel may take a moment.
      for (let round = 0; group.some(isAlive) && round < 40; round++) await new Promise(resolve => { setTimeout(resolve, 50) })
      assert.deepEqual(group.filter(isAlive), [])
    })
  }
})

test('the words about calls follow the prompts', { timeout: 60_000 }, async () => {
  const prompts = PromptRegistry.load('zh').withOverrides({ 'tool.msg.mcp.refused': '<error {text}>', 'tool.msg.mcp.no_session': '<none>' })
  const client = await MCPClient.connect({ namespace: 'far', command: process.execPath, args: [fixture('hostile-server.mjs')], prompts })
  assert.match((await client.callTool('nothing_of_that_name', {})).text, /^<error .*>$/)
  assert.match((await client.callTool('huge', {})).text, /1e400/)
  await client.close()
  assert.equal((await client.callTool('echo', {})).text, '<none>')
  await assert.rejects(MCPClient.connect({ namespace: 'x', command: 'y', prompts: {} as never }), (error: any) => error.code === 'INVALID_OPTIONS')
})
