/** MCP servers and their tools. */
import { deepFreeze } from './arguments.js'
import { type NativeMcpClient, binding } from './binding.js'
import { type ToolListener, addToolListener, operation } from './dispatch.js'
import { ToolError, fromNative, invalidOption, unwrap } from './errors.js'
import { notify } from './listener.js'
import { type ConnectionTokens, withCause } from './mcp-auth.js'
import { type ConfirmationRule, type MCPAnnotations, type MCPToolClaims, asks } from './mcp-decision.js'
import { type MCPClientOptions, type MCPCommandOptions, type MCPUrlOptions, readOptions, readUrlOptions } from './mcp-options.js'
import type { MCPResultData } from './mcp-results.js'
import type { MCPDiagnostics, MCPToolOptions, ToolsChange } from './mcp-types.js'
import { backWith, runLoose, runNative } from './native-tool.js'
import { checkBoolean, checkCallOptions, checkChars, checkKeys, checkName } from './options.js'
import type { ToolRegistry } from './registry.js'
import type { ToolResponse } from './response.js'
import { type SkippedTool, SkippedTools } from './skipped-tools.js'
import { inSlices } from './slices.js'
import { Tool, allowStamping } from './tool.js'
import type { ExecuteOptions, InputSchema, JsonSchema, ToolContext } from './types.js'

type OnConflict = 'error' | 'skip' | 'overwrite'

/** A tool as the core describes it. */
interface Listed {
  readonly name: string
  readonly remoteName: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema | null
  readonly fingerprint: string
  readonly title: string | null
  readonly annotations: MCPAnnotations
  readonly repeatable: boolean
}

/** How the calls of a client are looked after: as the core takes it. */
export type Care = NonNullable<Parameters<typeof binding.takeMcpClient>[1]>

export let nativeClient: (client: MCPClient) => NativeMcpClient
let limitsOf: (client: MCPClient) => { readonly maxResultChars?: number; readonly maxResultBytes?: number }
/** Registers a client's tools and keeps them up to date. The client lives as long as the registry. */
export let adopt: (client: MCPClient, registry: ToolRegistry, onConflict: OnConflict) => string[]
/** The tools of the last listing. */
export let listedTools: (client: MCPClient) => MCPTool[]
/** Connects for a connector and lists the tools: several times where that helps, with calls that are looked after. */
export let openForConnector: (given: ReturnType<typeof readOptions>, care: Care | undefined, signal: AbortSignal) => Promise<MCPClient>
/** Keeps a remark about how a client was configured. */
export let remark: (client: MCPClient, note: string) => void

/** Clients live as long as the registries that they keep up to date, also while they have no tools in them. */
const held = new WeakMap<ToolRegistry, Set<MCPClient>>()

/** What the dispatcher knows of a client. */
class Listener implements ToolListener {
  client: MCPClient | undefined
  constructor(readonly hear: (client: MCPClient, payload: string) => void) {}
  changed(payload: string): void { if (this.client !== undefined) this.hear(this.client, payload) }
}

/** Who gives the tokens of a client is known to the core by number only, so the client holds it, and its tools hold the client. */
const tokensOf = new WeakMap<MCPClient, ConnectionTokens>()

/** A connection to an MCP server: one that runs as a child process and speaks over its standard streams, or one behind an address. */
export class MCPClient implements AsyncDisposable {
  /** The prefix of the names of its tools. */
  readonly namespace: string
  /** Whether calls of its tools need a yes, or what decides that for each tool. */
  readonly requiresConfirmation: boolean | ConfirmationRule
  readonly #native: NativeMcpClient
  readonly #limits: { readonly maxResultChars?: number; readonly maxResultBytes?: number }
  readonly #onToolsChanged: ((change: ToolsChange) => unknown) | undefined
  /** Held here, as the dispatcher does not. */
  readonly #listener: Listener
  readonly #remarks: string[] = []
  readonly #registries = new Set<{ readonly registry: WeakRef<ToolRegistry>; readonly overwrite: boolean }>()
  /** The tools of the last listing. */
  #tools = new Map<string, MCPTool>()
  readonly #skipped = new SkippedTools()
  /** Listings and changes are taken one after another, in the order of their coming, as each may take turns of the event loop. */
  #taken: Promise<unknown> = Promise.resolve()

