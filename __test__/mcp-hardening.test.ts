// A hostile or odd server over standard streams, and an app that uses the client in unexpected ways.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { MCPClient, ToolRegistry } from 'toolbolt'
import type { MCPClientOptions } from 'toolbolt'
import { bare, coded, endedWell, fixturePath, runFixture, sleep, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
const folder = mkdtempSync(join(tmpdir(), 'toolbolt-hardening-'))
after(() => rm(folder, { recursive: true, force: true }))

const ODD = fixturePath('odd-server.mjs')
const odd = (code: string, more: Partial<MCPClientOptions> = {}) => MCPClient.connect({
  namespace: 's', command: process.execPath, args: [ODD, code], requiresConfirmation: false, respawn: false, ...more,
} as MCPClientOptions)
const entry = (code: string) => ({ command: process.execPath, args: [ODD, code] })

/** Whether a process exists. */
function lives(pid: number): boolean {
  try { return process.kill(pid, 0) } catch { return false }
}

describe('schemas of a server', () => {
  test('what cannot be checked against an output schema does not pass for checked', LIMIT, async () => {
    await using client = await odd(`
      state.tools = [tool('go', { outputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } })]
      on['tools/call'] = ({ id, params }) => raw('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[],"structuredContent":' + params.arguments.json + '}}')`)
    const [tool] = await client.loadTools()
    const deep = `{"n":${'['.repeat(200)}${']'.repeat(200)}}`
    for (const json of ['{"n":"x"}', '{"n":"x\\ud800"}', '{"n":1,"m":"\\udc00"}', deep, '{"n":1,"n":"x"}', '[]']) {
      const response = await tool!.run({ json })
      assert.deepEqual([response.status, response.code], ['error', 'EXECUTION_FAILED'], json.slice(0, 40))
      assert.ok(response.data !== undefined, 'whoever looks still finds it')
    }
    assert.equal((await tool!.run({ json: '{"n":1}' })).status, 'success')
  })

  test('a result that breaks a wide output schema costs neither time nor memory', LIMIT, async () => {
    await using client = await odd(`
      const anyOf = Array.from({ length: 2000 }, (_, place) => ({ const: 'x' + place }))
      state.tools = [tool('go', { outputSchema: { items: { anyOf } } })]
      on['tools/call'] = ({ id, params }) => raw('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[],"structuredContent":[' + '1,'.repeat(params.arguments.count) + '1]}}')`)
    const [tool] = await client.loadTools()
    const before = process.memoryUsage().rss
    for (const count of [10, 4000, 100_000]) {
      const response = await within(10_000, tool!.run({ count }) as Promise<{ code?: string }>, `${count} items`)
      assert.equal(response.code, 'EXECUTION_FAILED')
    }
    assert.ok(process.memoryUsage().rss - before < 500e6)
  })

  test('many large patterns cost their tool, not a gigabyte', LIMIT, async () => {
    const properties = (pattern: string) => `Object.fromEntries(Array.from({ length: 500 }, (_, place) => ['p' + place, { type: 'string', pattern: '${pattern}' + place }]))`
    await using client = await odd(`state.tools = [
      tool('large', { inputSchema: { type: 'object', properties: ${properties('\\\\p{L}{20}')} } }),
      tool('small', { inputSchema: { type: 'object', properties: ${properties('^[a-z]+-')} } })]`)
    const before = process.memoryUsage().rss
    const tools = await within(30_000, client.loadTools())
    assert.deepEqual([tools.map(tool => tool.remoteName), client.skippedTools.map(tool => tool.remoteName)], [['small'], ['large']])
    assert.ok(process.memoryUsage().rss - before < 300e6)
  })

  test('names and properties of every object are ordinary ones', LIMIT, async () => {
    await using client = await odd(`
      const inputSchema = { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}'), required: ['__proto__'] }
      state.tools = ['__proto__', 'constructor', 'a b', 'a\\tb', 'a_b', 'Echo', 'echo', 'echo', '\\u00e9', 'e\\u0301', '\\ud800', 'n'.repeat(900) + '1', 'n'.repeat(900) + '2'].map(name => tool(name, { inputSchema }))
      on['tools/call'] = ({ id, params }) => send({ id, result: text(JSON.stringify([params.name, params.arguments])) })`)
    await using registry = new ToolRegistry()
    const names = await client.syncTo(registry)
    assert.equal(new Set(names).size, 13)
    assert.ok(names.every(name => /^[A-Za-z0-9_-]{1,64}$/.test(name)))
    const told = await registry.execute('s___proto__', '{"__proto__":"v","constructor":1}')
    assert.equal(told.text, '["__proto__",{"__proto__":"v","constructor":1}]')
    assert.equal((await registry.execute('s___proto__', '{"__proto__":1}')).code, 'INVALID_ARGUMENTS')
    assert.equal((await registry.execute('s_constructor', {})).code, 'INVALID_ARGUMENTS')
  })

  test('cursors as large as messages are not collected', LIMIT, async () => {
    await using client = await odd(`let page = 0; on['tools/list'] = ({ id }) => send({ id, result: { tools: [tool('t' + page)], nextCursor: 'c'.repeat(1e6) + page++ } })`)
    assert.equal((await client.loadTools()).length, 1)
    assert.match(client.skippedTools[0]!.reason, /cursor/)
  })

  test('skippedTools stays bounded however often tools change', LIMIT, async () => {
    await using client = await odd(`let round = 0; on['tools/call'] = message => {
      state.tools = [tool('go'), tool('own', { description: 'v' + ++round })]; changed(); usual(message) }`)
    await using registry = new ToolRegistry()
    registry.register(bare('s_own', () => 'own'))
    await client.syncTo(registry)
    const seen = []
    for (let round = 0; round < 3; round++) {
      await client.callTool('go', {})
      await sleep(1200)
      seen.push(client.skippedTools.length)
    }
    assert.deepEqual(seen, [1, 1, 1])
  })
})

describe('the time of a call', () => {
  test('exchanges that follow one another are held to the limit of one', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = ({ id, params }) => {
      const beat = setInterval(() => send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } }), 50)
      setTimeout(() => { clearInterval(beat); send({ id, result: { resultType: 'input_required', requestState: 's' } }) }, 900)
    }`)
    const started = performance.now()
    const response = await client.callTool('go', {}, { timeoutMs: 200 })
    assert.deepEqual([response.code, response.executed], ['TIMEOUT', true])
    assert.ok(performance.now() - started < 3_500)
  })

  test('an abort between exchanges says that something was sent', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = ({ id }) => setTimeout(() => send({ id, result: { resultType: 'input_required', requestState: 's' } }), 20)`)
    const response = await client.callTool('go', {}, { signal: AbortSignal.timeout(110) })
    assert.deepEqual([response.code, response.executed], ['CANCELLED', true])
  })

  test('a listing that pins wait for is held to it too', LIMIT, async () => {
    const file = join(folder, 'slow.lock.json')
    await using client = await odd(`let listed = false; on['tools/list'] = message => { if (!listed) usual(message); listed = true }
      on['tools/call'] = message => { changed(); usual(message) }`, { pins: { file, mode: 'record' } })
    const [tool] = await client.loadTools()
    assert.equal((await tool!.run({})).status, 'success')
    const started = performance.now()
    const response = await client.callTool('go', {}, { timeoutMs: 300 })
    assert.deepEqual([response.code, response.executed], ['TIMEOUT', false])
    const cancelled = await client.callTool('go', {}, { signal: AbortSignal.timeout(100) })
    assert.deepEqual([cancelled.code, cancelled.executed], ['CANCELLED', false])
    assert.ok(performance.now() - started < 5_000)
  })
})

