// How well the search finds tools of real servers: for each query of tool-search-queries.ts, whether a tool that would do is among the first.
// `node scripts/search-servers.mjs` installs the servers.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MCPClient, ToolRegistry } from 'toolbolt'
import { scratch } from './machine.ts'
import { QUERIES } from './tool-search-queries.ts'
import { anthropicProblem, geminiToolProblem, openaiResponsesProblem } from './provider-rules.ts'

const { searchServers }: { searchServers(): string | undefined } = await import(new URL('../scripts/search-servers.mjs', import.meta.url).href)
const bin = searchServers()
const own = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
const folder = scratch()

const SERVERS: Record<string, { program: string; args?: string[]; env?: Record<string, string> }> = {
  gitlab: { program: join(bin ?? '', 'mcp-gitlab'), env: { GITLAB_PERSONAL_ACCESS_TOKEN: 'x', GITLAB_API_URL: 'http://127.0.0.1:9/api/v4', USE_PIPELINE: 'true', USE_MILESTONE: 'true', USE_GITLAB_WIKI: 'true', GITLAB_TOOLSETS: 'all' } },
  kubernetes: { program: join(bin ?? '', 'mcp-server-kubernetes') },
  git: { program: join(bin ?? '', 'git-mcp-server'), env: { MCP_TRANSPORT_TYPE: 'stdio' } },
  calc: { program: join(bin ?? '', 'calc-mcp') },
  notion: { program: join(bin ?? '', 'notion-mcp-server'), env: { NOTION_TOKEN: 'ntn_x' } },
  playwright: { program: join(bin ?? '', 'playwright-mcp'), args: ['--caps', 'vision,pdf,devtools,storage,network,testing'] },
  filesystem: { program: join(own, 'mcp-server-filesystem'), args: [folder] },
  memory: { program: join(own, 'mcp-server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
}

test('the search among tools of real servers', { skip: bin === undefined && 'they are not installed (node scripts/search-servers.mjs)', timeout: 300_000 }, async t => {
  const registry = new ToolRegistry()
  const named = new Map<string, string>()
  for (const [namespace, { program, args = [], env = {} }] of Object.entries(SERVERS)) {
    const client = await MCPClient.connect({ command: program, args, env, namespace, maxTools: 500, timeoutMs: 60_000, connectTimeoutMs: 60_000 })
    const tools = await client.loadTools()
    registry.registerAll(tools)
    for (const { name, remoteName } of tools) named.set(`${namespace} ${remoteName}`, name)
    await client.close()
  }
  const queries = Object.entries(QUERIES).flatMap(([namespace, list]) => list.map(([query, ...tools]) => ({
    query,
    wanted: tools.map(tool => named.get(`${namespace} ${tool}`) ?? named.get(`git ${tool}`)),
  })))
  for (const { query, wanted } of queries) assert.ok(wanted.every(name => name !== undefined), `a tool for '${query}' does not exist`)
  assert.ok(queries.length >= 200 && registry.listTools().length >= 300, `${queries.length} queries, ${registry.listTools().length} tools`)
  const places = queries.map(({ query, wanted }) => {
    const place = registry.search(query, { topK: 10 }).findIndex(({ name }) => wanted.includes(name))
    if (process.env.SHOW_MISSES !== undefined && (place < 0 || place >= 5)) console.log(`${place} ${query}: wanted ${wanted.join(', ')}; found ${registry.search(query, { topK: 3 }).map(({ name }) => name).join(', ')}`)
    return place
  })
  const within = (limit: number) => places.filter(place => place >= 0 && place < limit).length / places.length
  const reciprocal = places.reduce((sum, place) => sum + (place < 0 ? 0 : 1 / (place + 1)), 0) / places.length
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  t.diagnostic(`${queries.length} queries, ${registry.listTools().length} tools: first ${percent(within(1))}, first 3 ${percent(within(3))}, first 5 ${percent(within(5))}, first 10 ${percent(within(10))}, mean reciprocal rank ${reciprocal.toFixed(3)}`)
  assert.ok(within(5) >= 0.85, 'as docs/providers.md says')

  // The same tools in every provider's format, while they are here.
  assert.deepEqual(registry.toOpenAIResponses(undefined, { strict: true }).map(openaiResponsesProblem).filter(problem => problem !== undefined), [])
  assert.deepEqual(registry.toAnthropic().map(anthropicProblem).filter(problem => problem !== undefined), [])
  assert.deepEqual(registry.toGemini()[0]!.functionDeclarations.map(geminiToolProblem).filter(problem => problem !== undefined), [])
})
