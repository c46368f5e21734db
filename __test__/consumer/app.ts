// A user's program in TypeScript, with zod.
import assert from 'node:assert/strict'
import { Tool, ToolRegistry, ToolResponse, tool, type ConfirmRequest, type ErrorCode, type InputSchema } from 'toolbolt'
import { type ToolOutput, toAISDKTools } from 'toolbolt/ai-sdk'
import { toMastraTools } from 'toolbolt/mastra'
import { z } from 'zod'

class Shout extends Tool<{ text: string }, { length: number }> {
  override requiresConfirmation = true
  constructor() { super('shout', 'Says it loud') }
  getParameters(): InputSchema { return [{ name: 'text', type: 'string', description: 'what to say' }] }
  run({ text }: { text: string }) { return ToolResponse.ok(text.toUpperCase(), { length: text.length }) }
}

const weather = tool({
  name: 'weather',
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
  run: ({ city, days }) => `${city.trim()}: ${days.toFixed(0)} days of sun`,
})

const asked: ConfirmRequest[] = []
const registry = new ToolRegistry({ confirm: request => { asked.push(request); return true } })
registry.registerAll([new Shout(), weather])

assert.equal((await registry.execute('weather', '{"city":" Oslo "}')).text, 'Oslo: 3 days of sun')
assert.equal((await registry.execute('shout', { text: 'hi' })).text, 'HI')
assert.equal(asked[0]?.name, 'shout')
const code: ErrorCode | undefined = (await registry.execute('weather', { city: 3 })).code
assert.equal(code, 'INVALID_ARGUMENTS')
assert.equal((await toMastraTools(registry)['weather']!.execute({ city: 'Oslo' })).text, 'Oslo: 3 days of sun')
const adapted: ToolOutput = await toAISDKTools(registry, { approval: 'registry' })['weather']!.execute({ city: 'Rome' }, { toolCallId: '1' })
assert.equal(adapted.status, 'success')
// @ts-expect-error: days is a number
tool({ name: 'x', description: 'x', inputSchema: z.object({ days: z.number() }), run: ({ days }) => days.trim() })
console.log('ts ok')
