// `registry.connectMcpServers`: the file of `mcpServers` that editors and assistants share.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { type MCPClient, ToolRegistry } from 'toolbolt'
import { DUAL, startDual } from './fixtures/http-servers.ts'
import { ScriptedServer } from './fixtures/scripted-http.ts'
import { fixturePath, ours, within } from './support.ts'

/** How these files name a variable. */
const use = (variable: string) => `$\{${variable}}`
const LIMIT = { timeout: 120_000 }
const DIRECT = { confirm: () => true } as const
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolbolt-config-')))
after(() => { rmSync(folder, { recursive: true }) })

/** Tells its words, its folder and one variable. */
const TELLS = fixturePath('telling-server.mjs')
const tells = (...words: string[]) => ({ command: process.execPath, args: [TELLS, ...words] })

const open: ToolRegistry[] = []
afterEach(async () => { await Promise.all(open.splice(0).map(registry => registry.close())) })

type Source = string | { mcpServers: Record<string, unknown> }

function fresh(): ToolRegistry {
  const registry = new ToolRegistry(DIRECT)
  open.push(registry)
  return registry
}

async function connected(source: Source, options: object = {}) {
  const registry = fresh()
  const clients = await within(60_000, registry.connectMcpServers(source, options), 'connecting')
  return { registry, clients, namespaces: clients.map(client => client.namespace).sort() }
}

const told = async (registry: ToolRegistry, namespace: string, name = '') => JSON.parse((await registry.execute(`${namespace}_tell`, { name })).text) as { words: string[]; cwd: string; value: string | null }

