/** Arguments from a caller: brought to JSON text, which the core reads, or copied where that gives the same. */

/** Why a value has no JSON form. */
export class NotJson extends Error {}

/** How much a copy may hold; what is larger takes the way through text, which has the limits. */
const MAX_DEPTH = 32
const MAX_PARTS = 10_000
const MAX_CHARS = 1 << 20

/**
 * JSON text of arguments; text stays as it is. `undefined` means no arguments.
 * A lone surrogate in text becomes an escape, which the core refuses, instead of vanishing on the way.
 * @throws NotJson, or what a getter throws, for what has no JSON form.
 */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.replace(/\p{Surrogate}/gu, unit => `\\u${unit.charCodeAt(0).toString(16)}`)
  if (value === undefined) return '{}'
  const text = JSON.stringify(value)
  if (text === undefined) throw new NotJson(`a ${typeof value} is no JSON object`)
  // JSON.stringify writes NaN and the infinities as null, which nobody meant. Only then is a second look needed.
  return text.includes('null') ? JSON.stringify(value, refuseNonFinite) : text
}

function refuseNonFinite(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new NotJson(`${value} has no JSON form`)
  return value
}

/**
 * A copy of plain arguments, equal to what reading their JSON text gives; `undefined` for anything that is not plain: then the
 * text decides. It spares the way through text where a Standard Schema checks and nobody needs the text.
 */
export function plainCopy(value: unknown): Record<string, unknown> | undefined {
  budget.parts = MAX_PARTS
  budget.chars = MAX_CHARS
  return value === null || typeof value !== 'object' || Array.isArray(value) ? undefined : copyObject(value, 0)
}

const budget = { parts: 0, chars: 0 }

function copyObject(value: object, depth: number): Record<string, unknown> | undefined {
  if (depth > MAX_DEPTH || Object.getPrototypeOf(value) !== Object.prototype || typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined
  // A spread reads each property once, getters included, and keeps `__proto__` an ordinary key.
  const result: Record<string, unknown> = { ...value }
  for (const key in result) {
    if (key === '__proto__' || !key.isWellFormed()) return undefined
    const item = result[key]
    if (isPlain(item)) continue
    if (item === null || typeof item !== 'object') return undefined
    const copied = Array.isArray(item) ? copyArray(item, depth + 1) : copyObject(item, depth + 1)
    if (copied === undefined) return undefined
    result[key] = copied
  }
  return result
}

function copyArray(value: readonly unknown[], depth: number): unknown[] | undefined {
  if (depth > MAX_DEPTH || value.length > budget.parts || Object.getPrototypeOf(value) !== Array.prototype) return undefined
  const result: unknown[] = []
  for (const item of value) {
    if (isPlain(item)) {
      result.push(item)
      continue
    }
    if (item === null || typeof item !== 'object') return undefined
    const copied = Array.isArray(item) ? copyArray(item, depth + 1) : copyObject(item, depth + 1)
    if (copied === undefined) return undefined
    result.push(copied)
  }
  return result
}

/** A value that JSON text gives back as it was, and that the core would not refuse. */
function isPlain(value: unknown): boolean {
  if (--budget.parts < 0) return false
  switch (typeof value) {
    case 'string':
      budget.chars -= value.length
      return budget.chars >= 0 && value.isWellFormed()
    case 'number':
      return value !== 0 ? Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)) : 1 / value > 0
    case 'boolean':
      return true
    default:
      return value === null
  }
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object') {
    for (const item of Object.values(value)) deepFreeze(item)
    Object.freeze(value)
  }
  return value
}
