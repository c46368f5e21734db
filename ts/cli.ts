/** The command line tool. */
import { delimiter, isAbsolute } from 'node:path'
import { binding } from './binding.js'
import { type Policy, addPolicy } from './dispatch.js'
import { invalidOption, unwrap } from './errors.js'
import { backWith, runNative } from './native-tool.js'
import { checkBoolean, checkChars, checkFunction, checkKeys, checkMs, checkRecord, checkText } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import type { ToolResponse } from './response.js'
import { ignore } from './listener.js'
import { Tool } from './tool.js'
import type { InputSchema, ToolContext } from './types.js'

/**
 * Judges a command. Its words begin with the absolute path of the program. `null` and `undefined` allow it; a text refuses it and tells the
 * model why; anything else, a promise and a throw refuse it too.
 */
export type ArgPolicy = (tokens: string[]) => string | null | undefined

/** Refuses what is listed and allows the rest. */
export interface DenyRule {
  mode: 'deny'
  /** Long options with their dashes; what begins like one is taken for its abbreviation and refused too. */
  long?: readonly string[]
  /** Letters of short options, refused wherever they stand in a cluster. */
  short?: string
  /** Letters of short options that take the rest of their cluster, or the next word, as a value. */
  takes?: string
  /** Whether the program takes the beginning of a long option's name for it. Default: true. */
  abbreviations?: boolean
  /** The most operands, where a further one would name a file to write. Default: no limit. */
  maxOperands?: number
  /** Whether a single dash can begin a long name, as in `-name`. Default: false. */
  singleDashLong?: boolean
  /** Options of which one has to be the first argument. */
  needsFirst?: readonly string[]
  /** What every operand has to begin with, one of these. Default: anything. */
  operands?: readonly string[]
  /** Whether the program changes something, which the person who is asked then reads. Default: false. */
  writes?: boolean
}

/** Allows what is listed and refuses the rest. */
export interface AllowRule {
  mode: 'allow'
  /** Long options with their dashes, spelled out. */
  long?: readonly string[]
  /** Letters of short options. */
  short?: string
  /** Letters of short options that take the rest of their cluster, or the next word, as a value. */
  takes?: string
  /** Long options that take the next word as a value. */
  longTakes?: readonly string[]
  /** Put before all other arguments. */
  forceArgs?: readonly string[]
  /** What every operand has to begin with, one of these. Default: anything. */
  operands?: readonly string[]
  /** What no value of an option may begin with. */
  refuseValues?: string
  /** Options that make a call one that changes something. */
  changes?: readonly string[]
  /** Whether every call changes something. Default: false. */
  writes?: boolean
  /** Whether it cannot work without the network, which a sandbox otherwise takes away. Default: false. */
  network?: boolean
}

/** How the arguments of one program are judged. */
export type ProgramRule = 'any' | 'refuse' | DenyRule | AllowRule | ArgPolicy

/** How programs are run. */
export interface CLIOptions {
  /** For one program, in milliseconds. Default: 10,000. */
  timeoutMs?: number | undefined
  /** Characters shown of each of stdout and stderr. Default: 4,000. */
  maxOutputChars?: number | undefined
  /** Bytes read of each of stdout and stderr; one more, and the program is stopped. Default: four times `maxOutputChars`. */
  maxOutputBytes?: number | undefined
  /**
   * The whole environment of a program; git's safety variables come on top. Default: PATH (its absolute folders), HOME and LANG as they are
   * now, and `cat` for PAGER and GIT_PAGER.
   */
  env?: Record<string, string> | undefined
  /** The folder that programs start in. Default: this process's. */
  cwd?: string | undefined
  /** Whether a program without a rule is refused instead of judged by the names of its options. Default: false. */
  strict?: boolean | undefined
  /** Confines programs with Landlock: they write, make and remove files beneath the working folder only, and have no TCP. Default: no sandbox. */
  sandbox?: 'best-effort' | 'required' | undefined
  /** Rules by program name; they stand before the built-in ones. */
  programs?: Readonly<Record<string, ProgramRule>> | undefined
  /** Judges every program without a rule in `programs`, in place of the built-in policy. */
  argPolicy?: ArgPolicy | undefined
  /** The words of description, parameter and errors. Default: English. */
  prompts?: PromptRegistry | undefined
}

