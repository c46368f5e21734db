/**
 * One call from JavaScript: the core decides each step, this awaits in between. Nothing here is a policy: each answer goes to
 * the core, which says what happens next, and a call ends only with a response that the core has seen.
 */
import { deepFreeze, plainCopy, toText } from './arguments.js'
import { binding } from './binding.js'
import type { Entry, Inner } from './entry.js'
import { ToolError, fromNative, unwrap } from './errors.js'
import { ignore, isThenable, notify } from './listener.js'
import { type Outcome, readResult } from './result.js'
import { ToolResponse, fromFinished, nameSource } from './response.js'
import type { StandardResult } from './schema.js'
import type { ConfirmRequest, ExecuteOptions, Progress, ToolContext, ToolEvent } from './types.js'
import { type Waited, wait } from './wait.js'

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
  /** Whether the body was entered. */
  entered = false
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
    this.callId = options?.callId ?? `call_${++callsMade}`
  }

  get origin(): string { return this.#entry.origin }
  get state(): unknown { return this.#options?.state }
  get entry(): Entry { return this.#entry }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason === undefined && this.cancelled()) this.#reason = this.cancelReason()
    if (this.#reason !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** A function of its own, so that a body can take it out of the context. */
  get progress(): (update: Progress) => void {
    return update => {
      const { onProgress } = this.#options ?? {}
      if (onProgress === undefined || this.response !== undefined || this.#reason !== undefined) return
      if (update !== null && typeof update === 'object' && Number.isFinite(update.progress)) notify(onProgress, update)
    }
  }

  /** Whether the caller or the registry has given up. Looked at before each step, as neither has to fire an event again. */
  cancelled(): boolean {
    return this.#inner.isClosed || this.#options?.signal?.aborted === true
  }

  cancelReason(): unknown {
    return this.#options?.signal?.reason ?? new DOMException('the call was cancelled', 'AbortError')
  }

  /** Ends a call that was given up before its body. */
  stopIfCancelled(): void {
    if (this.response !== undefined || !this.cancelled()) return
    this.fail('cancelled', '', false)
    this.abort(this.cancelReason())
  }

  /** Steps 1 to 3: looks up, permits, and validates where the core does. */
  begin(name: string, args: unknown): void {
    const entry = this.#inner.entries.get(name)
    if (entry === undefined) {
      const text = this.#inner.onEvent === undefined ? null : textOrNull(args)
      this.#end(unwrap(() => this.#inner.native.beginByName(name.toWellFormed(), text, this.callId)))
      return
    }
    this.#entry = entry
    let fault: string | undefined
    const { onEvent } = this.#inner
    const copied = entry.native === undefined && typeof args === 'object' ? plainCopyOf(args) : undefined
    try {
      this.args = copied
      if (copied === undefined) this.#text = toText(args)
      else if (entry.validate === undefined || onEvent !== undefined) this.#text = JSON.stringify(copied)
    } catch (error) {
      fault = messageOf(error)
    }
    const begun = this.#cross(entry.id, onEvent === undefined ? undefined : this.callId)
    if (typeof begun !== 'number') {
      this.#end(begun ?? misuse())
      return
    }
    const flags = begun % 8
    this.#ticket = (begun - flags) / 8
    this.#ask = flags & (ASK_ALWAYS | ASK_TOOL)
    if (onEvent !== undefined) this.#deliver()
    if (fault !== undefined) this.#invalid([{ path: '', message: fault }])
    else if (entry.native === undefined && (copied === undefined || (flags & CHANGED) !== 0)) this.#readText((flags & CHANGED) !== 0)
  }

  /** The arguments as the core has read them, with defaults where it filled some in. */
  #readText(changed: boolean): void {
    if (changed) this.#text = this.#inner.native.arguments(this.#ticket)
    const text = this.#text ?? ''
    this.args = text.trim() === '' ? {} : JSON.parse(text)
  }

  /** Gives no more than it has: each argument of a crossing costs. */
  #cross(tool: number, callId: string | undefined): number | string | null {
    const { index } = this.#inner
    try {
      if (callId !== undefined) return binding.begin(index, tool, this.#text, callId)
      return this.#text === undefined ? binding.begin(index, tool) : binding.begin(index, tool, this.#text)
    } catch (error) {
      throw fromNative(error instanceof Error ? error.message : String(error))
    }
  }

  /** Step 3 of a Standard Schema: its own check, once. */
  validate(): undefined | PromiseLike<StandardResult> {
    const validate = this.#entry.validate
    if (validate === undefined) return undefined
    // What a person will be shown is what the model sent, not what the schema makes of it.
    if (this.#ask !== 0) this.#text ??= toText(this.args)
    const result = validate(this.args)
    if (isThenable(result)) return result as PromiseLike<StandardResult>
    this.validated(result)
    return undefined
  }

  validated(result: StandardResult): void {
    const judged = judgeValidation(result)
    if ('value' in judged) this.args = judged.value
    else this.#invalid(judged.violations)
  }

  /** Step 4: whether to ask; native tools have told the core. */
  mustAsk(): boolean {
    if (this.#ask === 0) return false
    if (this.#ask === ASK_ALWAYS) return true
    const needed = asks(this.#entry, this.args)
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
    const request = this.#request()
    let answer: Answer
    try {
      const given: unknown = confirm(request)
      if (isThenable(given)) return given
      answer = judge(given)
    } catch (error) {
      answer = ['threw', messageOf(error)]
    }
    this.answer(answer)
    return undefined
  }

  #request(): ConfirmRequest {
    const call = this
    const { tool, name, origin } = this.#entry
    const text = this.#text ?? '{}'
    return {
      tool,
      name,
      origin,
      args: deepFreeze(text.trim() === '' ? {} : JSON.parse(text)),
      preview: this.#inner.native.preview(this.#ticket, text),
      callId: this.callId,
      get signal() { return call.signal },
    }
  }

  /** Tells the core the answer; the call is over unless it was a yes that came in time. */
  answer(answer: Answer): void {
    const [word, detail] = this.cancelled() ? ['cancelled' as const] : answer
    const ended = unwrap(() => this.#inner.native.confirmed(this.#ticket, word, detail ?? null))
    if (ended != null) this.#end(ended)
    else if (this.#inner.onEvent !== undefined) this.#deliver()
  }

  /** Step 5 of a native tool. */
  runNative(token: number, timeoutMs: number | undefined): void {
    this.entered = true
    unwrap(() => this.#inner.native.run(token, this.#ticket, this.callId, timeoutMs ?? null, this.#options?.onProgress !== undefined))
  }

  runNativeNow(): void {
    const ended = unwrap(() => this.#inner.native.runNow(this.#ticket))
    if (ended == null) this.fail('badResult', 'a promise; call it with execute', false)
    else this.#end(ended)
  }

  endNative(finished: string): void { this.#end(finished) }

  /** Step 5: runs the body. Gives its promise where it is one. */
  run(): undefined | PromiseLike<unknown> {
    const { run, tool } = this.#entry
    this.entered = true
    const result: unknown = run.call(tool, this.args, this)
    if (isThenable(result)) return result
    this.finish(result)
    return undefined
  }

  /** Steps 6 to 8: what the body gave. */
  finish(result: unknown): void {
    const outcome = readResult(result)
    if (typeof outcome === 'string') this.fail('badResult', outcome, true)
    else this.#bound(outcome)
  }

  #bound({ status, text, data, dataBytes, code, external }: Outcome): void {
    const { index, onEvent } = this.#inner
    // A plain success, which most results are, crosses with what it has.
    const changed = status === 0 && dataBytes === 0 ? binding.finish(index, this.#ticket, text) : binding.finish(index, this.#ticket, text, status, dataBytes)
    const stamp = { code, callId: this.callId, origin: this.#entry.origin, executed: true, external: external || this.#isExternal() }
    if (changed === undefined) {
      this.response = new ToolResponse(text, STATUSES[status], data, stamp)
    } else {
      const patch = JSON.parse(changed ?? misuse())
      this.response = new ToolResponse(patch.text ?? text, patch.status, patch.dropData ? { truncated: true } : data, stamp)
    }
    if (stamp.external) nameSource(this.response, this.#entry.name)
    if (onEvent !== undefined) this.#deliver()
  }

  #isExternal(): boolean {
    const { external, tool } = this.#entry
    if (external !== 2) return external === 1
    try {
      const answer: unknown = tool.isExternalContent(this.args)
      ignore(answer)
      return answer !== false
    } catch {
      return true
    }
  }

  /** Ends the call without a result. */
  fail(outcome: 'threw' | 'badResult' | 'timedOut' | 'cancelled', detail: string, entered: boolean): void {
    this.#end(unwrap(() => this.#inner.native.fail(this.#ticket, outcome, detail.toWellFormed(), entered)))
  }

  /** Tells the body and the one who confirms that the call is over before its end. */
  abort(reason: unknown): void {
    this.#reason = reason
    this.#controller?.abort(reason)
  }

  /** Waits for a promise of the schema, the confirmation or the body, within the call's limits. */
  wait<T>(promise: PromiseLike<T>, limitMs: number | undefined, explicit: boolean): Promise<Waited<T>> {
    return wait(promise, { limitMs, explicit, signal: this.#options?.signal, cancelled: () => this.cancelled(), closers: this.#inner.closers })
  }

  #invalid(violations: Violation[]): void {
    this.#end(unwrap(() => this.#inner.native.invalid(this.#ticket, JSON.stringify(violations))))
  }

  #end(finished: string): void {
    this.response = fromFinished(finished, this.callId)
    if (this.#entry !== undefined) nameSource(this.response, this.#entry.name)
    if (this.#inner.onEvent !== undefined) this.#deliver()
  }

  #deliver(): void { deliverEvents(this.#inner) }
}

interface Violation { readonly path: string; readonly message: string }

/** What a Standard Schema said. Throws for what is no answer. */
export function judgeValidation(result: StandardResult): { readonly value: unknown } | { readonly violations: Violation[] } {
  if (result !== null && typeof result === 'object') {
    const { issues } = result
    if (issues === undefined && 'value' in result) return { value: result.value }
    if (Array.isArray(issues) && issues.length > 0) {
      return { violations: issues.map(issue => ({ path: pointer(issue.path ?? []).toWellFormed(), message: String(issue.message).toWellFormed() })) }
    }
  }
  throw new TypeError('the schema gave neither a value nor issues')
}

function pointer(path: NonNullable<NonNullable<StandardResult['issues']>[number]['path']>): string {
  return path.map(segment => {
    const key = typeof segment === 'object' ? segment.key : segment
    return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
  }).join('')
}

/** Whether a tool that decides per call wants a yes. A tool that cannot tell is asked about. */
export function asks(entry: Entry, args: unknown): boolean {
  try {
    const answer: unknown = entry.tool.needsConfirmation(args)
    ignore(answer)
    return answer !== false
  } catch {
    return true
  }
}

/** Only strict true is a yes. */
export function judge(answer: unknown): Answer {
  if (answer === true) return ['yes']
  return answer === false ? ['declined'] : ['notABoolean']
}

/** Hands out what the core has recorded. */
export function deliverEvents(inner: Inner): void {
  for (const event of JSON.parse(inner.native.takeEvents()) as ToolEvent[]) notify(inner.onEvent, event)
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    if (ToolError.isInstance(error)) return error.message
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  } catch {
    return 'an error that cannot be shown'
  }
}

/** The arguments of a call that is only recorded. */
function textOrNull(args: unknown): string | null {
  try {
    return toText(args)
  } catch {
    return null
  }
}

function plainCopyOf(args: unknown): Record<string, unknown> | undefined {
  try {
    return plainCopy(args)
  } catch {
    // A getter or proxy that throws will throw again on the way through text, which says so.
    return undefined
  }
}

function misuse(): never {
  throw new ToolError('INVALID_OPTIONS', 'the binding was called out of order; please report this')
}
