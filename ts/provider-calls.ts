/** Calls as providers send them, and results as they want them. One result for each call, in order; whatever else a message holds is left alone. */
import type { Inner } from './entry.js'
import { invalidOption, unwrap } from './errors.js'
import { checkBoolean, checkExecuteOptions } from './options.js'
import type { AnthropicImageType, AnthropicToolResult, ExportFormat, GeminiFunctionResponse, OpenAIFunctionCallOutput, OpenAIToolMessage } from './provider-types.js'
import { type ToolResponse, isExternal } from './response.js'
import { type TurnOptions, executeAll, restored } from './turn.js'
import type { ToolCall } from './types.js'

/** Options of a provider's turn. */
export type ProviderTurnOptions = TurnOptions & {
  /** Whether images go to the model, where its provider takes images in results. Default: true. */
  images?: boolean | undefined
}

/** A call as it came: what identifies it to the provider, the name it used, and the arguments. */
interface Sent {
  readonly id: unknown
  readonly name: unknown
  readonly args: unknown
}

interface Answered {
  readonly id: string
  readonly name: string
  readonly response: ToolResponse
  readonly text: string
  readonly images: readonly Image[]
}

interface Image { readonly mimeType: string; readonly data: string }
type Render = (response: ToolResponse) => string

/** For `choices[0].message` of OpenAI's chat API: messages to add after it. */
export async function runOpenAI(inner: Inner, render: Render, message: unknown, options?: ProviderTurnOptions): Promise<OpenAIToolMessage[]> {
  const calls = listIn(message, 'tool_calls', 'a message of a chat completion').filter(call => typeof (call as any)?.custom !== 'object')
  const sent = calls.map(call => ({ id: read(call, 'id'), name: read(read(call, 'function'), 'name'), args: read(read(call, 'function'), 'arguments') }))
  const answers = await answer(inner, render, 'openai', sent, options)
  return answers.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
}

/** For a response of OpenAI's Responses API, or its output: items to add after that. */
export async function runOpenAIResponses(inner: Inner, render: Render, response: unknown, options?: ProviderTurnOptions): Promise<OpenAIFunctionCallOutput[]> {
  const calls = listIn(response, 'output', 'a response').filter(item => read(item, 'type') === 'function_call')
  const sent = calls.map(call => ({ id: read(call, 'call_id'), name: read(call, 'name'), args: read(call, 'arguments') }))
  const answers = await answer(inner, render, 'openai-responses', sent, options)
  return answers.map(({ id, text, images }) => ({
    type: 'function_call_output',
    call_id: id,
    output: images.length === 0 ? text : [{ type: 'input_text', text }, ...images.map(({ mimeType, data }) => ({ type: 'input_image' as const, image_url: `data:${mimeType};base64,${data}`, detail: 'auto' as const }))],
  }))
}

/** For a message of Anthropic's Messages API: blocks for the next message of the user. */
export async function runAnthropic(inner: Inner, render: Render, message: unknown, options?: ProviderTurnOptions): Promise<AnthropicToolResult[]> {
  const calls = listIn(message, 'content', 'a message').filter(block => read(block, 'type') === 'tool_use')
  const sent = calls.map(call => ({ id: read(call, 'id'), name: read(call, 'name'), args: read(call, 'input') }))
  const answers = await answer(inner, render, 'anthropic', sent, options)
  return answers.map(({ id, text, images, response }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: images.length === 0 ? text : [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...images.map(({ mimeType, data }) => ({ type: 'image' as const, source: { type: 'base64' as const, media_type: mimeType as AnthropicImageType, data } })),
    ],
    ...(response.status === 'error' ? { is_error: true } : {}),
  }))
}

/** For a response of Gemini, or a content of it: parts for the next content of the user. */
export async function runGemini(inner: Inner, render: Render, response: unknown, options?: ProviderTurnOptions): Promise<GeminiFunctionResponse[]> {
  const candidates = read(response, 'candidates')
  const content = Array.isArray(candidates) ? (read(candidates[0], 'content') ?? {}) : response
  const calls = listIn(content, 'parts', 'a response').map(part => read(part, 'functionCall')).filter(call => call !== undefined && call !== null)
  const sent = calls.map(call => ({ id: read(call, 'id'), name: read(call, 'name'), args: read(call, 'args') }))
  const answers = await answer(inner, render, 'gemini', sent, options)
  return answers.map(({ id, name, text, images, response }) => ({
    functionResponse: {
      ...(id === '' ? {} : { id }),
      name,
      response: response.status === 'error' ? { error: text } : { output: structured(response) ?? text },
      ...(images.length === 0 ? {} : { parts: images.map(inlineData => ({ inlineData })) }),
    },
  }))
}

async function answer(inner: Inner, render: Render, format: ExportFormat, sent: readonly Sent[], options: ProviderTurnOptions = {}): Promise<Answered[]> {
  checkExecuteOptions(options, ['maxConcurrency', 'images'])
  const { images = true, ...turn } = options
  checkBoolean(images, 'images')
  const responses = await executeAll(inner, sent.map((call, index) => readCall(inner, format, call, index)), turn)
  return responses.map((response, index) => ({
    id: textOf(sent[index]!.id),
    name: textOf(sent[index]!.name),
    response,
    text: render(response),
    images: images ? imagesOf(response).slice(0, MAX_IMAGES) : [],
  }))
}

/** The call in the registry's words. A call without an id, as Gemini may send it, is identified by its place. */
function readCall(inner: Inner, format: ExportFormat, { id, name, args }: Sent, index: number): ToolCall {
  const called = textOf(name)
  const own = inner.entries.has(called) ? called : (unwrap(() => inner.native.ownName(format, called)) ?? called)
  return { id: textOf(id) || `call ${index + 1}`, name: own, arguments: restored(inner, format, own, args ?? {}) as string | object }
}

const MAX_IMAGES = 20
const IMAGE_TYPES: readonly unknown[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] satisfies AnthropicImageType[]

/** The images of a result, as MCP holds them; every provider that takes any takes these types. */
function imagesOf(response: ToolResponse): Image[] {
  const content = read(response.data, 'content')
  if (response.status === 'error' || !Array.isArray(content)) return []
  return content.filter(block => read(block, 'type') === 'image' && typeof block.data === 'string' && IMAGE_TYPES.includes(block.mimeType))
    .map(({ mimeType, data }) => ({ mimeType, data }))
}

/** The data of a result whose text is nothing else. Text from outside is guarded, so it stays text. */
function structured(response: ToolResponse): unknown {
  const { data } = response
  return data !== null && typeof data === 'object' && !isExternal(response) && isTextOf(data, response.text) ? data : undefined
}

function isTextOf(data: object, text: string): boolean {
  try {
    return JSON.stringify(data) === text
  } catch {
    return false
  }
}

/** A member of what a provider sent, which may be anything. */
function read(value: unknown, key: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined
}

function textOf(value: unknown): string { return typeof value === 'string' ? value : '' }

/** The list inside a message, or the list itself; a message without one has no calls. */
function listIn(message: unknown, key: string, what: string): unknown[] {
  if (message === null || typeof message !== 'object') throw invalidOption(`this takes ${what}, and got ${message === null ? 'null' : `something of type ${typeof message}`}`)
  if (Array.isArray(message)) return message
  if (typeof (message as { then?: unknown }).then === 'function') throw invalidOption(`this takes ${what}, and got a promise: await it first`)
  const list = read(message, key)
  return Array.isArray(list) ? list : []
}
