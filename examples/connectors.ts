/** Connectors: services that are described once, connected by name, and looked after. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AuthType, ConnectorRegistry, ConnectorSpec, ToolError, ToolRegistry } from 'toolbolt'

const folder = await mkdtemp(join(tmpdir(), 'toolbolt-example-'))
await writeFile(join(folder, 'hello.txt'), 'hello from a file')

await using connectors = new ConnectorRegistry()
connectors.registerBuiltins()
connectors.register(new ConnectorSpec({
  name: 'tickets', displayName: 'Tickets', category: 'productivity', description: 'Our tickets', authType: AuthType.API_KEY,
  authFields: [{ key: 'api_key', label: 'API key', envVar: 'TICKETS_API_KEY' }], mcpUrl: 'https://tickets.example.com/mcp',
}))

try {
  // What is missing is told before anything is started or reached.
  await assert.rejects(connectors.connect('tickets'), error => ToolError.isInstance(error) && error.code === 'CREDENTIALS_MISSING' && error.message.includes('API key'))

  const files = await connectors.connect('filesystem', { args: [folder], client: { cwd: fileURLToPath(new URL('..', import.meta.url)) } })
  using monitor = connectors.monitor({ intervalMs: 30_000 })
  const registry = new ToolRegistry({ confirm: () => true })
  await files.client.syncTo(registry)
  const read = await registry.execute('filesystem_read_text_file', { path: join(folder, 'hello.txt') })
  assert.match(read.text, /hello from a file/)

  // A server that dies is started anew below the same tools.
  process.kill(files.client.pid!, 'SIGKILL')
  const again = await registry.execute('filesystem_read_text_file', { path: join(folder, 'hello.txt') })
  assert.match(again.text, /hello from a file/)
  assert.equal((await monitor.check()).filesystem?.status, 'healthy')
} finally {
  await rm(folder, { recursive: true, force: true })
}
