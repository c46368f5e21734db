// The connectors that come along and are marked as verified, connected for real: their servers run here, with the versions that the
// specifications name. Those from npm are among the development dependencies; those from PyPI are in the environments that
// scripts/python-servers.mjs makes, out of which fixtures/uvx.sh starts them in the place of uvx. Nothing is downloaded.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type ConnectorConnectOptions, ConnectorRegistry, ToolRegistry, type ToolResponse, builtinConnectors } from 'toolbolt'
import { scratch } from './machine.ts'
import { pythonServers } from './real-servers.ts'
import { fixturePath } from './support.ts'

const LIMIT = { timeout: 180_000 }
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = scratch()
const environments = [pythonServers('mcp-2'), pythonServers('mcp-1')]
/** Why those from PyPI cannot run here. */
const missing = environments.find(({ reason }) => reason !== undefined)?.reason
const OURS = { npm_config_offline: 'true', npm_config_update_notifier: 'false', UVX_BINS: environments.map(({ bin }) => bin).join(':') }
copyFileSync(fixturePath('uvx.sh'), join(folder, 'uvx'))
process.env.PATH = [folder, process.env.PATH].join(delimiter)
const connectors = new ConnectorRegistry()
connectors.registerBuiltins()
after(() => connectors.close())

/** Connects one, makes calls through the gate, and closes it. */
async function use(name: string, options: ConnectorConnectOptions, calls: readonly [tool: string, args: object][]): Promise<ToolResponse[]> {
  const connection = await connectors.connect(name, { ...options, resilient: false, client: { cwd: ROOT, requiresConfirmation: false, connectTimeoutMs: 120_000, ...options.client, env: { ...OURS, ...options.client?.env } } })
  const registry = new ToolRegistry()
  registry.registerAll(connection.tools)
  const responses: ToolResponse[] = []
  for (const [tool, args] of calls) responses.push(await registry.execute(`${name}_${tool}`, args))
  assert.equal((await connection.health()).status, 'healthy')
  await connection.close()
  for (const [index, response] of responses.entries()) assert.equal(response.status, 'success', `${calls[index]?.[0]}: ${response.text}`)
  return responses
}

const CASES: Record<string, () => Promise<void>> = {
  async filesystem() {
    const shelf = join(folder, 'shelf')
    mkdirSync(shelf)
    writeFileSync(join(shelf, 'a.txt'), 'hello')
    const [read] = await use('filesystem', { args: [shelf] }, [['read_text_file', { path: join(shelf, 'a.txt') }]])
    assert.equal(read?.text, 'hello')
  },
  async memory() {
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote programs'] }]
    const [, graph] = await use('memory', { client: { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } } }, [['create_entities', { entities }], ['read_graph', {}]])
    assert.match(graph!.text, /wrote programs/)
  },
  async 'sequential-thinking'() {
    const [thought] = await use('sequential-thinking', {}, [['sequentialthinking', { thought: 'First', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }]])
    assert.match(thought!.text, /thoughtNumber/)
  },
  async everything() {
    const [echo] = await use('everything', {}, [['echo', { message: 'hello' }]])
    assert.match(echo!.text, /hello/)
  },
  async time() {
    const [now] = await use('time', {}, [['get_current_time', { timezone: 'Europe/Oslo' }]])
    assert.match(now!.text, /Europe\/Oslo/)
  },
  async git() {
    const repository = join(folder, 'repository')
    execFileSync('git', ['init', '-q', '-b', 'main', repository])
    const [status] = await use('git', { args: ['--repository', repository] }, [['git_status', { repo_path: repository }]])
    assert.match(status!.text, /main/)
  },
  async fetch() {
    const page = createServer((_request, response) => { response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body><article><p>A page of words</p></article></body></html>') })
    await new Promise<void>(resolve => { page.listen(0, '127.0.0.1', resolve) })
    try {
      const { port } = page.address() as { port: number }
      const [read] = await use('fetch', { args: ['--ignore-robots-txt', '--allow-private-ips'] }, [['fetch', { url: `http://127.0.0.1:${port}/` }]])
      assert.match(read!.text, /A page of words/)
    } finally {
      page.close()
    }
  },
  async sqlite() {
    const calls: [string, object][] = [['create_table', { query: 'CREATE TABLE t (n INTEGER)' }], ['write_query', { query: 'INSERT INTO t VALUES (42)' }], ['read_query', { query: 'SELECT n FROM t' }]]
    const [, , rows] = await use('sqlite', { args: ['--db-path', join(folder, 'data.db')] }, calls)
    assert.match(rows!.text, /42/)
  },
}

describe('connectors that come along', () => {
  const verified = builtinConnectors().filter(spec => spec.verified)
  test('each verified one has a test', () => { assert.deepEqual(Object.keys(CASES).sort(), verified.map(({ name }) => name).sort()) })
  for (const { name, mcpCommand } of verified) {
    const reason = mcpCommand![0] === 'uvx' ? missing : undefined
    test(name, { ...LIMIT, skip: !process.env.CI && reason }, async () => {
      assert.equal(reason, undefined, 'every server runs in CI')
      await CASES[name]!()
    })
  }
})
