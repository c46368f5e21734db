// The schemas of servers that people use, in every provider's format: each keeps the provider's rules, and what it gives up is reported.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { MCPClient, ToolRegistry } from 'toolbolt'
import type { ExportFormat } from 'toolbolt'
import { scratch } from './machine.ts'
import { anthropicProblem, geminiToolProblem, openaiChatProblem, openaiResponsesProblem } from './provider-rules.ts'
import { realServers, startReal } from './real-servers.ts'

const options = { strict: false, validateFormats: false }
const drafts = { new: new Ajv2020(options), old: new Ajv(options) }
const compile = (schema: object) => drafts['$schema' in schema && String(schema.$schema).includes('draft-07') ? 'old' : 'new'].compile(schema)

/** Keywords that hold values to something, in a schema and in everything below it. */
function constraints(schema: unknown): number {
  if (schema === null || typeof schema !== 'object') return 0
  const own = ['minLength', 'maxLength', 'pattern', 'not', 'oneOf', 'patternProperties', 'uniqueItems', 'minProperties', 'if'].filter(keyword => keyword in schema).length
  return own + Object.values(schema).reduce((sum: number, value) => sum + constraints(value), 0)
}

for (const server of realServers(scratch())) {
  describe(server.name, { skip: server.missing }, () => {
    const registry = new ToolRegistry()
    let client: MCPClient
    let stop: () => Promise<void>
    before(async () => {
      const started = await startReal(server, 'stdio')
      stop = started.stop
      client = await MCPClient.connect({ ...started.options, namespace: 'real', timeoutMs: 60_000 } as never)
      registry.registerAll(await client.loadTools())
    }, { timeout: 120_000 })
    after(async () => { await client?.close(); await stop?.() })

    test('keeps the rules of every provider', { timeout: 120_000 }, t => {
      const tools = registry.listTools()
      assert.ok(tools.length > 0)
      const lists: [ExportFormat, boolean, { tool: any; schema: any }[], (tool: any) => string | undefined][] = []
      for (const strict of [false, true]) {
        lists.push(['openai', strict, registry.toOpenAISchema(undefined, { strict }).map(tool => ({ tool, schema: tool.function.parameters })), openaiChatProblem])
        lists.push(['openai-responses', strict, registry.toOpenAIResponses(undefined, { strict }).map(tool => ({ tool, schema: tool.parameters })), openaiResponsesProblem])
      }
      lists.push(['anthropic', false, registry.toAnthropic().map(tool => ({ tool, schema: tool.input_schema })), anthropicProblem])
      lists.push(['gemini', false, registry.toGemini()[0]!.functionDeclarations.map(tool => ({ tool, schema: tool.parametersJsonSchema })), geminiToolProblem])
      lists.push(['mcp', false, registry.toMcp().map(tool => ({ tool, schema: tool.inputSchema })), () => undefined])
      for (const [format, strict, list, problem] of lists) {
        assert.equal(list.length, tools.length)
        const report = registry.exportReport(format, undefined, { strict })
        list.forEach(({ tool, schema }, index) => {
          const { name, inputSchema } = tools[index]!
          assert.equal(problem(tool), undefined, `${format} ${strict ? 'strict ' : ''}${name}: ${JSON.stringify(schema)}`)
          if (schema !== undefined) compile(schema)
          const lines = report.filter(line => line.tool === name)
          if (schema !== undefined && constraints(schema) < constraints(inputSchema)) assert.ok(lines.length > 0, `${format}: what ${name} lost is not reported`)
          if (strict && !(tool.strict ?? tool.function.strict)) assert.ok(lines.length > 0, `${format}: why ${name} is not strict is not reported`)
        })
        if (report.length > 0) t.diagnostic(`${format}${strict ? ' strict' : ''}: ${list.length} tools, ${report.length} lines, ${list.filter(({ tool }) => strict && (tool.strict ?? tool.function.strict)).length} strict`)
      }
    })
  })
}
