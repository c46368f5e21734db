/** MCP servers and their tools. */
import { type NativeMcpClient, binding } from './binding.js'
import { operation } from './dispatch.js'
import { unwrap } from './errors.js'
import type { AuthTokens } from './mcp-auth.js'
import { type MCPClientOptions, readOptions, readUrlOptions } from './mcp-options.js'
import { backWith, runNative } from './native-tool.js'
import { checkChars, checkExecuteOptions, checkKeys, checkName } from './options.js'
import type { ToolResponse } from './response.js'
import { Tool, allowStamping } from './tool.js'
import type { ExecuteOptions, InputSchema, JsonSchema, ToolContext } from './types.js'

/** What a server offers that could not be loaded. */
export interface SkippedTool {
  readonly remoteName: string | null
  readonly reason: string
}

let nativeClient: (client: MCPClient) => NativeMcpClient

/** Who gives the tokens of a client is known to the core by number only, so the client holds it, and its tools hold the client. */
const tokensOf = new WeakMap<MCPClient, AuthTokens>()
const clientOf = new WeakMap<MCPTool, MCPClient>()

/** A connection to an MCP server: one that runs as a child process and speaks over its standard streams, or one behind an address. */
export class MCPClient implements AsyncDisposable {
  /** The prefix of the names of its tools. */
  readonly namespace: string
  /** Whether calls of its tools need a yes. */
  readonly requiresConfirmation: boolean
  #native: NativeMcpClient
  #skipped: readonly SkippedTool[] = []

  private constructor(native: NativeMcpClient, namespace: string, requiresConfirmation: boolean, tokens: AuthTokens | undefined) {
    this.#native = native
    if (tokens !== undefined) tokensOf.set(this, tokens)
    this.namespace = namespace
    this.requiresConfirmation = requiresConfirmation
  }

  static {
    nativeClient = client => client.#native
  }

  /**
   * Starts a server, or reaches the one at `url`, and shakes hands. A string is split into words as a shell would, without running one; a list is taken as it is.
   * @throws ToolError `INVALID_NAME`, `INVALID_OPTIONS`; `CONNECTION_FAILED` with the server's last words; `TIMEOUT`.
   */
  static async connect(server: string | readonly string[], options?: Partial<Omit<MCPClientOptions, 'command' | 'args' | 'url'>>): Promise<MCPClient>
  static async connect(options: MCPClientOptions): Promise<MCPClient>
  static async connect(server: string | readonly string[] | MCPClientOptions, options: Partial<MCPClientOptions> = {}): Promise<MCPClient> {
    return MCPClient.#open(readOptions(server, options))
  }

  /**
   * Reaches a server over Streamable HTTP. With `transport` `auto`, by `connect({ url })`, one that knows only HTTP+SSE is reached too.
   * The namespace is `mcp` unless given.
   * @throws ToolError as `connect`.
   */
  static async connectHttp(url: string, options: Partial<Omit<MCPClientOptions, 'url' | 'command'>> = {}): Promise<MCPClient> {
    return MCPClient.#open(readUrlOptions(url, 'http', options))
  }

  /**
   * Reaches a server over HTTP+SSE, the transport of revision 2024-11-05. The namespace is `mcp` unless given.
   * @throws ToolError as `connect`.
   */
  static async connectSse(url: string, options: Partial<Omit<MCPClientOptions, 'url' | 'command'>> = {}): Promise<MCPClient> {
    return MCPClient.#open(readUrlOptions(url, 'sse', options))
  }

