/** What a call gives back. */
import { type ErrorCode, invalidOption } from './errors.js'
import type { JsonObject, ToolStatus } from './types.js'

const MARK = Symbol.for('toolbolt.ToolResponse')
const EXTERNAL = Symbol.for('toolbolt.external')

/** What the gate adds to a body's result. */
export interface Stamp {
  readonly code?: ErrorCode | undefined
  readonly callId: string
  readonly origin?: string | undefined
  readonly executed: boolean
  readonly external: boolean
}

/** The result of a tool: text, a status, and data for the program. */
export class ToolResponse<Data = unknown> {
  /** The text as it came. Give a model `registry.render(response)`, which guards text from outside. */
  readonly text: string
  readonly status: ToolStatus
  /** What the program reads, if anything. */
  readonly data?: Data
  /** Why the call was refused or failed, where the gate or a built-in tool says so. */
  readonly code?: ErrorCode
  /** The call that this answers; set by a registry. */
  readonly callId?: string
  /** Who vouches for the tool; set by a registry. */
  readonly origin?: string
  /** Whether the tool's body was entered; set by a registry. */
  readonly executed?: boolean
  #external: boolean

  /**
   * @throws ToolError `INVALID_OPTIONS` when `text` is no string or `status` is none of the three.
   */
  constructor(text: string, status: ToolStatus, data?: Data, stamp?: Stamp) {
    if (typeof text !== 'string') throw invalidOption('the text of a response must be a string')
    if (status !== 'success' && status !== 'partial' && status !== 'error') throw invalidOption("the status of a response must be 'success', 'partial' or 'error'")
    this.text = text
    this.status = status
    this.data = data as Data
    this.code = stamp?.code as ErrorCode
    this.callId = stamp?.callId as string
    this.origin = stamp?.origin as string
    this.executed = stamp?.executed as boolean
    this.#external = stamp?.external === true
  }

  /** A success. */
  static ok<D = undefined>(text: string, data?: D): ToolResponse<D> { return new ToolResponse<D>(text, 'success', data) }
  /** A success of which something is missing, such as cut output. */
  static partial<D = undefined>(text: string, data?: D): ToolResponse<D> { return new ToolResponse<D>(text, 'partial', data) }
  /** A failure in the tool's own words; `data` may say more to a program. */
  static error<D = undefined>(text: string, data?: D): ToolResponse<D> { return new ToolResponse<D>(text, 'error', data) }

  /** @internal */
  get [MARK](): true { return true }

  /** @internal Another copy of this package asks this way. */
  get [EXTERNAL](): boolean { return !(#external in this) || this.#external }

  /** The text, so that a response can stand in a template literal. */
  toString(): string { return this.text }

  /** The parts that are set. A BigInt in `data` becomes a string of digits. */
  toJSON(): JsonObject {
    const { text, status, data, code, callId, origin, executed } = this
    const plain = data === undefined ? undefined : JSON.parse(stringifyData(data) ?? 'null')
    const external = this.#external ? true : undefined
    const all = { text, status, data: plain, code, callId, origin, executed, external }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as JsonObject
  }
}

/** Whether a value is a response, also one of another copy of this package. */
export function isResponse(value: object): value is ToolResponse {
  return value instanceof ToolResponse || (MARK in value && value[MARK] === true)
}

/** Whether a response holds text from outside. A copy or imitation that cannot say no does. */
export function isExternal(response: object): boolean {
  return !(isResponse(response) && Object.getOwnPropertyDescriptor(response, EXTERNAL) === undefined && (response as { [EXTERNAL]?: unknown })[EXTERNAL] === false)
}

/** The tools that responses from outside came from. */
const sources = new WeakMap<object, string>()

/** Remembers which tool a response came from, where a model will be told. */
export function nameSource<R extends object>(response: R, tool: string): R {
  if (isExternal(response)) sources.set(response, tool)
  return response
}

/** The tool that a response came from, if that is known. */
export function sourceOf(response: object): string | undefined { return sources.get(response) }

/** Data as JSON; `undefined` where it has no JSON form. Throws for cycles. */
export function stringifyData(data: unknown): string | undefined {
  return JSON.stringify(data, (_key, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** A finished call as the core writes it. */
interface Finished {
  readonly text: string
  readonly status: ToolStatus
  readonly data?: unknown
  readonly code?: ErrorCode
  readonly executed: boolean
  readonly origin?: string
  readonly external: boolean
  /** Marks strings in `data` that stand for whole numbers beyond 2^53 - 1. */
  readonly bigPrefix?: string
}

/** Reads a finished call of the core. */
export function fromFinished(json: string, callId: string): ToolResponse {
  const finished: Finished = JSON.parse(json)
  const { code, origin, executed, external } = finished
  const data = finished.bigPrefix === undefined ? finished.data : revive(finished.data, finished.bigPrefix)
  // Each by its name: a copy of all members gets a shape of its own in each call, at six microseconds.
  return new ToolResponse(finished.text, finished.status, data, { code, callId, origin, executed, external })
}

/** The core writes whole numbers that a double would round as marked strings: here they become BigInts. */
function revive(root: unknown, prefix: string): unknown {
  const holder: Record<string, unknown> = { root }
  const open: Record<string, unknown>[] = [holder]
  // Not by recursion: a server decides how deep a result is.
  for (let object = open.pop(); object !== undefined; object = open.pop()) {
    for (const [key, value] of Object.entries(object)) {
      if (value !== null && typeof value === 'object') open.push(value as Record<string, unknown>)
      else if (typeof value === 'string' && value.startsWith(prefix)) {
        Object.defineProperty(object, key, { value: BigInt(value.slice(prefix.length)), writable: true, enumerable: true, configurable: true })
      }
    }
  }
  return holder.root
}