describe('replies', () => {
  test('an id that comes back in another spelling of its number is that id; others are nobody\'s', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = ({ id, params }) => raw('{"jsonrpc":"2.0","id":' + params.arguments.spelling.replace('ID', id) + ',"result":{"content":[{"type":"text","text":"R"}]}}')`)
    for (const spelling of ['ID', '"ID"', 'ID.0', 'ID.0e0']) assert.equal((await client.callTool('go', { spelling })).text, 'R', spelling)
    for (const spelling of ['null', '-ID', '[ID]', '{"a":ID}', 'ID.5', '1e999', '1,"id":ID']) {
      assert.equal((await client.callTool('go', { spelling }, { timeoutMs: 150 })).code, 'TIMEOUT', spelling)
    }
    assert.equal((await client.callTool('go', { spelling: 'ID' })).text, 'R')
  })

  test('twice, both, none, NUL, a batch, in single bytes: the connection lives on', LIMIT, async () => {
    await using client = await odd(`const R = '"result":{"content":[{"type":"text","text":"R"}]}', J = '{"jsonrpc":"2.0",'
      const kinds = {
        twice: id => { raw(J + '"id":' + id + ',' + R + '}'); raw(J + '"id":' + id + ',' + R + '}') },
        both: id => raw(J + '"id":' + id + ',' + R + ',"error":{"code":1,"message":"E"}}'),
        batch: id => raw('[1,' + J + '"id":' + id + ',' + R + '}]'),
        nothing: id => { raw(''); raw('\\0'); raw('{}'); raw('[]'); raw(J + '"id":' + id + ',"error":null}'); raw(J + '"id":' + id + ',"method":"ping",' + R + '}'); raw(J + '"id":' + id + ',' + R + '}') },
        tokens: id => { for (const token of ['"' + id + '"', id + 1, 'null', '{}', '-1', '1e999']) raw(J + '"method":"notifications/progress","params":{"progressToken":' + token + ',"progress":1}}'); raw(J + '"id":' + id + ',' + R + '}') },
        blocks: id => raw(J + '"id":' + id + ',"result":{"content":[1,null,"s",[],{},{"type":"new","x":1},{"type":1,"text":"no"},{"type":"text"},{"type":"text","text":5},{"type":"text","text":"R"}]}}'),
        bytes: async id => { for (const byte of Buffer.from(J + '"id":' + id + ',' + R + '}\\n')) { process.stdout.write(Buffer.from([byte])); await new Promise(setImmediate) } },
      }
      on['tools/call'] = ({ id, params }) => kinds[params.arguments.kind](id)`)
    const progress: unknown[] = []
    const call = (kind: string) => client.callTool('go', { kind }, { timeoutMs: 5_000, onProgress: update => { progress.push(update) } })
    for (const kind of ['twice', 'batch', 'nothing', 'tokens', 'blocks', 'bytes']) assert.ok((await call(kind)).text.split('\n').includes('R'), kind)
    assert.equal((await call('both')).code, 'EXECUTION_FAILED')
    assert.deepEqual(progress, [])
    assert.equal(client.state, 'ready')
  })

  test('a value that an error repeats is hidden however it is parted', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = ({ id }) => send({ id, error: { code: 1, message: [...process.env.KEY].join('\\u200b') } })`, { env: { KEY: 'planted-secret' } })
    assert.doesNotMatch((await client.callTool('go', {})).text, /planted-secret/)
  })
})

