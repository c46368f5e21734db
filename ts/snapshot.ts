/** Copies of arguments: what was checked and shown is what runs, whatever the caller does with its object meanwhile. */

/** Levels of nesting that arguments may have; the core's JSON reader has the same limit. */
const MAX_DEPTH = 127

/** Why a value has no JSON form. */
export class NotJson extends Error {}

/**
 * A copy with the meaning of `JSON.stringify`: `undefined`, functions and symbols vanish, `toJSON` is asked. Own keys stay own,
 * `__proto__` included. Throws `NotJson` for BigInts, lone surrogates, cycles and deep nesting.
 */
export function snapshot(value: unknown): unknown {
  return copy(value, 0)
}

function copy(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new NotJson('a string has a lone surrogate')
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(`${value} has no JSON form`)
      return value
    case 'boolean':
      return value
    case 'bigint':
      throw new NotJson('a BigInt has no JSON form; send it as a string')
    case 'object':
      return value === null ? null : copyObject(value, depth)
    default:
      return undefined
  }
}

function copyObject(value: object, depth: number): unknown {
  if (depth >= MAX_DEPTH) throw new NotJson(`the arguments are nested deeper than ${MAX_DEPTH + 1} levels, or contain themselves`)
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return copy((value as { toJSON(): unknown }).toJSON(), depth + 1)
  if (Array.isArray(value)) return Array.from(value, item => copy(item, depth + 1) ?? null)
  if (Object.getPrototypeOf(value) !== Object.prototype && (value instanceof String || value instanceof Number || value instanceof Boolean)) {
    return copy(value.valueOf(), depth)
  }
  // A spread reads each property once, getters included, and keeps `__proto__` an ordinary key. Most values need no more.
  const result: Record<string, unknown> = { ...value }
  for (const key in result) {
    if (!key.isWellFormed()) throw new NotJson('a key has a lone surrogate')
    const item = result[key]
    if (typeof item === 'boolean' || (typeof item === 'string' && item.isWellFormed())) continue
    const copied = copy(item, depth + 1)
    if (copied === item || !Object.hasOwn(result, key)) continue
    if (copied === undefined) delete result[key]
    else if (key === '__proto__') Object.defineProperty(result, key, { value: copied, writable: true, enumerable: true, configurable: true })
    else result[key] = copied
  }
  return result
}

/** JSON text of arguments. Throws for what has none. */
export function toText(value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) throw new NotJson(`the arguments are a ${typeof value}`)
  // JSON.stringify writes NaN and the infinities as null, which nobody meant. Only then is a second look needed.
  return text.includes('null') ? JSON.stringify(snapshot(value)) : text
}

/** Text as the core can take it: a lone surrogate becomes an escape, which the core refuses, instead of vanishing on the way. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.replace(/\p{Surrogate}/gu, unit => `\\u${unit.charCodeAt(0).toString(16)}`)
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    for (const item of Object.values(value)) deepFreeze(item)
    Object.freeze(value)
  }
  return value
}
