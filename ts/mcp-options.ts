/** Options of an MCP client, checked once and brought into the shape that the core takes. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { type AuthCallback, AuthTokens } from './mcp-auth.js'
import { checkBoolean, checkChars, checkFunction, checkKeys, checkMs, checkRecord, checkText } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'

/** How to reach a server, and how far to trust it. */
export interface MCPClientOptions {
  /** Prefix of the names of its tools, and their origin: `mcp:{namespace}`. `[A-Za-z0-9_-]`, 1 to 64 characters. */
  namespace: string
  /** The program to start, found in PATH. No shell is involved. Either this or `url`. */
  command?: string | undefined
  /** Its arguments. Default: none. */
  args?: readonly string[] | undefined
  /**
   * Variables for the server. Beside them it gets PATH, HOME, LANG, LOGNAME, SHELL, TERM, USER and TMPDIR, and nothing else of this
   * process's environment. Values never appear in errors.
   */
  env?: Record<string, string> | undefined
  /** Its working folder. Default: this process's. */
  cwd?: string | undefined
  /** Where the server is: `https://…`, or `http://…` on this machine. Either this or `command`. */
  url?: string | undefined
  /**
   * With `url`: how messages travel. `http` is Streamable HTTP, `sse` the HTTP+SSE of revision 2024-11-05, `auto` the first and, where the
   * server knows nothing of it, the second. Default: `auto`.
   */
  transport?: 'auto' | 'http' | 'sse' | undefined
  /** With `url`: headers of every request. They leave for the origin of the url only, and their values never appear in errors. */
  headers?: Record<string, string> | undefined
  /** With `url`: gives the token that is sent as `Authorization: Bearer …`. Called once for all requests that a server answers 401. */
  auth?: AuthCallback | undefined
  /** With `url`: whether `http://` may leave this machine, in clear text. Default: false. */
  allowInsecureHttp?: boolean | undefined
  /** With `url`: limit in milliseconds for a connection, its name and TLS included. Default: 10,000. */
  connectTimeoutMs?: number | undefined
  /** With `url`: requests under way at the same time; others wait. Default: 64. */
  maxRequestsInFlight?: number | undefined
  /** Which revision to speak: `legacy` for those up to 2025-11-25. Default: `auto`, which asks the server. */
  protocol?: 'auto' | 'legacy' | '2026-07-28' | undefined
  /** Whether calls of its tools need a yes. Default: true. */
  requiresConfirmation?: boolean | undefined
  /** Characters kept of each description. Default: 4,096. */
  maxDescChars?: number | undefined
  /**
   * Limit in milliseconds for start and handshake together, and for each request; progress of a call restarts it, up to ten times.
   * `null` for none. Default: 30,000.
   */
  timeoutMs?: number | null | undefined
  /**
   * The approved tools: the fingerprint (`tool.fingerprint`) of each by its name here. With it given, also as `{}`, a tool that is new,
   * missing or changed makes `loadTools` throw `PIN_MISMATCH`. Default: nothing is checked.
   */
  expectedFingerprints?: Readonly<Record<string, string>> | undefined
  /**
   * The approved tools in a lock file, such as `toolbolt.lock.json`, which several servers may share. `enforce`: as with
   * `expectedFingerprints`. `record`: a tool that the file does not know is trusted and added; all else as with `enforce`. A relative path
   * counts from the working folder of now. Not together with `expectedFingerprints`. Default: none.
   */
  pins?: { readonly file: string; readonly mode: 'enforce' | 'record' } | undefined
  /** The words about calls: that the server did not answer, and the like. Default: English. */
  prompts?: PromptRegistry | undefined
}

const DEFAULT_TIMEOUT_MS = 30_000
const COMMON = ['namespace', 'requiresConfirmation', 'maxDescChars', 'protocol', 'timeoutMs', 'expectedFingerprints', 'pins', 'prompts']
const OF_COMMANDS = ['command', 'args', 'env', 'cwd']
const OF_URLS = ['url', 'transport', 'headers', 'auth', 'allowInsecureHttp', 'connectTimeoutMs', 'maxRequestsInFlight']
const KNOWN = [...COMMON, ...OF_COMMANDS, ...OF_URLS]

