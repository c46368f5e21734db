/** Tools whose body is JavaScript: the class, and the ways to make one without writing a class. */
import { ToolRegistrationError } from './errors.js'
import { checkKeys } from './options.js'
import { propertyNames, readSchema, toJsonSchema } from './schema.js'
import type { InferArgs, InputSchema, JsonSchema, ToolContext, ToolResult } from './types.js'

const MARK = Symbol.for('toolbolt.Tool')

function fixed(value: string): PropertyDescriptor {
  return { value, enumerable: true, writable: false, configurable: false }
}

/** Whether a value is a tool, also one of another copy of this package. */
export function isTool(value: unknown): value is Tool {
  return value instanceof Tool || (value !== null && typeof value === 'object' && MARK in value)
}

/** A tool. Subclasses say what arguments they take and what they do. */
export abstract class Tool<Args = any, Data = unknown> {
  declare readonly name: string
  /** What the tool does, for the model. */
  declare readonly description: string
  /** Who vouches for the tool: `builtin`, or an app's own word. `mcp:…` is stamped by the loader of remote tools alone. */
  declare readonly origin: string
  /** Whether every call needs a yes. Default: false. Read when the tool is registered, as are the next two. */
  declare requiresConfirmation: boolean
  /** Whether results are text from outside, to be guarded before a model reads them. Default: false. */
  declare externalContent: boolean
  /** Whether calls may run beside others of the same turn. Default: false. */
  declare supportsParallel: boolean
  /** Limit for the body in milliseconds; the registry's when absent. */
  declare readonly timeoutMs?: number | null
  /** Limit for the text of a result in characters; 100,000 when absent. */
  declare readonly maxTextChars?: number
  /** Limit for the data of a result in bytes of JSON; 1 MiB when absent. */
  declare readonly maxDataBytes?: number
  /** @internal Ties the type of results to the class. */
  declare protected readonly _data?: Data

  /**
   * @param name unique in a registry; `[A-Za-z0-9_-]`, 1 to 64 characters, checked when the tool is registered
   * @throws ToolRegistrationError `INVALID_OPTIONS` for a name or description that is no string, or an origin that is reserved.
   */
  constructor(name: string, description: string, options: { origin?: string } = {}) {
    if (typeof name !== 'string' || typeof description !== 'string') throw misdeclared('a tool needs a name and a description, both strings')
    const origin = options.origin ?? 'builtin'
    if (typeof origin !== 'string' || origin === '') throw misdeclared('an origin must be a string that is not empty')
    if (/^mcp(:|$)/i.test(origin) && !mayStamp(new.target)) throw misdeclared(`the origin '${origin}' is reserved for the tools of MCP servers`)
    if (!/^[\w.:/@-]{1,128}$/.test(origin)) throw misdeclared("an origin has 1 to 128 of the characters A-Z, a-z, 0-9 and _ . : / @ -")
    // What a person is told about a tool must not change under it.
    Object.defineProperties(this, { name: fixed(name), description: fixed(description), origin: fixed(origin) })
  }

  /** @internal */
  get [MARK](): true { return true }

  /** Whether this call needs a yes. Anything but strict `false`, a throw included, asks. Default: `requiresConfirmation`. */
  needsConfirmation(_args: Args): boolean { return this.requiresConfirmation }

  /** Whether the result of this call is text from outside. Anything but strict `false` is. Default: `externalContent`. */
  isExternalContent(_args: Args): boolean { return this.externalContent }

  /** What the arguments must look like. Read when the tool is registered. */
  abstract getParameters(): InputSchema

  /** Does the work. What it throws becomes a response with `EXECUTION_FAILED`. */
  abstract run(args: Args, context: ToolContext): ToolResult | Promise<ToolResult>

  /** The arguments as JSON Schema. */
  get inputSchema(): JsonSchema { return toJsonSchema(this.getParameters()) }

