/** What an MCP client tells about its server. */
import type { ToolError } from './errors.js'
import type { MCPClient, MCPTool } from './mcp.js'
import type { MCPAnnotations } from './mcp-decision.js'
import type { JsonSchema } from './types.js'

/** How a listing of a server's tools differs from the one before. */
export interface ToolsChange {
  readonly client: MCPClient
  /** Tools that were not there before. */
  readonly added: readonly MCPTool[]
  /** Tools whose definition is another one, as they are now. */
  readonly changed: readonly MCPTool[]
  /** The names of tools that are gone. */
  readonly removed: readonly string[]
  /** Why a listing that the server called for was not taken; nothing has changed then. */
  readonly error?: ToolError
}

/** What was noticed on a connection that is no error but helps to understand one. */
export interface MCPDiagnostics {
  /** The server's namespace. */
  readonly server: string
  /** Lines on standard output that were no messages, and were skipped. */
  readonly skippedLines: number
  /** The newest of them, escaped and cut. */
  readonly recentLines: readonly string[]
  /** Replies to requests that nobody waits for. */
  readonly unexpectedReplies: number
  /** Notifications and requests that were dropped: too many, or nobody asked for them. */
  readonly droppedMessages: number
  /** What else was noticed, in sentences, the newest last. */
  readonly notes: readonly string[]
  /** The end of the server's standard error, without the values of `env`. */
  readonly stderr: string
}

/** The `data` of a `PIN_MISMATCH` that `loadTools` throws. Lists are cut at 256 entries. */
export interface PinMismatch {
  readonly server: string
  /** The lock file, if there is one. */
  readonly file: string | null
  /** Names of tools that nobody approved. */
  readonly added: readonly string[]
  /** Names of approved tools that the server does not offer. */
  readonly removed: readonly string[]
  /** Approved tools whose definition is another now, with what changed as far as it is known. */
  readonly changed: readonly { name: string; expected: string; found: string; parts: readonly { part: string; lines?: readonly string[] }[] }[]
  /** The fingerprints of what is new or changed, by name. */
  readonly found: Readonly<Record<string, string>>
  /** How many entries were cut off the lists. */
  readonly unlisted: number
}

/** What can be said of an MCP tool that is declared by hand. */
export interface MCPToolOptions {
  /** The server's own name for it. Default: the name. */
  remoteName?: string | undefined
  /** Whether calls need a yes. Default: true. */
  requiresConfirmation?: boolean | undefined
  /** Characters kept of each description. Default: the client's. */
  maxDescChars?: number | undefined
  /** What `structuredContent` of its results is like: a result that is not like that is an error. Default: not checked. */
  outputSchema?: JsonSchema | undefined
  /** What a person may be shown in place of the name. Default: none. */
  title?: string | undefined
  /** Hints about what it does, which nothing here goes by. Default: none. */
  annotations?: MCPAnnotations | undefined
  /**
   * The fingerprint that the definition at the server has to have, 64 hexadecimal digits. Compared where the client has pins. Default: none;
   * with pins, the server then has to list an approved tool of that remote name.
   */
  fingerprint?: string | undefined
  /**
   * Whether a second call with the same arguments changes nothing more, so that a connector may send a call again that was sent. Default: false;
   * for a tool that was loaded what the server says (`readOnlyHint`, `idempotentHint`).
   */
  repeatable?: boolean | undefined
  /** Who vouches for it. There is one choice, and it is made already: `mcp:` and the client's namespace. */
  origin?: string | undefined
}
