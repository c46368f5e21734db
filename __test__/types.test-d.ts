// Expected types; compiled, never run. A line that must not compile stands below @ts-expect-error.
import {
  CalculatorTool, EnvironmentCredentialStore, FileCredentialStore, KeyringCredentialStore, MCPClient, MCPTool, MemoryCredentialStore, NotesTool, Tool, ToolError, ToolPermissions, ToolRegistry, ToolResponse,
  tool, toolsOf, verifyWebhook,
} from 'toolbolt'
import type { CredentialStore, ErrorCode, InferArgs, InputSchema, JsonSchema, MCPResultData, NoteRead, ToolCall, ToolContext, ToolEvent, ToolParameter, ToolStatus, WebhookRefusal } from 'toolbolt'
import { type } from 'arktype'
import { z } from 'zod'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(_yes: Same<A, B>): void => {}
/** Each can stand for the other; `readonly` is not compared. */
type Alike<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false
const alike = <A, B>(_yes: Alike<A, B>): void => {}

// zod: what run gets is the output of the schema.
const zod = z.object({ city: z.string(), days: z.number().default(3), when: z.string().transform(text => new Date(text)), note: z.string().optional() })
alike<InferArgs<typeof zod>, { city: string; days: number; when: Date; note?: string | undefined }>(true)
tool({ name: 'a', description: 'a', inputSchema: zod, requiresConfirmation: ({ days }) => days.toFixed() === '1', run: ({ city, when }) => `${city.trim()} ${when.getTime()}` })
// @ts-expect-error: days is a number
tool({ name: 'a', description: 'a', inputSchema: zod, run: ({ days }) => days.trim() })
// @ts-expect-error: note may be missing
tool({ name: 'a', description: 'a', inputSchema: zod, run: ({ note }) => note.trim() })
// @ts-expect-error: no such key
tool({ name: 'a', description: 'a', inputSchema: zod, run: ({ nothing }) => `${nothing}` })

// arktype
const ark = type({ city: 'string', 'days?': 'number' })
tool({ name: 'a', description: 'a', inputSchema: ark, run: ({ city, days }) => `${city.trim()} ${days?.toFixed()}` })
// @ts-expect-error: city is text
tool({ name: 'a', description: 'a', inputSchema: ark, run: ({ city }) => city.toFixed() })

// JSON Schema: inferred where it is written in place or `as const`.
const json = {
  type: 'object',
  properties: { s: { type: 'string' }, i: { type: 'integer', default: 1 }, e: { enum: ['x', 'y'] }, l: { type: 'array', items: { type: 'boolean' } }, o: { type: 'object', properties: { n: { type: 'null' } }, required: ['n'] }, c: { const: 5 } },
  required: ['s', 'e'],
} as const
alike<InferArgs<typeof json>, { s: string; i: number; e: 'x' | 'y'; l?: boolean[]; o?: { n: null }; c?: 5 }>(true)
tool({ name: 'a', description: 'a', inputSchema: { type: 'object', properties: { s: { type: 'string' } }, required: ['s'] }, run: ({ s }) => s.trim() })
// @ts-expect-error: not required, so it may be missing
tool({ name: 'a', description: 'a', inputSchema: { type: 'object', properties: { s: { type: 'string' } } }, run: ({ s }) => s.trim() })
// @ts-expect-error: i is a number
tool({ name: 'a', description: 'a', inputSchema: json, run: ({ i }) => i.trim() })
declare const open: JsonSchema
tool({ name: 'a', description: 'a', inputSchema: open, run: args => `${args.whatever}` })

// ToolParameter lists: an open record.
const list: readonly ToolParameter[] = [{ name: 'city', type: 'string' }, { name: 'n', type: 'integer', required: false, default: 1, schema: { type: 'integer', minimum: 0 } }]
same<InferArgs<typeof list>, Record<string, any>>(true)
tool({ name: 'a', description: 'a', inputSchema: list, run: ({ city }) => `${city}` })
// @ts-expect-error: no such type
const wrongType: ToolParameter = { name: 'a', type: 'date' }
// @ts-expect-error: a name is needed
const nameless: ToolParameter = { type: 'string' }

