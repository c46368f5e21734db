/**
 * One call from JavaScript: the core decides each step, this awaits in between. Nothing here is a policy: each answer goes to
 * the core, which says what happens next, and a call ends only with a response that the core has seen.
 */
import { binding } from './binding.js'
import type { Entry, Inner } from './entry.js'
import { ToolError, unwrap } from './errors.js'
import { type Outcome, readResult } from './result.js'
import { ToolResponse, fromFinished } from './response.js'
import type { StandardResult } from './schema.js'
import { deepFreeze, snapshot, toText, wellFormed } from './snapshot.js'
import type { ConfirmRequest, ExecuteOptions, Progress, ToolContext, ToolEvent } from './types.js'
import { type Waited, wait } from './wait.js'

const CLOSED = -1
const ASK_ALWAYS = 1
const ASK_TOOL = 2
const CHANGED = 4
const STATUSES = ['success', 'partial', 'error'] as const

let callsMade = 0

/** A word about why nobody said yes, as the core reads it. */
export type Answer = readonly [answer: 'yes' | 'notNeeded' | 'nobody' | 'declined' | 'notABoolean' | 'promise' | 'threw' | 'timedOut' | 'cancelled', detail?: string]

export class Call implements ToolContext {
  readonly callId: string
  /** Set once the call is over. */
  response: ToolResponse | undefined
  /** What the body gets. */
  args: unknown
  readonly #inner: Inner
  readonly #options: ExecuteOptions | undefined
  #entry!: Entry
  #ticket = 0
  #ask = 0
  /** The arguments as JSON, where the core has read them. */
  #text: string | undefined
  #controller: AbortController | undefined
  #reason: unknown

  constructor(inner: Inner, options: ExecuteOptions | undefined) {
    this.#inner = inner
    this.#options = options
    this.callId = options?.callId ?? `call_${(++callsMade).toString(36)}`
  }

