/** A connection of a connector, and how it is made. */
import { type HealthOptions, type HealthStatus, readHealth, readHealthOptions } from './connector-health.js'
import { type Launch, readCredentials } from './connector-credentials.js'
import type { ConnectorSpec } from './connector-spec.js'
import { operation } from './dispatch.js'
import { type ErrorCode, ToolError, invalidOption } from './errors.js'
import { type Care, type MCPClient, type MCPTool, listedTools, nativeClient, openForConnector } from './mcp.js'
import { type MCPClientOptions, type MCPCommonOptions, readOptions } from './mcp-options.js'
import { checkChars, checkKeys, checkLimitMs, checkRecord, checkTexts } from './options.js'

/** What is done about the faults of a server. */
export interface ResilienceOptions {
  /** Tries after the first one, of a connection and of a call that may be repeated. Default: 3. */
  retries?: number | undefined
  /** The longest pause before the first of them in milliseconds; each further one may be twice as long. Pauses are drawn at random below that. Default: 1,000. */
  firstDelayMs?: number | undefined
  /** The longest pause of all in milliseconds. Default: 30,000. */
  maxDelayMs?: number | undefined
  /** Milliseconds from the first try after which no other begins. Default: 30,000. */
  budgetMs?: number | undefined
  /** Calls in a row that the server failed to answer, after which calls are refused at once. Default: 5. */
  breakerFailures?: number | undefined
  /** For how many milliseconds they are refused, before one call is let through to see. Default: 30,000. */
  breakerResetMs?: number | undefined
}

/** Options of the client below a connection, as of `MCPClient.connect`. */
export type ConnectorClientOptions = Partial<Omit<MCPCommonOptions, 'namespace'>> & {
  /** Further variables for a server that is started. Those of credentials win. */
  env?: Record<string, string> | undefined
  /** Its working folder. Default: this process's. */
  cwd?: string | undefined
  /** Further headers for a server behind an address. Those of credentials win. */
  headers?: Record<string, string> | undefined
  transport?: 'auto' | 'http' | 'sse' | undefined
  allowInsecureHttp?: boolean | undefined
}

/** How a connector is connected. */
export interface ConnectorConnectOptions {
  /** Credentials by the keys of their fields. They come before those of the store and of the environment; an empty one counts as none. */
  credentials?: Readonly<Record<string, string>> | undefined
  /** Whether, and how, faults of the server are made up for. Default: true. */
  resilient?: boolean | ResilienceOptions | undefined
  /** Words after those of `mcpCommand`, such as folders that a server may read. No credentials. */
  args?: readonly string[] | undefined
  client?: ConnectorClientOptions | undefined
  /** Ends the attempt. */
  signal?: AbortSignal | undefined
}

const RETRY = ['retries', 'firstDelayMs', 'maxDelayMs', 'budgetMs'] as const
const OF_THE_SPEC = ['namespace', 'command', 'args', 'url', 'auth']

/** The options of a connect, checked. */
export interface Wanted {
  readonly credentials: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly care: Care | undefined
  readonly client: ConnectorClientOptions
  readonly signal: AbortSignal | undefined
}

/** @throws ToolError `INVALID_OPTIONS`. */
export function readConnectOptions(options: ConnectorConnectOptions): Wanted {
  checkKeys(options, ['credentials', 'resilient', 'args', 'client', 'signal'], 'the options of connect')
  const { args = [], signal } = options
  const credentials = readCredentials(options.credentials)
  const words: unknown[] | undefined = Array.isArray(args) ? [...args] : undefined
  if (words?.every((word): word is string => typeof word === 'string' && word.isWellFormed()) !== true) throw invalidOption('args must be an array of strings without halves of surrogate pairs')
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal must be an AbortSignal')
  return { credentials, args: words, care: readResilience(options.resilient), client: readClient(options.client), signal }
}

function readClient(given: ConnectorClientOptions = {}): ConnectorClientOptions {
  checkRecord(given, 'client')
  const client = { ...given }
  const misplaced = OF_THE_SPEC.find(key => Object.hasOwn(client, key))
  if (misplaced !== undefined) throw invalidOption(`client has no '${misplaced}': the connector says it`)
  for (const name of ['env', 'headers'] as const) {
    checkTexts(client[name], `client.${name}`)
    if (client[name] !== undefined) client[name] = { ...client[name] }
  }
  return client
}

