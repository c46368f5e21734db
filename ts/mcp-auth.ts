/** Tokens of a server, from the callback of an app. */
import { type TokenSource, addTokenSource } from './dispatch.js'
import { ToolError, nameOf } from './errors.js'

/** What a token is wanted for. */
export interface AuthContext {
  /** The address of the server. The token leaves for its origin only. */
  url: string
  /**
   * `first`: there is none yet. `rejected`: the server refused the last one. `expired`: the last one is a JSON Web
   * Token whose `exp` has passed.
   */
  reason: 'first' | 'rejected' | 'expired'
}

/**
 * Gives a token, which is sent as `Authorization: Bearer …`. Asked before the first request, when the
 * token has expired, and once whenever the server answers 401.
 */
export type AuthCallback = (context: AuthContext) => string | Promise<string>

/** What gives the tokens of a connection. */
export interface ConnectionTokens extends TokenSource {
  /** What the core knows it by, as long as this is held. */
  readonly number: number
  /** What was thrown, as long as it has given no token since. */
  readonly thrown: { readonly error: unknown } | undefined
}

/** Asks the callback, and keeps what it throws to itself: the message may hold a secret. */
export class AuthTokens implements ConnectionTokens {
  readonly number: number
  thrown: { readonly error: unknown } | undefined
  readonly #ask: AuthCallback

  constructor(ask: AuthCallback) {
    this.#ask = ask
    this.number = addTokenSource(this)
  }

  async token(url: string, reason: AuthContext['reason']): Promise<{ token: string } | { problem: string }> {
    try {
      const ask = this.#ask
      const token: unknown = await ask({ url, reason })
      this.thrown = undefined
      return typeof token === 'string' ? { token } : { problem: `it gave ${token === null ? 'null' : typeof token}, which is no string` }
    } catch (error) {
      this.thrown = { error }
      return { problem: `it threw ${nameOf(error)}` }
    }
  }
}

/** The error of a connection with what the app's own callback threw as its cause: it goes back to the app alone. */
export function withCause(error: unknown, tokens: ConnectionTokens | undefined): unknown {
  if (tokens?.thrown === undefined || !ToolError.isInstance(error) || error.code !== 'CONNECTION_FAILED') return error
  return new ToolError(error.code, error.message, { cause: tokens.thrown.error, data: error.data })
}
