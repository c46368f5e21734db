// Connectors for tests: specifications, a store that is an object, and what a server got.
import { fileURLToPath } from 'node:url'
import { AuthType, type ConnectorDefinition, ConnectorRegistry, ConnectorSpec, type CredentialStore } from 'toolbolt'

/** A server whose faults a test chooses. */
export const SERVER = fileURLToPath(new URL('./fixtures/connector-server.mjs', import.meta.url))

export function spec(more: Partial<ConnectorDefinition> = {}): ConnectorSpec {
  return new ConnectorSpec({
    name: 'my-api', displayName: 'My API', category: 'productivity', description: 'Connect to My API', authType: AuthType.API_KEY,
    authFields: [{ key: 'api_key', label: 'API Key', envVar: 'MY_API_KEY' }], mcpCommand: [process.execPath, SERVER], ...more,
  })
}

export const free = (more: Partial<ConnectorDefinition> = {}) => spec({ authType: 'NONE', authFields: [], ...more })
export const remote = (url: string, more: Partial<ConnectorDefinition> = {}) => {
  const { mcpCommand: _command, verified: _verified, ...rest } = spec()
  return new ConnectorSpec({ ...rest, mcpUrl: url, ...more })
}

export function storeOf(values: Record<string, unknown>): CredentialStore {
  return { get: name => values[name] as Record<string, string> | undefined, put: () => {}, delete: () => {}, list: () => Object.keys(values) }
}

export function registryOf(specs: ConnectorSpec[], credentialStore?: CredentialStore): ConnectorRegistry {
  const registry = new ConnectorRegistry({ credentialStore })
  for (const one of specs) registry.register(one)
  return registry
}

/** What an MCP server's process has as its environment. */
export async function environmentOf(connection: { client: { callTool(name: string, args: object): Promise<{ text: string }> } }): Promise<Record<string, string>> {
  return JSON.parse((await connection.client.callTool('environment', {})).text)
}

export async function withVariables<T>(values: Record<string, string>, work: () => Promise<T>): Promise<T> {
  Object.assign(process.env, values)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(values)) delete process.env[name]
  }
}
