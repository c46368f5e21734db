/** Options of an MCP client, checked once and brought into the shape that the core takes. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { type AuthCallback, AuthTokens, type ConnectionTokens } from './mcp-auth.js'
import type { ConfirmationRule } from './mcp-decision.js'
import { suggestion } from './nearest.js'
import { checkBoolean, checkChars, checkFolder, checkFunction, checkKeys, checkLimitMs, checkMs, checkRecord, checkText, checkTexts } from './options.js'
import type { ToolsChange } from './mcp-types.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'

/** Bounds on what a server sends, and on what is under way at once. */
export interface MCPBounds {
  /** Bytes of one message from the server; a longer one closes the connection or, over HTTP, fails its request. Default: 10 MiB. */
  maxFrameBytes?: number | undefined
  /** Tools taken from a listing; the rest is one entry of `skippedTools`. Default: 128. */
  maxTools?: number | undefined
  /** Characters kept of each description. Default: 4,096. */
  maxDescChars?: number | undefined
  /** Bytes of one input or output schema. Default: 128 KiB. */
  maxSchemaBytes?: number | undefined
  /** Levels of nesting of one schema, at most 100. Default: 32. */
  maxSchemaDepth?: number | undefined
  /** Characters of a result's text, of calls past a registry too. Default: the registry's limit; none past it. */
  maxResultChars?: number | undefined
  /** Bytes of a result's data, of calls past a registry too. Default: 1 MiB; none past a registry. */
  maxResultBytes?: number | undefined
  /** Calls that are sent and not answered; more wait in order within their own time. Default: 64. */
  maxInFlight?: number | undefined
  /** Notifications taken within a second; more are counted and dropped, progress too. Default: 5,000. */
  maxNotificationsPerSecond?: number | undefined
}

/** How a server is started anew that went away by itself. */
export interface MCPRespawn {
  /** Tries in a row, successful or not. Default: 5. */
  attempts?: number | undefined
  /** The longest pause before the first try in milliseconds; each further one may be twice as long. Default: 500. */
  firstDelayMs?: number | undefined
  /** The longest pause of all in milliseconds. Default: 30,000. */
  maxDelayMs?: number | undefined
  /** How long a server has to live in milliseconds for its next end to count as the first one. Default: 60,000. */
  healthyAfterMs?: number | undefined
}

/** How far to trust a server, and what holds for every one. */
export interface MCPCommonOptions extends MCPBounds {
  /** Prefix of the names of its tools, and their origin: `mcp:{namespace}`. `[A-Za-z0-9_-]`, 1 to 64 characters. */
  namespace: string
  /** Which revision to speak: `legacy` for those up to 2025-11-25. Default: `auto`, which asks the server. */
  protocol?: 'auto' | 'legacy' | '2026-07-28' | undefined
  /**
   * Whether calls of its tools need a yes; a function decides for each tool, and again when the tool changes. Only strict `false` means no question. What
   * it is given beside the names is what the server says of its own tool. Default: true.
   */
  requiresConfirmation?: boolean | ConfirmationRule | undefined
  /**
   * Limit in milliseconds for each request; progress of a call restarts it, up to ten times. `null` for none. Default: 30,000.
   */
  timeoutMs?: number | null | undefined
  /** Limit in milliseconds for start and handshake together; to reach a `url` 10,000 at most. Default: `timeoutMs`. */
  connectTimeoutMs?: number | undefined
  /** Whether, and how, a server is started anew, or the stream of HTTP+SSE opened anew, that went away by itself. A call that was sent is never sent again. Default: true. */
  respawn?: boolean | MCPRespawn | undefined
  /** Hears when a listing of tools differs from the one before. What it throws is ignored. */
  onToolsChanged?: ((change: ToolsChange) => unknown) | undefined
  /**
   * The approved tools: the fingerprint (`tool.fingerprint`) of each by its name here. With it given, also as `{}`, a tool that is new,
   * missing or changed makes `loadTools` throw `PIN_MISMATCH`. Default: nothing is checked.
   */
  expectedFingerprints?: Readonly<Record<string, string>> | undefined
  /**
   * Which fingerprints are expected, and what `tool.fingerprint` is. `agentmaker` takes those that agentmaker 0.2.0 recorded, which cover
   * less: see docs/mcp.md. Only together with `expectedFingerprints`. Default: `toolbolt`.
   */
  fingerprintFormat?: 'toolbolt' | 'agentmaker' | undefined
  /**
   * The approved tools in a lock file, such as `toolbolt.lock.json`, which several servers may share. `enforce`: as with
   * `expectedFingerprints`. `record`: a tool that the file does not know is trusted and added; all else as with `enforce`. A relative path
   * counts from the working folder of now. Not together with `expectedFingerprints`. Default: none.
   */
  pins?: { readonly file: string; readonly mode: 'enforce' | 'record' } | undefined
  /** The words about calls: that the server did not answer, and the like. Default: English. */
  prompts?: PromptRegistry | undefined
}

