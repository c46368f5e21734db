/** A whole turn: what may overlap runs together, everything else alone and in order. */
import { toText } from './arguments.js'
import { binding } from './binding.js'
import { asks, judgeValidation, messageOf } from './call.js'
import type { Entry, Inner } from './entry.js'
import { type ErrorCode, ToolError, invalidOption, unwrap } from './errors.js'
import { execute } from './execute.js'
import { ignore } from './listener.js'
import { ToolResponse } from './response.js'
import type { StandardResult } from './schema.js'
import type { ExecuteOptions, OpenAIToolCall, ToolCall } from './types.js'

/** Options of a turn; each call has its own id. */
export type TurnOptions = Omit<ExecuteOptions, 'callId'> & {
  /** Calls that run at once. Default: 8. */
  maxConcurrency?: number | undefined
}

const DEFAULT_CONCURRENCY = 8

export async function executeAll(inner: Inner, calls: readonly (ToolCall | OpenAIToolCall)[], options: TurnOptions = {}): Promise<ToolResponse[]> {
  const { maxConcurrency = DEFAULT_CONCURRENCY, ...shared } = options
  if (!Number.isInteger(maxConcurrency) || maxConcurrency < 1) throw invalidOption('maxConcurrency must be a positive whole number')
  if (!Array.isArray(calls)) throw invalidOption('executeAll takes an array of calls')
  unwrap(() => inner.native.checkOpen())
  const turn = Array.from(calls, readCall)
  const responses: ToolResponse[] = []
  let next = 0
  for (const end of binding.batchEnds(turn.map(call => typeof call !== 'string' && mayOverlap(inner, call)))) {
    await runBatch(next, end, Math.min(maxConcurrency, end - next), async index => { responses[index] = await runOne(inner, turn[index]!, shared) })
    next = end
  }
  return responses
}

/** A call whose parts are read once; a string says why it is none. */
function readCall(call: ToolCall | OpenAIToolCall): ToolCall | string {
  try {
    const { id } = call
    const { name, arguments: args } = 'function' in call ? call.function : call
    if (typeof id === 'string' && id !== '' && typeof name === 'string') return { id, name, arguments: args }
  } catch (error) {
    return `this call cannot be read: ${messageOf(error)}`
  }
  return 'a call needs an id and a name, both strings, beside its arguments'
}

/** Workers take the calls of a batch in order, so that no more than `width` are under way. */
async function runBatch(start: number, end: number, width: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = start
  const worker = async () => {
    while (next < end) await run(next++)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Every call of a turn gets a response: also one that is none, and one that comes after the registry was closed. */
async function runOne(inner: Inner, call: ToolCall | string, options: ExecuteOptions): Promise<ToolResponse> {
  if (typeof call === 'string') return refused(call, 'INVALID_OPTIONS', '')
  try {
    return await execute(inner, call.name, call.arguments, { ...options, callId: call.id })
  } catch (error) {
    return refused(messageOf(error), ToolError.isInstance(error) ? error.code : 'EXECUTION_FAILED', call.id)
  }
}

function refused(text: string, code: ErrorCode, callId: string): ToolResponse {
  return new ToolResponse(text, 'error', undefined, { code, callId, executed: false, external: false })
}

/** A Standard Schema is not run just to plan: a tool that decides by what it makes of the arguments runs alone. */
function mayOverlap(inner: Inner, call: ToolCall): boolean {
  const entry = inner.entries.get(call.name)
  if (entry === undefined || !entry.supportsParallel) return false
  const question = readQuestion(inner, entry, call.arguments)
  return question === 'no' || (typeof question === 'object' && entry.validate === undefined && !asks(entry, question.args))
}

/** Whether a call would ask a person. True where that cannot be told. */
export function mayAsk(inner: Inner, name: string, args: unknown): boolean {
  return inner.entries.has(name) && foresee(inner, name, args) !== 'no'
}

/** What would become of a call: whether a person is asked, or it is refused before that. `yes` where that cannot be told. */
export function foresee(inner: Inner, name: string, args: unknown): 'no' | 'yes' | 'refused' {
  const entry = inner.entries.get(name)
  const question = entry === undefined ? 'refused' : readQuestion(inner, entry, args)
  if (entry === undefined || question === 'no' || question === 'refused') return question as 'no' | 'refused'
  try {
    const given = question === 'yes' ? parsed(args) : question.args
    const result = entry.validate?.(given) ?? { value: given }
    ignore(result)
    const judged = judgeValidation(result as StandardResult)
    if (!('value' in judged)) return 'refused'
    return question === 'yes' || asks(entry, judged.value) ? 'yes' : 'no'
  } catch {
    return 'yes'
  }
}

function parsed(args: unknown): unknown {
  const text = toText(args)
  return text.trim() === '' ? {} : JSON.parse(text)
}

/** The core's word on whether to ask: no, yes, refused before that, or the tool decides by arguments that are complete. */
function readQuestion(inner: Inner, entry: Entry, args: unknown): 'no' | 'yes' | 'refused' | { args: unknown } {
  try {
    const [word, text] = unwrap(() => inner.native.wouldAsk(entry.id, toText(args))) as ['no' | 'yes' | 'refused' | 'ask', string]
    return word === 'ask' ? { args: JSON.parse(text) } : word
  } catch {
    return 'refused'
  }
}
