/** Where the credentials of a connection come from: given, then the store, then the environment, field by field. */
import { binding } from './binding.js'
import { type ConnectorSpec, specText } from './connector-spec.js'
import { ToolError, invalidOption, nameOf, unwrap } from './errors.js'
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
export type Launch = { readonly command: string; readonly args: string[]; readonly env: Record<string, string> } | { readonly url: string; readonly headers: Record<string, string> }

/** The credential that stands for an OAuth 2 authorization. */
const ACCESS_TOKEN = 'access_token'

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
export async function launchOf(spec: ConnectorSpec, given: Readonly<Record<string, string>>, args: readonly string[], store: CredentialStore | undefined): Promise<Launch> {
  const keys = spec.authType === 'OAUTH2' ? [...spec.authFields.map(field => field.key), ACCESS_TOKEN] : spec.authFields.map(field => field.key)
  const stored = store === undefined || keys.every(key => Object.hasOwn(given, key) && given[key] !== '') ? {} : await storedFor(spec, keys, store)
  const environment: Record<string, string> = {}
  for (const { key, envVar } of spec.authFields) {
    const value = envVar === undefined ? undefined : process.env[envVar]
    if (value !== undefined) environment[key] = value
  }
  return JSON.parse(unwrap(() => binding.launchConnector(specText(spec), JSON.stringify({ given, stored, environment, args }))))
}

/** A store that fails is no store without credentials: another source could hold those of another account. */
async function storedFor(spec: ConnectorSpec, keys: readonly string[], store: CredentialStore): Promise<Record<string, string>> {
  const failed = (how: string) => new ToolError('CREDENTIAL_STORE_FAILED', `connector '${spec.name}': the credential store ${how}. Correct it, or pass every credential with credentials`)
  let read: Record<string, string> | string
  try {
    read = recordOf(await store.get(spec.name), keys)
  } catch (error) {
    throw ofToolbolt(error, spec) ?? failed(`threw ${nameOf(error)}`)
  }
  if (typeof read === 'string') throw failed(read)
  return read
}

/** What a store gave, or what is wrong with it. Each value is read once, as it may be another one the next time. */
function recordOf(found: unknown, keys: readonly string[]): Record<string, string> | string {
  if (found === undefined || found === null) return {}
  if (!isRecord(found)) return 'gave something that is no plain object'
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

/** What a store of an app says may hold a secret; ours say none. An error may throw in turn when it is looked at. */
function ofToolbolt(error: unknown, spec: ConnectorSpec): ToolError | undefined {
  try {
    return ToolError.isInstance(error) ? new ToolError(error.code, `connector '${spec.name}': ${error.message}`, { data: error.data }) : undefined
  } catch {
    return undefined
  }
}