// tool() and its results.
same<ReturnType<typeof tool<typeof zod>>, Tool<InferArgs<typeof zod>>>(true)
// @ts-expect-error: a description is needed
tool({ name: 'a', inputSchema: [], run: () => 'x' })
// @ts-expect-error: a function is no result
tool({ name: 'a', description: 'a', inputSchema: [], run: () => () => 1 })
// @ts-expect-error: a symbol is no result
tool({ name: 'a', description: 'a', inputSchema: [], run: () => Symbol('x') })
// @ts-expect-error: timeouts are numbers
tool({ name: 'a', description: 'a', inputSchema: [], timeoutMs: '5s', run: () => 'x' })
for (const run of [() => 'x', () => 1, () => true, () => null, () => {}, () => [1], () => ({ a: 1 }), async () => 'x', () => ToolResponse.ok('x', { a: 1 })]) tool({ name: 'a', description: 'a', inputSchema: [], run })
tool({
  name: 'a', description: 'a', inputSchema: [], run: (_args, context) => {
    same<typeof context, ToolContext>(true)
    context.progress({ progress: 1, total: 2, message: 'x' })
    // @ts-expect-error: progress is a number
    context.progress({ progress: '1' })
    // @ts-expect-error: read only
    context.callId = 'x'
    return context.signal.aborted
  },
})

// Subclasses and decorators.
class Divide extends Tool<{ a: number; b: number }, { quotient: number }> {
  override supportsParallel = true
  getParameters(): InputSchema { return list }
  override needsConfirmation({ b }: { a: number; b: number }) { return b > 10 }
  run({ a, b }: { a: number; b: number }) { return ToolResponse.ok(`${a / b}`, { quotient: a / b }) }
}
// @ts-expect-error: run is missing
class NoRun extends Tool { getParameters(): InputSchema { return [] } }
// @ts-expect-error: abstract
const abstract = new Tool('a', 'a')
class Desk {
  @tool({ description: 'List', inputSchema: [] })
  list() { return 'x' }
  // @ts-expect-error: only methods can be tools
  @tool({ description: 'Paper', inputSchema: [] })
  paper = 'x'
}
same<ReturnType<typeof toolsOf>, Tool[]>(true)

// The registry.
const registry = new ToolRegistry({ permissions: new ToolPermissions({ allow: ['a'], deny: null, denyOrigins: undefined }), confirm: ({ args, preview }) => preview.length > 0 && args.path !== '/', onEvent: event => { same<typeof event, ToolEvent>(true) } })
registry.register(new Divide('divide', 'Divide'))
registry.register({ name: 'spec', description: 'Spec', handler: ({ q }: { q: string }) => q })
registry.registerAll([new CalculatorTool(), ...toolsOf(new Desk())], { onConflict: 'skip' })
// @ts-expect-error: no such mode
registry.registerAll([], { onConflict: 'merge' })
// @ts-expect-error: not a tool
registry.register({ description: 'nameless' })
// @ts-expect-error: a number is no argument object
registry.execute('a', 5)
// @ts-expect-error: no such option value
registry.execute('a', {}, { timeoutMs: '5' })
// @ts-expect-error: the synchronous path has no deadline
registry.executeSync('a', {}, { timeoutMs: 5 })
// @ts-expect-error: a confirmation answers yes or no
new ToolRegistry({ confirm: () => 'yes' })
// @ts-expect-error: a list of names
new ToolPermissions({ allow: 'a' })
same<ReturnType<typeof registry.execute>, Promise<ToolResponse>>(true)
same<ReturnType<typeof registry.executeChecked>, Promise<[response: ToolResponse, executed: boolean]>>(true)
same<ReturnType<typeof registry.executeAll>, Promise<ToolResponse[]>>(true)
same<ReturnType<typeof registry.executeSync>, ToolResponse>(true)
const none: null = ToolRegistry.fromTools(null)
const some: ToolRegistry = ToolRegistry.fromTools([new Divide('divide', 'Divide')])
const itself: ToolRegistry = ToolRegistry.fromTools(some)
const turn: ToolCall[] = [{ id: '1', name: 'a', arguments: '{}' }, { id: '2', name: 'a', arguments: { a: 1 } }]
const lifetime: AsyncDisposable = registry

// Responses and errors.
const response = ToolResponse.ok('x', { a: 1 })
same<typeof response, ToolResponse<{ a: number }>>(true)
same<typeof response.status, ToolStatus>(true)
same<ToolStatus, 'success' | 'partial' | 'error'>(true)
// @ts-expect-error: read only
response.text = 'y'
// @ts-expect-error: no such code
const unknownCode: ErrorCode = 'NOPE'
function narrow(error: unknown): ErrorCode | undefined { return ToolError.isInstance(error) ? error.code : undefined }
declare const client: MCPClient
same<ReturnType<MCPClient['close']>, Promise<void>>(true)