  static async #open({ prompts, tokens, ...given }: ReturnType<typeof readOptions>): Promise<MCPClient> {
    let token = -1
    await operation(issued => {
      token = issued
      binding.connectMcp(issued, given, prompts)
    })
    return new MCPClient(unwrap(() => binding.takeMcpClient(token)), given.namespace, given.requiresConfirmation, tokens)
  }

  /**
   * `ready`; `degraded` when the server went away by itself and calls fail, or when the last request to a url failed and the next one
   * tries again; `closed`.
   */
  get state(): 'ready' | 'degraded' | 'closed' { return this.#native.state as 'ready' | 'degraded' | 'closed' }

  /** The revision of the protocol that both sides speak. */
  get protocolVersion(): string { return this.#native.protocolVersion }

  /** The server's process id; none for a url. */
  get pid(): number | undefined { return this.#native.processId ?? undefined }

  /** What the last `loadTools` left out, and why. */
  get skippedTools(): readonly SkippedTool[] { return this.#skipped }

  /**
   * Asks the server for its tools. Names become `{namespace}_{name}`, made legal and unique; descriptions are cleaned and cut;
   * the origin is stamped here, whatever a definition says. A definition that cannot be used is left out: see `skippedTools`.
   * @throws ToolError `CONNECTION_FAILED`, `TIMEOUT`, `CLOSED`.
   */
  async loadTools(): Promise<MCPTool[]> {
    const listing = JSON.parse(await operation(token => { this.#native.listTools(token) }))
    this.#skipped = [...listing.skipped, ...listing.warnings.map((reason: string) => ({ remoteName: null, reason }))]
    return listing.tools.map((tool: { name: string; description: string; inputSchema: JsonSchema; remoteName: string }) =>
      new MCPTool(this, tool.name, tool.description, tool.inputSchema, { remoteName: tool.remoteName, requiresConfirmation: this.requiresConfirmation }))
  }

  /**
   * Calls a tool by the server's own name for it, past any registry: no permission, no confirmation, no bound.
   * What goes wrong at the server is a response.
   */
  async callTool(name: string, args: string | object, options: Pick<ExecuteOptions, 'signal' | 'timeoutMs' | 'onProgress'> = {}): Promise<ToolResponse> {
    checkName(name)
    checkExecuteOptions(options)
    const tool = new MCPTool(this, 'tool', '', { type: 'object' }, { remoteName: name })
    return runNative(tool, args, { signal: options.signal, timeoutMs: options.timeoutMs ?? undefined, onProgress: options.onProgress })
  }

  /**
   * Ends the connection. A server that was started is ended: its input is closed, then its whole process group gets signals, and nothing of
   * the group is alive afterwards. The session with a server behind a url is ended.
   */
  async close(): Promise<void> {
    await operation(token => { this.#native.close(token) })
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> { await this.close() }
}

/** What can be said of an MCP tool that is declared by hand. */
export interface MCPToolOptions {
  /** The server's own name for it. Default: the name. */
  remoteName?: string | undefined
  /** Whether calls need a yes. Default: true. */
  requiresConfirmation?: boolean | undefined
  /** Characters kept of each description. Default: the client's. */
  maxDescChars?: number | undefined
}

/** A tool of an MCP server. Its result is external content; unless said otherwise, calls need a yes. */
export class MCPTool extends Tool<any> {
  /** The server's own name for it. */
  readonly remoteName: string
  readonly #schema: JsonSchema

  /**
   * Usually made by `MCPClient.loadTools`. The origin is always `mcp:` and the client's namespace. Description and schema are cleaned of
   * hidden characters, and each description cut to `maxDescChars` characters, the client's by default.
   * @throws ToolError `INVALID_OPTIONS` for a schema out of the bounds of remote schemas.
   */
  constructor(client: MCPClient, name: string, description: string, inputSchema: JsonSchema, options: MCPToolOptions = {}) {
    checkKeys(options, ['remoteName', 'requiresConfirmation', 'maxDescChars'], 'the options of an MCPTool')
    checkChars(options.maxDescChars, 'maxDescChars')
    const { remoteName = name, requiresConfirmation = true, maxDescChars } = options
    const native = unwrap(() => nativeClient(client).tool({
      name: String(name), remoteName, description: String(description).toWellFormed(), inputSchema: JSON.stringify(inputSchema), requiresConfirmation,
      ...(maxDescChars === undefined ? {} : { maxDescChars }),
    }))
    super(name, native.description, { origin: `mcp:${client.namespace}` })
    clientOf.set(this, client)
    this.remoteName = remoteName
    this.requiresConfirmation = requiresConfirmation
    this.externalContent = true
    this.#schema = JSON.parse(native.inputSchema)
    backWith(this, native, MCPTool)
  }

  override getParameters(): InputSchema { return this.#schema }

  /** Calls the server by itself, outside any registry. */
  override run(args: any, context?: ToolContext): Promise<ToolResponse> { return runNative(this, args, { context }) }
}

allowStamping(MCPTool)
