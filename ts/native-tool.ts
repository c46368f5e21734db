/** Tools whose body is in the core, as classes. */
import { type NativeTool, binding } from './binding.js'
import { operation } from './dispatch.js'
import { ToolResponse, fromFinished } from './response.js'
import { Tool } from './tool.js'
import { notify } from './listener.js'
import { NotJson, toText } from './arguments.js'
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
export async function runNative(tool: Tool, args: unknown, call: LooseCall): Promise<ToolResponse<any>> {
  const { context } = call
  const signal = call.signal ?? context?.signal
  const report = (update: Progress) => { notify(call.onProgress ?? context?.progress, update) }
  const callId = context?.callId ?? ''
  const cancel = new binding.CancelSource()
  const stop = () => { cancel.cancel() }
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  try {
    const text = toText(args)
    const started = (token: number) => { native(tool).run(token, text, callId, call.timeoutMs ?? null, cancel) }
    return fromFinished(await operation(started, update => { report(readProgress(update)) }), callId)
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof TypeError || error instanceof RangeError)) throw error
    return new ToolResponse(`the arguments cannot be sent: ${error.message}`, 'error', undefined, { code: 'INVALID_ARGUMENTS', callId, executed: false, external: false })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Progress as the core writes it. */
export function readProgress(update: string): Progress {
  const { progress, total, message } = JSON.parse(update)
  return { progress, ...(total == null ? {} : { total }), ...(message == null ? {} : { message }) }
}
