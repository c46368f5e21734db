/** What a body gave back, as text and data. */
import { ERROR_CODES, type ErrorCode } from './errors.js'
import { isExternal, isResponse, stringifyData } from './response.js'

export interface Outcome {
  /** 0 success, 1 partial, 2 error. */
  readonly status: 0 | 1 | 2
  readonly text: string
  readonly data: unknown
  /** Bytes of the data as JSON; 0 without data. */
  readonly dataBytes: number
  readonly code: ErrorCode | undefined
  /** Whether a response that the body passes on holds text from outside. */
  readonly external: boolean
}

/** Reads a result; a string says what is wrong with it. */
export function readResult(result: unknown): Outcome | string {
  try {
    switch (typeof result) {
      case 'string':
        return success(result, undefined, 0)
      case 'undefined':
        return success('', undefined, 0)
      case 'number':
        return Number.isFinite(result) ? success(JSON.stringify(result), result, 8) : `the number ${result}`
      case 'boolean':
        return success(JSON.stringify(result), result, 5)
      case 'object':
        return result === null ? success('', undefined, 0) : readObject(result)
      default:
        return `a ${typeof result}`
    }
  } catch (error) {
    return `a value without a JSON form (${error instanceof Error ? error.message.split('\n')[0] : 'an error'})`
  }
}

function readObject(result: object): Outcome | string {
  if (isResponse(result)) return readResponse(result)
  const text = JSON.stringify(result)
  if (text === undefined) return 'an object without a JSON form'
  // Iterators, maps, errors, responses of fetch: an object that says nothing of itself, not one that is empty.
  if (text === '{}' && !isPlainObject(result)) return `a ${result.constructor?.name ?? 'value'} without a JSON form`
  // Data is what the text says, whatever becomes of the object.
  return success(text, JSON.parse(text), Buffer.byteLength(text))
}

function readResponse(response: ReturnType<typeof Object> & { text?: unknown; status?: unknown; data?: unknown; code?: unknown }): Outcome | string {
  const { text, status, data, code } = response
  if (typeof text !== 'string') return 'a response without text'
  const number = status === 'success' ? 0 : status === 'partial' ? 1 : status === 'error' ? 2 : undefined
  if (number === undefined) return 'a response without a status'
  const known = ERROR_CODES.find(known => known === code)
  const outcome = { status: number, text, data, dataBytes: 0, code: known, external: isExternal(response) } as const
  if (data === undefined) return outcome
  const json = stringifyData(data)
  return json === undefined ? `a response whose data is a ${typeof data}` : { ...outcome, dataBytes: Buffer.byteLength(json) }
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function success(text: string, data: unknown, dataBytes: number): Outcome {
  return { status: 0, text, data, dataBytes, code: undefined, external: false }
}
