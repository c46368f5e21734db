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
  /** Collects what cancels every wait of a registry. */
  readonly closers: Set<() => void>
}

const MAX_TIMER_MS = 2 ** 31 - 1

/** Waits within bounds. What the promise does later has no effect; a late rejection is handled. */
export function wait<T>(promise: PromiseLike<T>, bounds: Bounds): Promise<Waited<T>> {
  return new Promise(resolve => {
    let timer: NodeJS.Timeout | undefined
    const end = (waited: Waited<T>) => {
      clearTimeout(timer)
      bounds.signal?.removeEventListener('abort', cancel)
      bounds.closers.delete(cancel)
      resolve(waited)
    }
    const cancel = () => { end({ kind: 'cancelled' }) }
    Promise.resolve(promise).then(value => { end({ kind: 'value', value }) }, error => { end({ kind: 'threw', error }) })
    bounds.closers.add(cancel)
    bounds.signal?.addEventListener('abort', cancel, { once: true })
    // A signal from AbortSignal.timeout does not keep the process alive by itself, so the wait for it does.
    if (bounds.limitMs !== undefined || bounds.signal !== undefined) {
      const expire = bounds.limitMs === undefined ? () => {} : () => { end({ kind: 'timedOut' }) }
      timer = setTimeout(expire, Math.min(bounds.limitMs ?? MAX_TIMER_MS, MAX_TIMER_MS))
      if (!bounds.explicit && bounds.signal === undefined) timer.unref()
    }
  })
}
