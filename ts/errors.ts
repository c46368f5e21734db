/** Errors that callers get thrown. What a model can act on is a response instead. */

/** Every error code. The same list is compiled into the core; a test holds the two together. */
export const ERROR_CODES = [
  'TOOL_NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENTS', 'CONFIRMATION_REQUIRED', 'CONFIRMATION_REJECTED', 'EXECUTION_FAILED',
  'TIMEOUT', 'CANCELLED', 'NO_HANDLER', 'INVALID_OPTIONS', 'INVALID_NAME', 'DUPLICATE_NAME', 'CLOSED', 'PIN_MISMATCH',
  'CONNECTION_FAILED', 'CONNECTOR_NOT_FOUND', 'CREDENTIALS_MISSING', 'CREDENTIAL_STORE_FAILED', 'AUTHORIZATION_REQUIRED', 'AUTHORIZATION_FAILED', 'UNSUPPORTED_PLATFORM', 'PROMPT_INVALID',
] as const

/** Why a call was refused or failed, or what a caller did wrong. */
export type ErrorCode = (typeof ERROR_CODES)[number]

const MARK = Symbol.for('toolbolt.ToolError')

/** What a caller did wrong, or what stopped a connection. `message` says what to do; `code` is for programs. */
export class ToolError extends Error {
  override name = 'ToolError'
  readonly code: ErrorCode
  /** Facts for a program, if there are any. */
  readonly data?: unknown

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; data?: unknown }) {
    super(message, options !== undefined && 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    if (options?.data !== undefined) this.data = options.data
  }

  /** @internal */
  get [MARK](): true { return true }

  /** Whether a value is a `ToolError`, also one of another copy of this package. */
  static isInstance(value: unknown): value is ToolError {
    return value instanceof Error && MARK in value && typeof (value as Partial<ToolError>).code === 'string'
  }
}

/** A tool that cannot be registered: `INVALID_NAME`, `DUPLICATE_NAME` or `INVALID_OPTIONS`. */
export class ToolRegistrationError extends ToolError { override name = 'ToolRegistrationError' }

/** A prompt key that does not exist, or a text that lost a variable: `PROMPT_INVALID`. */
export class PromptError extends ToolError { override name = 'PromptError' }

/** Runs a function of the binding and throws its errors as the class, with a JavaScript stack. */
export function unwrap<T>(work: () => T, Class: typeof ToolError = ToolError): T {
  try {
    return work()
  } catch (error) {
    throw fromNative(error instanceof Error ? error.message : String(error), Class)
  }
}

/** An error of the core, sent as JSON. */
export function fromNative(json: string, Class: typeof ToolError = ToolError): ToolError {
  let parsed: { code?: unknown; message?: unknown; data?: unknown } = {}
  try {
    parsed = JSON.parse(json)
  } catch {
    // A panic or a wrong argument type comes as plain text.
  }
  if (typeof parsed?.code !== 'string') return new Class('INVALID_OPTIONS', json)
  const code = parsed.code as ErrorCode
  return new (code === 'PROMPT_INVALID' ? PromptError : Class)(code, String(parsed.message), parsed.data == null ? undefined : { data: parsed.data })
}

/** A caller's mistake in an option. */
export function invalidOption(message: string): ToolError {
  return new ToolError('INVALID_OPTIONS', message)
}

/** The kind of what an app's callback threw, none of its words, which may hold a secret. It may throw in turn when it is looked at. */
export function nameOf(error: unknown): string {
  try {
    const name: unknown = error instanceof Error ? error.name : undefined
    return typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : 'something'
  } catch {
    return 'something'
  }
}
