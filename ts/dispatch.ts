/** Messages from other threads: results of native operations, their progress, and questions to JavaScript. */
import { binding } from './binding.js'
import { fromNative } from './errors.js'

/** The same list as in the addon. */
const RESOLVED = 0
const REJECTED = 1
const PROGRESS = 2
const CONFIRM = 3
const EXECUTE = 4
const EVENTS = 5
const CANCEL = 6
const POLICY = 9
const VARIABLES = 7
const ROOT_CERTIFICATES = 8
const AUTH_TOKEN = 11
const TOOLS_CHANGED = 10
const SERVE = 12
const ADMIT = 13

interface Operation {
  resolve(result: string): void
  reject(error: Error): void
  progress: ((payload: string) => void) | undefined
  signal: AbortSignal | undefined
  /** What the signal does. */
  stop: (() => void) | undefined
}

/** What a registry answers when a call reaches JavaScript from another thread. */
export interface Host {
  /** The answer and a detail, as the core reads them. */
  confirm(payload: string, signal: AbortSignal): Promise<[answer: string, detail?: string]>
  /** The finished call as JSON. */
  execute(payload: string, signal: AbortSignal): Promise<string>
  /** Hands events out. */
  deliverEvents(): void
}

/** What an app answers when the core asks about the arguments of a program: `['allow']`, `['refuse', reason]`, or anything else for a no. */
export interface Policy {
  judge(program: string, words: string[]): readonly string[]
}

/** What an app answers when a server wants a token. */
export interface TokenSource {
  /**
   * The token and when to ask for another one, in milliseconds since 1970; or why there is none, in words that hold no secret, and
   * whether somebody has to authorize first or the fault may pass.
   */
  token(url: string, reason: 'first' | 'rejected' | 'expired'): Promise<{ token: string; expiresAt?: number } | { problem: string; kind?: 'unauthorized' | 'passing' }>
}

/** Who hears of changes of a server's tools, as JSON. */
export interface ToolListener {
  changed(payload: string): void
}

/** A call of a client of a server of ours. */
export interface ServedCall {
  /** The server's number of it. */
  readonly call: number
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  readonly callId: string
  /** Whether the client can ask its user. */
  readonly canAsk: boolean
}

/** What a server of ours does with its clients. */
export interface Served {
  /** The result of `tools/call` as JSON. */
  call(call: ServedCall, signal: AbortSignal): Promise<string>
  admits(token: string | undefined): Promise<boolean>
}

/** Reached at the end of a turn, at a tenth of what `queueMicrotask` costs. */
const TURN_END = Promise.resolve()
const operations = new Map<number, Operation>()
const questions = new Map<number, AbortController>()
const hosts = new Map<number, WeakRef<Host>>()
let nextToken = 0
let isBeginning = false

/** What the core knows by number. It is held weakly: whoever wants to be reached has to hold it. */
class Numbered<T extends object> {
  readonly #known = new Map<number, WeakRef<T>>()
  readonly #collected = new FinalizationRegistry<number>(number => { this.#known.delete(number) })
  #next = 0

  add(one: T): number {
    const number = this.#next
    this.#next += 1
    this.#known.set(number, new WeakRef(one))
    this.#collected.register(one, number)
    return number
  }

  get(number: number): T | undefined { return this.#known.get(number)?.deref() }
}

const policies = new Numbered<Policy>()
const tokenSources = new Numbered<TokenSource>()
const toolListeners = new Numbered<ToolListener>()
const servers = new Numbered<Served>()

/** Registers the JavaScript side of a gate. It is held weakly: a dropped registry is collected. */
export function addHost(gate: number, host: Host): void {
  hosts.set(gate, new WeakRef(host))
}

/** Registers an app's policy and gives its number, held weakly. */
export function addPolicy(policy: Policy): number { return policies.add(policy) }

/** Registers a listener and gives its number, held weakly. */
export function addToolListener(listener: ToolListener): number { return toolListeners.add(listener) }

/** Registers a server and gives its number, held weakly. */
export function addServer(server: Served): number { return servers.add(server) }

/** Registers who gives tokens and gives the number, held weakly. */
export function addTokenSource(source: TokenSource): number { return tokenSources.add(source) }

/**
 * Starts a native operation and waits for its result, a text. It begins at the end of this turn, together with all others of the turn.
 * A signal that aborts cancels it, if it can be.
 */
export function operation(start: (token: number) => void, progress?: (payload: string) => void, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const token = nextToken
    nextToken = (nextToken + 1) % 0x1_0000_0000
    const stop = signal === undefined ? undefined : () => { binding.cancelOperation(token) }
    operations.set(token, { resolve, reject, progress, signal, stop })
    try {
      start(token)
    } catch (error) {
      operations.delete(token)
      reject(fromNative(error instanceof Error ? error.message : String(error)))
      return
    }
    if (stop !== undefined) signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop?.()
    if (isBeginning) return
    isBeginning = true
    void TURN_END.then(begin)
  })
}

