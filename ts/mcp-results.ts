/** What MCP tools give to a program. */
import type { JsonObject } from './types.js'

/** One block of a result, as the server wrote it. Which members there are depends on `type`; what nobody knows is kept. */
export interface MCPContentBlock {
  /** `text`, `image`, `audio`, `resource`, `resource_link`, or what a server thinks up. */
  readonly type: string
  /** Of `text`. */
  readonly text?: string
  /** Of `image` and `audio`: base64. */
  readonly data?: string
  /** Of `image`, `audio` and `resource_link`. */
  readonly mimeType?: string
  /** Of `resource_link`. */
  readonly uri?: string
  readonly name?: string
  /** Of `resource`. */
  readonly resource?: { readonly uri: string; readonly mimeType?: string; readonly text?: string; readonly blob?: string }
  readonly [member: string]: unknown
}

/**
 * The `data` of a response of an MCP tool. A server answered where `content` is there; what went wrong before has other data or none. Whole numbers
 * beyond 2^53 - 1 are BigInts.
 */
export interface MCPResultData<Structured = unknown> {
  readonly content?: readonly MCPContentBlock[]
  /** Held to the tool's `outputSchema` where there is one. */
  readonly structuredContent?: Structured
  readonly _meta?: JsonObject
}
