/** The tools of a registry for LangChain and LangGraph. See docs/frameworks.md. */
import { invalidOption } from '../errors.js'
import { checkFunction } from '../options.js'
import type { ToolRegistry } from '../registry.js'
import type { JsonSchema } from '../types.js'
import { type FrameworkCall, approvalsOf } from './approvals.js'
import { imagesOf } from './images.js'
import { type AdapterOptions, type Approval, type OfferedTool, readOptions } from './offer.js'
import { type ToolOutput, orThrow, runCall } from './run.js'

export type { AdapterOptions, Approval, ToolOutput }

/** What a message of LangChain holds: text, and images beside it where there are some. */
type Content = string | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]

interface MessageFields {
  content: any
  artifact?: any
  status?: 'success' | 'error'
  tool_call_id: string
  name?: string
}

/** What LangChain is asked for, since nothing of it is imported. */
export interface LangChainOptions extends AdapterOptions {
  /** `ToolMessage` of `langchain` or `@langchain/core/messages`. Without it a result has no artifact, and failures are thrown. */
  ToolMessage?: (new (fields: MessageFields) => any) | undefined
  /** `interrupt` of `@langchain/langgraph`, which pauses a run. Needed unless `approval` is `registry`. */
  interrupt?: ((value: any) => unknown) | undefined
}

/** A tool of LangChain. */
export type LangChainTool = {
  name: string
  description: string
  schema: JsonSchema
  /** Who vouches for the tool. */
  metadata: { origin: string }
  returnDirect: false
  lc_runnable: true
  lc_namespace: string[]
  invoke(input: any, config?: any): Promise<any>
}

/** What of the configuration of a run is used. */
interface RunConfig {
  readonly signal?: AbortSignal
  readonly context?: unknown
  readonly configurable?: { readonly thread_id?: unknown; readonly checkpoint_ns?: unknown }
}

interface Decision { readonly type?: unknown; readonly message?: unknown }

/**
 * The permitted tools, for `tools` of `createAgent`, a `ToolNode` or `bindTools`. A snapshot. Calls go through `registry.execute`. With
 * `ToolMessage`, results are such messages: the whole output is their artifact, and what fails or is refused has the status `error`. With
 * `approval` `framework` or `both` a call that needs a yes interrupts the run, as LangChain's own middleware for people in the loop does.
 * @throws ToolError `INVALID_OPTIONS`.
 */
export function toLangChainTools(registry: ToolRegistry, options: LangChainOptions = {}): LangChainTool[] {
  const { ToolMessage, interrupt, ...rest } = options ?? {}
  checkFunction(ToolMessage, 'ToolMessage')
  checkFunction(interrupt, 'interrupt')
  const { tools, approval } = readOptions(registry, options === null ? (options as never) : rest)
  if (approval !== 'registry' && interrupt === undefined) throw invalidOption(`approval '${approval}' needs the function that pauses a run: pass interrupt of @langchain/langgraph`)
  return tools.map(offered => toTool(registry, offered, { ToolMessage, interrupt, approval }))
}

function toTool(registry: ToolRegistry, { name, description, schema, origin }: OfferedTool, { ToolMessage, interrupt, approval }: LangChainOptions & { approval: Approval }): LangChainTool {
  const approvals = approvalsOf(registry)
  return {
    name,
    description,
    schema,
    metadata: { origin },
    returnDirect: false,
    lc_runnable: true,
    lc_namespace: ['toolbolt', 'tools'],
    async invoke(input: any, config?: RunConfig) {
      const isToolCall = input?.type === 'tool_call'
      const call: FrameworkCall = { callId: isToolCall ? input.id : undefined, name, args: isToolCall ? input.args : input }
      // Throws until the run goes on, and then gives the answer.
      const decision = approval !== 'registry' && approvals.wants(call) ? decisionIn(interrupt?.(questionAbout(call, description))) : undefined
      const granted = () => (decision?.type === 'reject' ? 'declined' : decision?.type === 'approve' && approvals.takeHeld({ ...call, callId: idInRun(call, config) }))
      const output = withMessage(await runCall(registry, call, { signal: config?.signal, state: config?.context, approval, granted }), decision)
      if (ToolMessage === undefined || call.callId === undefined) return toContent(orThrow(output))
      return new ToolMessage({ content: toContent(output), artifact: output, status: output.status === 'error' ? 'error' : 'success', tool_call_id: call.callId, name })
    },
  }
}

/** In the form of LangChain's own middleware, so that what shows its questions can show these. */
function questionAbout({ name, args }: FrameworkCall, description: string): object {
  return { actionRequests: [{ name, args, description }], reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }] }
}

function decisionIn(answer: unknown): Decision {
  const decisions = (answer as { decisions?: unknown } | null | undefined)?.decisions
  return Array.isArray(decisions) && decisions.length === 1 ? (decisions[0] ?? {}) : {}
}

/** What the person said beside no. */
function withMessage(output: ToolOutput, decision: Decision | undefined): ToolOutput {
  if (decision?.type !== 'reject' || typeof decision.message !== 'string' || output.code !== 'CONFIRMATION_REJECTED') return output
  return { ...output, text: `${output.text}\n${decision.message}` }
}

/** The id of a call with its place in its run: the same when the run goes on, or goes back. */
function idInRun({ callId }: FrameworkCall, config: RunConfig | undefined): string | undefined {
  const { thread_id: thread, checkpoint_ns: place } = config?.configurable ?? {}
  return callId === undefined ? undefined : JSON.stringify([thread, place, callId])
}

function toContent(output: ToolOutput): Content {
  const images = imagesOf(output)
  if (images.length === 0) return output.text
  return [{ type: 'text', text: output.text }, ...images.map(({ data, mediaType }) => ({ type: 'image_url' as const, image_url: { url: `data:${mediaType};base64,${data}` } }))]
}
