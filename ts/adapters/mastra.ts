/** The tools of a registry for Mastra (`@mastra/core`). See docs/frameworks.md. */
import type { ToolRegistry } from '../registry.js'
import { approvalsOf } from './approvals.js'
import { imagesOf } from './images.js'
import { type AdapterOptions, type Approval, readOptions } from './offer.js'
import { type ToolOutput, orThrow, runCall } from './run.js'
import { type StandardJsonSchema, standardSchema } from './standard-schema.js'

export type { AdapterOptions, Approval, ToolOutput }

/** What of the context of an execution is used. */
interface ExecutionContext {
  readonly abortSignal?: AbortSignal
  readonly requestContext?: unknown
  readonly runId?: string
  readonly agent?: { readonly toolCallId?: string }
}

/** A tool of Mastra. */
export interface MastraTool {
  id: string
  description: string
  inputSchema: StandardJsonSchema
  /** The schema is sent as it was declared, and not rewritten for a provider. */
  strict: false
  requireApproval?: (input: any) => boolean
  /** @throws ToolError for what is no success, in the words that a model can act on. */
  execute: (input: any, context?: any) => Promise<ToolOutput>
  toModelOutput: (output: any) => any
}

/** How Mastra knows tools that it did not make itself. */
const MARK = Symbol.for('mastra.core.tool.Tool')
/** Mastra does not say which call it wants to know about. */
const ANY_CALL = 'any'

/**
 * The permitted tools, for `tools` of an agent. A snapshot. Calls go through `registry.execute`. With `approval` `framework` or `both` the
 * agent suspends before calls that need a yes.
 * @throws ToolError `INVALID_OPTIONS`.
 */
export function toMastraTools(registry: ToolRegistry, options: AdapterOptions = {}): Record<string, MastraTool> {
  const { tools, approval } = readOptions(registry, options)
  const approvals = approvalsOf(registry)
  const made: Record<string, MastraTool> = Object.create(null)
  for (const { name, description, schema } of tools) {
    const tool: MastraTool = {
      id: name,
      description,
      inputSchema: standardSchema(schema),
      strict: false,
      ...(approval === 'registry' ? {} : { requireApproval: (input: unknown) => approvals.ask({ callId: ANY_CALL, name, args: input }) }),
      async execute(input: unknown, context: ExecutionContext = {}) {
        const callId = context.agent?.toolCallId
        const inRun = callId === undefined ? undefined : JSON.stringify([context.runId, callId])
        // Mastra looks at `requireApproval` also when a run goes on, and comes here only after a yes. Elsewhere than in agents it does neither.
        const granted = () => approvals.take({ callId: ANY_CALL, name, args: input }) && approvals.takeHeld({ callId: inRun, name, args: input })
        return orThrow(await runCall(registry, { callId, name, args: input }, { signal: context.abortSignal, state: context.requestContext, approval, granted }))
      },
      toModelOutput,
    }
    made[name] = Object.assign(tool, { [MARK]: true })
  }
  return made
}

function toModelOutput(output: any): object {
  const text = typeof output?.text === 'string' ? output.text : JSON.stringify(output ?? null)
  const images = imagesOf(output)
  return images.length === 0 ? { type: 'text', value: text } : { type: 'content', value: [{ type: 'text', text }, ...images.map(image => ({ type: 'media', ...image }))] }
}