  private constructor(native: NativeMcpClient, given: Omit<ReturnType<typeof readOptions>, 'prompts'>, listener: Listener) {
    this.#native = native
    if (given.tokens !== undefined) tokensOf.set(this, given.tokens)
    this.namespace = given.namespace
    this.requiresConfirmation = given.rule ?? given.requiresConfirmation
    this.#limits = given.bounds
    this.#onToolsChanged = given.onToolsChanged
    this.#listener = listener
    listener.client = this
  }

  static {
    nativeClient = client => client.#native
    limitsOf = client => client.#limits
    adopt = (client, registry, onConflict) => client.#adopt(registry, onConflict)
    listedTools = client => [...client.#tools.values()]
    openForConnector = (given, care, signal) => MCPClient.#openListed(given, care, signal)
    remark = (client, note) => { client.#remarks.push(note) }
  }

  /**
   * Starts a server, or reaches the one at `url`, and shakes hands. A string is split into words as a shell would, without running one; a list is taken as it is.
   * @throws ToolError `INVALID_NAME`, `INVALID_OPTIONS`; `CONNECTION_FAILED` with the server's last words; `TIMEOUT`.
   */
  static async connect(server: string | readonly string[], options?: Partial<Omit<MCPCommandOptions, 'command' | 'args'>>): Promise<MCPClient>
  static async connect(options: MCPClientOptions): Promise<MCPClient>
  static async connect(server: string | readonly string[] | MCPClientOptions, options: Partial<MCPCommandOptions> = {}): Promise<MCPClient> {
    return (await MCPClient.#open(readOptions(server, options))).client
  }

  /**
   * Reaches a server over Streamable HTTP. With `transport` `auto`, by `connect({ url })`, one that knows only HTTP+SSE is reached too.
   * The namespace is `mcp` unless given.
   * @throws ToolError as `connect`.
   */
  static async connectHttp(url: string, options: Partial<Omit<MCPUrlOptions, 'url'>> = {}): Promise<MCPClient> {
    return (await MCPClient.#open(readUrlOptions(url, 'http', options))).client
  }

  /**
   * Reaches a server over HTTP+SSE, the transport of revision 2024-11-05. The namespace is `mcp` unless given.
   * @throws ToolError as `connect`.
   */
  static async connectSse(url: string, options: Partial<Omit<MCPUrlOptions, 'url'>> = {}): Promise<MCPClient> {
    return (await MCPClient.#open(readUrlOptions(url, 'sse', options))).client
  }

  static async #openListed(given: ReturnType<typeof readOptions>, care: Care | undefined, signal: AbortSignal): Promise<MCPClient> {
    const { client, left } = await MCPClient.#open(given, care, signal)
    try {
      await client.#load(left, signal)
      return client
    } catch (error) {
      await client.close()
      throw error
    }
  }

  /** With `care` what is left of its retries comes too. */
  static async #open({ prompts, onToolsChanged, tokens, rule, ...given }: ReturnType<typeof readOptions>, care?: Care, signal?: AbortSignal): Promise<{ client: MCPClient; left: Care['retry'] | undefined }> {
    const listener = new Listener((client, payload) => { void client.#inTurn(() => client.#hear(payload)) })
    const number = addToolListener(listener)
    let token = -1
    const left = await operation(issued => {
      token = issued
      binding.connectMcp(issued, { ...given, listener: number }, prompts, care?.retry)
    }, undefined, signal).catch((error: unknown) => { throw withCause(error, tokens) })
    const client = new MCPClient(unwrap(() => binding.takeMcpClient(token, care)), { ...given, onToolsChanged, tokens, rule }, listener)
    return { client, left: left === '' ? undefined : JSON.parse(left) }
  }

  /**
   * `ready`; `degraded` when the server went away by itself and calls fail at once, or when the last request to a url got no answer, or one
   * of status 5xx, and the next one tries again; `connecting` while the server is being started anew, and calls wait for that within their own time; `closed`.
   */
  get state(): 'connecting' | 'ready' | 'degraded' | 'closed' { return this.#native.state as 'connecting' | 'ready' | 'degraded' | 'closed' }

  /**
   * What last went wrong with the connection: how the server ended, why it could not be started anew, why a listing that it called for was
   * refused. For a person; stays after a recovery. Holds no values of `env`.
   */
  get lastError(): ToolError | undefined {
    const json = this.#native.lastError
    return json == null ? undefined : fromNative(json)
  }

  /** What was noticed on the connection, and on how it was configured. */
  get diagnostics(): MCPDiagnostics {
    const seen = JSON.parse(this.#native.diagnostics)
    return { ...seen, notes: [...this.#remarks, ...seen.notes] }
  }

  /** The revision of the protocol that both sides speak. */
  get protocolVersion(): string { return this.#native.protocolVersion }

  /** The server's process id; another one after it was started anew. None for a url, and none while there is no process. */
  get pid(): number | undefined { return this.#native.processId ?? undefined }

  /** What the last `loadTools` left out, and why. */
  get skippedTools(): readonly SkippedTool[] { return this.#skipped.all }

  /**
   * Asks the server for its tools. Names become `{namespace}_{name}`, made legal and unique; descriptions are cleaned and cut;
   * the origin is stamped here, whatever a definition says. A definition that cannot be used is left out: see `skippedTools`.
   * With pins given, tools that are not those that were approved are refused all together.
   * @throws ToolError `CONNECTION_FAILED`, `TIMEOUT`, `CLOSED`; `PIN_MISMATCH`, whose `data` is a `PinMismatch`; `INVALID_OPTIONS` for a lock
   * file that cannot be used.
   */
  async loadTools(): Promise<MCPTool[]> { return this.#load() }

  async #load(retry?: Care['retry'], signal?: AbortSignal): Promise<MCPTool[]> {
    const listed = operation(token => { this.#native.listTools(token, retry) }, undefined, signal)
    const listing = JSON.parse(await listed.catch((error: unknown) => { throw withCause(error, tokensOf.get(this)) }))
    return this.#inTurn(async () => {
      const tools = await inSlices(listing.tools, (tool: Listed) => this.#toolOf(tool))
      this.#tools = new Map(tools.map(tool => [tool.name, tool]))
      this.#skipped.list(listing, tools.map(tool => tool.remoteName))
      return tools
    })
  }

  #inTurn<Result>(take: () => Promise<Result>): Promise<Result> {
    const taken = this.#taken.then(take, take)
    this.#taken = taken
    return taken
  }

  /**
   * Registers the server's tools, and keeps the registry up to date from then on: tools that appear are added, tools that vanish are
   * removed, and tools that change are replaced. What you set on a tool is lost when its definition changes. A tool that appears later
   * under a name that somebody else's tool has is left out, unless `onConflict` is `overwrite`, and is in `skippedTools`.
   * Gives the names that were added: none that this client's tools have there already. The registry holds the client; close the client yourself.
   * @throws ToolError as `loadTools` and `ToolRegistry.registerAll`.
   */
  async syncTo(registry: ToolRegistry, options: { onConflict?: OnConflict } = {}): Promise<string[]> {
    checkKeys(options, ['onConflict'], 'the options of syncTo')
    if (typeof registry?.registerAll !== 'function') throw invalidOption('syncTo takes a registry')
    await this.loadTools()
    return this.#adopt(registry, options.onConflict ?? 'error')
  }

  #adopt(registry: ToolRegistry, onConflict: OnConflict): string[] {
    const tools = [...this.#tools.values()]
    const mine = tools.filter(tool => this.#owns(registry, tool.name))
    const names = registry.registerAll(tools.filter(tool => !mine.includes(tool)), { onConflict })
    for (const tool of mine) if ((registry.get(tool.name) as MCPTool).fingerprint !== tool.fingerprint) registry.register(tool, { overwrite: true })
    for (const synced of this.#registries) if (synced.registry.deref() === registry) this.#registries.delete(synced)
    this.#registries.add({ registry: new WeakRef(registry), overwrite: onConflict === 'overwrite' })
    held.set(registry, (held.get(registry) ?? new Set()).add(this))
    return names
  }

  /** Whether a tool of a registry is one of this client's. */
  #owns(registry: ToolRegistry, name: string): boolean {
    const tool = registry.get(name)
    return tool instanceof MCPTool && clientOf(tool) === this
  }

  #toolOf({ name, description, inputSchema, remoteName, outputSchema, fingerprint, title, annotations, repeatable }: Listed): MCPTool {
    const claims: MCPToolClaims = { name, remoteName, description, annotations, ...(title === null ? {} : { title }) }
    const requiresConfirmation = asks(this.requiresConfirmation, claims)
    const { name: _name, description: _description, ...rest } = claims
    return new MCPTool(this, name, description, inputSchema, { ...rest, requiresConfirmation, fingerprint, repeatable, ...(outputSchema === null ? {} : { outputSchema }) })
  }

  /** A listing differs from the one before. */
  async #hear(payload: string): Promise<void> {
    const told = JSON.parse(payload)
    if (typeof told.error === 'string') {
      notify(this.#onToolsChanged, { client: this, added: [], changed: [], removed: [], error: fromNative(told.error) })
      return
    }
    const added = await inSlices(told.added, (tool: Listed) => this.#toolOf(tool))
    const changed = await inSlices(told.changed, (tool: Listed) => this.#toolOf(tool))
    const { removed } = told
    for (const name of removed) this.#tools.delete(name)
    for (const tool of [...added, ...changed]) this.#tools.set(tool.name, tool)
    this.#skipped.list(told, [...this.#tools.values()].map(tool => tool.remoteName))
    for (const synced of this.#registries) {
      const registry = synced.registry.deref()
      if (registry === undefined || !this.#update(registry, synced.overwrite, [...added, ...changed], removed)) this.#registries.delete(synced)
    }
    // Otherwise it is only something else that was left out.
    if (added.length + changed.length + removed.length > 0) notify(this.#onToolsChanged, { client: this, added, changed, removed })
  }

  /** False for a registry that takes nothing more. */
  #update(registry: ToolRegistry, overwrite: boolean, tools: readonly MCPTool[], removed: readonly string[]): boolean {
    for (const name of removed) if (this.#owns(registry, name)) registry.unregister(name)
    for (const tool of tools) {
      const known = registry.get(tool.name) !== undefined
      if (known && !overwrite && !this.#owns(registry, tool.name)) {
        this.#skipped.notTaken(tool.remoteName, `another tool is registered as '${tool.name}'`)
        continue
      }
      try {
        registry.register(tool, { overwrite: true })
        this.#skipped.taken(tool.remoteName)
      } catch (error) {
        if (ToolError.isInstance(error) && error.code === 'CLOSED') return false
        this.#skipped.notTaken(tool.remoteName, error instanceof Error ? error.message : String(error))
      }
    }
    return true
  }

  /**
   * Calls a tool by the server's own name for it, past any registry: no permission, no confirmation, no bound. Pins hold here too.
   * What goes wrong at the server is a response.
   */
  async callTool(name: string, args: string | object, options: Pick<ExecuteOptions, 'signal' | 'timeoutMs' | 'onProgress'> = {}): Promise<ToolResponse<MCPResultData>> {
    checkName(name)
    checkCallOptions(options)
    const call = { signal: options.signal, timeoutMs: options.timeoutMs ?? undefined, onProgress: options.onProgress }
    return runLoose(args, call, (token, text, _callId, timeoutMs, listens) => { this.#native.call(token, name, text, timeoutMs, listens) })
  }

  /**
   * Tries once to connect anew, now: where the server went away, also where it was given up after `respawn.attempts`. The tools that you have go on to work.
   * Nothing is done while all is well.
   * @throws ToolError `CLOSED`; otherwise why the try failed. It can be called again.
   */
  async reconnect(): Promise<void> {
    await operation(token => { this.#native.reconnect(token) }).catch((error: unknown) => { throw withCause(error, tokensOf.get(this)) })
  }

  /**
   * Ends the connection. A server that was started is ended: its input is closed, then its whole process group gets signals, and nothing of
   * the group is alive afterwards. The session with a server behind a url is ended. Registries that follow the client lose its tools.
   */
  async close(): Promise<void> {
    for (const synced of this.#registries) {
      const registry = synced.registry.deref()
      if (registry === undefined) continue
      for (const { name } of registry.listTools()) if (this.#owns(registry, name)) registry.unregister(name)
      held.get(registry)?.delete(this)
    }
    this.#registries.clear()
    await operation(token => { this.#native.close(token) })
    this.#listener.client = undefined
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> { await this.close() }
}

let clientOf: (tool: MCPTool) => MCPClient

/** A tool of an MCP server. Its result is external content; unless said otherwise, calls need a yes. */
export class MCPTool extends Tool<any, MCPResultData> {
  /** The server's own name for it. */
  readonly remoteName: string
  /** What `structuredContent` of its results is like, if the server says so. */
  readonly outputSchema: JsonSchema | undefined
  /** What a person may be shown in place of the name. A claim of the server. */
  readonly title: string | undefined
  /** Hints such as `readOnlyHint`, frozen. Claims of the server, which nothing here goes by: whether a call asks is `requiresConfirmation` alone. */
  readonly annotations: MCPAnnotations
  declare readonly maxTextChars?: number
  declare readonly maxDataBytes?: number
  /** SHA-256 of the definition as the server wrote it, or as `fingerprintFormat` says, in hex: see docs/mcp.md. None for a tool that was declared by hand without one. */
  readonly fingerprint?: string
  readonly #schema: JsonSchema
  /** Keeps the client, which hears of changes, as long as its tools. */
  readonly #client: MCPClient

  static {
    clientOf = tool => tool.#client
  }

  /**
   * Usually made by `MCPClient.loadTools`. The origin is always `mcp:` and the client's namespace. Description and schema are cleaned of
   * hidden characters, and each description cut to `maxDescChars` characters, the client's by default.
   * @throws ToolError `INVALID_OPTIONS` for a schema out of the bounds of remote schemas, a fingerprint that is none, or another's origin.
   */
  constructor(client: MCPClient, name: string, description: string, inputSchema: JsonSchema, options: MCPToolOptions = {}) {
    checkKeys(options, ['remoteName', 'requiresConfirmation', 'maxDescChars', 'fingerprint', 'origin', 'outputSchema', 'title', 'annotations', 'repeatable'], 'the options of an MCPTool')
    checkChars(options.maxDescChars, 'maxDescChars')
    const { remoteName = name, requiresConfirmation = true, maxDescChars, fingerprint, outputSchema, repeatable = false } = options
    const origin = `mcp:${client.namespace}`
    if (options.origin !== undefined && options.origin !== origin) throw invalidOption(`the origin of this tool is '${origin}', whatever it is called; leave it out`)
    checkBoolean(repeatable, 'repeatable')
    if (fingerprint !== undefined && typeof fingerprint !== 'string') throw invalidOption('fingerprint must be a string')
    const native = unwrap(() => nativeClient(client).tool({
      name: String(name), remoteName, description: String(description).toWellFormed(), inputSchema: JSON.stringify(inputSchema), requiresConfirmation, repeatable,
      ...(maxDescChars === undefined ? {} : { maxDescChars }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(outputSchema === undefined ? {} : { outputSchema: JSON.stringify(outputSchema) }),
    }))
    super(name, native.description, { origin })
    this.remoteName = remoteName
    if (fingerprint !== undefined) this.fingerprint = fingerprint.toLowerCase()
    this.requiresConfirmation = requiresConfirmation
    this.externalContent = true
    this.outputSchema = outputSchema
    this.title = options.title
    this.annotations = deepFreeze({ ...options.annotations })
    const { maxResultChars, maxResultBytes } = limitsOf(client)
    if (maxResultChars !== undefined) this.maxTextChars = maxResultChars
    if (maxResultBytes !== undefined) this.maxDataBytes = maxResultBytes
    this.#client = client
    this.#schema = JSON.parse(native.inputSchema)
    backWith(this, native, MCPTool)
  }

  override getParameters(): InputSchema { return this.#schema }

  /** Calls the server by itself, outside any registry. */
  override run(args: any, context?: ToolContext): Promise<ToolResponse<MCPResultData>> { return runNative(this, args, { context }) }
}

allowStamping(MCPTool)
