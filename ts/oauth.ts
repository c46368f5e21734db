/** Authorizing a connector: a person gives access, and the tokens go into the store. */
import { binding } from './binding.js'
import { type ConnectorSpec, specText } from './connector-spec.js'
import { operation } from './dispatch.js'
import { ToolError, invalidOption, nameOf } from './errors.js'
import type { Authorization, OAuthTokens } from './oauth-tokens.js'
import { checkFunction, checkKeys, checkLimitMs, checkText } from './options.js'

/** What a person needs to authorize at another device. */
export interface DeviceCode {
  /** What they type. */
  readonly userCode: string
  /** The page where they type it. */
  readonly verificationUri: string
  /** The same page with the code in it, for a link or a picture to scan, if the server has one. */
  readonly verificationUriComplete?: string
  /** For how long the code is good, in milliseconds. */
  readonly expiresInMs: number
}

/** How a connector is authorized. */
export interface AuthorizeOptions {
  /** `browser`: one on this machine. `device`: a code that is typed in on any device. Default: `browser`. */
  method?: 'browser' | 'device' | undefined
  /** Shows a person the address, such as by starting a browser. Without a shell: the address was made by the service. Needed with `browser`. */
  open?: ((url: string) => unknown) | undefined
  /** Shows a person the code and where to type it. Needed with `device`. */
  onDeviceCode?: ((code: DeviceCode) => unknown) | undefined
  /** The client that was registered with the service. Default: the credential `client_id`, that of the specification, or the program registers itself. */
  clientId?: string | undefined
  /** What people read where the program registers itself. Default: `toolbolt`. */
  clientName?: string | undefined
  /** What is asked for. Default: the scopes of the specification, or what the service proposes. */
  scopes?: readonly string[] | undefined
  /** The port of 127.0.0.1 to which the browser comes back. Default: any that is free. */
  redirectPort?: number | undefined
  /** How long the person may take in milliseconds. Default: 600,000. */
  timeoutMs?: number | undefined
  /** Ends the attempt, with `CANCELLED`. */
  signal?: AbortSignal | undefined
}

const KEYS = ['method', 'open', 'onDeviceCode', 'clientId', 'clientName', 'scopes', 'redirectPort', 'timeoutMs', 'signal']
const DEFAULT_TIMEOUT_MS = 600_000
const MAX_TIMEOUT_MS = 24 * 3_600_000

/** The options, checked. */
export type Wishes = ReturnType<typeof readAuthorizeOptions>

/** @throws ToolError `INVALID_OPTIONS`. */
export function readAuthorizeOptions(options: AuthorizeOptions = {}) {
  checkKeys(options, KEYS, 'the options of authorize')
  const { method = 'browser', open, onDeviceCode, clientId, clientName = 'toolbolt', scopes, redirectPort, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options
  if (method !== 'browser' && method !== 'device') throw invalidOption("method must be 'browser' or 'device'")
  checkFunction(open, 'open')
  checkFunction(onDeviceCode, 'onDeviceCode')
  const show = method === 'browser' ? open : onDeviceCode
  if (show === undefined) throw invalidOption(method === 'browser' ? "method 'browser' needs open, which shows a person the address" : "method 'device' needs onDeviceCode, which shows a person the code")
  checkText(clientId, 'clientId')
  checkText(clientName, 'clientName')
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(scope => typeof scope === 'string'))) throw invalidOption('scopes must be an array of strings')
  if (redirectPort !== undefined && (!Number.isInteger(redirectPort) || redirectPort < 1 || redirectPort > 65_535)) throw invalidOption('redirectPort must be the number of a port')
  checkLimitMs(timeoutMs, 'timeoutMs')
  if (timeoutMs > MAX_TIMEOUT_MS) throw invalidOption('timeoutMs must be at most a day')
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal must be an AbortSignal')
  return { isDevice: method === 'device', show: show as (what: string | DeviceCode) => unknown, clientId, clientName, scopes: scopes === undefined ? undefined : [...scopes], redirectPort, timeoutMs, signal }
}

/** Authorizes, and keeps the tokens. @throws ToolError as `ConnectorRegistry.authorize`. */
export async function authorize(spec: ConnectorSpec, tokens: OAuthTokens, wishes: Wishes, signal: AbortSignal): Promise<Authorization> {
  const known = await tokens.client()
  const id = wishes.clientId ?? known.id
  const failing = new AbortController()
  let failed: ToolError | undefined
  const show = (payload: string) => {
    const { url, ...code } = JSON.parse(payload)
    const fail = (error: unknown) => {
      failed = new ToolError('AUTHORIZATION_FAILED', `connector '${spec.name}': ${wishes.isDevice ? 'onDeviceCode' : 'open'} threw ${nameOf(error)}`, { cause: error, data: { reason: 'callback' } })
      failing.abort()
    }
    try {
      Promise.resolve(wishes.show(wishes.isDevice ? code : url)).catch(fail)
    } catch (error) {
      fail(error)
    }
  }
  const asked = {
    device: wishes.isDevice, clientName: wishes.clientName, limitMs: wishes.timeoutMs,
    ...given({ redirectPort: wishes.redirectPort, clientId: id, clientSecret: known.secret, scopes: wishes.scopes }),
  }
  let fresh: string
  try {
    fresh = await operation(token => { binding.authorizeConnector(token, specText(spec), asked) }, show, AbortSignal.any([signal, failing.signal]))
  } catch (error) {
    throw failed ?? error
  }
  await tokens.keep(fresh)
  return await tokens.standing() ?? { scopes: [], refreshable: false }
}

function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [Key in keyof T]?: Exclude<T[Key], undefined> }
}