describe('what is too much or cannot be read', () => {
  test('an array of very many messages is passed over, and the answer after it counts', LIMIT, async () => {
    await using client = await odd(`on['tools/call'] = message => { raw('[' + '1,'.repeat(1e6) + '1]'); usual(message) }`)
    const skipped = client.diagnostics.skippedLines
    assert.equal((await within(20_000, client.callTool('go', {}), 'a call')).status, 'success')
    assert.equal(client.diagnostics.skippedLines, skipped + 1)
  })

  test('arguments whose getter, proxy or toJSON throws are an answer', LIMIT, async () => {
    await using client = await odd('')
    const fail = () => { throw new SyntaxError('no way') }
    for (const args of [{ get a() { return fail() } }, { toJSON: fail }, new Proxy({}, { ownKeys: fail })]) {
      const response = await client.callTool('go', args)
      assert.deepEqual([response.code, response.executed], ['INVALID_ARGUMENTS', false])
    }
  })
})

describe('the life of a registry and its servers', () => {
  test('a registry that is closed while a server is being connected keeps none', LIMIT, async () => {
    for (const tools of ['[]', `[tool('go')]`]) {
      const registry = new ToolRegistry()
      const connecting = registry.connectMcpServers({ mcpServers: { one: entry(`state.tools = ${tools}; on.initialize = message => setTimeout(usual, 400, message)`) } })
      const refused = assert.rejects(connecting, coded('CLOSED'))
      await sleep(100)
      await registry.close()
      await refused
      await assert.rejects(registry.connectMcpServers({ mcpServers: { one: entry('') } }), coded('CLOSED'))
    }
  })

  test('two files at once cannot share a namespace', LIMIT, async () => {
    await using registry = new ToolRegistry()
    const connect = (name: string) => registry.connectMcpServers({ mcpServers: { one: entry(`state.tools = [tool('${name}')]`) } })
    const [first, second] = await Promise.allSettled([connect('x'), connect('y')])
    assert.equal(first.status, 'fulfilled')
    assert.ok(second.status === 'rejected' && coded('INVALID_OPTIONS')(second.reason))
    assert.ok(registry.get('one_x') !== undefined && registry.get('one_y') === undefined)
    await first.value[0]!.close()
    assert.equal((await registry.connectMcpServers({ mcpServers: { one: entry(`state.tools = [tool('z')]`) } })).length, 1)
  })

  test('closing in every callback', LIMIT, async () => {
    const beat = `on['tools/call'] = ({ params }) => send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } })`
    const busy = await odd(beat)
    const pid = busy.pid!
    const response = await busy.callTool('go', {}, { onProgress: () => { void busy.close() } })
    assert.deepEqual([response.code, response.executed], ['CLOSED', true])
    await busy.close()
    assert.equal(lives(pid), false)
    const asking = await odd('', { requiresConfirmation: true })
    await using registry = new ToolRegistry({ confirm: async () => { await asking.close(); return true } })
    await asking.syncTo(registry)
    const refused = await registry.execute('s_go', {})
    assert.deepEqual([refused.code, refused.executed], ['CLOSED', false])
    let told: (() => void) | undefined
    const heard = new Promise<void>(resolve => { told = resolve })
    const changing = await odd(`on['tools/call'] = message => { state.tools = [tool('other')]; changed(); usual(message) }`, { onToolsChanged: async ({ client }) => { await client.close(); await client.close(); told?.() } })
    await changing.loadTools()
    await changing.callTool('go', {})
    await within(10_000, heard)
    assert.equal(changing.state, 'closed')
  })

  test('one tool in two registries outlives either', LIMIT, async () => {
    await using client = await odd('')
    const [tool] = await client.loadTools()
    const [one, other] = [new ToolRegistry(), new ToolRegistry()]
    one.register(tool!)
    other.register(tool!)
    await one.close()
    assert.equal((await other.execute('s_go', {})).status, 'success')
  })
})

