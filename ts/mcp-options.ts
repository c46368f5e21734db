/** Options of an MCP client, checked once and brought into the shape that the core takes. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { checkChars, checkKeys, checkMs, checkRecord, checkText } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'

/** How to reach a server, and how far to trust it. */
export interface MCPClientOptions {
  /** Prefix of the names of its tools, and their origin: `mcp:{namespace}`. `[A-Za-z0-9_-]`, 1 to 64 characters. */
  namespace: string
  /** The program to start, found in PATH. No shell is involved. */
  command: string
  /** Its arguments. Default: none. */
  args?: readonly string[] | undefined
  /**
   * Variables for the server. Beside them it gets PATH, HOME, LANG, LOGNAME, SHELL, TERM, USER and TMPDIR, and nothing else of this
   * process's environment. Values never appear in errors.
   */
  env?: Record<string, string> | undefined
  /** Its working folder. Default: this process's. */
  cwd?: string | undefined
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
const KNOWN = ['namespace', 'command', 'args', 'env', 'cwd', 'requiresConfirmation', 'maxDescChars', 'timeoutMs', 'expectedFingerprints', 'pins', 'prompts']

/** Options from whatever `connect` was given. @throws ToolError `INVALID_OPTIONS`. */
export function readOptions(server: string | readonly string[] | MCPClientOptions, options: Partial<MCPClientOptions>) {
  if (typeof server === 'string' || Array.isArray(server)) {
    const words = typeof server === 'string' ? unwrap(() => binding.splitCommandLine(server)) : server
    const [command, ...args] = words
    if (typeof command !== 'string') throw invalidOption('the command is an empty list; its first word is the program')
    return checked({ namespace: 'mcp', ...options, command, args })
  }
  if (server === null || typeof server !== 'object') throw invalidOption('connect takes a command, a list of words or options')
  return checked({ ...(server as MCPClientOptions), ...options })
}

function checked(options: MCPClientOptions) {
  const unknown = Object.keys(options).find(key => !KNOWN.includes(key))
  if (unknown !== undefined) throw invalidOption(`unknown option '${unknown}'; use ${KNOWN.join(', ')}`)
  const { namespace, command, args = [], env = {}, cwd, requiresConfirmation = true, maxDescChars, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  if (typeof namespace !== 'string') throw invalidOption('namespace must be a string: it is the root of trust for the tools of this server')
  if (typeof command !== 'string') throw invalidOption('command must be a string')
  if (!Array.isArray(args) || !args.every(word => typeof word === 'string')) throw invalidOption('args must be an array of strings')
  if (env === null || typeof env !== 'object' || !Object.values(env).every(value => typeof value === 'string')) throw invalidOption('env must be an object of strings')
  if (cwd !== undefined && typeof cwd !== 'string') throw invalidOption('cwd must be a string')
  if (typeof requiresConfirmation !== 'boolean') throw invalidOption('requiresConfirmation must be true or false')
  checkChars(maxDescChars, 'maxDescChars')
  checkMs(timeoutMs, 'timeoutMs')
  const approved = readPins(options)
  return {
    namespace, command, args: [...args], env: { ...env }, requiresConfirmation, prompts: nativePrompts(options.prompts),
    ...(cwd === undefined ? {} : { cwd }),
    ...(maxDescChars === undefined ? {} : { maxDescChars }),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...approved,
  }
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

