/** The registry: one gate for every tool call. */
import { binding } from './binding.js'
import { type Answer, deliverEvents, judge, messageOf } from './call.js'
import { type Host, addHost } from './dispatch.js'
import type { Entry, Inner } from './entry.js'
import { ToolError, invalidOption, unwrap } from './errors.js'
import { execute, executeSync } from './execute.js'
import { checkNames, exportReport, exportTools } from './exports.js'
import { checkChars, checkExecuteOptions, checkFunction, checkKeys, checkMs, checkName } from './options.js'
import { type ToolPermissions, nativePermissions } from './permissions.js'
import type { MCPClient } from './mcp.js'
import { ConnectedServers, type McpServersOptions, type McpServersSource, connectServers } from './mcp-servers.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import { DEFAULT_TIMEOUT_MS, type Registrable, duplicate, registerTool, toTool } from './register.js'
import { type ProviderTurnOptions, runAnthropic, runGemini, runOpenAI, runOpenAIResponses } from './provider-calls.js'
import type {
  AnthropicTool, AnthropicToolResult, DeferOptions, ExportFormat, ExportWeakening, GeminiFunctionResponse, GeminiTool, McpToolDefinition, OpenAIFunctionCallOutput,
  OpenAIResponsesTool, OpenAIToolMessage, StrictOptions,
} from './provider-types.js'
import { type ToolResponse, isExternal, sourceOf } from './response.js'
import { deepFreeze } from './arguments.js'
import { type CallableOptions, FunctionTool, Tool, type ToolFlags } from './tool.js'
import { type ToolMatch, type ToolSearchOptions, searchTools } from './tool-search.js'
import { type TurnOptions, executeAll, mayAsk } from './turn.js'
import type { ConfirmCallback, ExecuteOptions, ExecuteSyncOptions, OpenAITool, OpenAIToolCall, ToolCall, ToolEvent, ToolParameter, ToolResult } from './types.js'
import { wait } from './wait.js'

export type { Registrable, TurnOptions }

/** Options of a registry. */
export interface RegistryOptions {
  /** The words of refusals and errors. Default: English. */
  prompts?: PromptRegistry | undefined
  /** Which tools may be called and seen. Default: all. */
  permissions?: ToolPermissions | null | undefined
  /** Asked before calls that need a yes. Default: nobody, and such calls get `CONFIRMATION_REQUIRED`. */
  confirm?: ConfirmCallback | undefined
  /** Limit for the body of one call in milliseconds, `null` for none. Default: 300,000. */
  timeoutMs?: number | null | undefined
  /** Limit for an answer of `confirm` in milliseconds. Default: none. */
  confirmTimeoutMs?: number | null | undefined
  /** Limit for the text of one result in characters. Default: 100,000, of remote tools 50,000. */
  maxTextChars?: number | undefined
  /** Receives what happens to each call, in order. What it throws is ignored. */
  onEvent?(event: ToolEvent): void
}

const REGISTRY_OPTIONS = ['prompts', 'permissions', 'confirm', 'timeoutMs', 'confirmTimeoutMs', 'maxTextChars', 'onEvent']
const FUNCTION_OPTIONS = ['requiresConfirmation', 'externalContent', 'supportsParallel', 'origin', 'timeoutMs', 'maxTextChars', 'overwrite']

let innerOf: (registry: ToolRegistry) => Inner

/**
 * Tools by name, and the one way to call them: look up → permit → validate → confirm → run → bound → guard → record.
 * Calls resolve to a response for everything that a model can act on, and throw only for a caller's mistake.
 */
export class ToolRegistry implements AsyncDisposable {
  readonly #inner: Inner
  readonly #hasTimeout: boolean
  readonly #host: Host
  /** The servers that this registry connected, and closes. */
  readonly #servers = new ConnectedServers()

