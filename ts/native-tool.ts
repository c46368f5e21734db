/** Tools whose body is in the core, as classes. */
import { type NativeTool, binding } from './binding.js'
import { operation } from './dispatch.js'
import { type ToolResponse, fromFinished } from './response.js'
import { Tool } from './tool.js'
import type { ToolContext } from './types.js'

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
  return own ? backing.native : undefined
}

function native(tool: Tool): NativeTool {
  const backing = backings.get(tool)
  if (backing === undefined) throw new TypeError('this tool has no body in the core')
  return backing.native
}

/** Runs a body outside any registry, where it does not wait. */
export function runNow(tool: Tool, args: unknown): ToolResponse<any> {
  const response = native(tool).runNow(JSON.stringify(args))
  if (response == null) throw new TypeError('this tool has to be awaited')
  return fromFinished(response, '')
}

/** Runs a body outside any registry. */
export async function runNative(tool: Tool, args: unknown, context: ToolContext | undefined): Promise<ToolResponse<any>> {
  const cancel = new binding.CancelSource()
  const stop = () => { cancel.cancel() }
  context?.signal.addEventListener('abort', stop, { once: true })
  if (context?.signal.aborted) stop()
  try {
    const text = JSON.stringify(args)
    return fromFinished(await operation(token => { native(tool).run(token, text, context?.callId ?? '', cancel) }, update => { context?.progress(JSON.parse(update)) }), context?.callId ?? '')
  } finally {
    context?.signal.removeEventListener('abort', stop)
  }
}