describe('a process that behaves oddly', () => {
  test('its calls fail and nothing of it is left', { ...LIMIT, skip: process.platform === 'win32' }, async () => {
    const cases: Record<string, string> = {
      'closes its output': `import('node:fs').then(fs => { fs.closeSync(1); setInterval(() => {}, 1000) })`,
      'ends while a grandchild holds its output': `import('node:child_process').then(child => { child.spawn('sleep', ['20'], { stdio: ['ignore', 1, 2] }); setTimeout(() => process.exit(3), 50) })`,
      'ends while a grandchild outside its group holds its output': `import('node:child_process').then(child => { child.spawn('sleep', ['3'], { stdio: ['ignore', 1, 2], detached: true }); setTimeout(() => process.exit(3), 50) })`,
      'writes more than a message may be': `process.stdout.write('x'.repeat(11e6))`,
    }
    for (const [what, code] of Object.entries(cases)) {
      const client = await odd(`on['tools/call'] = () => { ${code} }`)
      const pid = client.pid!
      const response = await within(10_000, client.callTool('go', {}), what)
      assert.deepEqual([response.code, response.executed], ['CONNECTION_FAILED', true], what)
      await within(10_000, client.close(), what)
      assert.equal(lives(pid), false, what)
    }
    const stopped = await odd(`on['tools/call'] = () => { process.kill(process.pid, 'SIGSTOP') }`)
    assert.equal((await stopped.callTool('go', {}, { timeoutMs: 200 })).code, 'TIMEOUT')
    await within(15_000, stopped.close(), 'a stopped one')
  })

  test('workers that end while they connect leave no child, dead or alive', { ...LIMIT, skip: process.platform !== 'linux' }, async () => {
    const result = await runFixture('workers-connecting.mjs')
    endedWell(result)
    assert.equal(result.stdout.trim(), '0')
  })

  test('a flood of changes does not keep it from being closed', { ...LIMIT, skip: process.platform === 'win32' }, async () => {
    const client = await odd(`process.on('SIGTERM', () => {}); process.exit = () => {}
      on['tools/call'] = message => { usual(message); const flood = () => { for (let n = 0; n < 1000; n++) changed(); setImmediate(flood) }; flood() }`)
    await client.loadTools()
    const pid = client.pid!
    assert.equal((await client.callTool('go', {})).status, 'success')
    await sleep(200)
    await within(15_000, client.close(), 'closing')
    assert.equal(lives(pid), false)
  })
})
