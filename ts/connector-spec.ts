/** What is said of a connector: how its MCP server is started or reached, and which credentials it takes. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { checkKeys } from './options.js'

/** How a service knows who is asking. */
export const AuthType = {
  /** With variables that the server which is started reads from its environment. */
  ENV_KEY: 'ENV_KEY',
  /** With a key or token that somebody made for this purpose. */
  API_KEY: 'API_KEY',
  /** With a token that OAuth 2 gives. */
  OAUTH2: 'OAUTH2',
  /** Not at all. */
  NONE: 'NONE',
} as const
export type AuthType = (typeof AuthType)[keyof typeof AuthType]

/** One credential of a connector. */
export interface AuthField {
  /** Its name in stores and in `credentials`: letters, digits, `_` and `-`, the first a letter or digit. */
  readonly key: string
  /** What people call it. A missing credential is reported by this. */
  readonly label: string
  /**
   * The environment variable it is looked up in, and the one in which a server that is started gets it. Needed with an `mcpCommand`. Not one that
   * says how programs run, such as PATH or LD_PRELOAD.
   */
  readonly envVar?: string | undefined
  /** The header in which a server with an `mcpUrl` gets it. Default: `Authorization`. */
  readonly header?: string | undefined
  /** What stands before the value in the header. Default: `Bearer ` in `Authorization`, otherwise nothing. */
  readonly prefix?: string | undefined
  /** Whether to hide it where it is typed. No value is shown anywhere, whatever this says. Default: true. */
  readonly secret?: boolean | undefined
  /** Where people find it. */
  readonly hint?: string | undefined
}

/** What is known of a service's OAuth 2. Addresses are `https://…`, or `http://…` on this machine. There is no secret in it: that of a client is the credential `client_secret`. */
export interface OAuthSettings {
  /** The authorization server. Default: the one that the MCP server names. */
  readonly issuer?: string | undefined
  /** Where people authorize. Together with `tokenUrl` it replaces what the servers say of themselves. */
  readonly authorizationUrl?: string | undefined
  /** Where tokens are given. */
  readonly tokenUrl?: string | undefined
  /** Where codes for other devices are given. */
  readonly deviceUrl?: string | undefined
  /** Where tokens are revoked. */
  readonly revocationUrl?: string | undefined
  /** The id under which the program is registered with the service. Default: it registers itself. */
  readonly clientId?: string | undefined
  /** What is asked for. Default: what the service proposes. */
  readonly scopes?: readonly string[] | undefined
}

/** What a connector is made from. */
export interface ConnectorDefinition {
  /** Unique in a registry, and the namespace of its tools: 1 to 64 of `A-Z a-z 0-9 _ -`, the first a letter or digit. */
  readonly name: string
  /** What people call it. */
  readonly displayName: string
  /** For sorting, such as `productivity`. */
  readonly category: string
  /** What it is, for people. */
  readonly description: string
  readonly authType: AuthType
  /** Default: none. */
  readonly authFields?: readonly AuthField[] | undefined
  /** What is known of its OAuth 2. What is not said is asked of its servers. */
  readonly oauth?: OAuthSettings | undefined
  /** The program that is the MCP server, and its arguments. No shell is involved. Either this or `mcpUrl`. */
  readonly mcpCommand?: readonly string[] | undefined
  /** The address of the MCP server: `https://…`, or `http://…` on this machine. */
  readonly mcpUrl?: string | undefined
  /** Where the service is documented. */
  readonly docsUrl?: string | undefined
  /** What it is good for, for a model that chooses tools. Default: empty. */
  readonly agentDescription?: string | undefined
  /** Whether a connection of it is part of the tests of this package. Default: false. */
  readonly verified?: boolean | undefined
}

const TEXTS = ['name', 'displayName', 'category', 'description', 'authType', 'mcpUrl', 'docsUrl', 'agentDescription'] as const
const NEEDED = ['name', 'displayName', 'category', 'description', 'authType'] as const
const AUTH_TYPES: readonly string[] = Object.values(AuthType)
const KEYS = [...TEXTS, 'authFields', 'mcpCommand', 'oauth', 'verified']
const OAUTH_TEXTS = ['issuer', 'authorizationUrl', 'tokenUrl', 'deviceUrl', 'revocationUrl', 'clientId'] as const
const FIELD_TEXTS = ['key', 'label', 'envVar', 'header', 'prefix', 'hint'] as const

/** A definition with every default. */
type Complete = ConnectorDefinition & { readonly authFields: readonly AuthField[]; readonly agentDescription: string; readonly verified: boolean }