  /**
   * A tool from a function of named arguments: each property of the schema, in its order, is passed as one argument.
   * The name is the function's unless given. What the schema does not name is not passed.
   * @throws ToolRegistrationError for a function without a name, or one that needs more arguments than the schema has.
   */
  static fromCallable<F extends (...args: any[]) => ToolResult | Promise<ToolResult>>(fn: F, options: CallableOptions): Tool {
    if (typeof fn !== 'function') throw misdeclared('fromCallable takes a function')
    if (options === null || typeof options !== 'object') throw misdeclared('fromCallable needs options with a description and an inputSchema')
    checkKeys(options, [...CALLABLE_KEYS, 'name', 'origin'], 'the options of a callable')
    const name = options.name ?? fn.name
    if (typeof name !== 'string' || name === '') throw misdeclared('the function has no name; name it or pass a name')
    const names = propertyNames(readSchema(options.inputSchema).json)
    if (fn.length > names.length) {
      throw misdeclared(`'${name}' needs ${fn.length} arguments, but its schema names ${names.length}; describe every argument`)
    }
    const run = (args: Record<string, unknown>) => fn(...names.map(property => (Object.hasOwn(args, property) ? args[property] : undefined)))
    return new DefinedTool({ ...options, name, run })
  }
}

// On the prototype, so that fields and accessors of subclasses take their place.
Tool.prototype.requiresConfirmation = false
Tool.prototype.externalContent = false
Tool.prototype.supportsParallel = false

const stamping = new WeakSet<Function>()

/** Lets a class of this package stamp `mcp:` origins. */
export function allowStamping(Class: Function): void {
  stamping.add(Class)
}

function mayStamp(Class: Function): boolean {
  for (let current: unknown = Class; typeof current === 'function'; current = Object.getPrototypeOf(current)) {
    if (stamping.has(current)) return true
  }
  return false
}

/** What `tool()`, `registerFunction` and `registerCallable` can say about a tool. */
export interface ToolFlags {
  /** Whether every call needs a yes. Default: false. */
  requiresConfirmation?: boolean | undefined
  /** Whether results are text from outside. Default: false. */
  externalContent?: boolean | undefined
  /** Whether calls may run beside others of the same turn. Default: false. */
  supportsParallel?: boolean | undefined
  /** Who vouches for the tool. Default: `builtin`. */
  origin?: string | undefined
  /** Limit for the body in milliseconds, `null` for none. Default: the registry's. */
  timeoutMs?: number | null | undefined
  /** Limit for the text of a result in characters. Default: the registry's, or 100,000. */
  maxTextChars?: number | undefined
}

/** A function of named arguments as a tool. */
export interface CallableOptions extends ToolFlags {
  /** Default: the function's name. */
  name?: string | undefined
  description: string
  inputSchema: InputSchema
}

/** A tool as one object. */
export interface ToolDefinition<S extends InputSchema> extends Omit<ToolFlags, 'requiresConfirmation'> {
  name: string
  description: string
  inputSchema: S
  /** Whether a call needs a yes: for all calls, or asked with the arguments. Default: false. */
  requiresConfirmation?: (boolean | ((args: InferArgs<S>) => boolean)) | undefined
  run(args: InferArgs<S>, context: ToolContext): ToolResult | Promise<ToolResult>
}

/** A tool as plain data. Without a handler it can be listed, and calls get `NO_HANDLER`. */
export interface ToolSpec {
  name: string
  description: string
  /** JSON Schema of the arguments; none by default. */
  parameters?: JsonSchema | undefined
  /** Gets the whole argument object. */
  handler?(args: any): ToolResult | Promise<ToolResult>
}

const CALLABLE_KEYS = ['description', 'inputSchema', 'requiresConfirmation', 'externalContent', 'supportsParallel', 'timeoutMs', 'maxTextChars']
const DEFINITION_KEYS = [...CALLABLE_KEYS, 'name', 'origin', 'run']
const FLAGS = ['externalContent', 'supportsParallel', 'timeoutMs', 'maxTextChars'] as const

