// The MCP client with servers that people use, each over every transport that it offers and in every era that it speaks:
// their tools, calls that succeed and one that is refused, progress, aborting, and an end that leaves nothing.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { MCPClient, ToolRegistry } from 'toolbolt'
import { aliveInGroup, isAlive, scratch } from './machine.ts'
import { type RealServer, type Transport, realServers, startReal, transportsOf } from './real-servers.ts'
import { endedWell, runFixture, wellFormed, within } from './support.ts'

/** Generous: a server in Python takes seconds to start on a busy machine. */
const LIMIT = { timeout: 120_000 }
const OPTIONS = { namespace: 'real', requiresConfirmation: false, timeoutMs: 60_000 } as const

const folder = scratch()
const hello = join(folder, 'files', 'hello.txt')
const repository = join(folder, 'repository')

/** What mcp-server-fetch fetches. */
const website = createServer((request, response) => {
  if (request.url !== '/page') { response.writeHead(404).end('no such page'); return }
  response.setHeader('content-type', 'text/html').end('<html><body><p>a page of the test</p></body></html>')
}).listen(0, '127.0.0.1')
await new Promise(listening => { website.on('listening', listening) })
after(() => { website.close() })
const site = `http://127.0.0.1:${(website.address() as AddressInfo).port}`

type Args = Record<string, unknown>
interface Success { tool: string; args: Args; text: RegExp; structured?: unknown }
interface Expected {
  /** In the order of the server. */
  tools: string[]
  calls: Success[]
  /** Past the check against the schema: what the server itself refuses, and its words. */
  refused: { tool: string; args: Args; text: RegExp }
  /** A tool that tells of its progress, with the arguments for so many steps in so many seconds. */
  long?: { tool: string; args(steps: number, seconds: number): Args }
}

const ada = { name: 'Ada', entityType: 'person', observations: ['wrote notes'] }
const work = (steps: number, seconds: number) => ({ steps, seconds })