let textOf: (spec: ConnectorSpec) => string
/** A specification as the core reads it. */
export function specText(spec: ConnectorSpec): string { return textOf(spec) }
/** Whether a value was made by the constructor: what only looks like one was not checked. */
export let isSpec: (value: unknown) => value is ConnectorSpec

/** A described way to reach a service. It holds no credentials and does not change. */
export class ConnectorSpec {
  readonly name: string
  readonly displayName: string
  readonly category: string
  readonly description: string
  readonly authType: AuthType
  readonly authFields: readonly AuthField[]
  readonly oauth?: OAuthSettings
  readonly mcpCommand?: readonly string[]
  readonly mcpUrl?: string
  readonly docsUrl?: string
  readonly agentDescription: string
  readonly verified: boolean
  readonly #text: string

  /**
   * @throws ToolError `INVALID_NAME`; `INVALID_OPTIONS` for both or neither of `mcpCommand` and `mcpUrl`, keys or variables that come twice or
   * are no names, and for a credential, or a template for one, in an argument or in the address.
   */
  constructor(definition: ConnectorDefinition) {
    checkTypes(definition)
    this.#text = unwrap(() => binding.readConnector(JSON.stringify(definition)))
    const spec: Complete = JSON.parse(this.#text)
    this.name = spec.name
    this.displayName = spec.displayName
    this.category = spec.category
    this.description = spec.description
    this.authType = spec.authType
    this.authFields = Object.freeze(spec.authFields.map(field => Object.freeze(field)))
    if (spec.oauth !== undefined) this.oauth = Object.freeze({ ...spec.oauth, ...(spec.oauth.scopes === undefined ? {} : { scopes: Object.freeze(spec.oauth.scopes) }) })
    if (spec.mcpCommand !== undefined) this.mcpCommand = Object.freeze(spec.mcpCommand)
    if (spec.mcpUrl !== undefined) this.mcpUrl = spec.mcpUrl
    if (spec.docsUrl !== undefined) this.docsUrl = spec.docsUrl
    this.agentDescription = spec.agentDescription
    this.verified = spec.verified
    Object.freeze(this)
  }

  static {
    textOf = spec => spec.#text
    isSpec = (value): value is ConnectorSpec => value !== null && typeof value === 'object' && #text in value
  }
}

/** The core would name a wrong value where it names its type. */
function checkTypes(definition: ConnectorDefinition): void {
  checkKeys(definition, KEYS, 'the fields of a ConnectorSpec')
  checkTexts(definition, TEXTS, 'a connector')
  const missing = NEEDED.find(key => definition[key] === undefined)
  if (missing !== undefined) throw invalidOption(`a ConnectorSpec needs ${missing}`)
  if (!AUTH_TYPES.includes(definition.authType)) throw invalidOption(`authType must be one of ${AUTH_TYPES.join(', ')}`)
  const { authFields = [], mcpCommand, verified } = definition
  if (!Array.isArray(authFields)) throw invalidOption('authFields must be an array')
  for (const field of authFields) {
    checkKeys(field, [...FIELD_TEXTS, 'secret'], 'the entries of authFields')
    checkTexts(field, FIELD_TEXTS, 'an auth field')
    if (field.key === undefined || field.label === undefined) throw invalidOption('an entry of authFields needs a key and a label')
    if (field.secret !== undefined && typeof field.secret !== 'boolean') throw invalidOption('secret of an auth field must be true or false')
  }
  checkOAuth(definition.oauth)
  if (mcpCommand !== undefined && !(Array.isArray(mcpCommand) && mcpCommand.every(word => typeof word === 'string'))) throw invalidOption('mcpCommand must be an array of words')
  if (verified !== undefined && typeof verified !== 'boolean') throw invalidOption('verified must be true or false')
}

function checkOAuth(oauth: OAuthSettings | undefined): void {
  if (oauth === undefined) return
  checkKeys(oauth, [...OAUTH_TEXTS, 'scopes'], 'the settings oauth')
  checkTexts(oauth, OAUTH_TEXTS, 'oauth')
  const { scopes } = oauth
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(scope => typeof scope === 'string'))) throw invalidOption('scopes of oauth must be an array of strings')
}

function checkTexts<Key extends string>(given: { readonly [K in Key]?: unknown }, keys: readonly Key[], what: string): void {
  const wrong = keys.find(key => given[key] !== undefined && typeof given[key] !== 'string')
  if (wrong !== undefined) throw invalidOption(`${wrong} of ${what} must be a string`)
}

/**
 * The connectors that come along. `verified` are those whose servers are connected in the tests of this package; the others are hosted by their
 * vendors, with the documented address, and were not connected.
 */
export function builtinConnectors(): ConnectorSpec[] {
  return binding.builtinConnectors().map(text => new ConnectorSpec(JSON.parse(text)))
}
