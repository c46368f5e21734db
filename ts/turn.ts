/** A whole turn: what may overlap runs together, everything else alone and in order. */
import { binding } from './binding.js'
import { messageOf } from './call.js'
import type { Inner } from './entry.js'
import { ToolError, invalidOption, unwrap } from './errors.js'
import { execute } from './execute.js'
import { ToolResponse } from './response.js'
import { toText, wellFormed } from './snapshot.js'
import type { ExecuteOptions, ToolCall } from './types.js'

/** Options of a turn; each call has its own id. */
export type TurnOptions = Omit<ExecuteOptions, 'callId'> & {
  /** Calls that run at once. Default: 8. */
  maxConcurrency?: number
}

const DEFAULT_CONCURRENCY = 8

export async function executeAll(inner: Inner, calls: readonly ToolCall[], options: TurnOptions = {}): Promise<ToolResponse[]> {
  const { maxConcurrency = DEFAULT_CONCURRENCY, ...shared } = options
  if (!Number.isInteger(maxConcurrency) || maxConcurrency < 1) throw invalidOption('maxConcurrency must be a positive whole number')
  if (!Array.isArray(calls)) throw invalidOption('executeAll takes an array of calls')
  unwrap(() => inner.native.checkOpen())
  const turn = [...calls]
  const responses: ToolResponse[] = []
  let next = 0
  for (const end of binding.batchEnds(turn.map(call => mayOverlap(inner, call)))) {
    const batch = turn.slice(next, end)
    next = end
    responses.push(...await runBatch(batch, Math.min(maxConcurrency, batch.length), call => runOne(inner, call, shared)))
  }
  return responses
}

/** Workers take the calls in order, so that no more than `width` are under way. */
async function runBatch(batch: readonly ToolCall[], width: number, run: (call: ToolCall) => Promise<ToolResponse>): Promise<ToolResponse[]> {
  const responses: ToolResponse[] = []
  let next = 0
  const worker = async () => {
    while (next < batch.length) {
      const index = next++
      responses[index] = await run(batch[index]!)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return responses
}

/** Every call of a turn gets a response: also one that is none, and one that comes after the registry was closed. */
async function runOne(inner: Inner, call: ToolCall, options: ExecuteOptions): Promise<ToolResponse> {
  const callId = typeof call?.id === 'string' && call.id !== '' ? call.id : undefined
  try {
    if (callId === undefined || typeof call.name !== 'string') throw invalidOption('a call needs an id and a name, both strings')
    return await execute(inner, call.name, call.arguments, { ...options, callId })
  } catch (error) {
    const code = ToolError.isInstance(error) ? error.code : 'EXECUTION_FAILED'
    return new ToolResponse(messageOf(error), 'error', undefined, { code, callId: callId ?? '', executed: false, external: false })
  }
}

function mayOverlap(inner: Inner, call: ToolCall): boolean {
  const entry = inner.entries.get(call?.name)
  if (entry === undefined || !entry.supportsParallel) return false
  return !mayAsk(inner, call.name, call.arguments, true)
}

/**
 * Whether a call would ask a person. `whenRefused` is the answer for a call that would not get that far. A Standard Schema is
 * not run for it: its tool is asked with the arguments as they were sent.
 */
export function mayAsk(inner: Inner, name: string, args: unknown, whenRefused: boolean): boolean {
  const entry = inner.entries.get(name)
  if (entry === undefined) return whenRefused
  let text: string
  try {
    text = typeof args === 'string' ? wellFormed(args) : toText(args === undefined ? {} : args)
  } catch {
    return whenRefused
  }
  const asks = inner.native.wouldAsk(entry.id, text)
  if (typeof asks === 'string') return whenRefused
  if (asks !== 2) return asks === 1
  try {
    return entry.tool.needsConfirmation(text.trim() === '' ? {} : JSON.parse(text)) !== false
  } catch {
    return true
  }
}
