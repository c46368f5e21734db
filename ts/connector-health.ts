/** How connections are, and a monitor that looks at them from time to time. */
import type { ConnectorConnection } from './connector-connection.js'
import type { ErrorCode } from './errors.js'
import { invalidOption } from './errors.js'
import { notify } from './listener.js'
import { checkChars, checkFunction, checkKeys, checkLimitMs } from './options.js'

/** How a connection is. */
export interface HealthStatus {
  /**
   * `unknown`: nobody looked yet. `healthy`: the server answers. `degraded`: it failed to answer lately. `disconnected`: it has failed to answer
   * for some time, or the connection is closed.
   */
  readonly status: 'unknown' | 'healthy' | 'degraded' | 'disconnected'
  /** How long the last answer took, in milliseconds. */
  readonly latencyMs?: number
  /** How many tools the server had then. */
  readonly toolCount?: number
  /** Why the last look failed. Gone after one that did not. */
  readonly error?: { readonly code: ErrorCode; readonly message: string }
  /** When somebody looked last: ISO 8601. */
  readonly lastCheck?: string
  /** Looks in a row that failed. */
  readonly consecutiveFailures: number
}

/** How long a look may take, and what its failures mean. */
export interface HealthOptions {
  /** Limit for one look in milliseconds. Default: 10,000. */
  timeoutMs?: number | undefined
  /** Failures in a row from which on a connection is `degraded`. Default: 1. */
  degradedAfter?: number | undefined
  /** Failures in a row from which on it is `disconnected`; not less than `degradedAfter`. Default: 3. */
  disconnectedAfter?: number | undefined
}

/** A status that is another one than before. */
export interface HealthChange {
  readonly name: string
  readonly previous: HealthStatus['status']
  readonly current: HealthStatus
}

/** How often a monitor looks, and who hears of changes. */
export interface HealthMonitorOptions extends HealthOptions {
  /** Milliseconds between two looks at the same connection. Default: 60,000. */
  intervalMs?: number | undefined
  /** Part of the interval, 0 to 1, by which each pause is longer or shorter at random, so that not all are looked at at once. Default: 0.1. */
  jitter?: number | undefined
  /** Hears when the status of a connector is another one. What it throws is ignored. */
  onChange?: ((change: HealthChange) => unknown) | undefined
}

const HEALTH_KEYS = ['timeoutMs', 'degradedAfter', 'disconnectedAfter']
export const UNKNOWN: HealthStatus = Object.freeze({ status: 'unknown', consecutiveFailures: 0 })

/** @throws ToolError `INVALID_OPTIONS`. */
export function readHealthOptions(options: HealthOptions, more: readonly string[] = []): { timeoutMs: number; degradedAfter: number; disconnectedAfter: number } {
  checkKeys(options, [...HEALTH_KEYS, ...more], 'the options of health')
  const { timeoutMs = 10_000, degradedAfter = 1, disconnectedAfter = Math.max(3, degradedAfter) } = options
  checkLimitMs(timeoutMs, 'timeoutMs')
  checkChars(degradedAfter, 'degradedAfter')
  checkChars(disconnectedAfter, 'disconnectedAfter')
  if (disconnectedAfter < degradedAfter) throw invalidOption('disconnectedAfter must not be less than degradedAfter')
  return { timeoutMs, degradedAfter, disconnectedAfter }
}

/** What the core says of a connection, without what is not known. */
export function readHealth(json: string): HealthStatus {
  const { status, latencyMs, toolCount, error, lastCheck, consecutiveFailures } = JSON.parse(json)
  return {
    status, consecutiveFailures,
    ...(latencyMs === null ? {} : { latencyMs }),
    ...(toolCount === null ? {} : { toolCount }),
    ...(error === null ? {} : { error }),
    ...(lastCheck === null ? {} : { lastCheck: new Date(lastCheck).toISOString() }),
  }
}

/** Looks at the connections of a registry from time to time. It keeps no process alive. Made by `ConnectorRegistry.monitor`. */
export class HealthMonitor implements Disposable {
  readonly #options: ReturnType<typeof readHealthOptions>
  readonly #intervalMs: number
  readonly #jitter: number
  readonly #onChange: ((change: HealthChange) => unknown) | undefined
  readonly #stopped: (monitor: HealthMonitor) => void
  readonly #timers = new Map<ConnectorConnection, NodeJS.Timeout>()
  readonly #statuses = new Map<string, HealthStatus>()

  /** @internal */
  constructor(options: HealthMonitorOptions, stopped: (monitor: HealthMonitor) => void) {
    const { intervalMs = 60_000, jitter = 0.1, onChange } = options
    this.#options = readHealthOptions(options, ['intervalMs', 'jitter', 'onChange'])
    checkLimitMs(intervalMs, 'intervalMs')
    if (intervalMs >= 2 ** 30) throw invalidOption('intervalMs must be below 2^30')
    if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) throw invalidOption('jitter must be a number from 0 to 1')
    checkFunction(onChange, 'onChange')
    this.#intervalMs = intervalMs
    this.#jitter = jitter
    this.#onChange = onChange
    this.#stopped = stopped
  }

  /** The status of every connector that is or was connected since the monitor runs, by name. */
  get statuses(): Readonly<Record<string, HealthStatus>> { return Object.fromEntries(this.#statuses) }

  /** How a connector is; `unknown` for one that was not looked at. */
  status(name: string): HealthStatus { return this.#statuses.get(name) ?? UNKNOWN }

  /** Looks at every connection now. */
  async check(): Promise<Readonly<Record<string, HealthStatus>>> {
    await Promise.all([...this.#timers.keys()].map(connection => this.#look(connection)))
    return this.statuses
  }

  /** Ends it. May be called again. */
  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    this.#stopped(this)
  }

  /** `stop`, for `using`. */
  [Symbol.dispose](): void { this.stop() }

  /** @internal A connection that is new. The first look comes at a random time within the interval. */
  add(connection: ConnectorConnection): void {
    this.#statuses.set(connection.name, UNKNOWN)
    this.#plan(connection, this.#intervalMs * Math.random())
  }

  /** @internal A connection that was closed. */
  remove(connection: ConnectorConnection): void {
    const timer = this.#timers.get(connection)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#timers.delete(connection)
    this.#take(connection.name, { ...this.status(connection.name), status: 'disconnected' })
  }

  #plan(connection: ConnectorConnection, pauseMs: number): void {
    clearTimeout(this.#timers.get(connection))
    const timer = setTimeout(() => { void this.#look(connection) }, pauseMs)
    timer.unref()
    this.#timers.set(connection, timer)
  }

  async #look(connection: ConnectorConnection): Promise<void> {
    const status = await connection.health(this.#options)
    // It may have been closed, or the monitor stopped, meanwhile.
    if (!this.#timers.has(connection)) return
    this.#plan(connection, this.#intervalMs * (1 + this.#jitter * (2 * Math.random() - 1)))
    this.#take(connection.name, status)
  }

  #take(name: string, current: HealthStatus): void {
    const previous = this.status(name).status
    this.#statuses.set(name, current)
    if (current.status !== previous) notify(this.#onChange, { name, previous, current })
  }
}