/** A server to start as a program. */
export interface MCPCommandOptions extends MCPCommonOptions {
  /** The program to start, found in PATH. No shell is involved. */
  command: string
  /** Its arguments. Default: none. */
  args?: readonly string[] | undefined
  /**
   * Variables for the server. Beside them it gets PATH, HOME, LANG, LOGNAME, SHELL, TERM, USER and TMPDIR, and nothing else of this
   * process's environment. Values never appear in errors. What is undefined is left out.
   */
  env?: Record<string, string | undefined> | undefined
  /** Its working folder; `~` is not expanded. Default: this process's. */
  cwd?: string | undefined
  url?: undefined
  transport?: undefined
  headers?: undefined
  auth?: undefined
  allowInsecureHttp?: undefined
}

/** A server to reach at an address. */
export interface MCPUrlOptions extends MCPCommonOptions {
  /** Where the server is: `https://…`, or `http://…` on this machine. */
  url: string
  /**
   * How messages travel. `http` is Streamable HTTP, `sse` the HTTP+SSE of revision 2024-11-05, `auto` the first and, where the
   * server knows nothing of it, the second. Default: `auto`.
   */
  transport?: 'auto' | 'http' | 'sse' | undefined
  /** Headers of every request. They leave for the origin of the url only, and their values never appear in errors. */
  headers?: Record<string, string> | undefined
  /** Gives the token that is sent as `Authorization: Bearer …`. Called once for all requests that a server answers 401. */
  auth?: AuthCallback | undefined
  /** Whether `http://` may leave this machine, in clear text. Default: false. */
  allowInsecureHttp?: boolean | undefined
  command?: undefined
  args?: undefined
  env?: undefined
  cwd?: undefined
}

/** How to reach a server, with `command` or with `url`, and how far to trust it. */
export type MCPClientOptions = MCPCommandOptions | MCPUrlOptions

/** What a caller without types may have given. */
type Given = MCPCommonOptions & { [Key in Exclude<keyof MCPClientOptions, keyof MCPCommonOptions>]?: MCPCommandOptions[Key] | MCPUrlOptions[Key] | undefined }

const DEFAULT_TIMEOUT_MS = 30_000
const BOUNDS = ['maxFrameBytes', 'maxTools', 'maxSchemaBytes', 'maxSchemaDepth', 'maxResultChars', 'maxResultBytes', 'maxInFlight', 'maxNotificationsPerSecond'] as const
const COMMON = ['namespace', 'requiresConfirmation', 'maxDescChars', 'protocol', 'timeoutMs', 'connectTimeoutMs', 'expectedFingerprints', 'fingerprintFormat', 'pins', 'respawn', 'onToolsChanged', 'prompts', ...BOUNDS]
const OF_COMMANDS = ['command', 'args', 'env', 'cwd']
const OF_URLS = ['url', 'transport', 'headers', 'auth', 'allowInsecureHttp']
const KNOWN = [...COMMON, ...OF_COMMANDS, ...OF_URLS]

