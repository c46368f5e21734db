/**
 * The approvals of a framework, held beside the registry: what a framework was told to ask for, and what was used up. An approval
 * counts for the call that was asked about, with the same id, tool and arguments, and once.
 */
import { createHash } from 'node:crypto'
import { toText } from '../arguments.js'
import { type ToolRegistry, insideOf } from '../registry.js'
import { foresee } from '../turn.js'

/** Questions that are remembered. The oldest is forgotten first: its call is refused then. */
const MAX_REMEMBERED = 10_000

/** A call, as a framework knows it. */
export interface FrameworkCall {
  /** Undefined where the framework gave none: such a call cannot be approved. */
  readonly callId: string | undefined
  readonly name: string
  readonly args: unknown
}

export class Approvals {
  readonly #registry: ToolRegistry
  /** Questions without an answer. */
  readonly #asked = new Recent()
  /** Calls that were asked about here or ran here, whatever their arguments. */
  readonly #known = new Recent()

  constructor(registry: ToolRegistry) { this.#registry = registry }

  /** Whether the framework should ask about a call. A call that would be refused anyway bothers nobody. */
  wants({ name, args }: FrameworkCall): boolean { return foresee(insideOf(this.#registry), name, args) === 'yes' }

  /** As `wants`, and remembers the question. */
  ask(call: FrameworkCall): boolean {
    if (!this.wants(call)) return false
    const keys = this.#keysOf(call)
    if (keys !== undefined) {
      this.#asked.add(keys.exact)
      this.#known.add(keys.id)
    }
    return true
  }

  /** Uses up the approval of a call that was asked about here. Whether there was one. */
  take(call: FrameworkCall): boolean {
    const keys = this.#keysOf(call)
    return keys !== undefined && this.#asked.delete(keys.exact)
  }

  /** As `take`. A call that was asked about in another process, of which the framework itself holds the approval, counts too, once. */
  takeHeld(call: FrameworkCall): boolean {
    if (this.take(call)) return true
    const keys = this.#keysOf(call)
    if (keys === undefined || this.#known.has(keys.id)) return false
    this.#known.add(keys.id)
    return true
  }

  /** A call in few bytes, whatever the order of its properties; undefined for one that cannot be told apart or has no JSON form. */
  #keysOf({ callId, name, args }: FrameworkCall): { exact: string; id: string } | undefined {
    if (callId === undefined || callId === '') return undefined
    try {
      const text = toText(args)
      const value: unknown = text.trim() === '' ? {} : JSON.parse(text)
      // A tool that took the name of another meanwhile is not the one that was asked about.
      const tool = insideOf(this.#registry).entries.get(name)?.id
      return { exact: digest([callId, name, tool, value]), id: digest([callId, name]) }
    } catch {
      return undefined
    }
  }
}

/** A set that forgets its oldest. */
class Recent {
  readonly #keys = new Set<string>()

  add(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size > MAX_REMEMBERED) for (const oldest of this.#keys) { this.#keys.delete(oldest); break }
  }

  delete(key: string): boolean { return this.#keys.delete(key) }
  has(key: string): boolean { return this.#keys.has(key) }
}

const ofRegistry = new WeakMap<ToolRegistry, Approvals>()

/** The approvals of a registry: the same for all adapters, so that tools made anew for each request know what was asked. */
export function approvalsOf(registry: ToolRegistry): Approvals {
  const known = ofRegistry.get(registry)
  if (known !== undefined) return known
  const made = new Approvals(registry)
  ofRegistry.set(registry, made)
  return made
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64')
}

/** Numbers that were rounded could be others: such calls cannot be told apart. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) throw new RangeError('rounded')
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
