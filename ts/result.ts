/** What a body gave back, as text and data. */
import type { ErrorCode } from './errors.js'
import { isResponse, stringifyData } from './response.js'

export interface Outcome {
  /** 0 success, 1 partial, 2 error. */
  readonly status: 0 | 1 | 2
  readonly text: string
  readonly data: unknown
  /** Bytes of the data as JSON; 0 without data. */
  readonly dataBytes: number
  readonly code: ErrorCode | undefined
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
  if (!isResponse(result)) {
    const text = JSON.stringify(result)
    return text === undefined ? 'an object without a JSON form' : success(text, result, Buffer.byteLength(text))
  }
  const { text, status, data, code } = result
  if (typeof text !== 'string') return 'a response without text'
  const number = status === 'success' ? 0 : status === 'partial' ? 1 : status === 'error' ? 2 : undefined
  if (number === undefined) return 'a response without a status'
  if (data === undefined) return { status: number, text, data, dataBytes: 0, code }
  const json = stringifyData(data)
  return json === undefined ? `a response whose data is a ${typeof data}` : { status: number, text, data, dataBytes: Buffer.byteLength(json), code }
}

function success(text: string, data: unknown, dataBytes: number): Outcome {
  return { status: 0, text, data, dataBytes, code: undefined }
}