const EXPECTED: Record<string, Expected> = {
  everything: {
    tools: [
      'echo', 'get-annotated-message', 'get-env', 'get-resource-links', 'get-resource-reference', 'get-structured-content', 'get-sum', 'get-tiny-image',
      'gzip-file-as-resource', 'toggle-simulated-logging', 'toggle-subscriber-updates', 'trigger-long-running-operation', 'simulate-research-query',
    ],
    calls: [
      { tool: 'echo', args: { message: 'grüße 👋' }, text: /^Echo: grüße 👋$/ },
      { tool: 'get-structured-content', args: { location: 'New York' }, text: /Cloudy/, structured: { temperature: 33, conditions: 'Cloudy', humidity: 82 } },
    ],
    refused: { tool: 'get-resource-reference', args: { resourceId: -1 }, text: /Invalid resourceId: -1/ },
    long: { tool: 'trigger-long-running-operation', args: (steps, duration) => ({ steps, duration }) },
  },
  filesystem: {
    tools: [
      'read_file', 'read_text_file', 'read_media_file', 'read_multiple_files', 'write_file', 'edit_file', 'create_directory', 'list_directory',
      'list_directory_with_sizes', 'directory_tree', 'move_file', 'search_files', 'get_file_info', 'list_allowed_directories',
    ],
    calls: [
      { tool: 'read_text_file', args: { path: hello }, text: /^hello from a file$/, structured: { content: 'hello from a file' } },
      { tool: 'list_directory', args: { path: join(folder, 'files') }, text: /^\[FILE\] hello\.txt$/, structured: { content: '[FILE] hello.txt' } },
    ],
    refused: { tool: 'read_text_file', args: { path: '/etc/passwd' }, text: /Access denied/ },
  },
  memory: {
    tools: ['create_entities', 'create_relations', 'add_observations', 'delete_entities', 'delete_observations', 'delete_relations', 'read_graph', 'search_nodes', 'open_nodes'],
    calls: [
      { tool: 'create_entities', args: { entities: [ada] }, text: /"Ada"/, structured: { entities: [ada] } },
      { tool: 'open_nodes', args: { names: ['Ada'] }, text: /wrote notes/, structured: { entities: [ada], relations: [] } },
    ],
    refused: { tool: 'add_observations', args: { observations: [{ entityName: 'Nobody', contents: ['x'] }] }, text: /Nobody not found/ },
  },
  'sequential-thinking': {
    tools: ['sequentialthinking'],
    calls: [{
      tool: 'sequentialthinking', args: { thought: 'first', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }, text: /"thoughtHistoryLength": \d/,
      structured: { thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true, branches: [], thoughtHistoryLength: /^[12]$/ },
    }],
    refused: { tool: 'sequentialthinking', args: { thought: 'x', nextThoughtNeeded: 'perhaps', thoughtNumber: 1, totalThoughts: 2 }, text: /perhaps/ },
  },
  time: {
    tools: ['get_current_time', 'convert_time'],
    calls: [
      { tool: 'get_current_time', args: { timezone: 'UTC' }, text: /\+00:00/, structured: { timezone: 'UTC', datetime: /^\d{4}-.*\+00:00$/, day_of_week: /day$/, is_dst: false } },
      {
        tool: 'convert_time', args: { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }, text: /T21:00:00\+09:00/,
        structured: {
          source: { timezone: 'UTC', datetime: /T12:00:00\+00:00$/, day_of_week: /day$/, is_dst: false },
          target: { timezone: 'Asia/Tokyo', datetime: /T21:00:00\+09:00$/, day_of_week: /day$/, is_dst: false },
          time_difference: '+9.0h',
        },
      },
    ],
    refused: { tool: 'get_current_time', args: { timezone: 'Nowhere/None' }, text: /Nowhere\/None/ },
  },
  git: {
    tools: [
      'git_status', 'git_diff_unstaged', 'git_diff_staged', 'git_diff', 'git_commit', 'git_add', 'git_reset', 'git_log', 'git_create_branch', 'git_checkout', 'git_show', 'git_branch',
    ],
    calls: [
      { tool: 'git_status', args: { repo_path: repository }, text: /On branch main\nnothing to commit/ },
      { tool: 'git_log', args: { repo_path: repository, max_count: 1, start_timestamp: null }, text: /Author: Tester\n[\s\S]*the first commit/ },
    ],
    refused: { tool: 'git_status', args: { repo_path: '/' }, text: /outside the allowed repository/ },
  },
  fetch: {
    tools: ['fetch'],
    // Raw, since the server otherwise installs packages of npm to simplify the page.
    calls: [{ tool: 'fetch', args: { url: `${site}/page`, raw: true }, text: /<p>a page of the test<\/p>/ }],
    refused: { tool: 'fetch', args: { url: `${site}/none` }, text: /status code 404/ },
  },
  sqlite: {
    tools: ['read_query', 'write_query', 'create_table', 'list_tables', 'describe_table', 'append_insight'],
    calls: [
      { tool: 'create_table', args: { query: 'CREATE TABLE numbers (value INTEGER, name TEXT)' }, text: /created/ },
      { tool: 'write_query', args: { query: 'INSERT INTO numbers VALUES (1, \'one\')' }, text: /'affected_rows': 1/ },
      { tool: 'read_query', args: { query: 'SELECT * FROM numbers' }, text: /^\[\{'value': 1, 'name': 'one'\}\]$/ },
      // It says what went wrong in a result that counts as a success.
      { tool: 'read_query', args: { query: 'DELETE FROM numbers' }, text: /^Error: Only SELECT/ },
    ],
    refused: { tool: 'read_query', args: {}, text: /'query' is a required property/ },
  },
  fastmcp: {
    tools: ['add', 'count_nodes', 'work', 'refuse'],
    calls: [
      { tool: 'add', args: { a: 2, b: 3 }, text: /^5$/, structured: { result: 5 } },
      { tool: 'count_nodes', args: { tree: { name: 'a', children: [{ name: 'b' }, { name: 'c', children: [{ name: 'd' }] }] }, extra: ['anything'] }, text: /4/, structured: { nodes: 4 } },
    ],
    refused: { tool: 'refuse', args: { why: 'because' }, text: /refused: because/ },
    long: { tool: 'work', args: work },
  },
  'fastmcp-npm': {
    tools: ['measure', 'work', 'refuse'],
    calls: [{ tool: 'measure', args: { shape: { kind: 'square', side: 3 }, unit: null }, text: /^area 9$/, structured: { kind: 'square', area: 9 } }],
    refused: { tool: 'refuse', args: {}, text: /refused/ },
    long: { tool: 'work', args: work },
  },
}

/** Equal, where a pattern stands for whatever it matches as text. */
function matches(found: any, expected: any, path = 'structuredContent'): void {
  if (expected instanceof RegExp) { assert.match(String(found), expected, path); return }
  if (typeof expected !== 'object' || expected === null) { assert.equal(found, expected, path); return }
  assert.deepEqual(Object.keys(found), Object.keys(expected), path)
  for (const key of Object.keys(expected)) matches(found[key], expected[key], `${path}.${key}`)
}

/** Each call runs; what a server wrote comes as text and, where it has a form, as data. */
async function callsSucceed(registry: ToolRegistry, calls: readonly Success[]): Promise<void> {
  for (const { tool, args, text, structured } of calls) {
    const response = await registry.execute(`real_${tool}`, args)
    wellFormed(response)
    assert.deepEqual([response.status, response.executed], ['success', true], `${tool}: ${response.text}`)
    assert.match(response.text, text)
    const data = response.data as { content: unknown[]; structuredContent?: unknown }
    assert.ok(data.content.length > 0)
    if (structured === undefined) assert.equal(data.structuredContent, undefined, tool)
    else matches(data.structuredContent, structured)
  }
}

