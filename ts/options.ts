/** Options from callers, checked once at the border: a wrong one is the caller's mistake and throws. */
import { invalidOption } from './errors.js'
import { suggestion } from './nearest.js'
import type { ExecuteOptions } from './types.js'

/** Milliseconds: a positive finite number; `null` and `undefined` mean that there is no limit, or no wish. */
export function checkMs(value: unknown, name: string): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) throw invalidOption(`${name} must be a positive number of milliseconds, or null for no limit`)
}

/** Milliseconds of what always has a limit. */
export function checkLimitMs(value: unknown, name: string): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) throw invalidOption(`${name} must be a positive number of milliseconds`)
}

/** Characters: a positive whole number below 2^31. */
export function checkChars(value: unknown, name: string): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !Number.isInteger(value) || value <= 0 || value >= 2 ** 31) throw invalidOption(`${name} must be a positive whole number`)
}

/** Whether a value is a plain object: what a Map or a list holds would not be seen. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  const prototype: unknown = value !== null && typeof value === 'object' ? Object.getPrototypeOf(value) : undefined
  return prototype === null || (prototype !== undefined && Object.getPrototypeOf(prototype) === null)
}

export function checkRecord(value: unknown, name: string): asserts value is Record<string, unknown> | undefined {
  if (value !== undefined && !isRecord(value)) throw invalidOption(`${name} must be a plain object`)
}

/** An object of texts. The key of a wrong value is named, the value is not: it may be a secret. */
export function checkTexts(value: unknown, name: string): asserts value is Record<string, string> | undefined {
  checkRecord(value, name)
  for (const [key, item] of Object.entries(value ?? {})) {
    if (typeof item !== 'string') throw invalidOption(`${name}[${JSON.stringify(key)}] must be a string, and is ${item === null ? 'null' : `of type ${typeof item}`}: give String(…) of it, or leave it out`)
  }
}

/** Text without a NUL, which no system call can carry. */
export function checkText(value: unknown, name: string): void {
  if (value === undefined) return
  if (typeof value !== 'string' || value === '' || value.includes('\0')) throw invalidOption(`${name} must be a text that is not empty and holds no NUL`)
}

/** The path of a folder. `~` is a shell's word for one, and would otherwise be the name of a folder here. */
export function checkFolder(value: unknown, name: string): void {
  checkText(value, name)
  if (typeof value === 'string' && value.startsWith('~')) {
    throw invalidOption(`${name} begins with ~, which is not expanded (${JSON.stringify(value)}): build the path with os.homedir(), or write ./~ for a folder of that name`)
  }
}

export function checkName(value: unknown): void {
  if (typeof value !== 'string') throw invalidOption('the name of a tool must be a string')
}

export function checkFunction(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== 'function') throw invalidOption(`${name} must be a function`)
}

export function checkBoolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalidOption(`${name} must be true or false`)
  return value
}

/** An option that does not exist may be a misspelt one that was meant to protect something. */
export function checkKeys(options: unknown, known: readonly string[], what: string): void {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) throw invalidOption(`${what} must be an object`)
  for (const key in options) {
    if (!known.includes(key)) throw invalidOption(`${what} have no '${key}'${suggestion(key, known) || ';'} there are ${known.join(', ')}`)
  }
}

const EXECUTE_OPTIONS = ['callId', 'confirm', 'signal', 'timeoutMs', 'confirmTimeoutMs', 'state', 'onProgress']

/** @throws ToolError `INVALID_OPTIONS` for a wrong type or an option that does not exist. */
export function checkExecuteOptions(options: ExecuteOptions, more: readonly string[] = []): void {
  checkKeys(options, [...EXECUTE_OPTIONS, ...more], 'the options of a call')
  if (options.callId !== undefined && (typeof options.callId !== 'string' || options.callId === '')) throw invalidOption('callId must be a string that is not empty')
  if (options.signal !== undefined && !isSignal(options.signal)) throw invalidOption('signal must be an AbortSignal')
  checkFunction(options.confirm, 'confirm')
  checkFunction(options.onProgress, 'onProgress')
  checkMs(options.timeoutMs, 'timeoutMs')
  checkMs(options.confirmTimeoutMs, 'confirmTimeoutMs')
}

/** The same for a call past any registry, where nobody is asked. */
export function checkCallOptions(options: Pick<ExecuteOptions, 'signal' | 'timeoutMs' | 'onProgress'>): void {
  checkKeys(options, ['signal', 'timeoutMs', 'onProgress'], 'the options of callTool')
  checkExecuteOptions(options)
}

function isSignal(value: unknown): value is AbortSignal {
  return value !== null && typeof value === 'object' && typeof (value as AbortSignal).aborted === 'boolean'
    && typeof (value as AbortSignal).addEventListener === 'function' && typeof (value as AbortSignal).removeEventListener === 'function'
}
