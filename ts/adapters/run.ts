/** A call that a framework makes: through the registry, which alone decides and runs. */
import type { ErrorCode } from '../errors.js'
import { ToolError } from '../errors.js'
import type { ToolRegistry } from '../registry.js'
import type { ConfirmCallback, JsonValue, ToolStatus } from '../types.js'
import type { FrameworkCall } from './approvals.js'
import type { Approval } from './offer.js'

/** What a call gave, as plain data that can be stored with a conversation. */
export interface ToolOutput {
  /** What the model reads: text from outside stands between its delimiters. */
  readonly text: string
  readonly status: ToolStatus
  /** What the program reads. Of MCP tools `{ content, structuredContent }`. BigInts are strings of digits. */
  readonly data?: JsonValue | undefined
  readonly code?: ErrorCode | undefined
  /** Who vouches for the tool. */
  readonly origin?: string | undefined
}

interface CallOptions {
  readonly signal: AbortSignal | null | undefined
  /** What the framework's program passed along, for tools to read as `context.state`. */
  readonly state: unknown
  readonly approval: Approval
  /** Uses up the framework's approval of this call; whether there was one, or the person said no. */
  granted(): boolean | 'declined'
}

const nobody: ConfirmCallback = () => { throw new ToolError('CONFIRMATION_REJECTED', 'the framework has no approval of exactly this call that was not used before') }
const yes: ConfirmCallback = () => true
const no: ConfirmCallback = () => false

/** Runs a call. @throws ToolError `CLOSED`. */
export async function runCall(registry: ToolRegistry, { callId, name, args }: FrameworkCall, { signal, state, approval, granted }: CallOptions): Promise<ToolOutput> {
  const response = await registry.execute(name, args as string | object, {
    ...(callId === undefined || callId === '' ? {} : { callId }),
    ...(signal == null ? {} : { signal }),
    state,
    confirm: confirmationBy(approval, granted),
  })
  const { status, data, code, origin } = response.toJSON()
  return { text: registry.render(response), status, ...(data === undefined ? {} : { data }), ...(code === undefined ? {} : { code }), ...(origin === undefined ? {} : { origin }) } as ToolOutput
}

/** What answers the gate's question; undefined for the registry's own callback. */
function confirmationBy(approval: Approval, granted: CallOptions['granted']): ConfirmCallback | undefined {
  if (approval === 'registry') return undefined
  const answer = granted()
  if (answer === 'declined') return no
  if (!answer) return nobody
  return approval === 'framework' ? yes : undefined
}

/** An output that is no error. @throws ToolError with the text for the model, for frameworks that expect errors to be thrown. */
export function orThrow(output: ToolOutput): ToolOutput {
  if (output.status !== 'error') return output
  throw new ToolError(output.code ?? 'EXECUTION_FAILED', output.text, output.data === undefined ? undefined : { data: output.data })
}