async function isRefused(client: MCPClient, { tool, args, text }: Expected['refused']): Promise<void> {
  for (const [name, words] of [[tool, text], ['no_such_tool', /./]] as const) {
    const response = await client.callTool(name, args)
    // The one server that has no word for an error here writes it as a result.
    if (name === 'no_such_tool' && response.status === 'success') { assert.match(response.text, /^Error: /); continue }
    assert.deepEqual([response.status, response.executed], ['error', true], response.text)
    assert.match(response.text, words)
    assert.equal(client.state, 'ready')
  }
}

/** All of the progress comes, in order and before the result; a call that is aborted ends at once. */
async function tellsAndStops(registry: ToolRegistry, { tool, args }: NonNullable<Expected['long']>): Promise<void> {
  const seen: number[] = []
  const done = await registry.execute(`real_${tool}`, args(4, 0.4), { onProgress: ({ progress, total }) => { assert.equal(total, 4); seen.push(progress) } })
  assert.equal(done.status, 'success', done.text)
  assert.deepEqual(seen, [1, 2, 3, 4])

  const controller = new AbortController()
  const aborted = registry.execute(`real_${tool}`, args(200, 40), { signal: controller.signal, onProgress: () => { controller.abort() } })
  const { code, executed } = await within(20_000, aborted, 'an aborted call')
  assert.deepEqual([code, executed], ['CANCELLED', true])
}

/** Closes the client: what it started is gone, and what it did not start is still there. */
async function endsCleanly(client: MCPClient, pid: number | undefined): Promise<void> {
  const group = client.pid
  assert.deepEqual([group === undefined, pid === undefined], [pid !== undefined, group !== undefined])
  if (group !== undefined) assert.ok(aliveInGroup(group).includes(group))
  await client.close()
  assert.equal(client.state, 'closed')
  if (group !== undefined) assert.deepEqual(aliveInGroup(group), [])
  if (pid !== undefined) assert.ok(isAlive(pid), 'closing a client ends no server behind an address')
}

async function serves(server: RealServer, transport: Transport, protocol: 'auto' | 'legacy'): Promise<void> {
  const { tools, calls, refused, long } = EXPECTED[server.name]!
  const { options, pid, stop } = await startReal(server, transport)
  try {
    await using client = await MCPClient.connect({ ...OPTIONS, ...options, protocol })
    assert.equal(client.protocolVersion, protocol === 'auto' && server.dual.includes(transport) ? '2026-07-28' : '2025-11-25')
    const registry = new ToolRegistry()
    const names = await client.syncTo(registry)
    assert.deepEqual(names, tools.map(tool => `real_${tool}`))
    assert.deepEqual(client.skippedTools, [])
    await callsSucceed(registry, calls)
    await isRefused(client, refused)
    if (long !== undefined) await tellsAndStops(registry, long)
    await callsSucceed(registry, calls.slice(-1))
    assert.deepEqual([client.state, client.lastError], ['ready', undefined])
    const { skippedLines, unexpectedReplies, notes } = client.diagnostics
    assert.deepEqual([skippedLines, notes], [0, []])
    // One that starts slowly is asked in both eras at once, and refuses the older one when nobody waits for that any more.
    assert.ok(unexpectedReplies <= (client.protocolVersion === '2026-07-28' && transport === 'stdio' ? 1 : 0), `${unexpectedReplies} unexpected replies`)
    await endsCleanly(client, pid)
  } finally {
    await stop()
  }
  if (pid !== undefined) assert.equal(isAlive(pid), false)
}

const SERVERS = realServers(folder)
const missing = SERVERS.filter(server => server.missing !== undefined)

for (const server of SERVERS) {
  describe(server.name, { concurrency: 1 }, () => {
    if (server.missing !== undefined) {
      // Where somebody waits for the result of all tests, a server that is not there is a failure.
      test(`NOT RUN: ${server.missing}`, { skip: process.env.CI ? false : server.missing }, () => { assert.fail(server.missing) })
      return
    }
    for (const transport of transportsOf(server)) {
      for (const protocol of server.dual.includes(transport) ? ['auto', 'legacy'] as const : ['auto'] as const) {
        test(`over ${transport}${protocol === 'legacy' ? ', in the older era' : ''}`, LIMIT, () => serves(server, transport, protocol))
      }
    }
  })
}

test(`all at once from one file, with nothing on standard error${missing.length > 0 ? `, without ${missing.map(({ name }) => name).join(', ')}` : ''}`, LIMIT, async () => {
  const here = SERVERS.filter(server => server.missing === undefined)
  const path = join(folder, 'servers.json')
  writeFileSync(path, JSON.stringify({ mcpServers: Object.fromEntries(here.map(({ name, stdio }) => [name, stdio])) }))
  const result = await runFixture('real-servers.mjs', [path])
  endedWell(result)
  assert.equal(result.stderr, '')
  assert.deepEqual(JSON.parse(result.stdout), Object.fromEntries(here.map(({ name }) => [name, EXPECTED[name]!.tools.length])))
})