/** Options from whatever `connect` was given. @throws ToolError `INVALID_OPTIONS`. */
export function readOptions(server: string | readonly string[] | Given, options: Partial<Given>) {
  if (typeof server === 'string' || Array.isArray(server)) {
    if (typeof server === 'string' && /^\s*https?:\/\//i.test(server)) throw invalidOption('a string is a command to start; pass { url } to connect, or use connectHttp')
    const words = typeof server === 'string' ? unwrap(() => binding.splitCommandLine(server)) : server
    const [command, ...args] = words
    if (typeof command !== 'string') throw invalidOption('the command is an empty list; its first word is the program')
    return checked({ namespace: 'mcp', ...options, command, args })
  }
  if (server === null || typeof server !== 'object') throw invalidOption('connect takes a command, a list of words or options')
  return checked({ ...(server as Given), ...options })
}

/** Options from an address and the transport that a method stands for. @throws ToolError `INVALID_OPTIONS`. */
export function readUrlOptions(url: string, transport: 'http' | 'sse', options: Partial<Given>) {
  const { transport: given = transport } = options
  if (given !== transport) throw invalidOption(`this method is for transport '${transport}'; use connect with { url, transport }`)
  return checked({ namespace: 'mcp', ...options, url, transport })
}

/** What of the options holds for every server of a file, checked before any of them is started. @throws ToolError `INVALID_OPTIONS`. */
export function checkShared(options: object, notHere: readonly string[], what: string): void {
  checkKeys(options, [...COMMON, ...OF_URLS].filter(key => !notHere.includes(key)), what)
  checked({ ...options, namespace: 'any', url: 'https://localhost' })
}

function checked(options: Given) {
  const unknown = Object.keys(options).find(key => !KNOWN.includes(key))
  if (unknown !== undefined) throw invalidOption(`unknown option '${unknown}'${suggestion(unknown, KNOWN) || ';'} use ${KNOWN.join(', ')}`)
  const { namespace, requiresConfirmation = true, maxDescChars, protocol = 'auto', timeoutMs = DEFAULT_TIMEOUT_MS, connectTimeoutMs } = options
  if (typeof namespace !== 'string') throw invalidOption('namespace must be a string: it is the root of trust for the tools of this server')
  const rule = typeof requiresConfirmation === 'function' ? requiresConfirmation : undefined
  if (rule === undefined && typeof requiresConfirmation !== 'boolean') throw invalidOption('requiresConfirmation must be true, false or a function')
  if (!['auto', 'legacy', '2026-07-28'].includes(protocol)) throw invalidOption("protocol must be 'auto', 'legacy' or '2026-07-28'")
  checkChars(maxDescChars, 'maxDescChars')
  checkMs(timeoutMs, 'timeoutMs')
  checkLimitMs(connectTimeoutMs, 'connectTimeoutMs')
  checkFunction(options.onToolsChanged, 'onToolsChanged')
  if ((options.command === undefined) === (options.url === undefined)) throw invalidOption('give either command, for a program to start, or url, for a server that runs elsewhere')
  const respawn = readRespawn(options.respawn)
  const approved = readPins(options)
  return {
    namespace, protocol, rule, requiresConfirmation: requiresConfirmation !== false, prompts: nativePrompts(options.prompts), bounds: readBounds(options), onToolsChanged: options.onToolsChanged,
    ...(options.url === undefined ? { ...ofCommand(options), tokens: undefined } : ofUrl(options)),
    ...(maxDescChars === undefined ? {} : { maxDescChars }),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(respawn === undefined ? {} : { respawn }),
    ...approved,
  }
}

function ofCommand(options: Given) {
  const misplaced = OF_URLS.find(key => options[key as keyof Given] !== undefined)
  if (misplaced !== undefined) throw invalidOption(`${misplaced} is for servers with a url; a command takes env`)
  const { command, args = [], env = {}, cwd } = options
  if (typeof command !== 'string') throw invalidOption('command must be a string')
  if (!Array.isArray(args) || !args.every(word => typeof word === 'string')) throw invalidOption('args must be an array of strings')
  // Which is no plain object.
  const plain = env === process.env ? { ...env } : env
  checkRecord(plain, 'env')
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  checkTexts(given, 'env')
  checkFolder(cwd, 'cwd')
  return { command, args: [...args], env: { ...given }, ...(cwd === undefined ? {} : { cwd }) }
}

function ofUrl(options: Given) {
  const misplaced = OF_COMMANDS.find(key => options[key as keyof Given] !== undefined && !(key === 'args' && options.args?.length === 0))
  if (misplaced !== undefined) throw invalidOption(`${misplaced} is for servers with a command; a url takes headers and auth`)
  const { url, transport = 'auto', headers = {}, auth, allowInsecureHttp = false } = options
  if (typeof url !== 'string') throw invalidOption('url must be a string')
  if (!['auto', 'http', 'sse'].includes(transport)) throw invalidOption("transport must be 'auto', 'http' or 'sse'")
  checkTexts(headers, 'headers')
  checkFunction(auth, 'auth')
  checkBoolean(allowInsecureHttp, 'allowInsecureHttp')
  const tokens: ConnectionTokens | undefined = auth === undefined ? undefined : new AuthTokens(auth)
  const remote = { url, transport, headers: { ...headers }, allowInsecureHttp, ...(tokens === undefined ? {} : { auth: tokens.number }) }
  return { command: '', args: [], env: {}, remote, tokens }
}

function readBounds(options: MCPBounds): Partial<Record<(typeof BOUNDS)[number], number>> {
  const bounds: Partial<Record<(typeof BOUNDS)[number], number>> = {}
  for (const name of BOUNDS) {
    const value = options[name]
    checkChars(value, name)
    if (value !== undefined) bounds[name] = value
  }
  return bounds
}

/** What the core takes; nothing for not at all. */
function readRespawn(respawn: boolean | MCPRespawn = true) {
  if (typeof respawn === 'boolean') return respawn ? {} : undefined
  checkKeys(respawn, ['attempts', 'firstDelayMs', 'maxDelayMs', 'healthyAfterMs'], 'the options of respawn')
  const { attempts, firstDelayMs, maxDelayMs, healthyAfterMs } = respawn
  checkChars(attempts, 'respawn.attempts')
  for (const [name, value] of Object.entries({ firstDelayMs, maxDelayMs, healthyAfterMs })) {
    checkLimitMs(value, `respawn.${name}`)
  }
  return Object.fromEntries(Object.entries({ attempts, firstDelayMs, maxDelayMs, healthyAfterMs }).filter(([, value]) => value !== undefined))
}

function readPins({ expectedFingerprints, fingerprintFormat, pins }: Given) {
  if (fingerprintFormat !== undefined && !['toolbolt', 'agentmaker'].includes(fingerprintFormat)) throw invalidOption("fingerprintFormat must be 'toolbolt' or 'agentmaker'")
  if (fingerprintFormat !== undefined && expectedFingerprints === undefined) throw invalidOption('fingerprintFormat says what expectedFingerprints are; give those too')
  if (expectedFingerprints !== undefined) {
    if (pins !== undefined) throw invalidOption('give expectedFingerprints or pins, not both: one of them decides which tools are approved')
    checkRecord(expectedFingerprints, 'expectedFingerprints')
    if (!Object.values(expectedFingerprints).every(value => typeof value === 'string')) throw invalidOption('expectedFingerprints must be an object of strings')
    return { expectedFingerprints: { ...expectedFingerprints }, ...(fingerprintFormat === undefined ? {} : { fingerprintFormat }) }
  }
  if (pins === undefined) return {}
  checkKeys(pins, ['file', 'mode'], 'pins')
  if (pins.file === undefined) throw invalidOption('pins.file must be the path of the lock file')
  checkText(pins.file, 'pins.file')
  if (pins.mode !== 'enforce' && pins.mode !== 'record') throw invalidOption("pins.mode must be 'enforce' or 'record'")
  return { pins: { file: pins.file, record: pins.mode === 'record' } }
}
