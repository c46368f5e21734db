/** The connectors of an app: what is known of them, and their connections. */
import { type ConnectorConnectOptions, ConnectorConnection, type Wanted, cancelled, open, readConnectOptions } from './connector-connection.js'
import { type CredentialStore, checkStore, launchOf } from './connector-credentials.js'
import { HealthMonitor, type HealthMonitorOptions } from './connector-health.js'
import { type AuthField, type AuthType, type ConnectorSpec, builtinConnectors, isSpec } from './connector-spec.js'
import { EnvironmentCredentialStore } from './credential-stores.js'
import { ToolError, invalidOption } from './errors.js'
import { type AuthorizeOptions, authorize, readAuthorizeOptions } from './oauth.js'
import { type Authorization, OAuthTokens } from './oauth-tokens.js'
import { checkBoolean, checkKeys } from './options.js'

/** What a settings page shows of a connector. No credential is in it. */
export interface ConnectorCatalogEntry {
  readonly name: string
  readonly displayName: string
  readonly category: string
  readonly description: string
  readonly authType: AuthType
  readonly authFields: readonly AuthField[]
  readonly docsUrl?: string
  readonly agentDescription: string
  readonly verified: boolean
  /** Whether somebody registered it with `custom`. */
  readonly isCustom: boolean
  readonly connected: boolean
}

/** Connectors by name, and at most one connection of each. */
export class ConnectorRegistry implements AsyncDisposable {
  readonly #store: CredentialStore | undefined
  readonly #specs = new Map<string, { readonly spec: ConnectorSpec; readonly isCustom: boolean }>()
  readonly #connections = new Map<string, ConnectorConnection>()
  /** What was asked for a name is done in order. */
  readonly #turns = new Map<string, Promise<void>>()
  /** What ends the attempts to connect that are under way. */
  readonly #attempts = new Map<string, Set<AbortController>>()
  readonly #monitors = new Set<HealthMonitor>()
  /** The tokens of each connector that takes any. */
  readonly #tokens = new WeakMap<ConnectorSpec, OAuthTokens>()
  /** What ends the authorizations that are under way. */
  readonly #authorizations = new Map<string, Set<AbortController>>()

  /** @throws ToolError `INVALID_OPTIONS`. */
  constructor(options: { credentialStore?: CredentialStore | undefined } = {}) {
    checkKeys(options, ['credentialStore'], 'the options of a ConnectorRegistry')
    checkStore(options.credentialStore)
    this.#store = options.credentialStore
  }

