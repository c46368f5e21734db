/** The tokens of a connector: taken from the store, renewed there, once for all who want one. */
import { binding } from './binding.js'
import { ACCESS_TOKEN, type CredentialStore, kept, storing, textsOf } from './connector-credentials.js'
import { type ConnectorSpec, specText } from './connector-spec.js'
import { addTokenSource, operation } from './dispatch.js'
import { ToolError, nameOf, unwrap } from './errors.js'
import type { AuthContext, ConnectionTokens } from './mcp-auth.js'

/** What an authorization is kept as. All else that a store has of the connector stays as it is. */
const FIELDS = [ACCESS_TOKEN, 'refresh_token', 'expires_at', 'scope', 'token_type', 'oauth_client']
const CLIENT_ID = 'client_id'
const CLIENT_SECRET = 'client_secret'

type Stored = Record<string, unknown>

/** A token as it is handed out. */
interface Taken { readonly token: string; readonly expiresAt?: number }

/** How the tokens that are kept stand. None of them is in it. */
export interface Authorization {
  /** The scopes that were granted, as far as the server says. */
  readonly scopes: readonly string[]
  /** When the access token is over, or a little before; `undefined` if the server does not say. */
  readonly expiresAt?: Date
  /** Whether a new one is fetched then without anybody's help. */
  readonly refreshable: boolean
}

interface Standing { authorized: boolean; expired: boolean; refreshable: boolean; expiresAt?: number; scopes: string[] }

/** The client that somebody registered, as far as it is among the credentials. */
export interface KnownClient { id: string | undefined; secret: string | undefined }

/** The tokens of one connector in one store. */
export class OAuthTokens {
  readonly #spec: ConnectorSpec
  readonly #store: CredentialStore
  /** Whoever reads or changes the tokens; others wait for what comes of it, a token or none. */
  #work: Promise<Taken | undefined> | undefined
  /** The refresh token that the server refused last. It is not asked about that one again. */
  #refused: unknown
  /** Renewed tokens that could not be kept: the old ones may be of no more use. */
  #unkept: { readonly record: Stored; readonly after: unknown } | undefined

  constructor(spec: ConnectorSpec, store: CredentialStore) {
    this.#spec = spec
    this.#store = store
  }

  /**
   * What gives the tokens of one connection, with a first one in it. `undefined` if the store has none. With `isPatient` there need not be a first one yet
   * where the server is away: it is asked again when the connection is made.
   * @throws ToolError as `take`.
   */
  async forConnection(isPatient: boolean): Promise<TokensOfConnection | undefined> {
    const kept = (await this.#read())[ACCESS_TOKEN]
    if (kept === undefined || kept === '') return undefined
    const first = await this.take().catch((error: unknown) => {
      if (!isPatient || !ToolError.isInstance(error) || error.code !== 'CONNECTION_FAILED') throw error
    })
    return new TokensOfConnection(this, first?.token)
  }

  /**
   * A token that is good as far as is known, and is not the one that a server rejected. Many who ask at the same time cause one renewal.
   * @throws ToolError `AUTHORIZATION_REQUIRED`, `CONNECTION_FAILED`, `AUTHORIZATION_FAILED`, `CREDENTIAL_STORE_FAILED`.
   */
  async take(rejected?: string): Promise<Taken> {
    while (this.#work !== undefined) {
      const taken = await this.#work
      if (taken !== undefined && taken.token !== rejected) return taken
    }
    return this.#alone(() => this.#obtain(rejected))
  }

  /** Keeps what an authorization brought, in the place of what was there. @throws ToolError `CREDENTIAL_STORE_FAILED`. */
  async keep(fresh: string): Promise<void> {
    while (this.#work !== undefined) await this.#work.catch(() => {})
    await this.#alone(async () => {
      const record = JSON.parse(fresh) as Stored
      this.#unkept = undefined
      await this.#put({ ...others(await this.#read()), ...record })
      return taken(record)
    })
  }

