/** What an adapter offers to a framework: the permitted tools of a registry, as they are when it is called. */
import { invalidOption } from '../errors.js'
import { checkKeys } from '../options.js'
import { ToolRegistry } from '../registry.js'
import type { JsonSchema } from '../types.js'

/**
 * Who asks the person. `registry`: the registry's `confirm`, and the framework pauses for nothing. `framework`: the framework pauses and
 * asks, and its approval is the registry's yes for exactly that call, once. `both`: both ask, and both have to say yes.
 */
export type Approval = 'registry' | 'framework' | 'both'

/** Options of an adapter. */
export interface AdapterOptions {
  /** The tools to offer. Default: all that are permitted. Unknown names, and those of tools that are denied, are left out. */
  names?: readonly string[] | undefined
  /** Who asks the person. Default: `registry`. */
  approval?: Approval | undefined
}

/** A tool as a framework is told of it. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its arguments: a copy, which the framework may change. */
  readonly schema: JsonSchema
  readonly origin: string
}

const APPROVALS: readonly unknown[] = ['registry', 'framework', 'both']

/** Checks what an adapter was given. @throws ToolError `INVALID_OPTIONS`. */
export function readOptions(registry: ToolRegistry, options: AdapterOptions): { readonly tools: OfferedTool[]; readonly approval: Approval } {
  if (!(registry instanceof ToolRegistry)) throw invalidOption('an adapter takes a ToolRegistry')
  checkKeys(options, ['names', 'approval'], 'the options of an adapter')
  const { names, approval = 'registry' } = options
  if (!APPROVALS.includes(approval)) throw invalidOption("approval must be 'registry', 'framework' or 'both'")
  const tools = registry.toOpenAISchema(names).map(({ function: { name, description, parameters } }) => (
    { name, description, schema: parameters, origin: registry.get(name)?.origin ?? '' }))
  return { tools, approval }
}
