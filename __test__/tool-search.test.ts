// Finding tools by what they are for, and the tool with which a model does so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PromptRegistry, ToolPermissions, ToolRegistry, ToolSearchTool, tool } from 'toolbolt'
import type { RegistryOptions } from 'toolbolt'
import { coded } from './support.ts'

const TOOLS: [name: string, description: string, ...parameters: string[]][] = [
  ['calendar_create_event', 'Creates an event in a calendar', 'title', 'startTime'],
  ['calendar_list_events', 'Lists the events of a day'],
  ['readHTTPHeaders', 'Shows what a server answers'],
  ['files_delete', 'Removes a file for ever', 'path'],
  ['git_commit', 'Records changes in the repository', 'message'],
  ['mail_send', 'Sends a letter', 'recipient', 'attachments'],
  ['读取文件', '读取一个文件的内容'].map((text, index) => (index === 0 ? 'read_zh' : text)) as [string, string],
]

function registryOf(options?: RegistryOptions): ToolRegistry {
  const registry = new ToolRegistry(options)
  for (const [name, description, ...parameters] of TOOLS) {
    registry.registerFunction(() => name, name, description, parameters.map(parameter => ({ name: parameter, type: 'string' as const })))
  }
  return registry
}

test('the best come first, by names, descriptions and names of parameters', () => {
  const registry = registryOf()
  const best = (query: string) => registry.search(query)[0]?.name
  assert.equal(best('creating calendar events'), 'calendar_create_event')
  assert.equal(best('list events'), 'calendar_list_events')
  assert.equal(best('read http header'), 'readHTTPHeaders')
  assert.equal(best('delete files'), 'files_delete')
  assert.equal(best('committing to repositories'), 'git_commit')
  assert.equal(best('attachment'), 'mail_send')
  assert.equal(best('repo'), 'git_commit')
  assert.equal(best('文件内容'), 'read_zh')
  assert.deepEqual(registry.search('zebra'), [])
  assert.deepEqual(registry.search(''), [])
  assert.deepEqual(registry.search('the of a'), [])
  const [first, second] = registry.search('calendar event', { topK: 2 })
  assert.ok(first!.score > 0 && first!.score >= second!.score)
  assert.equal(registry.search('calendar event', { topK: 1 }).length, 1)
  assert.deepEqual(Object.keys(first!), ['name', 'description', 'score'])
})

test('what is denied, gone or new', () => {
  const registry = registryOf({ permissions: new ToolPermissions({ deny: ['files_delete'] }) })
  assert.deepEqual(registry.search('delete files').map(({ name }) => name), [])
  registry.setPermissions(null)
  assert.equal(registry.search('delete files')[0]!.name, 'files_delete')
  registry.unregister('files_delete')
  assert.deepEqual(registry.search('delete').map(({ name }) => name), [])
  registry.registerFunction(() => '', 'wipe', 'Deletes everything')
  assert.equal(registry.search('delete')[0]!.name, 'wipe')
})

test('queries and options of any kind', () => {
  const registry = registryOf()
  for (const query of ['\ud800', 'x'.repeat(1_000_000), '🦓'.repeat(500), '\0', '{{query}}']) assert.ok(Array.isArray(registry.search(query)))
  for (const bad of [() => registry.search(5 as never), () => registry.search('x', { topK: 0 }), () => registry.search('x', { topK: 1.5 }), () => registry.search('x', { top: 5 } as never), () => new ToolSearchTool({} as never), () => new ToolSearchTool(registry, { topK: 1_000 })]) {
    assert.throws(bad, coded('INVALID_OPTIONS'))
  }
})

test('the tool: names and descriptions, and what was found is remembered', async () => {
  const registry = registryOf()
  const search = new ToolSearchTool(registry, { topK: 2 })
  registry.register(search)
  assert.deepEqual(registry.toOpenAISchema(['tool_search', ...search.found]).map(entry => entry.function.name), ['tool_search'])
  const response = await registry.execute('tool_search', { query: 'calendar events' })
  assert.equal(response.status, 'success')
  assert.match(response.text, /^- calendar_create_event: Creates an event in a calendar$/m)
  assert.deepEqual((response.data as { tools: { name: string }[] }).tools.map(({ name }) => name), search.found)
  assert.equal(search.found.length, 2)
  await registry.execute('tool_search', { query: 'tool search by what it should do' })
  assert.ok(!search.found.includes('tool_search'))
  await registry.execute('tool_search', { query: 'send letter' })
  assert.deepEqual(registry.toAnthropic(['tool_search', ...search.found]).map(({ name }) => name), ['tool_search', ...search.found])
  search.clear()
  assert.deepEqual(search.found, [])
  assert.equal((await registry.execute('tool_search', {})).code, 'INVALID_ARGUMENTS')
  assert.match((await registry.execute('tool_search', { query: 'zebra' })).text, /zebra/)
})

test('in other words and languages', async () => {
  const prompts = PromptRegistry.load('zh').withOverrides({ 'tool.msg.tool_search.none': '<none {query}>' })
  const registry = new ToolRegistry()
  const search = new ToolSearchTool(registry, { prompts })
  registry.register(search)
  assert.equal((await registry.execute('tool_search', { query: '{x}' })).text, '<none {x}>')
  assert.match(search.description, /查找工具/)
})

test('two thousand tools are searched in a moment', () => {
  const registry = new ToolRegistry()
  for (let index = 0; index < 2_000; index += 1) registry.register(tool({ name: `tool_${index}`, description: `does the thing number ${index} with files, mail and ${index % 7} calendars`, inputSchema: { type: 'object', properties: {} }, run: () => '' }))
  registry.search('warm')
  const began = performance.now()
  assert.equal(registry.search('mail number 1234').length, 5)
  // Generous: a debug build on a busy machine.
  assert.ok(performance.now() - began < 1_000)
})
