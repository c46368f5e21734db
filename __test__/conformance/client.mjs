// The client under test in the official conformance suite: a small program that uses the package as anyone would.
// The suite gives the address as last argument, and by MCP_CONFORMANCE_SCENARIO which scenario its server plays.
import { ConnectorRegistry, ConnectorSpec, MCPClient, MemoryCredentialStore } from 'toolbolt'

/** Some of the servers never answer, on purpose; the suite itself waits for 30 s. */
const LIMIT_MS = 20_000
const OPTIONS = { timeoutMs: LIMIT_MS, requiresConfirmation: false }
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

/** A client of a server that wants OAuth: as a connector, with a browser whose user says yes to everything. */
async function authorized(mcpUrl) {
  const credentialStore = new MemoryCredentialStore()
  const { client_id, client_secret } = CONTEXT
  if (client_id !== undefined) await credentialStore.put('conformance', { client_id, ...(client_secret === undefined ? {} : { client_secret }) })
  const connectors = new ConnectorRegistry({ credentialStore })
  const clientId = SCENARIO === 'auth/basic-cimd' ? 'https://conformance-test.local/client-metadata.json' : undefined
  connectors.register(new ConnectorSpec({ name: 'conformance', displayName: 'C', category: 'test', description: 'C', authType: 'OAUTH2', mcpUrl }))
  const open = url => fetch(url)
  for (let attempt = 1; ; attempt++) {
    try {
      await connectors.authorize('conformance', { open, clientId, timeoutMs: LIMIT_MS })
      return (await connectors.connect('conformance', { resilient: false, client: OPTIONS })).client
    } catch (error) {
      // A server that moved to another authorization server wants to be authorized anew.
      if (error.code !== 'AUTHORIZATION_REQUIRED' || attempt > 2) throw error
    }
  }
}

/** A server that has to be refused, by the code of the error. */
const REFUSED = {
  'auth/iss-normalized': 'AUTHORIZATION_FAILED', 'auth/iss-supported-missing': 'AUTHORIZATION_FAILED', 'auth/iss-unexpected': 'AUTHORIZATION_FAILED', 'auth/iss-wrong-issuer': 'AUTHORIZATION_FAILED',
  'auth/metadata-issuer-mismatch': 'AUTHORIZATION_FAILED', 'auth/resource-mismatch': 'AUTHORIZATION_FAILED', 'auth/scope-retry-limit': 'CONNECTION_FAILED',
}

if (SCENARIO in REFUSED) {
  const code = await authorized(process.argv.at(-1)).then(() => 'nothing', error => error.code)
  if (code !== REFUSED[SCENARIO]) throw new Error(`it was to be refused, and there was ${code}`)
  console.log('done')
  process.exit()
}

const client = SCENARIO.startsWith('auth/') ? await authorized(process.argv.at(-1)) : await MCPClient.connectHttp(process.argv.at(-1), { namespace: 'conformance', ...OPTIONS })
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