/** Options from whatever `connect` was given. @throws ToolError `INVALID_OPTIONS`. */
export function readOptions(server: string | readonly string[] | MCPClientOptions, options: Partial<MCPClientOptions>) {
  if (typeof server === 'string' || Array.isArray(server)) {
    if (typeof server === 'string' && /^\s*https?:\/\//i.test(server)) throw invalidOption('a string is a command to start; pass { url } to connect, or use connectHttp')
    const words = typeof server === 'string' ? unwrap(() => binding.splitCommandLine(server)) : server
    const [command, ...args] = words
    if (typeof command !== 'string') throw invalidOption('the command is an empty list; its first word is the program')
    return checked({ namespace: 'mcp', ...options, command, args })
  }
  if (server === null || typeof server !== 'object') throw invalidOption('connect takes a command, a list of words or options')
  return checked({ ...(server as MCPClientOptions), ...options })
}

/** Options from an address and the transport that a method stands for. @throws ToolError `INVALID_OPTIONS`. */
export function readUrlOptions(url: string, transport: 'http' | 'sse', options: Partial<MCPClientOptions>) {
  const { transport: given = transport } = options
  if (given !== transport) throw invalidOption(`this method is for transport '${transport}'; use connect with { url, transport }`)
  return checked({ namespace: 'mcp', ...options, url, transport })
}

function checked(options: MCPClientOptions) {
  const unknown = Object.keys(options).find(key => !KNOWN.includes(key))
  if (unknown !== undefined) throw invalidOption(`unknown option '${unknown}'; use ${KNOWN.join(', ')}`)
  const { namespace, requiresConfirmation = true, maxDescChars, protocol = 'auto', timeoutMs = DEFAULT_TIMEOUT_MS } = options
  if (typeof namespace !== 'string') throw invalidOption('namespace must be a string: it is the root of trust for the tools of this server')
  if (typeof requiresConfirmation !== 'boolean') throw invalidOption('requiresConfirmation must be true or false')
  if (!['auto', 'legacy', '2026-07-28'].includes(protocol)) throw invalidOption("protocol must be 'auto', 'legacy' or '2026-07-28'")
  checkChars(maxDescChars, 'maxDescChars')
  checkMs(timeoutMs, 'timeoutMs')
  if ((options.command === undefined) === (options.url === undefined)) throw invalidOption('give either command, for a program to start, or url, for a server that runs elsewhere')
  const approved = readPins(options)
  return {
    namespace, protocol, requiresConfirmation, prompts: nativePrompts(options.prompts),
    ...(options.url === undefined ? { ...ofCommand(options), tokens: undefined } : ofUrl(options)),
    ...(maxDescChars === undefined ? {} : { maxDescChars }),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...approved,
  }
}

function ofCommand(options: MCPClientOptions) {
  const misplaced = OF_URLS.find(key => options[key as keyof MCPClientOptions] !== undefined)
  if (misplaced !== undefined) throw invalidOption(`${misplaced} is for servers with a url; a command takes env`)
  const { command, args = [], env = {}, cwd } = options
  if (typeof command !== 'string') throw invalidOption('command must be a string')
  if (!Array.isArray(args) || !args.every(word => typeof word === 'string')) throw invalidOption('args must be an array of strings')
  if (env === null || typeof env !== 'object' || !Object.values(env).every(value => typeof value === 'string')) throw invalidOption('env must be an object of strings')
  if (cwd !== undefined && typeof cwd !== 'string') throw invalidOption('cwd must be a string')
  return { command, args: [...args], env: { ...env }, ...(cwd === undefined ? {} : { cwd }) }
}

function ofUrl(options: MCPClientOptions) {
  const misplaced = OF_COMMANDS.find(key => options[key as keyof MCPClientOptions] !== undefined && !(key === 'args' && options.args?.length === 0))
  if (misplaced !== undefined) throw invalidOption(`${misplaced} is for servers with a command; a url takes headers and auth`)
  const { url, transport = 'auto', headers = {}, auth, allowInsecureHttp = false, connectTimeoutMs, maxRequestsInFlight } = options
  if (typeof url !== 'string') throw invalidOption('url must be a string')
  if (!['auto', 'http', 'sse'].includes(transport)) throw invalidOption("transport must be 'auto', 'http' or 'sse'")
  checkRecord(headers, 'headers')
  if (!Object.values(headers).every(value => typeof value === 'string')) throw invalidOption('headers must be an object of strings')
  checkFunction(auth, 'auth')
  checkBoolean(allowInsecureHttp, 'allowInsecureHttp')
  if (connectTimeoutMs === null) throw invalidOption('connectTimeoutMs must be a positive number of milliseconds')
  checkMs(connectTimeoutMs, 'connectTimeoutMs')
  checkChars(maxRequestsInFlight, 'maxRequestsInFlight')
  const tokens = auth === undefined ? undefined : new AuthTokens(auth)
  const remote = {
    url, transport, headers: { ...headers }, allowInsecureHttp,
    ...(tokens === undefined ? {} : { auth: tokens.number }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(maxRequestsInFlight === undefined ? {} : { maxRequestsInFlight }),
  }
  return { command: '', args: [], env: {}, remote, tokens }
}

function readPins({ expectedFingerprints, pins }: MCPClientOptions) {
  if (expectedFingerprints !== undefined) {
    if (pins !== undefined) throw invalidOption('give expectedFingerprints or pins, not both: one of them decides which tools are approved')
    checkRecord(expectedFingerprints, 'expectedFingerprints')
    if (!Object.values(expectedFingerprints).every(value => typeof value === 'string')) throw invalidOption('expectedFingerprints must be an object of strings')
    return { expectedFingerprints: { ...expectedFingerprints } }
  }
  if (pins === undefined) return {}
  checkKeys(pins, ['file', 'mode'], 'pins')
  if (pins.file === undefined) throw invalidOption('pins.file must be the path of the lock file')
  checkText(pins.file, 'pins.file')
  if (pins.mode !== 'enforce' && pins.mode !== 'record') throw invalidOption("pins.mode must be 'enforce' or 'record'")
  return { pins: { file: pins.file, record: pins.mode === 'record' } }
}
