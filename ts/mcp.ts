/** MCP servers and their tools. */
import { type NativeMcpClient, binding } from './binding.js'
import { operation } from './dispatch.js'
import { invalidOption, unwrap } from './errors.js'
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
   * With pins given, tools that are not those that were approved are refused all together.
   * @throws ToolError `CONNECTION_FAILED`, `TIMEOUT`, `CLOSED`; `PIN_MISMATCH`, whose `data` is a `PinMismatch`; `INVALID_OPTIONS` for a lock
   * file that cannot be used.
   */
  async loadTools(): Promise<MCPTool[]> {
    const listing = JSON.parse(await operation(token => { this.#native.listTools(token) }))
    this.#skipped = [...listing.skipped, ...listing.warnings.map((reason: string) => ({ remoteName: null, reason }))]
    return listing.tools.map((tool: { name: string; description: string; inputSchema: JsonSchema; remoteName: string; fingerprint: string }) =>
      new MCPTool(this, tool.name, tool.description, tool.inputSchema, {
        remoteName: tool.remoteName, requiresConfirmation: this.requiresConfirmation, fingerprint: tool.fingerprint,
      }))
  }

  /**
   * Calls a tool by the server's own name for it, past any registry: no permission, no confirmation, no bound. Pins hold here too.
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
  /**
   * The fingerprint that the definition at the server has to have, 64 hexadecimal digits. Compared where the client has pins. Default: none;
   * with pins, the server then has to list an approved tool of that remote name.
   */
  fingerprint?: string | undefined
  /** Who vouches for it. There is one choice, and it is made already: `mcp:` and the client's namespace. */
  origin?: string | undefined
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

/** A tool of an MCP server. Its result is external content; unless said otherwise, calls need a yes. */
export class MCPTool extends Tool<any> {
  /** The server's own name for it. */
  readonly remoteName: string
  /** SHA-256 of the definition as the server wrote it, in hex: see docs/mcp.md. None for a tool that was declared by hand without one. */
  readonly fingerprint?: string
  readonly #schema: JsonSchema

  /**
   * Usually made by `MCPClient.loadTools`. The origin is always `mcp:` and the client's namespace. Description and schema are cleaned of
   * hidden characters, and each description cut to `maxDescChars` characters, the client's by default.
   * @throws ToolError `INVALID_OPTIONS` for a schema out of the bounds of remote schemas, a fingerprint that is none, or another's origin.
   */
  constructor(client: MCPClient, name: string, description: string, inputSchema: JsonSchema, options: MCPToolOptions = {}) {
    checkKeys(options, ['remoteName', 'requiresConfirmation', 'maxDescChars', 'fingerprint', 'origin'], 'the options of an MCPTool')
    checkChars(options.maxDescChars, 'maxDescChars')
    const { remoteName = name, requiresConfirmation = true, maxDescChars, fingerprint } = options
    const origin = `mcp:${client.namespace}`
    if (options.origin !== undefined && options.origin !== origin) throw invalidOption(`the origin of this tool is '${origin}', whatever it is called; leave it out`)
    if (fingerprint !== undefined && typeof fingerprint !== 'string') throw invalidOption('fingerprint must be a string')
    const native = unwrap(() => nativeClient(client).tool({
      name: String(name), remoteName, description: String(description).toWellFormed(), inputSchema: JSON.stringify(inputSchema), requiresConfirmation,
      ...(maxDescChars === undefined ? {} : { maxDescChars }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
    }))
    super(name, native.description, { origin })
    clientOf.set(this, client)
    this.remoteName = remoteName
    if (fingerprint !== undefined) this.fingerprint = fingerprint.toLowerCase()
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