  /** How the tokens stand; `undefined` if there are none for this connector. @throws ToolError `CREDENTIAL_STORE_FAILED`. */
  async standing(): Promise<Authorization | undefined> {
    const { authorized, expired, expiresAt, scopes, refreshable } = this.#judge(await this.#read())
    if (!authorized || (expired && !refreshable)) return undefined
    return { scopes, ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }), refreshable }
  }

  /** Forgets the tokens, here in any case and at the server where it offers that: whether there were any. @throws ToolError `AUTHORIZATION_FAILED`, `CREDENTIAL_STORE_FAILED`. */
  async revoke(): Promise<boolean> {
    while (this.#work !== undefined) await this.#work.catch(() => {})
    let there = false
    await this.#alone(async () => {
      const record = await this.#read()
      there = FIELDS.some(field => record[field] !== undefined)
      return there ? this.#forget(record) : undefined
    })
    return there
  }

  async #forget(record: Stored): Promise<undefined> {
    const { secret } = await this.client()
    try {
      await operation(token => { binding.revokeOauth(token, specText(this.#spec), this.#texts(record), secret) })
    } finally {
      this.#unkept = undefined
      const rest = others(record)
      if (Object.keys(rest).length > 0) await this.#put(rest)
      else await storing(this.#spec, () => this.#store.delete(this.#spec.name))
    }
  }

  /** The client among the credentials: in the store, else in the variables of its auth fields. @throws ToolError `CREDENTIAL_STORE_FAILED`. */
  async client(): Promise<KnownClient> {
    const stored = textsOf(this.#spec, await this.#read(), [CLIENT_ID, CLIENT_SECRET])
    const find = (key: string) => {
      const variable = this.#spec.authFields.find(field => field.key === key)?.envVar
      return stored[key] || (variable === undefined ? undefined : process.env[variable]) || undefined
    }
    return { id: find(CLIENT_ID), secret: find(CLIENT_SECRET) }
  }

  #alone<T extends Taken | undefined>(work: () => Promise<T>): Promise<T> {
    const mine = work().finally(() => { this.#work = undefined })
    this.#work = mine
    return mine
  }

  async #obtain(rejected: string | undefined): Promise<Taken> {
    await this.#keepUnkept()
    let record = await this.#read()
    for (let attempt = 0; ; attempt++) {
      const { authorized, expired, refreshable } = this.#judge(record)
      if (authorized && !expired && record[ACCESS_TOKEN] !== rejected) return taken(record)
      if (!authorized || !refreshable || record['refresh_token'] === this.#refused) throw this.#required()
      try {
        return await this.#renew(record)
      } catch (error) {
        if (!ToolError.isInstance(error) || error.code !== 'AUTHORIZATION_REQUIRED') throw error
        this.#refused = record['refresh_token']
        if (attempt > 0) throw error
        // Another process may have been faster with the same token.
        const now = await this.#read()
        if (now['refresh_token'] === record['refresh_token']) throw error
        record = now
      }
    }
  }

  /** New tokens, which are kept before anybody has them: the old ones may be of no more use. */
  async #renew(record: Stored): Promise<Taken> {
    const { secret } = await this.client()
    const fresh = JSON.parse(await operation(token => { binding.refreshOauth(token, specText(this.#spec), this.#texts(record), secret) })) as Stored
    this.#unkept = { record: { ...others(record), ...fresh }, after: record['refresh_token'] }
    await this.#put(this.#unkept.record)
    this.#unkept = undefined
    return taken(fresh)
  }

  async #keepUnkept(): Promise<void> {
    if (this.#unkept === undefined) return
    // Unless somebody has authorized meanwhile.
    if ((await this.#read())['refresh_token'] === this.#unkept.after) await this.#put(this.#unkept.record)
    this.#unkept = undefined
  }

  #judge(record: Stored): Standing {
    const texts = this.#texts(record)
    if (texts === '{}') return { authorized: false, expired: false, refreshable: false, scopes: [] }
    return JSON.parse(unwrap(() => binding.oauthStanding(specText(this.#spec), texts)))
  }

  #texts(record: Stored): string {
    return JSON.stringify(Object.fromEntries(Object.entries(textsOf(this.#spec, record, FIELDS)).filter(([, value]) => value !== '')))
  }

  #required(): ToolError {
    return new ToolError('AUTHORIZATION_REQUIRED', `connector '${this.#spec.name}': the authorization is over, or was given for another server. Call authorize again`)
  }

  #read(): Promise<Stored> { return kept(this.#spec, this.#store) }

  async #put(record: Stored): Promise<void> { await storing(this.#spec, () => this.#store.put(this.#spec.name, record as Record<string, string>)) }
}

/** Gives one connection its tokens, and tells which of them its server rejected. */
export class TokensOfConnection implements ConnectionTokens {
  readonly number: number
  thrown: { readonly error: unknown } | undefined
  readonly #tokens: OAuthTokens
  #last: string | undefined

  constructor(tokens: OAuthTokens, first: string | undefined) {
    this.#tokens = tokens
    this.#last = first
    this.number = addTokenSource(this)
  }

  /** The token that was given last. */
  get last(): string | undefined { return this.#last }

  async token(_url: string, reason: AuthContext['reason']): Promise<Taken | { problem: string; kind: 'unauthorized' | 'passing' }> {
    try {
      const given = await this.#tokens.take(reason === 'rejected' ? this.#last : undefined)
      this.thrown = undefined
      this.#last = given.token
      return given
    } catch (error) {
      this.thrown = { error }
      // Ours hold no secret.
      const problem = ToolError.isInstance(error) ? error.message.replace(/\.$/, '') : `it threw ${nameOf(error)}`
      return { problem, kind: ToolError.isInstance(error) && error.code === 'AUTHORIZATION_REQUIRED' ? 'unauthorized' : 'passing' }
    }
  }
}

function others(record: Stored): Stored {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !FIELDS.includes(key)))
}

function taken(record: Stored): Taken {
  const expiresAt = Number(record['expires_at'])
  return { token: record[ACCESS_TOKEN] as string, ...(Number.isSafeInteger(expiresAt) && expiresAt > 0 ? { expiresAt } : {}) }
}
