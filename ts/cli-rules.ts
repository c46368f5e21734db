/** Rules of an app for the arguments of programs: their types, what is wrong with them, and who answers for the functions among them. */
import { type Policy, addPolicy } from './dispatch.js'
import { invalidOption } from './errors.js'
import { ignore, isThenable } from './listener.js'
import { checkRecord } from './options.js'

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

/** What a field of a rule holds. */
type Kind = 'words' | 'longs' | 'text' | 'flag' | 'count'

const DENY: Record<keyof Omit<DenyRule, 'mode'>, Kind> = {
  long: 'longs', short: 'text', takes: 'text', abbreviations: 'flag', maxOperands: 'count', singleDashLong: 'flag', needsFirst: 'words', operands: 'words', writes: 'flag',
}
const ALLOW: Record<keyof Omit<AllowRule, 'mode'>, Kind> = {
  long: 'longs', short: 'text', takes: 'text', longTakes: 'longs', forceArgs: 'words', operands: 'words', refuseValues: 'text', changes: 'words', writes: 'flag', network: 'flag',
}
const KINDS: Record<Exclude<Kind, 'words' | 'longs'>, { readonly is: (value: unknown) => boolean; readonly name: string }> = {
  text: { is: value => typeof value === 'string', name: 'a text' },
  flag: { is: value => typeof value === 'boolean', name: 'true or false' },
  count: { is: value => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 32, name: 'a whole number from 0' },
}

/**
 * @throws ToolError `INVALID_OPTIONS` with the place in the rules and what belongs there, also for a rule of a program that is not allowed:
 * it may be a misspelt one.
 */
export function checkRules(programs: unknown, allowed: readonly string[]): void {
  checkRecord(programs, 'programs')
  for (const [name, rule] of Object.entries(programs ?? {})) {
    const place = placeOf('programs', name)
    if (!allowed.includes(name)) throw invalidOption(`${place} is a rule for a program that is not allowed: add ${JSON.stringify(name)} to the allowed commands, or leave the rule out`)
    if (typeof rule !== 'function' && rule !== 'any' && rule !== 'refuse') checkRule(rule, place)
  }
}

function checkRule(rule: unknown, place: string): void {
  const mode = typeof rule === 'object' && rule !== null ? (rule as { mode?: unknown }).mode : undefined
  if (mode !== 'deny' && mode !== 'allow') throw invalidOption(`${place} must be 'any', 'refuse', a function, or an object with mode 'deny' or 'allow'`)
  const fields: Record<string, Kind> = mode === 'deny' ? DENY : ALLOW
  for (const [field, value] of Object.entries(rule as object)) {
    if (field === 'mode' || value === undefined) continue
    if (!Object.hasOwn(fields, field)) throw invalidOption(`${placeOf(place, field)} does not exist: a rule with mode '${mode}' has ${Object.keys(fields).join(', ')}`)
    checkField(value, fields[field]!, placeOf(place, field))
  }
}

function checkField(value: unknown, kind: Kind, place: string): void {
  if (kind !== 'words' && kind !== 'longs') {
    if (!KINDS[kind].is(value)) throw invalidOption(`${place} must be ${KINDS[kind].name}`)
    return
  }
  if (!Array.isArray(value)) throw invalidOption(`${place} must be a list of texts`)
  for (const [index, word] of Array.from(value as unknown[]).entries()) {
    if (typeof word !== 'string') throw invalidOption(`${place}[${index}] must be a text`)
    // One without dashes would never be found in a command, and a rule that was meant to refuse it would allow it.
    if (kind === 'longs' && !/^--[^=]+$/.test(word)) throw invalidOption(`${place}[${index}] must be a long option with its dashes and without a value, such as '--output', and is ${JSON.stringify(word)}`)
  }
}

/** A name as it would be written in a program. */
function placeOf(parent: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${parent}.${name}` : `${parent}[${JSON.stringify(name)}]`
}

/** What an app's options say of arguments. */
interface Rules {
  readonly programs?: Readonly<Record<string, ProgramRule>> | undefined
  readonly argPolicy?: ArgPolicy | undefined
}

/** The app's rules as the core takes them, and the functions among them. */
export class AppPolicy implements Policy {
  /** Rules by program name; a function stands there as `hook`. What the app allows without a rule may write. */
  readonly rules: Record<string, object> = {}
  /** The number under which the core asks; none where there is no function. */
  readonly number: number | undefined
  /** What a function threw last, or a TypeError about an answer that is none. */
  lastError: unknown
  readonly #functions = new Map<string, ArgPolicy>()
  readonly #forAll: ArgPolicy | undefined

  constructor(options: Rules) {
    for (const [program, rule] of Object.entries(options.programs ?? {})) {
      if (typeof rule === 'function') this.#functions.set(program, rule)
      const shown = typeof rule === 'function' ? { mode: 'hook' } : rule === 'any' ? { mode: 'any', writes: true } : rule === 'refuse' ? { mode: 'refuse' } : rule
      Object.defineProperty(this.rules, program, { value: shown, enumerable: true })
    }
    this.#forAll = options.argPolicy
    if (this.#functions.size > 0 || this.#forAll !== undefined) this.number = addPolicy(this)
  }

  /** Asks the function. What it throws is kept: a model is told only that there was no clear answer. */
  judge(program: string, words: string[]): readonly string[] {
    try {
      const policy = this.#functions.get(program) ?? this.#forAll
      if (policy === undefined) return []
      const verdict: unknown = policy(words)
      if (verdict === null || verdict === undefined) return ['allow']
      if (typeof verdict === 'string' && verdict.trim() !== '') return ['refuse', verdict]
      ignore(verdict)
      throw new TypeError(`the policy of '${program}' must answer at once with null, undefined or a text that says why not, and gave ${wordFor(verdict)}`)
    } catch (error) {
      this.lastError = error
      return []
    }
  }
}

function wordFor(verdict: unknown): string {
  if (typeof verdict === 'string') return 'a blank text'
  return isThenable(verdict) ? 'a promise' : `a value of type ${typeof verdict}`
}