/** A tool made of an object. */
class DefinedTool extends Tool {
  readonly #schema: InputSchema
  readonly #run: (args: any, context: ToolContext) => ToolResult | Promise<ToolResult>

  constructor(definition: ToolDefinition<any> & { name: string }) {
    super(definition.name, definition.description, definition.origin === undefined ? {} : { origin: definition.origin })
    if (typeof definition.run !== 'function') throw misdeclared(`tool '${definition.name}' needs a run function`)
    this.#schema = definition.inputSchema
    this.#run = definition.run.bind(definition)
    const { requiresConfirmation } = definition
    if (typeof requiresConfirmation === 'function') this.needsConfirmation = requiresConfirmation.bind(definition)
    else if (requiresConfirmation !== undefined) this.requiresConfirmation = requiresConfirmation
    for (const flag of FLAGS) {
      if (definition[flag] !== undefined) Object.defineProperty(this, flag, { value: definition[flag], writable: true, enumerable: true, configurable: true })
    }
  }

  override getParameters(): InputSchema { return this.#schema }
  override run(args: unknown, context: ToolContext): ToolResult | Promise<ToolResult> { return this.#run(args, context) }
}

type MethodDecorator = (method: (...args: any[]) => any, context: ClassMethodDecoratorContext) => void
/** Options of the decorator: as for a callable, but for the origin, which the app sets elsewhere. */
export type MethodToolOptions = Omit<CallableOptions, 'origin'>

/** Makes a tool. The type of the arguments follows from the schema. @throws ToolRegistrationError for a wrong declaration. */
export function tool<const S extends InputSchema>(definition: ToolDefinition<S>): Tool<InferArgs<S>>
/** As a method decorator (TypeScript 5): the method gets the argument object and the context. `toolsOf` collects the tools. */
export function tool(options: MethodToolOptions): MethodDecorator
export function tool(definition: ToolDefinition<any> | MethodToolOptions): Tool | MethodDecorator {
  if (definition === null || typeof definition !== 'object') throw misdeclared('tool() takes an object with name, description, inputSchema and run')
  const defines = 'run' in definition
  checkKeys(definition, defines ? DEFINITION_KEYS : [...CALLABLE_KEYS, 'name'], defines ? 'tools' : 'the options of @tool')
  return defines ? new DefinedTool(definition) : decorate(definition)
}

const declared = new WeakMap<object, Map<PropertyKey, MethodToolOptions>>()

function decorate(options: MethodToolOptions): MethodDecorator {
  return (_method, context) => {
    if (context.kind !== 'method' || context.private) throw misdeclared('@tool goes on public methods only')
    context.addInitializer(function (this: unknown) {
      const target = this as object
      const tools = declared.get(target) ?? new Map<PropertyKey, MethodToolOptions>()
      // A decorated override comes after the method it replaces, and takes its place.
      declared.set(target, tools.set(context.name, options))
    })
  }
}

/** The tools of an instance whose class has methods with `@tool`, in order of declaration. */
export function toolsOf(instance: object): Tool[] {
  const tools = declared.get(instance)
  return [...(tools ?? [])].map(([key, options]) => {
    const run = (args: unknown, context: ToolContext) => (instance as Record<PropertyKey, (args: unknown, context: ToolContext) => ToolResult>)[key]!(args, context)
    return new DefinedTool({ ...options, name: options.name ?? String(key), run })
  })
}

/** A tool that a registry makes of a function or spec: defaults are not filled in, and the body may be missing. */
export class FunctionTool extends DefinedTool {
  readonly hasBody: boolean

  constructor(definition: Omit<ToolDefinition<any>, 'run'> & { run?: ((args: any) => ToolResult | Promise<ToolResult>) | undefined }) {
    super({ ...definition, run: definition.run ?? (() => undefined) })
    this.hasBody = definition.run !== undefined
  }
}

function misdeclared(message: string): ToolRegistrationError {
  return new ToolRegistrationError('INVALID_OPTIONS', message)
}
