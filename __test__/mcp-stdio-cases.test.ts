// Cases of the area mcp-stdio in field-cases.json, by id, from the side of JavaScript; crates/core/tests/mcp_stdio/ has the others too.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MCPClient, type MCPClientOptions } from 'toolbolt'
import { fixturePath, sleep, within } from './support.ts'

const LIMIT = { timeout: 120_000 }
/** Far beyond what "at once" may take here. */
const AT_ONCE_MS = 15_000
const ODD = fixturePath('odd-server.mjs')
const OPTIONS = { namespace: 'ns', requiresConfirmation: false, respawn: false } as const
const odd = (code: string, more: Partial<MCPClientOptions> = {}) => MCPClient.connect({ ...OPTIONS, command: process.execPath, args: [ODD, code], ...more } as MCPClientOptions)

/** A zombie waits to be collected and does nothing. */
function alive(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] !== 'Z'
}

async function gone(pid: number): Promise<boolean> {
  for (let round = 0; alive(pid) && round < 100; round++) await sleep(50)
  return !alive(pid)
}

test('STD-02 a server that fills its standard error before and while it answers', LIMIT, async () => {
  // Node.js writes to a pipe there only when it is drained.
  await using client = await odd(`
    process.stderr.write('e'.repeat(262144))
    on['tools/call'] = message => { process.stderr.write('f'.repeat(1023) + '\\n'); usual(message) }`)
  for (let call = 0; call < 300; call++) assert.equal((await within(AT_ONCE_MS, client.callTool('go', {}))).text, 'ok')
  const { stderr } = client.diagnostics
  assert.ok(stderr.trimEnd().endsWith('fff') && stderr.length <= 64 * 1024, `${stderr.length} characters`)
})

test('STD-03 a line without an end', LIMIT, async () => {
  await using client = await odd(`on['tools/call'] = ({ params }) => {
    const more = () => { while (process.stdout.write('x'.repeat(65536))); process.stdout.once('drain', more) }
    if (params.name === 'endless') more()
  }`)
  const before = process.memoryUsage().rss
  const started = performance.now()
  const calls = [...Array.from({ length: 5 }, () => client.callTool('waits', {})), client.callTool('endless', {})]
  const responses = await within(AT_ONCE_MS, Promise.all(calls))
  for (const response of responses) assert.deepEqual([response.status, response.code, response.executed], ['error', 'CONNECTION_FAILED', true])
  assert.match(responses[0]!.text, /too large/)
  assert.ok(performance.now() - started < AT_ONCE_MS)
  assert.ok(process.memoryUsage().rss - before < 150e6)
  assert.equal(client.state, 'degraded')
  assert.ok(await gone(client.pid ?? 0))
})

test('STD-04 a frame that is nearly too large, and another in the same write', LIMIT, async () => {
  await using client = await odd(`let held; on['tools/call'] = ({ id, params }) => {
    if (params.name === 'large') { held = id; return }
    const line = (id, words) => JSON.stringify({ jsonrpc: '2.0', id, result: text(words) })
    raw(line(held, 'x'.repeat(9.9 * 1024 * 1024)) + '\\n' + line(id, 'small'))
  }`)
  const large = client.callTool('large', {})
  await sleep(100)
  const small = client.callTool('small', {})
  const responses = await within(60_000, Promise.all([large, small]))
  assert.deepEqual(responses.map(response => [response.status, response.text.length]), [['success', Math.trunc(9.9 * 1024 * 1024)], ['success', 5]])
  assert.equal((await client.callTool('large', {}, { timeoutMs: 50 })).code, 'TIMEOUT', 'the connection lives on')
  assert.equal(client.state, 'ready')
})

