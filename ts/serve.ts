/** A registry behind an MCP server, for the clients of other programs. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type NativeServer, binding } from './binding.js'
import { type Served, type ServedCall, addServer, operation } from './dispatch.js'
import { invalidOption, unwrap } from './errors.js'
import { ToolRegistry, insideOf } from './registry.js'
import { type ServeAuthCallback, type ServeHttpOptions, type ServeOptions, readServeOptions } from './serve-options.js'
import { toCallToolResult } from './serve-result.js'
import type { ConfirmCallback, ConfirmRequest, Progress } from './types.js'

/** A server that runs. */
export interface McpServer extends AsyncDisposable {
  /** Where clients reach it; absent for standard streams. */
  readonly url?: string
  /** Resolves when it has ended: it was closed, its registry was, or the input ended. Rejects where the streams cannot be had. */
  readonly closed: Promise<void>
  /** Ends it; calls under way are cancelled. The registry stays open. Can be called again. */
  close(): Promise<void>
}

/** Those that run: whoever drops the server's object has not closed it. */
const running = new Set<Serving>()
let hasStdio = false

/**
 * Serves the tools of a registry to MCP clients, of all revisions up to 2026-07-28, through the same gate as every other call: permissions,
 * validation, confirmation, bounds. A call that needs a yes asks the client's user where the client can ask, else the registry's own
 * `confirm`, and is refused where there is neither. A server keeps the process alive until it is closed.
 * With `stdio`, standard output belongs to the protocol: what else the program writes there, `console.log` included, goes to standard error.
 * @throws ToolError `INVALID_OPTIONS`; `CLOSED` for a registry that is closed; `CONNECTION_FAILED` where the address cannot be had.
 */
export async function serveMcp(registry: ToolRegistry, options: ServeOptions): Promise<McpServer> {
  if (!(registry instanceof ToolRegistry)) throw invalidOption('serveMcp takes a ToolRegistry')
  const settings = readServeOptions(options)
  unwrap(() => { insideOf(registry).native.checkOpen() })
  if (options.transport === 'stdio') {
    if (hasStdio) throw invalidOption('this process has one standard input, and it is being served already')
    hasStdio = true
  }
  const serving = new Serving(registry, options, settings)
  try {
    await serving.start()
  } catch (error) {
    if (options.transport === 'stdio') hasStdio = false
    throw error
  }
  return serving
}

class Serving implements McpServer, Served {
  url?: string
  closed!: Promise<void>
  readonly #registry: ToolRegistry
  readonly #native: NativeServer
  readonly #options: ServeOptions
  readonly #admits: ServeAuthCallback
  readonly #stop = (): void => { this.#native.close() }

  constructor(registry: ToolRegistry, options: ServeOptions, settings: object) {
    this.#registry = registry
    this.#options = options
    const { auth } = options as ServeHttpOptions
    this.#admits = typeof auth === 'string' ? isToken(auth) : (auth ?? (() => true))
    this.#native = unwrap(() => new binding.NativeServer(insideOf(registry).native, addServer(this), JSON.stringify(settings)))
  }

  async start(): Promise<void> {
    const address = await operation(token => { this.#native.start(token) })
    const { signal } = this.#options
    if (this.#options.transport === 'http') this.url = `http://${address}${this.#options.path ?? '/mcp'}`
    running.add(this)
    insideOf(this.#registry).closers.add(this.#stop)
    this.closed = operation(token => { this.#native.run(token) }).then(() => {}).finally(() => {
      running.delete(this)
      insideOf(this.#registry).closers.delete(this.#stop)
      signal?.removeEventListener('abort', this.#stop)
      if (this.#options.transport === 'stdio') hasStdio = false
    })
    // Who does not look at it has no unhandled rejection from it.
    this.closed.catch(() => {})
    signal?.addEventListener('abort', this.#stop, { once: true })
    if (signal?.aborted === true) this.#stop()
  }

  async close(): Promise<void> {
    this.#stop()
    await this.closed.catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> { await this.close() }

  /** @internal */
  async call({ call, name, arguments: text, callId, canAsk }: ServedCall, signal: AbortSignal): Promise<string> {
    const response = await this.#registry.execute(name, text, {
      callId,
      signal,
      ...(canAsk ? { confirm: this.#asker(call) } : {}),
      onProgress: ({ progress, total, message }: Progress) => { this.#native.progress(call, progress, total, message) },
    })
    return JSON.stringify(toCallToolResult(this.#registry, response))
  }

  /** @internal */
  async admits(token: string | undefined): Promise<boolean> {
    const admits = this.#admits
    return await admits(token) === true
  }

  #asker(call: number): ConfirmCallback {
    return async ({ preview, signal }: ConfirmRequest) => await operation(token => { this.#native.ask(token, call, preview) }, undefined, signal) === 'yes'
  }
}

/** Whether it is the token, in a time that does not tell how much of it is right. */
function isToken(wanted: string): ServeAuthCallback {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const right = digest(wanted)
  return token => token !== undefined && timingSafeEqual(digest(token), right)
}
