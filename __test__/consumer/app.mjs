// A user's program as an ES module, without zod.
import assert from 'node:assert/strict'
import { CalculatorTool, ToolError, ToolPermissions, ToolRegistry, tool } from 'toolbolt'

const registry = new ToolRegistry({ permissions: new ToolPermissions({ deny: ['format_disk'] }), confirm: ({ args }) => args.path === 'old.txt' })
registry.register(new CalculatorTool())
registry.register(tool({
  name: 'delete_file',
  description: 'Delete a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  requiresConfirmation: true,
  run: ({ path }) => `deleted ${path}`,
}))
registry.registerFunction(() => 'oh no', 'format_disk', 'Never')

assert.equal((await registry.execute('calculator', '{"expression":"6 * 7"}')).text, '42')
assert.equal((await registry.execute('delete_file', { path: 'old.txt' })).text, 'deleted old.txt')
assert.equal((await registry.execute('delete_file', { path: 'new.txt' })).code, 'CONFIRMATION_REJECTED')
assert.equal((await registry.execute('delete_file', {})).code, 'INVALID_ARGUMENTS')
assert.equal((await registry.execute('format_disk', {})).code, 'PERMISSION_DENIED')
for (const [name, convert] of [['ai-sdk', 'toAISDKTools'], ['langchain', 'toLangChainTools'], ['openai-agents', 'toOpenAIAgentsTools'], ['mastra', 'toMastraTools'], ['genkit', 'toGenkitTools']]) {
  const tools = (await import(`toolbolt/${name}`))[convert](registry, name === 'genkit' ? { tool: ({ name }) => ({ __action: { name } }) } : {})
  assert.equal(Object.values(tools).length, 2, `${name}: the denied one is absent`)
}

await registry.close()
await assert.rejects(registry.execute('calculator', {}), error => ToolError.isInstance(error) && error.code === 'CLOSED')
console.log('esm ok')
