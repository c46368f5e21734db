/** The tools of a registry for the OpenAI Agents SDK (`@openai/agents`). See docs/frameworks.md. */
import { checkFunction } from '../options.js'
import type { ToolRegistry } from '../registry.js'
import { type FrameworkCall, approvalsOf } from './approvals.js'
import { imagesOf } from './images.js'
import { type AdapterOptions, type Approval, type OfferedTool, readOptions } from './offer.js'
import { type ToolOutput, runCall } from './run.js'

export type { AdapterOptions, Approval, ToolOutput }

/** What of the SDK's own context is used. */
interface RunContext {
  readonly context: unknown
  isToolApproved(approval: { toolName: string; callId: string }): boolean | undefined
}

interface Details {
  readonly toolCall?: { readonly callId?: string; readonly arguments?: string }
  readonly signal?: AbortSignal
}

/** What the model reads: text, and images beside it where there are some. */
export type OpenAIAgentsOutput = string | ({ type: 'text'; text: string } | { type: 'image'; image: { data: string; mediaType: string } })[]

/** A function tool of the SDK. */
export interface OpenAIAgentsTool {
  type: 'function'
  name: string
  description: string
  parameters: { type: 'object'; properties: Record<string, any>; required: string[]; additionalProperties: any }
  strict: false
  invoke: (runContext: any, input: string, details?: any) => Promise<OpenAIAgentsOutput>
  needsApproval: (runContext: any, input: any, callId?: string) => Promise<boolean>
  isEnabled: (options?: any) => Promise<boolean>
  /** Gives `customData` of the output item: the whole output of the call. */
  customDataExtractor: (context: any) => any
}

/** `tool` of the SDK, in whichever version. */
type ToolFunction<T> = (options: any) => T

/**
 * The permitted tools, for `tools` of an agent. A snapshot, but that a tool which is gone or denied meanwhile is no longer offered. Calls go
 * through `registry.execute`; what fails or is refused is answered with text. With `approval` `framework` or `both` the SDK interrupts the
 * run before calls that need a yes. With `tool`, the function of that name of the SDK makes the tools.
 * @throws ToolError `INVALID_OPTIONS`.
 */
export function toOpenAIAgentsTools<T>(registry: ToolRegistry, options: AdapterOptions & { tool: ToolFunction<T> }): T[]
export function toOpenAIAgentsTools(registry: ToolRegistry, options?: AdapterOptions): OpenAIAgentsTool[]
export function toOpenAIAgentsTools(registry: ToolRegistry, options: AdapterOptions & { tool?: ToolFunction<unknown> } = {}): unknown[] {
  const { tool, ...rest } = options ?? {}
  if (tool !== undefined) checkFunction(tool, 'tool')
  const { tools, approval } = readOptions(registry, options === null ? (options as never) : rest)
  return tools.map(offered => {
    const made = toTool(registry, offered, approval)
    if (tool === undefined) return made
    const { invoke, type: _type, needsApproval, ...shared } = made
    return tool({
      ...shared,
      // Only a plain `false` spares the SDK a question about arguments that are no JSON.
      needsApproval: approval === 'registry' ? false : needsApproval,
      // The text as it came, in which no number was rounded.
      execute: (input: unknown, runContext: RunContext, details?: Details) => invoke(runContext, details?.toolCall?.arguments ?? JSON.stringify(input), details),
      errorFunction: null,
    })
  })
}

function toTool(registry: ToolRegistry, { name, description, schema }: OfferedTool, approval: Approval): OpenAIAgentsTool {
  const approvals = approvalsOf(registry)
  /** Waiting to be asked for, by run and call. */
  const outputs = new WeakMap<object, Map<string, ToolOutput>>()
  return {
    type: 'function',
    name,
    description,
    parameters: schema as unknown as OpenAIAgentsTool['parameters'],
    strict: false,
    async needsApproval(runContext: RunContext, input, callId) {
      if (approval === 'registry') return false
      const call = { callId, name, args: input }
      // A run that goes on after a yes may ask again. That is no new question.
      return isHeld(runContext, call) ? approvals.wants(call) : approvals.ask(call)
    },
    async isEnabled() { return registry.toOpenAISchema([name]).length > 0 },
    async invoke(runContext: RunContext, input: string, details?: Details) {
      const call = { callId: details?.toolCall?.callId, name, args: input }
      const output = await runCall(registry, call, { signal: details?.signal, state: runContext.context, approval, granted: () => approvals.take(call) || isHeld(runContext, call) && approvals.takeHeld(call) })
      if (call.callId !== undefined) remember(outputs, runContext, call.callId, output)
      return toModel(output)
    },
    customDataExtractor({ runContext, toolCall }) {
      const ofRun = outputs.get(runContext)
      const output = ofRun?.get(toolCall?.callId)
      ofRun?.delete(toolCall?.callId)
      return output
    },
  }
}

/** Whether the run itself says that the call was approved: also a run that was stored, and goes on in another process. */
function isHeld(runContext: RunContext, { callId, name }: FrameworkCall): boolean {
  return callId !== undefined && runContext.isToolApproved({ toolName: name, callId }) === true
}

function remember(outputs: WeakMap<object, Map<string, ToolOutput>>, runContext: object, callId: string, output: ToolOutput): void {
  const ofRun = outputs.get(runContext) ?? new Map<string, ToolOutput>()
  outputs.set(runContext, ofRun.set(callId, output))
}

function toModel(output: ToolOutput): OpenAIAgentsOutput {
  const images = imagesOf(output)
  return images.length === 0 ? output.text : [{ type: 'text', text: output.text }, ...images.map(image => ({ type: 'image' as const, image: { ...image } }))]
}