// A server is started or reached, and each way has options of its own.
void MCPClient.connect({ namespace: 'n', command: 'npx', args: ['x'], env: { A: 'b' }, cwd: '/', pins: { file: 'f', mode: 'record' } })
void MCPClient.connect({ namespace: 'n', command: 'npx', env: process.env, requiresConfirmation: ({ remoteName, annotations }) => remoteName !== 'read' || annotations.readOnlyHint !== true })
same<Awaited<ReturnType<MCPClient['callTool']>>['data'], MCPResultData | undefined>(true)
same<Awaited<ReturnType<MCPTool['run']>>['data'], MCPResultData | undefined>(true)
void registry.execute<MCPResultData<{ rows: number[] }>>('a', {}).then(({ data }) => data?.structuredContent?.rows.length ?? data?.content?.[0]?.text)
same<typeof registry.mcpClients, ReadonlyMap<string, MCPClient>>(true)
void MCPClient.connect({ namespace: 'n', url: 'https://example.com/mcp', headers: { A: 'b' }, auth: () => 'token', transport: 'http' })
void MCPClient.connect(['npx', 'x'], { env: { A: 'b' }, requiresConfirmation: false })
void MCPClient.connectHttp('https://example.com/mcp', { headers: { A: 'b' } })
// @ts-expect-error: either command or url
void MCPClient.connect({ namespace: 'n', url: 'https://example.com/mcp', command: 'npx' })
// @ts-expect-error: one of them
void MCPClient.connect({ namespace: 'n' })
// @ts-expect-error: headers are of a url
void MCPClient.connect({ namespace: 'n', command: 'npx', headers: { A: 'b' } })
// @ts-expect-error: env is of a command
void MCPClient.connect({ namespace: 'n', url: 'https://example.com/mcp', env: { A: 'b' } })
// @ts-expect-error: headers are of a url
void MCPClient.connect('npx x', { headers: { A: 'b' } })
// @ts-expect-error: env is of a command
void MCPClient.connectHttp('https://example.com/mcp', { env: { A: 'b' } })

// Notes have four actions, and data follows from the action.
declare const notes: NotesTool
const read = () => notes.run({ action: 'read', path: 'a.md' })
same<ReturnType<typeof read>, Promise<ToolResponse<NoteRead>>>(true)
// @ts-expect-error: no such action
void notes.run({ action: 'delete', path: 'a.md' })

export { NoRun, abstract, client, itself, lifetime, nameless, narrow, none, turn, unknownCode, wrongType }

// Results of an app's own types; what has no JSON form is none.
interface Row { id: number; name: string }
class Account { constructor(readonly id: number) {} }
tool({ name: 'a', description: 'a', inputSchema: [], run: async (): Promise<Row> => ({ id: 1, name: 'x' }) })
tool({ name: 'a', description: 'a', inputSchema: [], run: (): Row[] => [] })
tool({ name: 'a', description: 'a', inputSchema: [], run: () => new Account(1) })
// @ts-expect-error: a map is no result
tool({ name: 'a', description: 'a', inputSchema: [], run: () => new Map<string, string>() })

// An option that may be absent may be undefined.
const maybe = undefined as AbortSignal | undefined
new ToolRegistry({ confirm: undefined, timeoutMs: undefined, onEvent: event => { void event.type } })
void new ToolRegistry().execute('a', {}, { signal: maybe, callId: undefined })

// Credential stores: the package's own, and any object with the four methods, with promises or without.
const kept = new Map<string, Record<string, string>>()
const stores: CredentialStore[] = [
  new MemoryCredentialStore(), new FileCredentialStore({ path: 'x', key: new Uint8Array(32) }), new KeyringCredentialStore(), new EnvironmentCredentialStore({ variables: { slack: { token: 'X' } } }),
  { get: name => kept.get(name), put: (name, credentials) => kept.set(name, credentials), delete: name => kept.delete(name), list: () => [...kept.keys()] },
]
// @ts-expect-error: it cannot list
stores.push({ get: async () => undefined, put: async () => {}, delete: async () => {} })
// @ts-expect-error: values are texts
void stores[0]!.put('slack', { token: 5 })
same<ReturnType<typeof verifyWebhook>, boolean>(true)
verifyWebhook({ scheme: 'slack', secret: ['a', 'b'], body: Buffer.from(''), headers: new Headers(), onRefused: reason => { same<typeof reason, WebhookRefusal>(true) } })
verifyWebhook({ scheme: 'github', secret: 'a', body: '', headers: {} as import('node:http').IncomingHttpHeaders })
// @ts-expect-error: a parsed body cannot be checked
verifyWebhook({ scheme: 'github', secret: 'a', body: { parsed: true }, headers: {} })
// @ts-expect-error: no such scheme
verifyWebhook({ scheme: 'gitlab', secret: 'a', body: '', headers: {} })