/** What went wrong, however it is told: by a rejection, or with the clients. */
async function refusal(source: Source, options: object = {}): Promise<any> {
  const registry = fresh()
  return within(60_000, registry.connectMcpServers(source, options), 'connecting').then(() => assert.fail('it connected'), error => error)
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function withEnvironment(variables: Record<string, string | undefined>, work: () => Promise<void>): Promise<void> {
  const before = Object.fromEntries(Object.keys(variables).map(name => [name, process.env[name]]))
  const set = (values: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  set(variables)
  try { await work() } finally { set(before) }
}

describe('servers', () => {
  test('an object: each server gets its namespace, its tools are registered', LIMIT, async () => {
    const { registry, clients, namespaces } = await connected({ mcpServers: { one: tells('a', 'b c'), two: { command: process.execPath, args: [DUAL, 'stdio'] } } })
    assert.deepEqual(namespaces, ['one', 'two'])
    assert.ok(clients.every(client => client.state === 'ready'))
    assert.deepEqual((await told(registry, 'one')).words, ['a', 'b c'])
    assert.equal((await registry.execute('two_echo', { message: 'hi' })).text, 'hi')
    assert.equal(registry.get('one_tell')?.origin, 'mcp:one')
  })
  test('remote tools ask by default; options say otherwise for all', LIMIT, async () => {
    const servers = { mcpServers: { one: tells() } }
    const registry = new ToolRegistry()
    open.push(registry)
    await registry.connectMcpServers(servers)
    assert.equal((await registry.execute('one_tell', { name: '' })).code, 'CONFIRMATION_REQUIRED')
    const second = new ToolRegistry()
    open.push(second)
    await second.connectMcpServers(servers, { requiresConfirmation: false })
    assert.equal((await second.execute('one_tell', { name: '' })).status, 'success')
  })
  test('over HTTP: url, headers, and the type that others write', LIMIT, async () => {
    const dual = await startDual()
    try {
      await using server = await ScriptedServer.start()
      const { registry, namespaces } = await connected({ mcpServers: {
        plain: { url: server.url, headers: { 'X-Api-Key': 'planted-key' } }, typed: { type: 'http', url: dual.url }, streamable: { type: 'streamable-http', url: dual.url }, transport: { type: 'sse', url: server.url, disabled: true },
      } })
      assert.deepEqual(namespaces, ['plain', 'streamable', 'typed'])
      assert.equal((await registry.execute('plain_echo', { message: 'x' })).text, 'x')
      assert.equal((await registry.execute('typed_echo', { message: 'y' })).text, 'y')
      assert.ok(server.of('tools/call').every(({ headers }) => headers['x-api-key'] === 'planted-key'))
    } finally { await dual.stop() }
  })
  test('disabled ones are left alone; type stdio is what a command means', LIMIT, async () => {
    const { namespaces } = await connected({ mcpServers: { off: { ...tells(), disabled: true }, broken: { command: 'no-such-program-anywhere', disabled: true }, on: { type: 'stdio', ...tells(), disabled: false } } })
    assert.deepEqual(namespaces, ['on'])
  })
  test('none at all', LIMIT, async () => {
    assert.deepEqual((await connected({ mcpServers: {} })).clients, [])
  })
  test('they connect at the same time', LIMIT, async () => {
    const slow = { command: process.execPath, args: [TELLS], env: { TELL_DELAY_MS: '1500' } }
    const started = performance.now()
    const { clients } = await connected({ mcpServers: { a: slow, b: slow, c: slow, d: slow } })
    assert.equal(clients.length, 4)
    assert.ok(performance.now() - started < 5_500, `${Math.round(performance.now() - started)} ms`)
  })
  test('closing the registry closes them', LIMIT, async () => {
    const { registry, clients } = await connected({ mcpServers: { one: tells(), two: tells() } })
    await registry.close()
    assert.deepEqual(clients.map(client => client.state), ['closed', 'closed'])
  })
})

describe('the file', () => {
  test('JSON as editors write it: comments, trailing commas, a byte order mark', LIMIT, async () => {
    const text = `\ufeff// servers\n{\n  /* of "this" project */\n  "mcpServers": {\n    "one": ${JSON.stringify({ ...tells('http://not-a-comment', '/* nor this */', ', ]') })}, // the first\n  },\n}\n`
    const { registry } = await connected(file('comments.json', text))
    assert.deepEqual((await told(registry, 'one')).words, ['http://not-a-comment', '/* nor this */', ', ]'])
  })
  test('a relative folder is relative to the file; without one it is this process\'s', LIMIT, async () => {
    mkdirSync(join(folder, 'inner'), { recursive: true })
    const path = file('folders.json', JSON.stringify({ mcpServers: { rel: { ...tells(), cwd: 'inner' }, dot: { ...tells(), cwd: '.' }, abs: { ...tells(), cwd: folder }, none: tells() } }))
    const { registry } = await connected(path)
    const cwd = async (name: string) => (await told(registry, name)).cwd
    assert.deepEqual([await cwd('rel'), await cwd('dot'), await cwd('abs'), await cwd('none')], [join(folder, 'inner'), folder, folder, process.cwd()])
  })
  test('keys that nobody here knows are no fault', LIMIT, async () => {
    const { namespaces } = await connected(file('others.json', JSON.stringify({ $schema: 'https://example.org/x.json', inputs: [], mcpServers: { one: { ...tells(), alwaysAllow: ['tell'], autoApprove: ['tell'], icon: 'x', timeout: 60 } } })))
    assert.deepEqual(namespaces, ['one'])
  })
  test('autoApprove and its like approve nothing', LIMIT, async () => {
    const registry = new ToolRegistry()
    open.push(registry)
    await registry.connectMcpServers({ mcpServers: { one: { ...tells(), alwaysAllow: ['tell'], autoApprove: ['tell'], requiresConfirmation: false, trust: true } } })
    assert.equal((await registry.execute('one_tell', { name: '' })).code, 'CONFIRMATION_REQUIRED')
  })
  test('what is wrong with a file is said, and nothing is started', LIMIT, async () => {
    const wrong: Record<string, string> = {
      'empty.json': '', 'half.json': '{"mcpServers":{', 'list.json': '[]', 'null.json': 'null', 'none.json': '{}', 'text.json': '{"mcpServers":"x"}', 'entries.json': '{"mcpServers":[]}', 'twice.json': `{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`,
    }
    for (const [name, text] of Object.entries(wrong)) {
      const error = await refusal(file(name, text))
      assert.ok(ours(error) && error.code === 'INVALID_OPTIONS', name)
    }
    assert.ok(ours(await refusal(join(folder, 'no-such-file.json'))))
    assert.ok(ours(await refusal(folder)))
    for (const source of [5, null, undefined, {}, { mcpServers: null }, { mcpServers: { a: 5 } }, { mcpServers: { a: null } }]) {
      const error = await refusal(source as never)
      assert.ok(ours(error), inspect(source))
    }
  })
})

describe('variables', () => {
  test('are taken from this process, wherever text stands', LIMIT, async () => {
    await withEnvironment({ SUITE_ONE: 'first', SUITE_EMPTY: '', SUITE_NONE: undefined, SUITE_PATH: TELLS, SUITE_NODE: process.execPath }, async () => {
      const { registry } = await connected({ mcpServers: { one: {
        command: use('SUITE_NODE'), args: [use('env:SUITE_PATH'), use('SUITE_ONE'), use('env:SUITE_ONE'), use('SUITE_NONE:-other'), use('SUITE_ONE:-other'), `x${use('SUITE_ONE')}y${use('SUITE_ONE')}z`, '$SUITE_ONE', use('SUITE_NONE:-'), use('SUITE_EMPTY')],
        env: { TOLD: `<${use('SUITE_ONE')}>` },
      } } })
      const { words, value } = await told(registry, 'one', 'TOLD')
      assert.deepEqual(words.slice(0, 6), ['first', 'first', 'other', 'first', 'xfirstyfirstz', '$SUITE_ONE'])
      assert.deepEqual(words.slice(6), ['', ''])
      assert.equal(value, '<first>')
    })
  })
  test('what they hold is text, not syntax', LIMIT, async () => {
    await withEnvironment({ SUITE_TRICK: `${use('SUITE_SECRET')}"],"command":"x`, SUITE_SECRET: 'planted-secret' }, async () => {
      const { registry } = await connected(file('trick.json', JSON.stringify({ mcpServers: { one: tells(use('SUITE_TRICK')) } })))
      assert.deepEqual((await told(registry, 'one')).words, [`${use('SUITE_SECRET')}"],"command":"x`])
    })
  })
  test('a missing one is named, and no value is shown', LIMIT, async () => {
    await withEnvironment({ SUITE_NONE: undefined, SUITE_SECRET: 'planted-secret' }, async () => {
      const error = await refusal({ mcpServers: { one: { ...tells(), env: { A: use('SUITE_SECRET'), B: use('SUITE_NONE') } } } })
      assert.match(inspect(error, { depth: 6 }), /SUITE_NONE/)
      assert.doesNotMatch(inspect(error, { depth: 6 }), /planted-secret/)
    })
  })
  test('the rest of the environment stays here', LIMIT, async () => {
    await withEnvironment({ SUITE_SECRET: 'planted-secret' }, async () => {
      const { registry } = await connected({ mcpServers: { one: tells() } })
      assert.equal((await told(registry, 'one', 'SUITE_SECRET')).value, null)
    })
  })
})

describe('names', () => {
  test('are made legal', LIMIT, async () => {
    const { registry, namespaces } = await connected({ mcpServers: { 'My Server!': tells(), 'ünïcode': tells(), ok: tells() } })
    for (const namespace of namespaces) {
      assert.match(namespace, /^[A-Za-z0-9_-]{1,64}$/)
      assert.ok(registry.get(`${namespace}_tell`), namespace)
    }
    assert.equal(new Set(namespaces).size, 3)
  })
  test('two that become the same are refused: one could pass for the other', LIMIT, async () => {
    const error = await refusal({ mcpServers: { 'a b': tells(), 'a!b': tells() } })
    assert.ok(ours(error))
    assert.match(error.message, /a b|a!b|a_b/)
  })
  test('__proto__ is a name like any other', LIMIT, async () => {
    const { namespaces } = await connected(file('proto.json', `{"mcpServers":{"__proto__":${JSON.stringify(tells())}}}`))
    assert.deepEqual(namespaces, ['__proto__'])
    assert.equal(({} as any).command, undefined)
  })
})

describe('a server that fails', () => {
  const broken = { command: 'no-such-program-anywhere', args: ['x'], env: { KEY: 'planted-secret' } }
  test('does not stop the others, and is named with its reason', LIMIT, async () => {
    const registry = fresh()
    let clients: readonly MCPClient[] = []
    let problem: unknown
    try { clients = await within(60_000, registry.connectMcpServers({ mcpServers: { good: tells(), broken } }), 'connecting') } catch (error) { problem = error }
    assert.deepEqual((await told(registry, 'good')).words, [])
    const shown = inspect(problem ?? clients, { depth: 8 })
    if (problem !== undefined) {
      assert.match(shown, /broken/)
      assert.match(shown, /no-such-program-anywhere/)
    }
    assert.doesNotMatch(shown, /planted-secret/)
  })
  test('alone: somebody hears of it', LIMIT, async () => {
    const error = await refusal({ mcpServers: { broken } })
    assert.match(inspect(error, { depth: 8 }), /broken/)
    assert.doesNotMatch(inspect(error, { depth: 8 }), /planted-secret/)
  })
  test('the sentence says which server, which key, what to do, and how many', LIMIT, async () => {
    const message = async (servers: Record<string, object>): Promise<string> => (await refusal({ mcpServers: servers }) as Error).message
    const both = { command: 'x', url: 'http://127.0.0.1:1/' }
    const one = await message({ twofold: both })
    for (const part of ["'twofold'", "'command'", "'url'", 'remove']) assert.ok(one.includes(part), one)
    assert.doesNotMatch(one, /\d of \d|others/)
    assert.ok((await message({ bare: {} })).includes("'bare'"))
    for (const part of ["'homely'", "'cwd'", '~/x']) assert.ok((await message({ homely: { ...tells(), cwd: '~/x' } })).includes(part))
    assert.match(await message({ a: both, b: {} }), /^None of the 2 /)
    assert.match(await message({ a: both, b: tells() }), /^1 of 2 .*the other is/)
    assert.match(await message({ a: both, b: tells(), c: tells() }), /^1 of 3 .*the others are/)
  })
  test('neither command nor url, or both', LIMIT, async () => {
    for (const entry of [{}, { args: ['x'] }, { command: 'x', url: 'http://127.0.0.1:1/' }, { command: 5 }, { url: 5 }, { ...tells(), args: 'x' }, { ...tells(), env: { A: 1 } }, { type: 'carrier-pigeon', url: 'http://127.0.0.1:1/' }]) {
      assert.match(inspect(await refusal({ mcpServers: { wrong: entry } }), { depth: 8 }), /wrong/, inspect(entry))
    }
  })
})
