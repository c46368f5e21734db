// What the echo servers of the benchmark answer: the least of the protocol (2025-11-25), so that the client's share is seen.
const TOOLS = [
  { name: 'echo', description: 'Gives back the message', inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } },
  { name: 'large', description: 'A text of a million characters', inputSchema: { type: 'object', properties: {} } },
]
const LARGE = 'x'.repeat(1_000_000)

function resultOf({ method, params }) {
  if (method === 'tools/call') return { content: [{ type: 'text', text: params.name === 'large' ? LARGE : params.arguments.message }] }
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'ping') return {}
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1.0.0' } }
  return undefined
}

/** The answer to a message as JSON text, or `undefined` for a notification. */
export function answer(text) {
  const message = JSON.parse(text)
  if (message.id === undefined) return undefined
  const result = resultOf(message)
  const rest = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
  return JSON.stringify({ jsonrpc: '2.0', id: message.id, ...rest })
}