  get origin(): string { return this.#entry.tool.origin }
  get state(): unknown { return this.#options?.state }
  get entry(): Entry { return this.#entry }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** A function of its own, so that a body can take it out of the context. */
  get progress(): (update: Progress) => void {
    return update => { this.#report(update) }
  }

  #report(update: Progress): void {
    if (this.response !== undefined || this.#reason !== undefined) return
    try {
      const outcome: unknown = this.#options?.onProgress?.(update)
      if (outcome instanceof Promise) outcome.catch(() => {})
    } catch {
      // A listener's fault is not the tool's.
    }
  }

  /** Steps 1 to 3: looks up, permits, and validates where the core does. */
  begin(name: string, args: unknown): void {
    const entry = this.#inner.entries.get(name)
    if (entry === undefined) {
      this.#end(unwrap(() => this.#inner.native.beginByName(String(name), this.callId)))
      return
    }
    this.#entry = entry
    let fault: string | undefined
    try {
      if (typeof args === 'string') this.#text = wellFormed(args)
      else if (entry.validate === undefined || this.#inner.onEvent !== undefined) this.#text = toText(args === undefined ? {} : args)
    } catch (error) {
      fault = messageOf(error)
    }
    const { index, onEvent } = this.#inner
    const begun = onEvent !== undefined ? binding.begin(index, entry.id, this.#text, this.callId)
      : this.#text !== undefined ? binding.begin(index, entry.id, this.#text) : binding.begin(index, entry.id)
    if (typeof begun !== 'number') this.#end(begun ?? misuse())
    else if (begun === CLOSED) throw new ToolError('CLOSED', 'the registry is closed; make a new one')
    else this.#open(begun, args, fault)
  }

  #open(begun: number, args: unknown, fault: string | undefined): void {
    const flags = begun % 8
    this.#ticket = (begun - flags) / 8
    this.#ask = flags & (ASK_ALWAYS | ASK_TOOL)
    if (this.#inner.onEvent !== undefined) this.#deliver()
    if (fault !== undefined) {
      this.#invalid([{ path: '', message: fault }])
    } else if (this.#text === undefined) {
      try {
        this.args = snapshot(args === undefined ? {} : args)
      } catch (error) {
        this.#invalid([{ path: '', message: messageOf(error) }])
      }
    } else if (this.#entry.native === undefined) {
      if ((flags & CHANGED) !== 0) this.#text = this.#inner.native.arguments(this.#ticket)
      this.args = this.#text.trim() === '' ? {} : JSON.parse(this.#text)
    }
  }

  /** Step 3 of a Standard Schema: its own check, once. */
  validate(): undefined | Promise<StandardResult> {
    const validate = this.#entry.validate
    if (validate === undefined) return undefined
    // What a person will be shown is what the model sent, not what the schema makes of it.
    if (this.#ask !== 0) this.#text ??= toText(this.args)
    try {
      const result = validate(this.args)
      if (isThenable(result)) return result as Promise<StandardResult>
      this.validated(result)
    } catch (error) {
      this.fail('threw', messageOf(error), false)
    }
    return undefined
  }

  validated(result: StandardResult): void {
    if (result === null || typeof result !== 'object' || !('value' in result || Array.isArray(result.issues))) {
      this.fail('threw', 'the schema gave neither a value nor issues', false)
      return
    }
    if (result.issues === undefined) {
      this.args = result.value
      return
    }
    this.#invalid(result.issues.map(issue => ({ path: pointer(issue.path ?? []), message: String(issue.message) })))
  }

  /** Step 4: whether to ask; native tools have told the core. */
  mustAsk(): boolean {
    if (this.#ask === 0) return false
    if (this.#ask === ASK_ALWAYS) return true
    let needed = true
    try {
      needed = this.#entry.tool.needsConfirmation(this.args) !== false
    } catch {
      // A tool that cannot tell is asked about.
    }
    if (!needed) this.answer(['notNeeded'])
    return needed
  }

  /** Asks. Gives the callback's promise where it is one. */
  ask(): undefined | PromiseLike<unknown> {
    const confirm = this.#options?.confirm ?? this.#inner.confirm
    if (confirm === undefined) {
      this.answer(['nobody'])
      return undefined
    }
    try {
      const answer: unknown = confirm(this.#request())
      if (isThenable(answer)) return answer
      this.answer(judge(answer))
    } catch (error) {
      this.answer(['threw', messageOf(error)])
    }
    return undefined
  }

  #request(): ConfirmRequest {
    const call = this
    const { tool } = this.#entry
    const text = this.#text ?? '{}'
    return {
      tool,
      name: tool.name,
      origin: tool.origin,
      args: deepFreeze(text.trim() === '' ? {} : JSON.parse(text)),
      preview: this.#inner.native.preview(this.#ticket, text),
      callId: this.callId,
      get signal() { return call.signal },
    }
  }

  /** Tells the core the answer; the call is over unless it was a yes. */
  answer([answer, detail]: Answer): void {
    const ended = unwrap(() => this.#inner.native.confirmed(this.#ticket, answer, detail ?? null))
    if (ended != null) this.#end(ended)
    else if (this.#inner.onEvent !== undefined) this.#deliver()
  }

  /** Step 5 of a native tool. */
  runNative(token: number, timeoutMs: number | undefined, cancel: InstanceType<typeof binding.CancelSource>): void {
    unwrap(() => this.#inner.native.run(token, this.#ticket, this.callId, timeoutMs ?? null, cancel))
  }

  runNativeNow(): void {
    const ended = unwrap(() => this.#inner.native.runNow(this.#ticket))
    if (ended == null) this.fail('badResult', 'a promise; call it with execute', false)
    else this.#end(ended)
  }

  endNative(finished: string): void { this.#end(finished) }

  /** Step 5: runs the body. Gives its promise where it is one. */
  run(): undefined | PromiseLike<unknown> {
    try {
      const result: unknown = this.#entry.tool.run(this.args, this)
      if (isThenable(result)) return result
      this.finish(result)
    } catch (error) {
      this.fail('threw', messageOf(error), true)
    }
    return undefined
  }

  /** Steps 6 to 8: what the body gave. */
  finish(result: unknown): void {
    const outcome = readResult(result)
    if (typeof outcome === 'string') this.fail('badResult', outcome, true)
    else this.#bound(outcome)
  }

  #bound({ status, text, data, dataBytes, code }: Outcome): void {
    const { index } = this.#inner
    // A plain success, which most results are, crosses with what it has.
    const changed = status === 0 && dataBytes === 0 ? binding.finish(index, this.#ticket, text) : binding.finish(index, this.#ticket, text, status, dataBytes)
    const stamp = { code, callId: this.callId, origin: this.#entry.tool.origin, executed: true, external: this.#isExternal() }
    if (changed === undefined) {
      this.response = new ToolResponse(text, STATUSES[status], data, stamp)
    } else {
      const patch = JSON.parse(changed ?? misuse())
      this.response = new ToolResponse(patch.text ?? text, patch.status, patch.dropData ? { truncated: true } : data, stamp)
    }
    if (this.#inner.onEvent !== undefined) this.#deliver()
  }

  #isExternal(): boolean {
    const { external, tool } = this.#entry
    if (external !== 2) return external === 1
    try {
      return tool.isExternalContent(this.args) !== false
    } catch {
      return true
    }
  }

  /** Ends the call without a result. */
  fail(outcome: 'threw' | 'badResult' | 'timedOut' | 'cancelled', detail: string, entered: boolean): void {
    this.#end(unwrap(() => this.#inner.native.fail(this.#ticket, outcome, detail, entered)))
  }

  /** Tells the body and the one who confirms that the call is over before its end. */
  abort(reason: unknown): void {
    this.#reason = reason
    this.#controller?.abort(reason)
  }

  /** Waits for a promise of the confirmation or the body, within the call's limits. */
  wait<T>(promise: PromiseLike<T>, limitMs: number | undefined, explicit: boolean): Promise<Waited<T>> {
    return wait(promise, { limitMs, explicit, signal: this.#options?.signal, closers: this.#inner.closers })
  }

  #invalid(violations: { path: string; message: string }[]): void {
    this.#end(unwrap(() => this.#inner.native.invalid(this.#ticket, JSON.stringify(violations))))
  }

  #end(finished: string): void {
    this.response = fromFinished(finished, this.callId)
    if (this.#inner.onEvent !== undefined) this.#deliver()
  }

  #deliver(): void { deliverEvents(this.#inner) }
}

/** Only strict true is a yes. */
export function judge(answer: unknown): Answer {
  if (answer === true) return ['yes']
  return answer === false ? ['declined'] : ['notABoolean']
}

/** Hands out what the core has recorded. A listener's fault never reaches a call. */
export function deliverEvents(inner: Inner): void {
  for (const event of JSON.parse(inner.native.takeEvents()) as ToolEvent[]) {
    try {
      const outcome: unknown = inner.onEvent?.(event)
      if (outcome instanceof Promise) outcome.catch(() => {})
    } catch {
      // As above.
    }
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && (typeof value === 'object' || typeof value === 'function') && typeof (value as { then?: unknown }).then === 'function'
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  } catch {
    return 'an error that cannot be shown'
  }
}

function pointer(path: NonNullable<NonNullable<StandardResult['issues']>[number]['path']>): string {
  return path.map(segment => {
    const key = typeof segment === 'object' ? segment.key : segment
    return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
  }).join('')
}

function misuse(): never {
  throw new ToolError('INVALID_OPTIONS', 'the binding was called out of order; please report this')
}
