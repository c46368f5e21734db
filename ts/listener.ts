/** Callbacks that only listen: their faults reach nobody. */

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && (typeof value === 'object' || typeof value === 'function') && typeof (value as { then?: unknown }).then === 'function'
}

/** Calls a listener. What it throws, at once or later, is ignored. */
export function notify<T>(listener: ((value: T) => unknown) | undefined, value: T): void {
  try {
    ignore(listener?.(value))
  } catch {
    // As above.
  }
}

/** A promise that nobody waits for must not reject unheard. */
export function ignore(value: unknown): void {
  try {
    if (isThenable(value)) Promise.resolve(value).then(() => {}, () => {})
  } catch {
    // A promise whose `then` throws.
  }
}
