// What the originals' client was recorded to make of a server's answers, replayed against a real server; docs/differences.md has the differences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectorRegistry, ConnectorSpec, ToolError } from 'toolbolt'
import { vectors } from './support.ts'

interface Row { tools_list: unknown; call_result: unknown; out: string[] | [tools: [name: string, description: string, schema: object][], text: string | null, requests: unknown] }

/** Answers as the row says, whatever it is asked. */
const SERVER = `
const { list, result } = JSON.parse(process.env.ROW)
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  const answers = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'r', version: '1' } }, 'tools/list': list, 'tools/call': result }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method in answers ? { result: answers[method] } : { error: { code: -32601, message: 'no' } }) }))
}).on('close', () => process.exit())`

/** Where we differ: the tools, or what `connect` throws, and the status and text of a call. */
const DIFFERENT: Record<number, { thrown?: string; skipped?: number; call?: [status: string, text: string | RegExp] }> = {
  1: {},
  2: { call: ['success', /image/] },
  3: { call: ['success', /no text/] },
  4: { call: ['error', /no tool result/] },
  5: { call: ['error', /boom/] },
  6: { call: ['success', '{"k":1}'] },
  7: { thrown: 'CONNECTION_FAILED' },
  9: { call: ['error', /no tool result/] },
  10: { call: ['error', /no tool result/] },
  11: { call: ['success', /no text/] },
  12: { skipped: 1 },
}

for (const [index, { tools_list: list, call_result: result, out }] of vectors<Row[]>('sagewai_mcp_client').entries()) {
  test(`row ${index}`, { timeout: 60_000 }, async () => {
    const differs = DIFFERENT[index]
    await using connectors = new ConnectorRegistry()
    connectors.register(new ConnectorSpec({ name: 'row', displayName: 'R', category: 'test', description: 'R', authType: 'NONE', mcpCommand: [process.execPath, '-e', SERVER] }))
    const connecting = connectors.connect('row', { resilient: false, client: { env: { ROW: JSON.stringify({ list, result }) }, timeoutMs: 10_000 } })
    if (differs?.thrown !== undefined) {
      await assert.rejects(connecting, error => ToolError.isInstance(error) && error.code === differs.thrown)
      return
    }
    const { tools, client } = await connecting
    assert.equal(client.skippedTools.filter(({ remoteName }) => remoteName === null).length >= (differs?.skipped ?? 0), true)
    const [recorded, text] = typeof out[0] === 'string' ? [[], null] : out
    if (differs?.skipped === undefined && index !== 1) assert.deepEqual(tools.map(({ remoteName }) => remoteName), (recorded as [string][]).map(([name]) => name))
    for (const tool of tools) assert.deepEqual([tool.name, tool.inputSchema.type, tool.description === '' || tool.description === 'd'], [`row_${tool.remoteName}`, 'object', true])
    if (tools.length === 0) return
    const response = await client.callTool('a', { k: 1 })
    const [status, words] = differs?.call ?? (differs === undefined ? ['success', text as string] : ['error', /./])
    assert.equal(response.status, status, response.text)
    if (typeof words === 'string') assert.equal(response.text, words)
    else assert.match(response.text, words)
  })
}
