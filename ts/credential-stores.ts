/** Where the credentials of connectors are kept. */
import { type NativeCredentialStore, binding } from './binding.js'
import type { CredentialStore } from './connector-credentials.js'
import { operation } from './dispatch.js'
import { ToolError, invalidOption, unwrap } from './errors.js'
import { checkFolder, checkKeys, checkRecord, checkText } from './options.js'

/** The values of a connector by the keys of its fields. */
export type Credentials = Record<string, string>

/** A store of the core: values are outside JavaScript until they are asked for. Accesses of one store happen in the order of their calls. */
abstract class NativeStore implements CredentialStore {
  readonly #native: NativeCredentialStore

  protected constructor(native: NativeCredentialStore) { this.#native = native }

  /**
   * What is kept for a connector; `undefined` if nothing is.
   * @throws ToolError `INVALID_OPTIONS` for a name that no connector can have; `CREDENTIAL_STORE_FAILED`, whose `data.reason` is
   * `wrongKey`, `format`, `file`, `keyring` or `tooLarge`; `UNSUPPORTED_PLATFORM`. No error holds a value.
   */
  async get(connector: string): Promise<Credentials | undefined> {
    checkConnector(connector)
    const kept = await operation(token => { this.#native.get(token, connector) })
    return kept === '' ? undefined : JSON.parse(kept)
  }

  /**
   * Keeps credentials in the place of all that were kept for the connector, wholly or not at all.
   * @throws ToolError as `get`, and `INVALID_OPTIONS` for credentials that are no object of texts which are not empty.
   */
  async put(connector: string, credentials: Readonly<Credentials>): Promise<void> {
    checkConnector(connector)
    const json = readCredentials(credentials)
    await operation(token => { this.#native.put(token, connector, json) })
  }

  /**
   * Forgets what is kept for a connector. False if nothing was.
   * @throws ToolError as `get`.
   */
  async delete(connector: string): Promise<boolean> {
    checkConnector(connector)
    return await operation(token => { this.#native.delete(token, connector) }) === 'true'
  }

  /**
   * The names of the connectors of which something is kept, sorted.
   * @throws ToolError as `get`.
   */
  async list(): Promise<string[]> { return JSON.parse(await operation(token => { this.#native.list(token) })) }
}

/** Keeps credentials in memory, as long as the store lives. */
export class MemoryCredentialStore extends NativeStore {
  constructor() { super(unwrap(() => binding.memoryCredentialStore())) }
}

/** The file, and exactly one of `password`, `key` and `keyVariable`. */
export interface FileCredentialStoreOptions {
  /** The file. It need not exist yet, but its folder must by the time something is kept. */
  path: string
  /** At least 8 characters. A key is made from it with Argon2id, once for each store, which takes a tenth of a second or more and 64 MiB. */
  password?: string | undefined
  /** 32 bytes, as they are or in hexadecimal digits or base64. `FileCredentialStore.generateKey()` makes one. */
  key?: string | Uint8Array | undefined
  /** The environment variable that holds the key; read when the store is made. */
  keyVariable?: string | undefined
}

/**
 * Keeps credentials in a file, encrypted and authenticated with XChaCha20-Poly1305. Several processes may share it: it is read anew each
 * time, and changed as a whole under a lock. Only its owner can read it.
 */
export class FileCredentialStore extends NativeStore {
  /**
   * Reads and writes nothing yet.
   * @throws ToolError `INVALID_OPTIONS`; `CREDENTIALS_MISSING` if `keyVariable` is not set.
   */
  constructor(options: FileCredentialStoreOptions) {
    checkKeys(options, ['path', 'password', 'key', 'keyVariable'], 'the options of a FileCredentialStore')
    const { path } = options
    if (typeof path !== 'string') throw invalidOption('path must be a text that is not empty and holds no NUL')
    checkFolder(path, 'path')
    const { secret, isPassword } = readSecret(options)
    super(unwrap(() => binding.fileCredentialStore(path, secret, isPassword)))
  }

  /** A new key of 32 random bytes, in base64. Keep it where the file is not. */
  static generateKey(): string { return unwrap(() => binding.generateCredentialKey()) }
}

/** How keys are told from those of other programs. */
export interface KeyringCredentialStoreOptions {
  /** 1 to 64 of `A-Z a-z 0-9 _ . -`. Stores with the same service share what they keep. Default: `default`. */
  service?: string | undefined
}

/**
 * Keeps credentials in the keyring of the operating system: on Linux the kernel's persistent keyring of the user, which is gone after a
 * restart of the machine, and when nobody has used it for three days. Elsewhere every access throws `UNSUPPORTED_PLATFORM`.
 */
export class KeyringCredentialStore extends NativeStore {
  /** @throws ToolError `INVALID_OPTIONS`. */
  constructor(options: KeyringCredentialStoreOptions = {}) {
    checkKeys(options, ['service'], 'the options of a KeyringCredentialStore')
    const { service = 'default' } = options
    checkText(service, 'service')
    super(unwrap(() => binding.keyringCredentialStore(service)))
  }

  /** Whether there is a keyring here that can be used. */
  static async isSupported(): Promise<boolean> {
    try {
      await operation(token => { binding.checkKeyring(token) })
      return true
    } catch (error) {
      if (ToolError.isInstance(error) && error.code === 'UNSUPPORTED_PLATFORM') return false
      throw error
    }
  }
}

/** Which environment variables hold what. */
export interface EnvironmentCredentialStoreOptions {
  /** The name of a variable by connector and field: `{ slack: { bot_token: 'SLACK_BOT_TOKEN' } }`. */
  variables: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Reads credentials from `process.env`, anew each time. A variable that is not set or empty counts as missing. Nothing can be kept there. */
export class EnvironmentCredentialStore implements CredentialStore {
  readonly #native: InstanceType<typeof binding.NativeEnvironmentStore>

  /** @throws ToolError `INVALID_OPTIONS` for a name that no connector, field or variable can have. */
  constructor(options: EnvironmentCredentialStoreOptions) {
    checkKeys(options, ['variables'], 'the options of an EnvironmentCredentialStore')
    const { variables } = options
    if (variables === undefined) throw invalidOption('variables must be a plain object')
    checkRecord(variables, 'variables')
    for (const [connector, fields] of Object.entries(variables)) {
      if (fields === undefined) throw invalidOption(`variables.${connector} must be a plain object`)
      checkRecord(fields, `variables.${connector}`)
      for (const [field, variable] of Object.entries(fields)) {
        if (typeof variable !== 'string') throw invalidOption(`variables.${connector}.${field} must be the name of an environment variable`)
      }
    }
    this.#native = unwrap(() => new binding.NativeEnvironmentStore(JSON.stringify(variables)))
  }

  /**
   * The fields of a connector whose variables are set; `undefined` if none is.
   * @throws ToolError `INVALID_OPTIONS` for a name that no connector can have, and for a value that is no credential.
   */
  async get(connector: string): Promise<Credentials | undefined> {
    checkConnector(connector)
    const found = unwrap(() => this.#native.get(connector, readVariable))
    return found === '' ? undefined : JSON.parse(found)
  }

  /** @throws ToolError `CREDENTIAL_STORE_FAILED` always. */
  async put(_connector: string, _credentials: Readonly<Credentials>): Promise<void> { throw readOnly() }

  /** @throws ToolError `CREDENTIAL_STORE_FAILED` always. */
  async delete(_connector: string): Promise<boolean> { throw readOnly() }

  /** The connectors of which at least one variable is set, sorted. */
  async list(): Promise<string[]> { return unwrap(() => this.#native.list(readVariable)) }
}

function readVariable(name: string): string | null { return process.env[name] ?? null }

function readOnly(): ToolError {
  return new ToolError('CREDENTIAL_STORE_FAILED', 'credentials of the environment can only be read; set the variables where the program is started, or use another store', { data: { reason: 'readOnly' } })
}

function checkConnector(value: unknown): asserts value is string {
  if (typeof value !== 'string') throw invalidOption('the name of a connector must be a string')
}

/** Credentials as JSON. Each value is read once. */
function readCredentials(credentials: Readonly<Credentials>): string {
  if (credentials === undefined) throw invalidOption('credentials must be a plain object')
  checkRecord(credentials, 'credentials')
  const entries = Object.entries(credentials)
  for (const [field, value] of entries) {
    if (typeof value !== 'string') throw invalidOption(`the value of '${field}' must be a string and is ${value === null ? 'null' : typeof value}`)
  }
  return JSON.stringify(Object.fromEntries(entries))
}

function readSecret({ password, key, keyVariable }: FileCredentialStoreOptions): { secret: string; isPassword: boolean } {
  if ([password, key, keyVariable].filter(given => given !== undefined).length !== 1) throw invalidOption('a FileCredentialStore takes exactly one of password, key and keyVariable')
  if (password !== undefined) {
    if (typeof password !== 'string' || !password.isWellFormed()) throw invalidOption('password must be a text without halves of surrogate pairs')
    return { secret: password, isPassword: true }
  }
  if (key !== undefined) {
    if (typeof key === 'string') return { secret: key, isPassword: false }
    if (ArrayBuffer.isView(key)) return { secret: Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('base64'), isPassword: false }
    throw invalidOption('key must be a text or 32 bytes in a Uint8Array')
  }
  if (typeof keyVariable !== 'string' || keyVariable === '') throw invalidOption('keyVariable must be the name of an environment variable')
  const secret = process.env[keyVariable]
  if (secret) return { secret, isPassword: false }
  throw new ToolError('CREDENTIALS_MISSING', `the environment variable ${keyVariable}, which is to hold the key of the credential file, is not set; FileCredentialStore.generateKey() makes a key`, { data: { missing: [keyVariable] } })
}
