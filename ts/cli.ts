/** The command line tool. */
import { delimiter, isAbsolute } from 'node:path'
import { binding } from './binding.js'
import { AppPolicy, type ArgPolicy, type ProgramRule, checkRules } from './cli-rules.js'
import { invalidOption, unwrap } from './errors.js'
import { backWith, runNative } from './native-tool.js'
import { checkBoolean, checkChars, checkFolder, checkFunction, checkKeys, checkLimitMs, checkRecord } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import { type ToolResponse, nameSource } from './response.js'
import { Tool } from './tool.js'
import type { InputSchema, ToolContext } from './types.js'

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
   * now, `cat` for PAGER and GIT_PAGER, and `NO_COLOR=1` and `TERM=dumb`, so that output is plain text.
   */
  env?: Record<string, string> | undefined
  /** The folder that programs start in, which has to exist; `~` is not expanded. Default: this process's. */
  cwd?: string | undefined
  /** Whether a program without a rule is refused instead of judged by the names of its options. Not beside `argPolicy`. Default: false. */
  strict?: boolean | undefined
  /** Confines programs with Landlock: they write, make and remove files beneath the working folder only, and have no TCP. Default: no sandbox. */
  sandbox?: 'best-effort' | 'required' | undefined
  /** Rules by program name, of allowed programs only; they stand before the built-in ones. */
  programs?: Readonly<Record<string, ProgramRule>> | undefined
  /** Judges every program without a rule in `programs`, in place of the built-in policy. */
  argPolicy?: ArgPolicy | undefined
  /** The words of description, parameter and errors. Default: English. */
  prompts?: PromptRegistry | undefined
}

/** An allowed program that never runs, and why. The model is not told of it. */
export interface UnavailableProgram {
  readonly program: string
  /** `not-found`: not in the absolute folders of PATH. `refused`: by its rule, whatever the arguments. `no-rule`: it has none, and `strict` wants one. */
  readonly reason: 'not-found' | 'refused' | 'no-rule'
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
  /** Allowed programs that cannot run as things are, in order of their names; the description leaves them out. Programs are looked up once, when the tool is made. */
  readonly unavailable: readonly UnavailableProgram[]
  readonly #schema: () => InputSchema

  /**
   * @param allowedCommands bare names of programs, looked up once in the absolute folders of PATH; none denies all.
   * @throws ToolError `INVALID_OPTIONS`, also for options that contradict each other and a `cwd` that is no folder; `UNSUPPORTED_PLATFORM` off POSIX, or for a required sandbox that the kernel does not have.
   */
  constructor(allowedCommands: readonly string[], options: CLIOptions = {}) {
    check(allowedCommands, options)
    const policy = new AppPolicy(options)
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    const maxOutputChars = options.maxOutputChars ?? DEFAULT_CHARS
    const { tool: native, unavailable } = unwrap(() => binding.cliTool(nativePrompts(options.prompts), {
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
    this.unavailable = Object.freeze(unavailable as UnavailableProgram[])
    this.#schema = () => JSON.parse(native.inputSchema)
    held.set(this, policy)
    backWith(this, native, CLITool)
  }

  /** What `argPolicy` or a function in `programs` threw last, or a TypeError about an answer that is none; the model is told neither. `undefined` until then. */
  get lastPolicyError(): unknown { return held.get(this)?.lastError }

  override getParameters(): InputSchema { return this.#schema() }

  /** Every call needs a yes. */
  override needsConfirmation(_args: { command: string }): boolean { return true }

  /** Every result is text from outside. */
  override isExternalContent(_args: { command: string }): boolean { return true }

  /** Runs by itself, outside any registry: nobody is asked. */
  override async run(args: { command: string }, context?: ToolContext): Promise<ToolResponse<CLIData>> { return nameSource(await runNative(this, args, { context }), this.name) }
}

function defaultEnvironment(): Record<string, string> {
  const { PATH = '', HOME, LANG } = process.env
  // A relative folder would let a program of the working folder stand in for one that an allowed program starts.
  const env: Record<string, string> = { PATH: PATH.split(delimiter).filter(isAbsolute).join(delimiter), PAGER: 'cat', GIT_PAGER: 'cat', NO_COLOR: '1', TERM: 'dumb' }
  if (HOME !== undefined) env['HOME'] = HOME
  if (LANG !== undefined) env['LANG'] = LANG
  return env
}

function check(allowed: unknown, options: CLIOptions): void {
  if (!Array.isArray(allowed) || !allowed.every(name => typeof name === 'string')) {
    throw invalidOption("the allowed commands must be a list of program names, such as ['git', 'ls']")
  }
  checkKeys(options, KNOWN, 'the options of CLITool')
  checkLimitMs(options.timeoutMs, 'timeoutMs')
  checkChars(options.maxOutputChars, 'maxOutputChars')
  checkChars(options.maxOutputBytes, 'maxOutputBytes')
  checkFolder(options.cwd, 'cwd')
  if (options.strict !== undefined) checkBoolean(options.strict, 'strict')
  checkFunction(options.argPolicy, 'argPolicy')
  if (options.sandbox !== undefined && options.sandbox !== 'best-effort' && options.sandbox !== 'required') throw invalidOption("sandbox must be 'best-effort' or 'required'")
  checkEnvironment(options.env)
  checkRules(options.programs, allowed)
  if (options.strict === true && options.argPolicy !== undefined) throw invalidOption('strict and argPolicy contradict each other: argPolicy judges every program without a rule, so that strict could refuse none; leave one of them out')
}

function checkEnvironment(env: unknown): void {
  checkRecord(env, 'env')
  for (const [name, value] of Object.entries(env ?? {})) {
    if (name === '' || name.includes('=') || name.includes('\0')) throw invalidOption(`env has a variable that cannot have this name: ${JSON.stringify(name)}`)
    if (typeof value !== 'string' || value.includes('\0')) throw invalidOption(`the variable ${name} in env must be a text without NUL`)
  }
}
