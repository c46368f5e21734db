/** Where the credentials of a connection come from: given, then the store, then the environment, field by field. */
import { binding } from './binding.js'
import type { Wanted } from './connector-connection.js'
import { type ConnectorSpec, specText } from './connector-spec.js'
import { ToolError, invalidOption, nameOf, unwrap } from './errors.js'
import type { OAuthTokens, TokensOfConnection } from './oauth-tokens.js'
import { checkRecord, isRecord } from './options.js'

/** Keeps the credentials of connectors by their names. Any object with these methods is one; what they give may be a promise or not. */
export interface CredentialStore {
  /** What is kept for a connector, by the keys of its fields; `undefined` if nothing is. */
  get(connector: string): Record<string, string> | undefined | Promise<Record<string, string> | undefined>
  /** Keeps credentials in the place of all that were kept for the connector. */
  put(connector: string, credentials: Record<string, string>): unknown
  /** Forgets what is kept for a connector. */
  delete(connector: string): unknown
  /** The names of the connectors of which something is kept. */
  list(): readonly string[] | Promise<readonly string[]>
}

/** How a server is started or reached, with the credentials in their places. */
export type Launch = { readonly command: string; readonly args: string[]; readonly env: Record<string, string> } | { readonly url: string; readonly headers: Record<string, string>; readonly tokens?: TokensOfConnection }

/** The credential that stands for an OAuth 2 authorization. */
export const ACCESS_TOKEN = 'access_token'

/** Credentials that a caller gave. Each value is read once: another one might be no text, and would be told. @throws ToolError `INVALID_OPTIONS`. */
export function readCredentials(credentials: unknown): Readonly<Record<string, string>> {
  checkRecord(credentials, 'credentials')
  const entries = Object.entries(credentials ?? {})
  const isText = ([, value]: [string, unknown]) => typeof value === 'string' && value.isWellFormed()
  if (!entries.every((entry): entry is [string, string] => isText(entry))) throw invalidOption('credentials must be an object of strings without halves of surrogate pairs')
  return Object.fromEntries(entries)
}

/** @throws ToolError `INVALID_OPTIONS`. */
export function checkStore(store: unknown): asserts store is CredentialStore | undefined {
  if (store === undefined) return
  const methods = ['get', 'put', 'delete', 'list'] as const
  if (store === null || typeof store !== 'object' || !methods.every(name => typeof (store as Partial<CredentialStore>)[name] === 'function')) {
    throw invalidOption('credentialStore must be an object with the methods get, put, delete and list')
  }
}

/**
 * Resolves the credentials and puts them into their places.
 * @throws ToolError `CREDENTIALS_MISSING`, `AUTHORIZATION_REQUIRED`, `CREDENTIAL_STORE_FAILED`, `INVALID_OPTIONS`. None holds a value.
 */
export async function launchOf(spec: ConnectorSpec, { credentials: given, args, care }: Pick<Wanted, 'credentials' | 'args' | 'care'>, store: CredentialStore | undefined, oauth: OAuthTokens | undefined): Promise<Launch> {
  const fields = spec.authFields.map(field => field.key)
  const keys = spec.authType !== 'OAUTH2' ? fields : spec.mcpUrl === undefined ? [...fields, ACCESS_TOKEN] : [ACCESS_TOKEN]
  const isGiven = (key: string) => Object.hasOwn(given, key) && given[key] !== ''
  // A token that is kept is as it is when it is wanted: it may be renewed before.
  const tokens = oauth === undefined || isGiven(ACCESS_TOKEN) ? undefined : await oauth.forConnection(care !== undefined && spec.mcpUrl !== undefined)
  const authorized = tokens !== undefined && spec.mcpUrl !== undefined
  const stored = store === undefined || authorized || keys.every(isGiven) ? {} : await storedFor(spec, keys, store)
  if (tokens?.last !== undefined && !authorized) stored[ACCESS_TOKEN] = tokens.last
  const environment: Record<string, string> = {}
  for (const { key, envVar } of spec.authFields) {
    const value = envVar === undefined ? undefined : process.env[envVar]
    if (value !== undefined) environment[key] = value
  }
  const launch: Launch = JSON.parse(unwrap(() => binding.launchConnector(specText(spec), JSON.stringify({ given, stored, environment, authorized, args }))))
  return authorized && 'url' in launch ? { ...launch, tokens } : launch
}

/** Some fields of what a store has. Each value is read once, as it may be another one the next time. */
async function storedFor(spec: ConnectorSpec, keys: readonly string[], store: CredentialStore): Promise<Record<string, string>> {
  const read = await storing(spec, async () => recordOf(await store.get(spec.name), keys))
  if (typeof read === 'string') throw failed(spec, read)
  return read
}

/**
 * What a store has of a connector, copied. A store that fails is no store without credentials: another source could hold those of another account.
 * @throws ToolError `CREDENTIAL_STORE_FAILED`, and what a store of ours throws.
 */
export async function kept(spec: ConnectorSpec, store: CredentialStore): Promise<Record<string, unknown>> {
  const copy = await storing(spec, async () => {
    const found: unknown = (await store.get(spec.name)) ?? {}
    return isRecord(found) ? { ...found } : undefined
  })
  if (copy === undefined) throw failed(spec, NO_RECORD)
  return copy
}

/** Some fields of a copy. @throws ToolError `CREDENTIAL_STORE_FAILED` for one that is no text. */
export function textsOf(spec: ConnectorSpec, record: Record<string, unknown>, keys: readonly string[]): Record<string, string> {
  const read = recordOf(record, keys)
  if (typeof read === 'string') throw failed(spec, read)
  return read
}

/** Runs a method of a store. What a store of an app says may hold a secret; ours say none. */
export async function storing<T>(spec: ConnectorSpec, access: () => T | Promise<T>): Promise<T> {
  try {
    return await access()
  } catch (error) {
    throw ofToolbolt(error, spec) ?? failed(spec, `threw ${nameOf(error)}`)
  }
}

function failed(spec: ConnectorSpec, how: string): ToolError {
  return new ToolError('CREDENTIAL_STORE_FAILED', `connector '${spec.name}': the credential store ${how}. Correct it, or pass every credential with credentials`)
}

const NO_RECORD = 'gave something that is no plain object'

/** What a store gave, or what is wrong with it. */
function recordOf(found: unknown, keys: readonly string[]): Record<string, string> | string {
  if (found === undefined || found === null) return {}
  if (!isRecord(found)) return NO_RECORD
  const read: Record<string, string> = {}
  for (const key of keys) {
    const value = Object.hasOwn(found, key) ? found[key] : undefined
    if (value === undefined) continue
    if (typeof value !== 'string') return 'gave a credential that is no text'
    if (!value.isWellFormed()) return 'gave a credential with half of a surrogate pair'
    read[key] = value
  }
  return read
}

/** One of our errors, with the name of the connector. An error may throw in turn when it is looked at. */
function ofToolbolt(error: unknown, spec: ConnectorSpec): ToolError | undefined {
  try {
    return ToolError.isInstance(error) ? new ToolError(error.code, `connector '${spec.name}': ${error.message}`, { data: error.data }) : undefined
  } catch {
    return undefined
  }
}
