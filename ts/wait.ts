/** Waiting for something that may never come. */

/** How a wait ended. */
export type Waited<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'threw'; readonly error: unknown } | { readonly kind: 'timedOut' | 'cancelled' }

/** What can end a wait early. */
export interface Bounds {
  /** Limit in milliseconds. */
  readonly limitMs: number | undefined
  /** Whether the limit is one that somebody asked for. A default limit alone does not keep the process alive. */
  readonly explicit: boolean
  readonly signal: AbortSignal | undefined
  /** Whether it is over before it begins: what was cancelled earlier fires no event. */
  cancelled(): boolean
  /** Collects what cancels every wait of a registry. */
  readonly closers: Set<() => void>
}

const MAX_TIMER_MS = 2 ** 31 - 1

/** Waits within bounds. Never rejects. What the promise does later has no effect; a late rejection is handled. */
export function wait<T>(promise: PromiseLike<T>, bounds: Bounds): Promise<Waited<T>> {
  return new Promise(resolve => {
    const { signal, closers, limitMs } = bounds
    let timer: NodeJS.Timeout | undefined
    let over = false
    const end = (waited: Waited<T>) => {
      if (over) return
      over = true
      clearTimeout(timer)
      closers.delete(cancel)
      resolve(waited)
      signal?.removeEventListener('abort', cancel)
    }
    const cancel = () => { end({ kind: 'cancelled' }) }
    try {
      // A promise with a `then` of its own may throw here, or answer before this returns.
      Promise.resolve(promise).then(value => { end({ kind: 'value', value }) }, error => { end({ kind: 'threw', error }) })
      if (bounds.cancelled()) cancel()
      if (over) return
      closers.add(cancel)
      signal?.addEventListener('abort', cancel, { once: true })
    } catch (error) {
      end({ kind: 'threw', error })
      return
    }
    // A signal from AbortSignal.timeout does not keep the process alive by itself, so the wait for it does.
    if (limitMs !== undefined || signal !== undefined) {
      const expire = limitMs === undefined ? () => {} : () => { end({ kind: 'timedOut' }) }
      timer = setTimeout(expire, Math.min(limitMs ?? MAX_TIMER_MS, MAX_TIMER_MS))
      if (!bounds.explicit && signal === undefined) timer.unref()
    }
  })
}