  /** @throws ToolError `INVALID_OPTIONS` for an option of a wrong type. */
  constructor(options: RegistryOptions = {}) {
    checkKeys(options, REGISTRY_OPTIONS, 'the options of a registry')
    checkFunction(options.confirm, 'confirm')
    checkFunction(options.onEvent, 'onEvent')
    checkMs(options.timeoutMs, 'timeoutMs')
    checkMs(options.confirmTimeoutMs, 'confirmTimeoutMs')
    checkChars(options.maxTextChars, 'maxTextChars')
    const timeoutMs = options.timeoutMs === undefined ? DEFAULT_TIMEOUT_MS : options.timeoutMs
    const settings = {
      recording: options.onEvent !== undefined,
      ...(timeoutMs === null ? {} : { timeoutMs }),
      ...(options.maxTextChars === undefined ? {} : { maxTextChars: options.maxTextChars }),
    }
    const prompts = nativePrompts(options.prompts)
    const permissions = options.permissions == null ? null : nativePermissions(options.permissions)
    const native = unwrap(() => new binding.NativeRegistry(settings, prompts, permissions))
    this.#inner = {
      native,
      index: native.index,
      entries: new Map<string, Entry>(),
      confirm: options.confirm,
      confirmTimeoutMs: options.confirmTimeoutMs ?? undefined,
      onEvent: options.onEvent === undefined ? undefined : event => options.onEvent?.(event),
      closers: new Set<() => void>(),
      isClosed: false,
    }
    this.#hasTimeout = options.timeoutMs !== undefined
    this.#host = hostOf(this.#inner)
    addHost(native.index, this.#host)
  }

