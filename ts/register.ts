/** Putting tools into a registry: what the core is told, and what stays here. */
import type { ToolDefinition as NativeDefinition } from '../binding.cjs'
import { nativeOf } from './native-tool.js'
import type { Entry, Inner, PerCall } from './entry.js'
import { ToolRegistrationError, unwrap } from './errors.js'
import { checkBoolean, checkChars, checkKeys, checkMs } from './options.js'
import { type ReadSchema, readSchema } from './schema.js'
import { FunctionTool, Tool, type ToolSpec, isTool } from './tool.js'

/** Limit for the body of one call when nobody says otherwise: 5 minutes. */
export const DEFAULT_TIMEOUT_MS = 300_000

const SPEC_KEYS = ['name', 'description', 'parameters', 'handler']

/** What can be registered. */
export type Registrable = Tool<any, any> | ToolSpec

/** A tool of anything that can be registered. @throws ToolRegistrationError `INVALID_OPTIONS` for anything else. */
export function toTool(given: Registrable): Tool {
  if (isTool(given)) return given
  if (typeof given === 'function') throw new ToolRegistrationError('INVALID_OPTIONS', 'register got a function: tool() without a run function gives a decorator, so add run; plain functions go to registerFunction or registerCallable')
  const spec = given as ToolSpec
  if (spec === null || typeof spec !== 'object' || typeof spec.name !== 'string') {
    throw new ToolRegistrationError('INVALID_OPTIONS', 'register takes a Tool, or an object with name, description, parameters and handler')
  }
  checkKeys(spec, SPEC_KEYS, 'tool specs (use tool() for more)')
  const { handler } = spec
  if (handler !== undefined && typeof handler !== 'function') throw new ToolRegistrationError('INVALID_OPTIONS', `the handler of '${spec.name}' must be a function`)
  return new FunctionTool({
    name: spec.name,
    description: spec.description,
    inputSchema: spec.parameters ?? { type: 'object', properties: {} },
    run: handler === undefined ? undefined : args => handler.call(spec, args),
  })
}

/** Registers a tool with the core and keeps its function. @throws ToolRegistrationError with the reason. */
export function registerTool(inner: Inner, tool: Tool, overwrite: boolean, hasTimeout: boolean): void {
  const replaced = inner.entries.get(tool.name)?.id ?? null
  const schema = readSchema(tool.getParameters())
  const native = nativeOf(tool)
  const definition = describe(tool, schema)
  const id = unwrap(() => inner.native.register(definition, native ?? null, overwrite, replaced), ToolRegistrationError)
  const entry: Entry = {
    id,
    tool,
    name: definition.name,
    origin: definition.origin,
    run: tool.run,
    validate: native === undefined ? schema.validate : undefined,
    native,
    external: definition.external as PerCall,
    supportsParallel: definition.parallel,
    timeoutMs: tool.timeoutMs === null ? undefined : (inner.native.timeoutMs(id) ?? undefined),
    explicitTimeout: hasTimeout || tool.timeoutMs !== undefined,
  }
  inner.entries.set(entry.name, entry)
}

/** A name that is taken, for whoever registers many tools at once. */
export function duplicate(tool: Tool, other: Tool | undefined): ToolRegistrationError {
  const remote = tool.origin.startsWith('mcp:')
  const same = remote && other?.origin === tool.origin
  const way = same ? `it has the same namespace '${tool.origin.slice(4)}': give each client its own` : remote ? 'give its client another namespace' : 'give it another name'
  return new ToolRegistrationError('DUPLICATE_NAME', `a tool named '${tool.name}' is registered already; ${way}, or pass onConflict: 'skip' or 'overwrite'`)
}

function describe(tool: Tool, schema: ReadSchema): NativeDefinition {
  if (typeof tool.run !== 'function') throw new ToolRegistrationError('INVALID_OPTIONS', `tool '${tool.name}' has no run method`)
  checkMs(tool.timeoutMs, `timeoutMs of '${tool.name}'`)
  checkChars(tool.maxTextChars, `maxTextChars of '${tool.name}'`)
  checkChars(tool.maxDataBytes, `maxDataBytes of '${tool.name}'`)
  return {
    name: tool.name,
    description: tool.description,
    origin: tool.origin,
    inputSchema: schema.json,
    hostValidates: schema.validate !== undefined,
    fillDefaults: !(tool instanceof FunctionTool) && !tool.origin.startsWith('mcp:'),
    confirmation: perCall(tool.needsConfirmation !== Tool.prototype.needsConfirmation, tool.requiresConfirmation, `requiresConfirmation of '${tool.name}'`),
    external: perCall(tool.isExternalContent !== Tool.prototype.isExternalContent, tool.externalContent, `externalContent of '${tool.name}'`),
    parallel: checkBoolean(tool.supportsParallel, `supportsParallel of '${tool.name}'`),
    hasBody: !(tool instanceof FunctionTool) || tool.hasBody,
    ...(tool.timeoutMs == null ? {} : { timeoutMs: tool.timeoutMs }),
    ...(tool.maxTextChars === undefined ? {} : { maxTextChars: tool.maxTextChars }),
    ...(tool.maxDataBytes === undefined ? {} : { maxDataBytes: tool.maxDataBytes }),
  }
}

function perCall(overridden: boolean, flag: unknown, name: string): PerCall {
  const always = checkBoolean(flag, name)
  return overridden ? 2 : always ? 1 : 0
}