for (const [title, leaderDies] of [['a wrapper and the server below it', false], ['the server below a wrapper that died', true]] as const) {
  test(`STD-06 closing takes ${title}`, LIMIT, async () => {
    const client = await MCPClient.connect({
      // The second command keeps the shell from becoming the server; the server does not end with its input.
      ...OPTIONS, command: 'sh', args: ['-c', '"$0" "$@"; true', process.execPath, ODD, "on['tools/call'] = ({ id }) => send({ id, result: text(String(process.pid)) }); process.exit = () => {}; setInterval(() => {}, 1000)"],
    })
    const below = Number((await client.callTool('go', {})).text)
    const leader = client.pid!
    assert.ok(below > 0 && below !== leader && alive(below) && alive(leader))
    if (leaderDies) process.kill(leader, 'SIGKILL')
    await within(30_000, client.close())
    assert.ok(await gone(below))
    assert.ok(await gone(leader))
  })
}

test('STD-07 lines that are none, and characters that only look like ends of lines', LIMIT, async () => {
  await using client = await odd(`on['tools/call'] = ({ id, params }) => {
    const line = words => JSON.stringify({ jsonrpc: '2.0', id, result: text(words) })
    const bytes = hex => { process.stdout.write(Buffer.from(hex, 'hex')) }
    if (params.name === 'bytes') { bytes('fffe0a'); raw(line('a')) }
    if (params.name === 'bom') { bytes('efbbbf'); raw(line('b')) }
    if (params.name === 'crlf') raw('\\r\\n' + line('c') + '\\r')
    if (params.name === 'separators') raw(line('d\\u2028\\u2029\\u0085e'))
    if (params.name === 'nul') raw('\\0\\n' + line('f'))
    if (params.name === 'pieces') { const whole = Buffer.from(line('\\u2713') + '\\n'); const middle = whole.indexOf(0xe2) + 1; process.stdout.write(whole.subarray(0, middle)); setTimeout(() => process.stdout.write(whole.subarray(middle)), 50) }
  }`)
  for (const [name, answer] of [['bytes', 'a'], ['bom', 'b'], ['crlf', 'c'], ['separators', 'd\n\ne'], ['nul', 'f'], ['pieces', '✓']] as const) {
    const response = await within(AT_ONCE_MS, client.callTool(name, {}, { timeoutMs: 10_000 }), name)
    assert.deepEqual([response.status, response.text], ['success', answer], name)
  }
  assert.equal(client.state, 'ready')
  assert.ok(client.diagnostics.skippedLines >= 2)
  assert.ok(client.diagnostics.recentLines.every(line => !/\p{Cc}/u.test(line)))
})

test('STD-08 the environment is the base list and what was given, whether or not something was given', LIMIT, async () => {
  const secrets = { ANTHROPIC_API_KEY: 'planted-secret', BASH_FUNC_x: '() { :; }', LD_PRELOAD_NOT: 'planted-secret' }
  Object.assign(process.env, secrets)
  try {
    for (const env of [undefined, {}, { X: '1' }, { ANTHROPIC_API_KEY: 'given' }] as (Record<string, string> | undefined)[]) {
      await using client = await odd("on['tools/call'] = ({ id }) => send({ id, result: text(JSON.stringify(process.env)) })", { env } as Partial<MCPClientOptions>)
      const seen = JSON.parse((await client.callTool('go', {})).text) as Record<string, string>
      const base = ['PATH', 'HOME', 'LANG', 'LOGNAME', 'SHELL', 'TERM', 'USER', 'TMPDIR', ...(process.platform === 'darwin' ? ['__CF_USER_TEXT_ENCODING'] : [])]
      assert.deepEqual(Object.keys(seen).filter(name => !base.includes(name)), Object.keys(env ?? {}))
      for (const [name, value] of Object.entries(env ?? {})) assert.equal(seen[name], value)
      assert.equal(seen.PATH, process.env.PATH)
      assert.ok(!JSON.stringify(seen).includes('planted-secret'))
    }
  } finally {
    for (const name of Object.keys(secrets)) delete process.env[name]
  }
})
