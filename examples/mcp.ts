/** The tools of an MCP server beside your own. `npm run demo` shows more of it. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MCPClient, ToolPermissions, ToolRegistry } from 'toolbolt'

const folder = await mkdtemp(join(tmpdir(), 'toolbolt-example-'))
await writeFile(join(folder, 'hello.txt'), 'hello from a file')
const server = fileURLToPath(new URL('../node_modules/.bin/mcp-server-filesystem', import.meta.url))

try {
  // The server is a child process; leaving the block ends it, with everything that it started.
  await using files = await MCPClient.connect({ namespace: 'files', command: server, args: [folder] })
  const registry = new ToolRegistry({
    permissions: new ToolPermissions({ allowOrigins: ['mcp:files'], deny: ['files_write_file'] }),
    confirm: ({ name }) => name === 'files_read_text_file', // tools of a server ask by default
  })
  registry.registerAll(await files.loadTools())

  const read = await registry.execute('files_read_text_file', { path: join(folder, 'hello.txt') })
  assert.match(read.text, /hello from a file/)
  assert.equal(read.origin, 'mcp:files')
  assert.equal((await registry.execute('files_write_file', { path: 'x', content: 'y' })).code, 'PERMISSION_DENIED')
  assert.equal((await registry.execute('files_list_directory', { path: folder })).code, 'CONFIRMATION_REJECTED')
} finally {
  await rm(folder, { recursive: true, force: true })
}