/** What a program learns of a run. */
export interface CLIData {
  /** The exit code, or the negative number of the signal that ended the program; `null` if unknown. */
  readonly returncode: number | null
  /** The name of that signal. */
  readonly signal?: string
  /** Whether output is missing. */
  readonly truncated?: true
  /** Why it was stopped. */
  readonly killed?: 'timeout' | 'overflow'
  /** How far the sandbox held, where one was asked for. */
  readonly sandbox?: 'enforced' | 'partial' | 'unavailable'
}

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_CHARS = 4_000
/** For what stands around a run: the start, the check of a repository, the last output. */
const SLACK_MS = 30_000
const KNOWN = ['timeoutMs', 'maxOutputChars', 'maxOutputBytes', 'env', 'cwd', 'strict', 'sandbox', 'programs', 'argPolicy', 'prompts']

/** The core knows policies by number and this side holds them weakly, so a tool has to hold its own. */
const held = new WeakMap<CLITool, AppPolicy>()

/**
 * Runs one allowed program per call, without a shell: no pipes, redirections, expansion. Named `shell`; always asks, always external.
 * It is no sandbox: an allowed program does what its arguments say, with this process's rights. POSIX only.
 */
export class CLITool extends Tool<{ command: string }, CLIData> {
  override requiresConfirmation = true
  override externalContent = true
  override readonly timeoutMs: number
  readonly #schema: () => InputSchema

