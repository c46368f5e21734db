/** The tools of a registry for the AI SDK (`ai`), versions 6 and 7. See docs/frameworks.md. */
import type { ToolRegistry } from '../registry.js'
import type { JsonSchema } from '../types.js'
import { approvalsOf } from './approvals.js'
import { imagesOf } from './images.js'
import { type AdapterOptions, type Approval, readOptions } from './offer.js'
import { type ToolOutput, orThrow, runCall } from './run.js'
import { type StandardJsonSchema, standardSchema } from './standard-schema.js'

export type { AdapterOptions, Approval, ToolOutput }

/** What of the options of a call is used. */
interface CallOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
  /** Of version 7. */
  readonly context?: unknown
  /** Of version 6. */
  readonly experimental_context?: unknown
}

interface ApprovalOptions {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
}

/** Images, in the words of version 6, which 7 still takes, and in those of version 7. */
type MediaPart =
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'file'; data: { type: 'data'; data: string }; mediaType: string }

type ModelOutput =
  | { type: 'text'; value: string }
  | { type: 'content'; value: ({ type: 'text'; text: string } | MediaPart)[] }

/** A tool of the AI SDK. */
export interface AISDKTool {
  type: 'dynamic'
  description: string
  inputSchema: StandardJsonSchema
  /** Who vouches for the tool; not sent to the model. */
  metadata: { origin: string }
  needsApproval?: (input: any, options: ApprovalOptions) => boolean
  /** @throws ToolError for what is no success, in the words that a model can act on. */
  execute: (input: any, options: CallOptions) => Promise<ToolOutput>
  toModelOutput: (options: { output: any }) => any
}

/**
 * The permitted tools, for `tools` of `generateText`, `streamText` and agents. A snapshot: a tool that is registered later is not among
 * them, and a call of one that has gone is refused. Calls go through `registry.execute`. With `approval` `framework` or `both` the SDK asks
 * before calls that need a yes; the approval counts in this process, for the call that was asked about, and once.
 * @throws ToolError `INVALID_OPTIONS`.
 */
export function toAISDKTools(registry: ToolRegistry, options: AdapterOptions = {}): Record<string, AISDKTool> {
  const { tools, approval } = readOptions(registry, options)
  const approvals = approvalsOf(registry)
  /** Version 7 no longer passes the context by its old name. */
  let tagsFiles = false
  // No prototype: a model may ask for a tool named `constructor`, and a tool may be named `__proto__`.
  const toolset: Record<string, AISDKTool> = Object.create(null)
  for (const { name, description, schema, origin } of tools) {
    toolset[name] = {
      type: 'dynamic',
      description,
      inputSchema: asInputSchema(schema),
      metadata: { origin },
      ...(approval === 'registry' ? {} : {
        needsApproval(input: unknown, { toolCallId, messages }: ApprovalOptions) {
          const call = { callId: toolCallId, name, args: input }
          // Before it runs what history says was approved, the SDK asks again. That is no new question.
          return answersFor(messages, toolCallId) || approvals.ask(call)
        },
      }),
      async execute(input, options) {
        tagsFiles = !('experimental_context' in options)
        const call = { callId: options.toolCallId, name, args: input }
        return orThrow(await runCall(registry, call, { signal: options.abortSignal, state: options.context ?? options.experimental_context, approval, granted: () => approvals.take(call) }))
      },
      toModelOutput: ({ output }) => toModelOutput(output, tagsFiles),
    }
  }
  return toolset
}

/** Also a schema of the SDK itself, which is sent as it is: of any other it would forbid more properties than were declared. */
function asInputSchema(schema: JsonSchema): StandardJsonSchema {
  const own = { [Symbol.for('vercel.ai.schema')]: true, jsonSchema: schema, validate: (value: unknown) => ({ success: true, value }) }
  return Object.assign(standardSchema(schema), own)
}

/** Whether the messages end in an answer to the question about a call. */
function answersFor(messages: readonly unknown[], toolCallId: string): boolean {
  const parts = (message: any): any[] => (Array.isArray(message?.content) ? message.content : [])
  const answered = new Set(parts(messages.at(-1)).filter(part => part?.type === 'tool-approval-response').map(part => part.approvalId))
  return answered.size > 0 && messages.some(message => parts(message).some(part => part?.type === 'tool-approval-request' && part.toolCallId === toolCallId && answered.has(part.approvalId)))
}

/** An output may come from a conversation that a client sent, and then be anything. */
function toModelOutput(output: any, tagsFiles: boolean): ModelOutput {
  const text = typeof output?.text === 'string' ? output.text : JSON.stringify(output ?? null)
  const images = imagesOf(output)
  if (images.length === 0) return { type: 'text', value: text }
  const parts = images.map(({ data, mediaType }): MediaPart => (tagsFiles ? { type: 'file', data: { type: 'data', data }, mediaType } : { type: 'image-data', data, mediaType }))
  return { type: 'content', value: [{ type: 'text', text }, ...parts] }
}
