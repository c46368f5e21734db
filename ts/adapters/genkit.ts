/** The tools of a registry for Genkit (`genkit`). See docs/frameworks.md. */
import { randomUUID } from 'node:crypto'
import { invalidOption } from '../errors.js'
import type { ToolRegistry } from '../registry.js'
import { type FrameworkCall, approvalsOf } from './approvals.js'
import { imagesOf } from './images.js'
import { type AdapterOptions, type Approval, readOptions } from './offer.js'
import { type ToolOutput, runCall } from './run.js'

export type { AdapterOptions, Approval, ToolOutput }

/** What of the options that Genkit gives to a tool is used. */
interface RunOptions {
  readonly abortSignal?: AbortSignal
  readonly context?: { readonly abortSignal?: unknown }
  /** What a tool that is run again was restarted with. */
  readonly resumed?: unknown
  readonly metadata?: { readonly interrupt?: { readonly question?: unknown } }
  interrupt(metadata: Record<string, unknown>): never
}

/** A tool's answer in Genkit's form with several parts. */
interface Answer {
  /** What the model reads. */
  output: string
  /** Images of MCP tools. */
  content?: { media: { url: string; contentType: string } }[]
  /** Not for the model. */
  metadata: { toolbolt: ToolOutput }
}

/** What Genkit is asked for, since nothing of it is imported. */
export interface GenkitOptions<T> extends AdapterOptions {
  /** `tool` of `genkit`, or of `genkit/beta` if `approval` is not `registry`. */
  tool: (config: { name: string; description: string; multipart: true }, run: (input: any, options: any) => Promise<any>) => T
}

/**
 * The permitted tools, for `tools` of `generate`. A snapshot. Calls go through `registry.execute`; what fails or is refused is answered with text,
 * since what a tool throws would end the generation. With `approval` `framework` or `both` a call that needs a yes interrupts the
 * generation. The whole output of a call is `metadata.toolbolt` of its part.
 * @throws ToolError `INVALID_OPTIONS`.
 */
export function toGenkitTools<T>(registry: ToolRegistry, options: GenkitOptions<T>): T[] {
  const { tool, ...rest } = options ?? {}
  if (typeof tool !== 'function') throw invalidOption("the tools of Genkit are made by its own function: pass { tool } of 'genkit'")
  const { tools, approval } = readOptions(registry, rest)
  return tools.map(({ name, description, schema }) => {
    const made = tool({ name, description, multipart: true }, async (args, run: RunOptions) => {
      const granted = approval !== 'registry' && approve(registry, { callId: undefined, name, args }, run)
      return toAnswer(await runCall(registry, { callId: undefined, name, args }, { signal: signalOf(run), state: run.context, approval, granted: () => granted }))
    })
    const action = (made as { __action?: { inputJsonSchema?: unknown; outputJsonSchema?: unknown } } | undefined)?.__action
    if (action === undefined) throw invalidOption("what `tool` made is no tool of Genkit: pass { tool } of 'genkit'")
    // Shown to the model, and not checked by Genkit, for which a faulty argument is the end of the generation.
    action.inputJsonSchema = schema
    action.outputJsonSchema = { type: 'string' }
    return made
  })
}

/** Whether the person said yes to this call; interrupts where nobody was asked yet. Genkit has no ids of calls here, so a question has one. */
function approve(registry: ToolRegistry, call: FrameworkCall, { resumed, metadata, interrupt }: RunOptions): boolean | 'declined' {
  const approvals = approvalsOf(registry)
  if (!approvals.wants(call)) return false
  if (resumed === undefined) {
    const question = randomUUID()
    approvals.ask({ ...call, callId: question })
    return interrupt({ question })
  }
  if (resumed !== true && (resumed as { approved?: unknown } | null)?.approved !== true) return 'declined'
  // Not asked anew where this is none: Genkit cannot interrupt what it restarts.
  const asked = metadata?.interrupt?.question
  return typeof asked === 'string' && approvals.take({ ...call, callId: asked })
}

/** Genkit passes no signal on to tools: one in the context of the generation counts. */
function signalOf({ abortSignal, context }: RunOptions): AbortSignal | undefined {
  return context?.abortSignal instanceof AbortSignal ? context.abortSignal : abortSignal
}

function toAnswer(output: ToolOutput): Answer {
  const content = imagesOf(output).map(({ data, mediaType }) => ({ media: { url: `data:${mediaType};base64,${data}`, contentType: mediaType } }))
  return { output: output.text, ...(content.length === 0 ? {} : { content }), metadata: { toolbolt: output } }
}