  /**
   * Adds a tool.
   * @throws ToolRegistrationError `INVALID_NAME`, `DUPLICATE_NAME` unless `overwrite`, `INVALID_OPTIONS` for a schema or flag.
   * @throws ToolError `CLOSED`.
   */
  register(tool: Registrable, options: { overwrite?: boolean } = {}): void {
    checkKeys(options, ['overwrite'], 'the options of register')
    registerTool(this.#inner, toTool(tool), options.overwrite === true, this.#hasTimeout)
  }

  /**
   * Adds tools and gives the names that were added. With `error`, the default, nothing is added if one cannot be; with the others
   * those before it stay.
   * @throws ToolRegistrationError as `register`; `DUPLICATE_NAME` for `error` alone.
   */
  registerAll(tools: Iterable<Registrable>, options: { onConflict?: 'error' | 'skip' | 'overwrite' } = {}): string[] {
    checkKeys(options, ['onConflict'], 'the options of registerAll')
    const { onConflict = 'error' } = options
    if (!['error', 'skip', 'overwrite'].includes(onConflict)) throw invalidOption("onConflict must be 'error', 'skip' or 'overwrite'")
    if (typeof (tools as Partial<Promise<unknown>> | null)?.then === 'function') throw invalidOption('registerAll got a promise: await it first, as in registerAll(await client.loadTools())')
    if (typeof (tools as Partial<Iterable<Registrable>> | null)?.[Symbol.iterator] !== 'function' || typeof tools === 'string') throw invalidOption('registerAll takes an array or another iterable of tools')
    const added: Tool[] = []
    let current: Tool | undefined
    try {
      for (const given of tools) {
        const tool = toTool(given)
        current = tool
        if (onConflict === 'skip' && this.#inner.entries.has(tool.name)) continue
        registerTool(this.#inner, tool, onConflict === 'overwrite', this.#hasTimeout)
        added.push(tool)
      }
    } catch (error) {
      if (onConflict === 'error') for (const tool of added) if (this.get(tool.name) === tool) this.unregister(tool.name)
      throw ToolError.isInstance(error) && error.code === 'DUPLICATE_NAME' && current !== undefined ? duplicate(current, this.get(current.name)) : error
    }
    return added.map(tool => tool.name)
  }

  /**
   * Adds a function of the whole argument object. Declared defaults are shown to the model and not filled in.
   * @throws ToolRegistrationError as `register`.
   */
  registerFunction(fn: (args: any) => ToolResult | Promise<ToolResult>, name: string, description: string, parameters: readonly ToolParameter[] = [], options: ToolFlags & { overwrite?: boolean } = {}): void {
    if (typeof fn !== 'function') throw invalidOption('registerFunction takes a function')
    checkKeys(options, FUNCTION_OPTIONS, 'the options of registerFunction')
    const { overwrite, ...flags } = options
    this.register(new FunctionTool({ ...flags, name, description, inputSchema: parameters, run: args => fn(args) }), { overwrite: overwrite === true })
  }

  /**
   * Adds a function of named arguments: see `Tool.fromCallable`.
   * @throws ToolRegistrationError as `register` and `Tool.fromCallable`.
   */
  registerCallable(fn: (...args: any[]) => ToolResult | Promise<ToolResult>, options: CallableOptions & { overwrite?: boolean }): void {
    if (options === null || typeof options !== 'object') throw invalidOption('registerCallable needs options with a description and an inputSchema')
    const { overwrite, ...rest } = options
    this.register(Tool.fromCallable(fn, rest), { overwrite: overwrite === true })
  }

  /** A registry of anything: `null` stays `null`, a registry itself, tools become a new registry. */
  static fromTools(tools: null | undefined, options?: RegistryOptions): null
  static fromTools(tools: ToolRegistry | Iterable<Registrable>, options?: RegistryOptions): ToolRegistry
  static fromTools(tools: ToolRegistry | Iterable<Registrable> | null | undefined, options?: RegistryOptions): ToolRegistry | null
  static fromTools(tools: ToolRegistry | Iterable<Registrable> | null | undefined, options?: RegistryOptions): ToolRegistry | null {
    if (tools === null || tools === undefined) return null
    if (tools instanceof ToolRegistry) return tools
    const registry = new ToolRegistry(options)
    registry.registerAll(tools)
    return registry
  }

  /** Removes a tool; calls that run it go on. Returns whether there was one. */
  unregister(name: string): boolean {
    checkName(name)
    const entry = this.#inner.entries.get(name)
    if (entry === undefined) return false
    this.#inner.entries.delete(name)
    return this.#inner.native.unregister(name, entry.id)
  }

  /** A tool by name. */
  get(name: string): Tool | undefined { return this.#inner.entries.get(name)?.tool }

  /** All tools, in order of registration. */
  listTools(): Tool[] { return [...this.#inner.entries.values()].map(entry => entry.tool) }

  /** Replaces the permissions for calls that begin from now on; `null` for none. */
  setPermissions(permissions: ToolPermissions | null): void {
    this.#inner.native.setPermissions(permissions === null ? null : nativePermissions(permissions))
  }

  /**
   * Calls a tool. `args` is JSON text, as a model writes it, or an object. `Data` is your word for what the tool's data is, such as `MCPResultData`.
   * @throws ToolError `INVALID_OPTIONS` for a wrong option, `CLOSED` once the registry is closed.
   */
  execute<Data = unknown>(name: string, args: string | object, options?: ExecuteOptions): Promise<ToolResponse<Data>> {
    return execute(this.#inner, name, args, options) as Promise<ToolResponse<Data>>
  }

  /** `execute`, with whether the tool's body was entered. */
  async executeChecked(name: string, args: string | object, options?: ExecuteOptions): Promise<[response: ToolResponse, executed: boolean]> {
    const response = await this.execute(name, args, options)
    return [response, response.executed === true]
  }

  /** Calls a tool without waiting. A schema, confirmation or body that gives a promise ends the call with an error. */
  executeSync(name: string, args: string | object, options?: ExecuteSyncOptions): ToolResponse {
    return executeSync(this.#inner, name, args, options)
  }

  /** `executeSync`, with whether the tool's body was entered. */
  executeSyncChecked(name: string, args: string | object, options?: ExecuteSyncOptions): [response: ToolResponse, executed: boolean] {
    const response = this.executeSync(name, args, options)
    return [response, response.executed === true]
  }

  /**
   * Runs a turn: neighbouring calls of parallel-safe tools that need no yes run together, everything else alone and in order.
   * Results come in call order, one for each call, whatever happens to the others.
   * @throws ToolError `INVALID_OPTIONS` for a wrong option.
   */
  async executeAll(calls: readonly (ToolCall | OpenAIToolCall)[], options?: TurnOptions): Promise<ToolResponse[]> {
    if (options !== undefined) checkExecuteOptions(options, ['maxConcurrency'])
    return executeAll(this.#inner, calls, options)
  }

  /** Whether a call would ask a person. True where that cannot be told; false for a tool that does not exist. */
  needsConfirmation(name: string, args: string | object): boolean {
    return mayAsk(this.#inner, name, args)
  }

  /** One line for each permitted tool, `- name: description`: for a system prompt. */
  getCatalog(): string { return this.#inner.native.catalog() }

  /** The permitted tools with their parameters as text: all, or the named ones in the given order. */
  getToolsDescription(names?: readonly string[]): string { return this.#inner.native.description(checkNames(names)) }

  /**
   * The text of a response for a model. Text from outside stands between delimiters that nothing in it can forge, after a
   * sentence that names the tool and its origin and says that it is no instruction. The response itself stays raw.
   */
  render(response: ToolResponse): string {
    if (typeof (response as Partial<ToolResponse> | null)?.text !== 'string') throw invalidOption('render takes a response')
    return isExternal(response) ? this.#inner.native.guard(response.text, String(response.origin ?? ''), sourceOf(response) ?? null) : response.text
  }

  /**
   * The permitted tools for OpenAI's chat API: all, or the named ones in the given order, each once, unknown names left out. As in every
   * export, the tools are the caller's and their schemas are shared and frozen. `exportReport` tells what a provider's rules made of them.
   */
  toOpenAISchema(names?: readonly string[], options?: StrictOptions): OpenAITool[] {
    return exportTools(this.#inner, 'openai', names, options, ['strict'])
  }

  /** The same for OpenAI's Responses API. */
  toOpenAIResponses(names?: readonly string[], options?: StrictOptions & DeferOptions): OpenAIResponsesTool[] {
    return exportTools(this.#inner, 'openai-responses', names, options, ['strict', 'deferLoading'])
  }

  /** The same for Anthropic's Messages API. */
  toAnthropic(names?: readonly string[], options?: DeferOptions): AnthropicTool[] { return exportTools(this.#inner, 'anthropic', names, options, ['deferLoading']) }

  /** The same for Gemini: one element that declares all, or none where there is nothing to declare, which Gemini would refuse. */
  toGemini(names?: readonly string[]): GeminiTool[] {
    const functionDeclarations = exportTools(this.#inner, 'gemini', names)
    return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }]
  }

  /** The same as `tools/list` of MCP lists tools, each schema as it is. */
  toMcp(names?: readonly string[]): McpToolDefinition[] { return exportTools(this.#inner, 'mcp', names) }

  /** What an export gives up of which tool's schema, in order of the tools. Calls are held to the whole schema all the same. */
  exportReport(format: ExportFormat, names?: readonly string[], options?: StrictOptions): ExportWeakening[] { return exportReport(this.#inner, format, names, options) }

  /**
   * The permitted tools that fit a query best, the best first: by the words of names, descriptions and parameter names. Those that share none are left out.
   * @throws ToolError `INVALID_OPTIONS`.
   */
  search(query: string, options?: ToolSearchOptions): ToolMatch[] { return searchTools(this.#inner, query, options) }

  /**
   * Runs the tool calls of `choices[0].message` of OpenAI's chat API: the messages to add after it, one for each call in call order; none where it holds no calls.
   * What a model did wrong becomes an error that it can read. Results are what `render` gives.
   * @throws ToolError `INVALID_OPTIONS` for a wrong option or what is no message; `CLOSED`. So do the others.
   */
  runOpenAICalls(message: object, options?: ProviderTurnOptions): Promise<OpenAIToolMessage[]> { return runOpenAI(this.#inner, this.#render, message, options) }

  /** The same for a response of OpenAI's Responses API, or its `output`: the items to add after that. Images of results go along. */
  runOpenAIResponsesCalls(response: object, options?: ProviderTurnOptions): Promise<OpenAIFunctionCallOutput[]> { return runOpenAIResponses(this.#inner, this.#render, response, options) }

  /** The same for a message of Anthropic's Messages API: the blocks of the user's next message. Images of results go along. */
  runAnthropicCalls(message: object, options?: ProviderTurnOptions): Promise<AnthropicToolResult[]> { return runAnthropic(this.#inner, this.#render, message, options) }

  /** The same for a response of Gemini, or its first candidate's content: the parts of the user's next content. Images of results go along. */
  runGeminiCalls(response: object, options?: ProviderTurnOptions): Promise<GeminiFunctionResponse[]> { return runGemini(this.#inner, this.#render, response, options) }

  readonly #render = (response: ToolResponse): string => this.render(response)

  /**
   * Connects the servers of an `mcpServers` file, the one that editors and assistants share, or of such an object, all at the same time,
   * registers their tools and keeps them up to date; see `MCPClient.syncTo`. Each name becomes a namespace, made legal. `close` closes them.
   * docs/mcp.md says what of the file is read. `options` hold for every server. Called again for the same source it connects what is missing, and leaves
   * alone what is connected. Gives the clients of all entries, in their order.
   * @throws ToolError `CLOSED`; `INVALID_OPTIONS` for a file that cannot be used; nothing is started then. Where servers cannot be connected, one error
   * that names each with its reason, in `data.failures` too, once the others are connected: they stay, with their tools registered.
   */
  connectMcpServers(source: McpServersSource, options?: McpServersOptions): Promise<MCPClient[]> {
    return connectServers(this, this.#servers, source, options)
  }

  /** The clients that `connectMcpServers` made and that nobody has closed, by their namespace, as of now. Also after it threw, and of servers that went away by themselves. */
  get mcpClients(): ReadonlyMap<string, MCPClient> { return this.#servers.open() }

  /** Ends the registry: calls under way are cancelled, later ones are refused with `CLOSED`. Can be called again. */
  async close(): Promise<void> {
    this.#inner.isClosed = true
    this.#inner.native.close()
    for (const cancel of [...this.#inner.closers]) cancel()
    await this.#servers.close()
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> { await this.close() }

  static {
    innerOf = registry => registry.#inner
  }
}

/** @internal The inside of a registry, for tests of calls that begin outside JavaScript. */
export function insideOf(registry: ToolRegistry): Inner { return innerOf(registry) }

/** What the core asks JavaScript when a call does not begin here. */
function hostOf(inner: Inner): Host {
  return {
    deliverEvents: () => { deliverEvents(inner) },
    async confirm(payload, signal): Promise<[answer: string, detail?: string]> {
      const { name, callId, arguments: text, preview } = JSON.parse(payload)
      const tool = inner.entries.get(name)?.tool
      if (inner.confirm === undefined || tool === undefined) return ['nobody']
      const controller = new AbortController()
      const request = { tool, name, origin: tool.origin, args: deepFreeze(JSON.parse(text)), preview, callId, signal: controller.signal }
      const waited = await wait((async () => inner.confirm?.(request))(), { limitMs: inner.confirmTimeoutMs, explicit: true, signal, cancelled: () => inner.isClosed || signal.aborted, closers: inner.closers })
      const answer: Answer = waited.kind === 'value' ? judge(waited.value)
        : waited.kind === 'threw' ? ['threw', messageOf(waited.error)]
        : waited.kind === 'timedOut' ? ['timedOut', String(inner.confirmTimeoutMs)] : ['cancelled']
      if (waited.kind !== 'value') controller.abort(new ToolError('CONFIRMATION_REJECTED', 'the question is over'))
      return [...answer] as [string, string?]
    },
    async execute(payload, signal) {
      const { name, arguments: text, callId } = JSON.parse(payload)
      const response = await execute(inner, name, text, { callId, signal })
      return JSON.stringify({ ...response.toJSON(), external: isExternal(response), executed: response.executed === true })
    },
  }
}
