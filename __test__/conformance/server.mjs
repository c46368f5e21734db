// The server under test in the official conformance suite: tools as its scenarios want them, in a registry that is served over HTTP.
// Prints its address, and ends when its input does.
import { ToolRegistry, ToolResponse, serveMcp, tool } from 'toolbolt'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const NOTHING = { type: 'object', properties: {} }
const pause = () => new Promise(done => setTimeout(done, 50))
const blocks = (...content) => ToolResponse.ok('', { content })

const TOOLS = {
  test_simple_text: () => 'This is a simple text response for testing.',
  test_image_content: () => blocks({ type: 'image', data: PNG, mimeType: 'image/png' }),
  test_audio_content: () => blocks({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => blocks({ type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' } }),
  test_multiple_content_types: () => blocks(
    { type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: PNG, mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' } },
  ),
  test_logging_tool: () => 'This server sends no log messages.',
  test_error_handling: () => { throw new Error('This tool intentionally returns an error for testing') },
  test_tool_with_progress: async (_args, context) => {
    for (const progress of [0, 50, 100]) {
      context.progress({ progress, total: 100 })
      await pause()
    }
    return 'done'
  },
}

const ADDRESS = { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } }
const SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: ADDRESS },
  properties: {
    name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' }, email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const registry = new ToolRegistry()
const add = (name, inputSchema, run, flags = {}) => { registry.register(tool({ name, description: `The tool ${name} of the conformance suite.`, inputSchema, run, ...flags })) }
for (const [name, run] of Object.entries(TOOLS)) add(name, NOTHING, run)
add('json_schema_2020_12_tool', SCHEMA_2020, () => 'ok')
add('test_headers', { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, text: { type: 'string' } }, required: ['region'] }, ({ region }) => region)
add('test_trigger_tool_change', NOTHING, () => {
  if (!registry.unregister('another')) add('another', NOTHING, () => 'another')
  return 'changed'
})
// The one question that this server asks: whether a call may run.
for (const name of ['test_elicitation', 'test_streaming_elicitation', 'test_input_required_result_elicitation', 'test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
  add(name, NOTHING, () => 'it ran', { requiresConfirmation: true })
}

const server = await serveMcp(registry, { transport: 'http' })
console.log(server.url)
process.stdin.resume().on('end', () => { void server.close() })
await server.closed