function readResilience(resilient: boolean | ResilienceOptions = true): Care | undefined {
  if (resilient === false) return undefined
  const given = resilient === true ? {} : resilient
  checkKeys(given, [...RETRY, 'breakerFailures', 'breakerResetMs'], 'the options of resilient')
  const { retries, firstDelayMs, maxDelayMs, budgetMs, breakerFailures, breakerResetMs } = given
  if (retries !== 0) checkChars(retries, 'retries')
  checkChars(breakerFailures, 'breakerFailures')
  for (const [name, value] of Object.entries({ firstDelayMs, maxDelayMs, budgetMs, breakerResetMs })) checkLimitMs(value, name)
  const said = (values: Record<string, number | undefined>) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  return { retry: said({ retries, firstDelayMs, maxDelayMs, budgetMs }), ...said({ failures: breakerFailures, resetMs: breakerResetMs }) }
}

/** Connects, and lists the tools once. @throws ToolError as `MCPClient.connect` and `MCPClient.loadTools`; `CANCELLED`. */
export async function open(spec: ConnectorSpec, launch: Launch, wanted: Wanted, signal: AbortSignal, closed: (connection: ConnectorConnection) => void): Promise<ConnectorConnection> {
  const { env, cwd, headers, transport, allowInsecureHttp, ...common } = wanted.client
  const reached = 'url' in launch
    ? { url: launch.url, headers: { ...without(headers, launch.headers), ...launch.headers }, transport, allowInsecureHttp, env, cwd }
    : { command: launch.command, args: launch.args, env: { ...env, ...launch.env }, cwd, headers, transport, allowInsecureHttp }
  const respawn = wanted.care === undefined ? false : common.respawn
  const options = Object.fromEntries(Object.entries({ ...common, respawn, ...reached, namespace: spec.name }).filter(([, value]) => value !== undefined))
  const read = readOptions(options as unknown as MCPClientOptions, {})
  const tokens = 'url' in launch ? launch.tokens : undefined
  const given = tokens === undefined || !('remote' in read) ? read : { ...read, tokens, remote: { ...read.remote, auth: tokens.number } }
  const client = await openForConnector(given, wanted.care, signal)
    .catch((error: unknown) => { throw signal.aborted ? cancelled(spec) : withCause(error) })
  return new ConnectorConnection(spec, client, closed)
}

/** Headers but for those that others have too, however they are written. */
function without(headers: Record<string, string> = {}, others: Record<string, string>): Record<string, string> {
  const taken = new Set(Object.keys(others).map(name => name.toLowerCase()))
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())))
}

export function cancelled(spec: ConnectorSpec): ToolError {
  return new ToolError('CANCELLED', `connector '${spec.name}': the connecting was cancelled`)
}

/** The last of several tries is the cause of the error that tells of them all. */
function withCause(error: unknown): unknown {
  const data = ToolError.isInstance(error) ? error.data as { reason?: { code: ErrorCode; message: string; data?: unknown } } | undefined : undefined
  if (!ToolError.isInstance(error) || typeof data?.reason?.message !== 'string') return error
  const { reason, ...facts } = data
  return new ToolError(error.code, error.message, { data: facts, cause: new ToolError(reason.code, reason.message, { data: reason.data ?? undefined }) })
}

/** A connection to the server of a connector. */
export class ConnectorConnection implements AsyncDisposable {
  /** The connector's name, and the namespace of the tools. */
  readonly name: string
  readonly spec: ConnectorSpec
  readonly client: MCPClient
  readonly #closed: (connection: ConnectorConnection) => void

  /** @internal */
  constructor(spec: ConnectorSpec, client: MCPClient, closed: (connection: ConnectorConnection) => void) {
    this.name = spec.name
    this.spec = spec
    this.client = client
    this.#closed = closed
  }

  /** The server's tools as they are now. They stay usable when its server is started anew. */
  get tools(): readonly MCPTool[] { return listedTools(this.client) }

  /** Whether calls are let through: all, none, or one that decides. `undefined` for a connection that is not resilient. */
  get breaker(): 'closed' | 'open' | 'half-open' | undefined { return (nativeClient(this.client).breaker ?? undefined) as 'closed' | 'open' | 'half-open' | undefined }

  /** Looks how the server is: asks it for its tools. Never throws for what the server does; a server that was given up is started once more. */
  async health(options: HealthOptions = {}): Promise<HealthStatus> {
    const { timeoutMs, degradedAfter, disconnectedAfter } = readHealthOptions(options)
    const native = nativeClient(this.client)
    await operation(token => { native.check(token, timeoutMs) })
    return readHealth(native.health(degradedAfter, disconnectedAfter))
  }

  /** Ends the connection and its server. May be called again. */
  async close(): Promise<void> {
    this.#closed(this)
    await this.client.close()
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> { await this.close() }
}