  /**
   * @param allowedCommands bare names of programs, looked up once in the absolute folders of PATH; none denies all.
   * @throws ToolError `INVALID_OPTIONS`; `UNSUPPORTED_PLATFORM` off POSIX, or for a required sandbox that the kernel does not have.
   */
  constructor(allowedCommands: readonly string[], options: CLIOptions = {}) {
    check(allowedCommands, options)
    const policy = new AppPolicy(options)
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    const maxOutputChars = options.maxOutputChars ?? DEFAULT_CHARS
    const native = unwrap(() => binding.cliTool(nativePrompts(options.prompts), {
      allowed: [...allowedCommands],
      path: options.env?.['PATH'] ?? process.env['PATH'] ?? '',
      env: options.env === undefined ? defaultEnvironment() : { ...options.env },
      timeoutMs,
      maxOutputChars,
      maxOutputBytes: options.maxOutputBytes ?? Math.min(4 * maxOutputChars, 2 ** 31 - 1),
      strict: options.strict ?? false,
      programs: JSON.stringify(policy.rules),
      hookForAll: options.argPolicy !== undefined,
      ...(policy.number === undefined ? {} : { hook: policy.number }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    }))
    super('shell', native.description)
    this.timeoutMs = timeoutMs + SLACK_MS
    this.#schema = () => JSON.parse(native.inputSchema)
    held.set(this, policy)
    backWith(this, native, CLITool)
  }

  override getParameters(): InputSchema { return this.#schema() }

  /** Every call needs a yes. */
  override needsConfirmation(_args: { command: string }): boolean { return true }

  /** Every result is text from outside. */
  override isExternalContent(_args: { command: string }): boolean { return true }

  /** Runs by itself, outside any registry: nobody is asked. */
  override run(args: { command: string }, context?: ToolContext): Promise<ToolResponse<CLIData>> { return runNative(this, args, { context }) }
}

/** The app's rules as the core takes them, and the functions among them. */
class AppPolicy implements Policy {
  /** Rules by program name; a function stands there as `hook`. What the app allows without a rule may write. */
  readonly rules: Record<string, object> = {}
  /** The number under which the core asks; none where there is no function. */
  readonly number: number | undefined
  readonly #functions = new Map<string, ArgPolicy>()
  readonly #forAll: ArgPolicy | undefined

  constructor(options: CLIOptions) {
    for (const [program, rule] of Object.entries(options.programs ?? {})) {
      if (typeof rule === 'function') this.#functions.set(program, rule)
      const shown = typeof rule === 'function' ? { mode: 'hook' } : rule === 'any' ? { mode: 'any', writes: true } : rule === 'refuse' ? { mode: 'refuse' } : rule
      Object.defineProperty(this.rules, program, { value: shown, enumerable: true })
    }
    this.#forAll = options.argPolicy
    if (this.#functions.size > 0 || this.#forAll !== undefined) this.number = addPolicy(this)
  }

  judge(program: string, words: string[]): readonly string[] {
    const verdict: unknown = (this.#functions.get(program) ?? this.#forAll)?.(words)
    if (verdict === null || (verdict === undefined && (this.#functions.has(program) || this.#forAll !== undefined))) return ['allow']
    ignore(verdict)
    return typeof verdict === 'string' && verdict.trim() !== '' ? ['refuse', verdict] : []
  }
}

function defaultEnvironment(): Record<string, string> {
  const { PATH = '', HOME, LANG } = process.env
  // A relative folder would let a program of the working folder stand in for one that an allowed program starts.
  const env: Record<string, string> = { PATH: PATH.split(delimiter).filter(isAbsolute).join(delimiter), PAGER: 'cat', GIT_PAGER: 'cat' }
  if (HOME !== undefined) env['HOME'] = HOME
  if (LANG !== undefined) env['LANG'] = LANG
  return env
}

function check(allowed: unknown, options: CLIOptions): void {
  if (!Array.isArray(allowed) || !allowed.every(name => typeof name === 'string')) {
    throw invalidOption("the allowed commands must be a list of program names, such as ['git', 'ls']")
  }
  checkKeys(options, KNOWN, 'the options of CLITool')
  if (options.timeoutMs === null) throw invalidOption('timeoutMs must be a positive number of milliseconds: a program always has a limit')
  checkMs(options.timeoutMs, 'timeoutMs')
  checkChars(options.maxOutputChars, 'maxOutputChars')
  checkChars(options.maxOutputBytes, 'maxOutputBytes')
  checkText(options.cwd, 'cwd')
  if (options.strict !== undefined) checkBoolean(options.strict, 'strict')
  checkFunction(options.argPolicy, 'argPolicy')
  if (options.sandbox !== undefined && options.sandbox !== 'best-effort' && options.sandbox !== 'required') throw invalidOption("sandbox must be 'best-effort' or 'required'")
  checkEnvironment(options.env)
  checkRules(options.programs)
}

function checkEnvironment(env: unknown): void {
  checkRecord(env, 'env')
  for (const [name, value] of Object.entries(env ?? {})) {
    if (name === '' || name.includes('=') || name.includes('\0')) throw invalidOption(`env has a variable that cannot have this name: ${JSON.stringify(name)}`)
    if (typeof value !== 'string' || value.includes('\0')) throw invalidOption(`the variable ${name} in env must be a text without NUL`)
  }
}

function checkRules(programs: unknown): void {
  checkRecord(programs, 'programs')
  for (const [name, rule] of Object.entries(programs ?? {})) {
    const mode = typeof rule === 'object' && rule !== null ? (rule as { mode?: unknown }).mode : rule
    const fits = typeof rule === 'function' || rule === 'any' || rule === 'refuse' || (rule !== mode && (mode === 'deny' || mode === 'allow'))
    if (!fits) throw invalidOption(`the rule of '${name}' must be 'any', 'refuse', a function, or an object with mode 'deny' or 'allow'`)
  }
}
