/** A model that chooses the calls, over the chat completions interface of OpenAI and whatever is compatible with it. */
import type { ToolCall, ToolRegistry, ToolResponse } from 'toolbolt'
import type { Endpoint } from './options.ts'

const MAX_STEPS = 12
const MAX_CALLS = 40
const TIMEOUT_MS = 60_000
const ERROR_CHARS = 300

/** A message as the interface has it. Source: https://platform.openai.com/docs/api-reference/chat */
interface Message { role: 'system' | 'user' | 'assistant' | 'tool'; content: string | null; tool_calls?: unknown; tool_call_id?: string }

export interface Conversation {
  readonly registry: ToolRegistry
  readonly endpoint: Endpoint
  readonly system: string
  readonly task: string
  readonly signal: AbortSignal
  onText(text: string): void
  onResults(calls: readonly ToolCall[], responses: readonly ToolResponse[]): void
}

/** Lets the model work until it calls no more tools. @throws Error in words for a person, never with the key in it. */
export async function converse({ registry, endpoint, system, task, signal, onText, onResults }: Conversation): Promise<void> {
  const messages: Message[] = [{ role: 'system', content: system }, { role: 'user', content: task }]
  let made = 0
  for (let step = 0; step < MAX_STEPS; step++) {
    const message = await complete(endpoint, { model: endpoint.model, messages, tools: registry.toOpenAISchema() }, signal)
    if (typeof message.content === 'string' && message.content !== '') onText(message.content)
    const calls = readCalls(message.tool_calls, step)
    if (calls.length === 0) return
    made += calls.length
    if (made > MAX_CALLS) throw new Error(`The model made more than ${MAX_CALLS} calls; stopped.`)
    // Whatever is wrong with a call, it gets a response, in the order of the calls.
    const responses = await registry.executeAll(calls, { signal })
    onResults(calls, responses)
    messages.push({ role: 'assistant', content: message.content, tool_calls: calls.map(asSent) })
    responses.forEach((response, index) => { messages.push({ role: 'tool', tool_call_id: calls[index]?.id ?? '', content: registry.render(response) }) })
  }
  throw new Error(`The model did not come to an end within ${MAX_STEPS} steps; stopped.`)
}

async function complete(endpoint: Endpoint, body: object, signal: AbortSignal): Promise<Message> {
  const hidden = (text: string) => text.replaceAll(endpoint.key, '***').slice(0, ERROR_CHARS)
  let status: number
  let text: string
  try {
    const response = await fetch(endpoint.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${endpoint.key}` },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    status = response.status
    text = await response.text()
  } catch (error) {
    if (signal.aborted) throw error
    const reason = error instanceof Error && error.name === 'TimeoutError' ? `no answer within ${TIMEOUT_MS / 1000} seconds` : reasonOf(error)
    throw new Error(`The model cannot be reached at ${endpoint.url}: ${hidden(reason)}. Check OPENAI_BASE_URL.`)
  }
  const answer = parse(text)
  if (status !== 200) throw new Error(`The model's endpoint answered with status ${status}: ${hidden(errorText(answer) ?? text)}`)
  const message = field(at(field(answer, 'choices'), 0), 'message')
  if (message === undefined || message === null || typeof message !== 'object') throw new Error(`The model's endpoint sent no chat completion: ${hidden(text)}`)
  const content = field(message, 'content')
  return { role: 'assistant', content: typeof content === 'string' ? content : null, tool_calls: field(message, 'tool_calls') }
}

/** The calls of a message. Names and arguments stay as they came: the registry answers for what is wrong with them. */
function readCalls(value: unknown, step: number): ToolCall[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error('The model sent tool_calls that are no list.')
  const taken = new Set<string>()
  return value.map((call: unknown, index) => {
    const [id, name, args] = [field(call, 'id'), field(field(call, 'function'), 'name'), field(field(call, 'function'), 'arguments')]
    const unique = typeof id === 'string' && id !== '' && !taken.has(id) ? id : `call_${step}_${index}`
    taken.add(unique)
    return { id: unique, name: typeof name === 'string' ? name : '', arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) }
  })
}

const asSent = ({ id, name, arguments: args }: ToolCall) => ({ id, type: 'function', function: { name, arguments: args } })

const field = (value: unknown, key: string): unknown => (value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined)
const at = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorText(answer: unknown): string | undefined {
  const message = field(field(answer, 'error'), 'message')
  return typeof message === 'string' ? message : undefined
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? cause.message : error instanceof Error ? error.message : String(error)
}
