/** Whether calls of a server's tools ask, decided by the app for each of them. */
import { deepFreeze } from './arguments.js'

/** Hints of a server about a tool. It may say what it likes. Source: https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
export interface MCPAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
  readonly [member: string]: unknown
}

/** What a decision can be made by. Only `name` and `remoteName` are sure to be those of the tool that is called; the rest is what its server says of it. */
export interface MCPToolClaims {
  readonly name: string
  readonly remoteName: string
  readonly title?: string
  readonly annotations: MCPAnnotations
  readonly description: string
}

/** Decides whether calls of a tool need a yes. Only strict `false` means that they do not; whatever else it gives, or throws, they do. */
export type ConfirmationRule = (tool: MCPToolClaims) => boolean

/** Whether calls of a tool need a yes. */
export function asks(rule: boolean | ConfirmationRule, tool: MCPToolClaims): boolean {
  if (typeof rule === 'boolean') return rule
  try {
    return rule(deepFreeze(structuredClone(tool))) !== false
  } catch {
    return true
  }
}