function begin(): void {
  isBeginning = false
  binding.beginOperations()
}

/** Takes a batch of messages: for each, what it is about, its token and the length of its text. */
function receiveAll(heads: readonly number[], texts: string): void {
  let from = 0
  for (let at = 0; at < heads.length; at += 3) {
    const end = from + heads[at + 2]!
    try {
      receive(heads[at]!, heads[at + 1]!, texts.substring(from, end))
    } catch (error) {
      // A fault of ours; the other messages are not to be lost with it.
      queueMicrotask(() => { throw error })
    }
    from = end
  }
}

function receive(message: number, token: number, payload: string): void {
  switch (message) {
    case RESOLVED:
    case REJECTED: {
      const settled = operations.get(token)
      operations.delete(token)
      if (settled?.stop !== undefined) settled.signal?.removeEventListener('abort', settled.stop)
      if (message === RESOLVED) settled?.resolve(payload)
      else settled?.reject(fromNative(payload))
      return
    }
    case PROGRESS:
      operations.get(token)?.progress?.(payload)
      return
    case EVENTS:
      hosts.get(token)?.deref()?.deliverEvents()
      return
    case CANCEL:
      questions.get(token)?.abort(new DOMException('the call was cancelled', 'AbortError'))
      return
    case TOOLS_CHANGED:
      toolListeners.get(token)?.changed(payload)
      return
    case POLICY:
      binding.answer(token, judge(payload))
      return
    case VARIABLES:
      binding.answer(token, JSON.stringify((JSON.parse(payload) as string[]).map(name => process.env[name] ?? null)))
      return
    case ROOT_CERTIFICATES:
      // Hundreds of kilobytes that only a system without certificates of its own needs.
      binding.answer(token, process.getBuiltinModule('node:tls').rootCertificates.join('\n'))
      return
    case AUTH_TOKEN:
      void giveToken(token, payload)
      return
    case ADMIT:
      void admit(token, payload)
      return
    case CONFIRM:
    case EXECUTE:
    case SERVE:
      void reply(message, token, payload)
  }
}

async function reply(message: number, token: number, payload: string): Promise<void> {
  let answer = message === SERVE ? '' : '[]'
  const controller = new AbortController()
  questions.set(token, controller)
  try {
    const about = JSON.parse(payload)
    const host = hosts.get(about.gate)?.deref()
    if (message === SERVE) answer = await servers.get(about.server)?.call(about, controller.signal) ?? ''
    else if (host !== undefined) answer = message === CONFIRM ? JSON.stringify(await host.confirm(payload, controller.signal)) : await host.execute(payload, controller.signal)
  } catch {
    // An unreadable answer counts as a no.
  }
  questions.delete(token)
  binding.answer(token, answer)
}

async function admit(question: number, payload: string): Promise<void> {
  let isIn: boolean | undefined = false
  try {
    const { server, token } = JSON.parse(payload)
    isIn = await servers.get(server)?.admits(token ?? undefined)
  } catch {
    // Who cannot decide has not said yes, and what was thrown may hold the token.
  }
  binding.answer(question, isIn === true ? 'yes' : 'no')
}

async function giveToken(question: number, payload: string): Promise<void> {
  const { auth, url, reason } = JSON.parse(payload)
  const answer = await tokenSources.get(auth)?.token(url, reason)
  binding.answer(question, JSON.stringify(answer ?? {}))
}

function judge(payload: string): string {
  try {
    const { policy, program, words } = JSON.parse(payload)
    return JSON.stringify(policies.get(policy)?.judge(program, words) ?? [])
  } catch {
    // A policy that fails has not said yes.
    return '[]'
  }
}

binding.setDispatcher(receiveAll)
// Nothing can be awaited any more at this point, and a child that outlives its host belongs to nobody.
process.on('exit', () => { binding.killChildren() })
