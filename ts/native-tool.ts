/** Tools whose body is in the core, as classes. */
import type { NativeTool } from './binding.js'
import { operation } from './dispatch.js'
import { ToolResponse, fromFinished } from './response.js'
import { Tool } from './tool.js'
import { notify } from './listener.js'
import { toText } from './arguments.js'
import { messageOf } from './call.js'
import type { Progress, ToolContext } from './types.js'

interface Backing {
  readonly native: NativeTool
  /** The class whose methods the core stands in for. */
  readonly Class: { readonly prototype: Tool }
}

const backings = new WeakMap<Tool, Backing>()

/** Ties a tool to its body in the core. */
export function backWith(tool: Tool, native: NativeTool, Class: { readonly prototype: Tool }): void {
  backings.set(tool, { native, Class })
}

/** The body in the core; none for a tool whose subclass replaced a method, which then runs in JavaScript. */
export function nativeOf(tool: Tool): NativeTool | undefined {
  const backing = backings.get(tool)
  if (backing === undefined) return undefined
  const { prototype } = backing.Class
  const own = tool.run === prototype.run && tool.needsConfirmation === prototype.needsConfirmation && tool.isExternalContent === prototype.isExternalContent
    && tool.getParameters === prototype.getParameters
  return own ? backing.native : undefined
}

function native(tool: Tool): NativeTool {
  const backing = backings.get(tool)
  if (backing === undefined) throw new TypeError('this tool has no body in the core')
  return backing.native
}

/** Runs a body outside any registry, where it does not wait. */
export function runNow(tool: Tool, args: unknown): ToolResponse<any> {
  const response = native(tool).runNow(toText(args))
  if (response == null) throw new TypeError('this tool has to be awaited')
  return fromFinished(response, '')
}

/** What a call outside any registry can be told. */
export interface LooseCall {
  readonly context?: ToolContext | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly onProgress?: ((update: Progress) => void) | undefined
}

/** Runs a body outside any registry. */
export function runNative(tool: Tool, args: unknown, call: LooseCall): Promise<ToolResponse<any>> {
  const body = native(tool)
  return runLoose(args, call, (token, text, callId, timeoutMs, listens) => { body.run(token, text, callId, timeoutMs, listens) })
}

/** Starts an operation; `listens` says whether anybody wants to hear of its progress. */
type Start = (token: number, text: string, callId: string, timeoutMs: number | null, listens: boolean) => void

/** Runs what `start` starts outside any registry. */
export async function runLoose(args: unknown, call: LooseCall, start: Start): Promise<ToolResponse<any>> {
  const { context } = call
  const callId = context?.callId ?? ''
  let text: string
  try {
    text = toText(args)
  } catch (error) {
    // Also whatever a getter or a proxy of theirs throws.
    return new ToolResponse(`the arguments cannot be sent: ${messageOf(error)}`, 'error', undefined, { code: 'INVALID_ARGUMENTS', callId, executed: false, external: false })
  }
  const listener = call.onProgress ?? context?.progress
  const report = (update: string) => { notify(listener, readProgress(update)) }
  const finished = await operation(token => { start(token, text, callId, call.timeoutMs ?? null, listener !== undefined) }, report, call.signal ?? context?.signal)
  return fromFinished(finished, callId)
}

/** Progress as the core writes it. */
export function readProgress(update: string): Progress {
  const { progress, total, message } = JSON.parse(update)
  return { progress, ...(total == null ? {} : { total }), ...(message == null ? {} : { message }) }
}