  /**
   * Adds a connector. `custom` marks one that was made by a user of the app.
   * @throws ToolError `DUPLICATE_NAME` for a name that is taken, unless `overwrite`, and for one that is connected; `INVALID_OPTIONS`.
   */
  register(spec: ConnectorSpec, options: { custom?: boolean; overwrite?: boolean } = {}): void {
    checkKeys(options, ['custom', 'overwrite'], 'the options of register')
    const { custom = false, overwrite = false } = options
    checkBoolean(custom, 'custom')
    checkBoolean(overwrite, 'overwrite')
    if (!isSpec(spec)) throw invalidOption('register takes a ConnectorSpec')
    if (this.#specs.has(spec.name) && !overwrite) throw new ToolError('DUPLICATE_NAME', `a connector named '${spec.name}' is registered already; pass overwrite: true to replace it`)
    if (this.#isInUse(spec.name)) throw new ToolError('DUPLICATE_NAME', `the connector '${spec.name}' is connected; disconnect it before you replace it`)
    this.#specs.set(spec.name, { spec, isCustom: custom })
  }

  /** Adds the connectors that come along, but for those whose name is taken. Gives the names that were added. */
  registerBuiltins(): string[] {
    const added = builtinConnectors().filter(spec => !this.#specs.has(spec.name))
    for (const spec of added) this.register(spec)
    return added.map(spec => spec.name)
  }

  /** Removes a connector, and closes its connection. Gives whether there was one. */
  async unregister(name: string): Promise<boolean> {
    const known = this.#specs.delete(name)
    this.#cancelAuthorizations(name)
    await this.disconnect(name)
    return known
  }

  /** @throws ToolError `CONNECTOR_NOT_FOUND`. */
  get(name: string): ConnectorSpec {
    const known = this.#specs.get(name)
    if (known === undefined) throw notFound(name, [...this.#specs.keys()])
    return known.spec
  }

  /** All connectors, in order of registration. */
  list(): ConnectorSpec[] { return [...this.#specs.values()].map(({ spec }) => spec) }

  /** The connection of a connector, if there is one. */
  connection(name: string): ConnectorConnection | undefined { return this.#connections.get(name) }

  /** What a settings page shows: every connector, without any credential. */
  catalog(): ConnectorCatalogEntry[] {
    return [...this.#specs.values()].map(({ spec, isCustom }) => {
      const { name, displayName, category, description, authType, authFields, docsUrl, agentDescription, verified } = spec
      return { name, displayName, category, description, authType, authFields, ...(docsUrl === undefined ? {} : { docsUrl }), agentDescription, verified, isCustom, connected: this.#connections.has(name) }
    })
  }

  /**
   * Has a person authorize a connector whose `authType` is `OAUTH2`, and puts the tokens into the credential store, where `connect` finds and renews them.
   * Nothing but the addresses and the client need ever be known: where the MCP server names its authorization server, they are asked for.
   * @throws ToolError `AUTHORIZATION_FAILED` with a `reason` in `data`: `denied`, `issuer`, `metadata`, `registration`, `response`, `refused`, `unreachable`,
   * `port` or `callback`; `TIMEOUT` if nobody authorized in time; `CANCELLED`; `CONNECTOR_NOT_FOUND`; `CREDENTIAL_STORE_FAILED`; `INVALID_OPTIONS`, also
   * without a store that can keep anything. None holds a token, a code or the `state`.
   */
  async authorize(name: string, options: AuthorizeOptions): Promise<Authorization> {
    const spec = this.get(name)
    const wishes = readAuthorizeOptions(options)
    const tokens = this.#authorizable(spec)
    if (this.#store instanceof EnvironmentCredentialStore) throw invalidOption('the credential store can only be read, and the tokens have to be kept: use another one')
    const attempt = new AbortController()
    const attempts = this.#authorizations.get(name) ?? new Set()
    this.#authorizations.set(name, attempts.add(attempt))
    try {
      return await authorize(spec, tokens, wishes, wishes.signal === undefined ? attempt.signal : AbortSignal.any([attempt.signal, wishes.signal]))
    } finally {
      attempts.delete(attempt)
      if (attempts.size === 0) this.#authorizations.delete(name)
    }
  }

  /** How the authorization of a connector stands; `undefined` if it needs a new one. @throws ToolError `CONNECTOR_NOT_FOUND`, `CREDENTIAL_STORE_FAILED`, `INVALID_OPTIONS`. */
  async authorization(name: string): Promise<Authorization | undefined> { return this.#authorizable(this.get(name)).standing() }

  /**
   * Withdraws the authorization of a connector: its tokens are forgotten here in any case, and by the service where it offers that. A connection that there is
   * stays; `disconnect` ends it. Gives whether there was one.
   * @throws ToolError `CONNECTOR_NOT_FOUND`; `AUTHORIZATION_FAILED` if the service could not be asked; `CREDENTIAL_STORE_FAILED`; `INVALID_OPTIONS`.
   */
  async revoke(name: string): Promise<boolean> { return this.#authorizable(this.get(name)).revoke() }

  #authorizable(spec: ConnectorSpec): OAuthTokens {
    if (spec.authType !== 'OAUTH2') throw invalidOption(`the connector '${spec.name}' is not authorized with OAuth 2: its authType is ${spec.authType}`)
    const tokens = this.#tokensOf(spec)
    if (tokens === undefined) throw invalidOption('the tokens of an authorization have to be kept somewhere: give the ConnectorRegistry a credentialStore')
    return tokens
  }

  #tokensOf(spec: ConnectorSpec): OAuthTokens | undefined {
    if (this.#store === undefined || spec.authType !== 'OAUTH2') return undefined
    const tokens = this.#tokens.get(spec) ?? new OAuthTokens(spec, this.#store)
    this.#tokens.set(spec, tokens)
    return tokens
  }

  #cancelAuthorizations(name: string): void {
    for (const attempt of this.#authorizations.get(name) ?? []) attempt.abort()
  }

  /**
   * Connects a connector and lists its tools. Credentials are looked for in `credentials`, then the store, then the environment, field by field,
   * before anything is started. A connection that there was is closed first.
   * @throws ToolError `CONNECTOR_NOT_FOUND`; `CREDENTIALS_MISSING` with the labels of what is missing, also as `data.missing`;
   * `AUTHORIZATION_REQUIRED`; `CREDENTIAL_STORE_FAILED`; `CONNECTION_FAILED` and `TIMEOUT`, after several tries with the last one as `cause`;
   * `CANCELLED`; `INVALID_OPTIONS`. None holds a credential.
   */
  async connect(name: string, options: ConnectorConnectOptions = {}): Promise<ConnectorConnection> {
    const spec = this.get(name)
    const wanted = readConnectOptions(options)
    const attempt = new AbortController()
    const attempts = this.#attempts.get(name) ?? new Set()
    this.#attempts.set(name, attempts.add(attempt))
    const signal = wanted.signal === undefined ? attempt.signal : AbortSignal.any([attempt.signal, wanted.signal])
    try {
      return await this.#inTurn(name, () => this.#connect(spec, wanted, signal), waiting => unlessAborted(waiting, signal, spec))
    } finally {
      attempts.delete(attempt)
      if (attempts.size === 0) this.#attempts.delete(name)
    }
  }

  async #connect(spec: ConnectorSpec, wanted: Wanted, signal: AbortSignal): Promise<ConnectorConnection> {
    const launch = await unlessAborted(launchOf(spec, wanted, this.#store, this.#tokensOf(spec)), signal, spec)
    await this.#connections.get(spec.name)?.close()
    const connection = await open(spec, launch, wanted, signal, ended => { this.#ended(ended) })
    if (signal.aborted) {
      await connection.close()
      throw cancelled(spec)
    }
    this.#connections.set(spec.name, connection)
    for (const monitor of this.#monitors) monitor.add(connection)
    return connection
  }

  #ended(connection: ConnectorConnection): void {
    for (const monitor of this.#monitors) monitor.remove(connection)
    if (this.#connections.get(connection.name) === connection) this.#connections.delete(connection.name)
  }

  #isInUse(name: string): boolean { return this.#connections.has(name) || this.#attempts.has(name) }

  /** Closes the connection of a connector, and ends attempts to connect it. Gives whether there was a connection. */
  async disconnect(name: string): Promise<boolean> {
    for (const attempt of this.#attempts.get(name) ?? []) attempt.abort()
    if (!this.#connections.has(name) && !this.#turns.has(name)) return false
    return this.#inTurn(name, async () => {
      const connection = this.#connections.get(name)
      await connection?.close()
      return connection !== undefined
    })
  }

  /** Closes every connection. */
  async disconnectAll(): Promise<void> {
    const names = new Set([...this.#connections.keys(), ...this.#turns.keys()])
    await Promise.all([...names].map(name => this.disconnect(name)))
  }

  /** Looks at the connections from time to time, those to come too, until `stop`. @throws ToolError `INVALID_OPTIONS`. */
  monitor(options: HealthMonitorOptions = {}): HealthMonitor {
    const monitor = new HealthMonitor(options, stopped => { this.#monitors.delete(stopped) })
    this.#monitors.add(monitor)
    for (const connection of this.#connections.values()) monitor.add(connection)
    return monitor
  }

  /** Closes every connection and stops the monitors. */
  async close(): Promise<void> {
    for (const monitor of this.#monitors) monitor.stop()
    for (const name of this.#authorizations.keys()) this.#cancelAuthorizations(name)
    await this.disconnectAll()
  }

  /** `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> { await this.close() }

  /** What waits for its turn may be given up; the turns of others stay as they are. */
  #inTurn<T>(name: string, work: () => Promise<T>, wait: (turn: Promise<void>) => Promise<void> = turn => turn): Promise<T> {
    const before = this.#turns.get(name) ?? Promise.resolve()
    const mine = wait(before).then(work)
    const settled: Promise<void> = Promise.allSettled([before, mine]).then(() => {
      if (this.#turns.get(name) === settled) this.#turns.delete(name)
    })
    this.#turns.set(name, settled)
    return mine
  }
}

/** A store may never answer. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, spec: ConnectorSpec): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => { reject(cancelled(spec)) }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => { signal.removeEventListener('abort', stop) })
  })
}

function notFound(name: unknown, known: readonly string[]): ToolError {
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 64)) : `by a value of type ${typeof name}`
  const list = known.length === 0 ? 'none is registered' : `there are ${known.slice(0, 50).join(', ')}${known.length > 50 ? ', …' : ''}`
  return new ToolError('CONNECTOR_NOT_FOUND', `there is no connector named ${shown}; ${list}`)
}
