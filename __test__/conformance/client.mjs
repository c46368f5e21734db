// The client under test in the official conformance suite: a small program that uses the package as anyone would.
// The suite gives the address as last argument, and by MCP_CONFORMANCE_SCENARIO which scenario its server plays.
import { MCPClient } from 'toolbolt'

/** Some of the servers never answer, on purpose; the suite itself waits for 30 s. */
const LIMIT_MS = 20_000
const SCENARIO = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const CONTEXT = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}')

/** What to call the tools of a scenario with, where the suite does not say. The rest is called with nothing. */
const ARGUMENTS = { add_numbers: { a: 2, b: 3 }, valid_tool: { region: 'us-west1' } }

/** The calls of a scenario: those that the suite names, or every tool that was loaded, once. */
function callsFor(tools) {
  if (Array.isArray(CONTEXT.toolCalls)) return CONTEXT.toolCalls
  if (SCENARIO === 'json-schema-2020-12-preservation') {
    const schema = tools.find(tool => tool.remoteName === 'json_schema_2020_12_tool')?.inputSchema
    return [{ name: 'json_schema_echo', arguments: { schema } }]
  }
  return tools.map(({ remoteName }) => ({ name: remoteName, arguments: ARGUMENTS[remoteName] ?? {} }))
}

const client = await MCPClient.connectHttp(process.argv.at(-1), { namespace: 'conformance', timeoutMs: LIMIT_MS, requiresConfirmation: false })
try {
  const tools = await client.loadTools()
  for (const { remoteName, reason } of client.skippedTools) console.log(`left out: ${remoteName}: ${reason}`)
  for (const call of callsFor(tools)) {
    const { status, text } = await client.callTool(call.name, call.arguments)
    console.log(`${call.name}: ${status}: ${text.slice(0, 200)}`)
  }
} finally {
  await client.close()
}
console.log('done')
