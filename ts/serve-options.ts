/** How a registry is served. */
import { invalidOption } from './errors.js'
import { checkChars, checkKeys, checkLimitMs, checkText, isSignal } from './options.js'

/** Whether a bearer token lets a request in. Only strict `true` does. */
export type ServeAuthCallback = (token: string | undefined) => boolean | Promise<boolean>

/** What holds for both ways. */
interface ServeCommonOptions {
  /** The name that clients are told. Default: `toolbolt`. */
  name?: string | undefined
  /** The version that clients are told. Default: `1.0.0`. */
  version?: string | undefined
  /** What clients may tell their model of this server. */
  instructions?: string | undefined
  /** The tools that are served, by name. Default: all, those included that are registered later. */
  names?: readonly string[] | undefined
  /** Calls under way, those included that wait for a yes. What is beyond is refused. Default: 64. */
  maxRequests?: number | undefined
  /** Bytes of one message. Default: 4 MiB. */
  maxMessageBytes?: number | undefined
  /** How long a client of revision 2026-07-28 that was asked may take to call again, in milliseconds. Default: 5 minutes. */
  maxWaitMs?: number | undefined
  /** Closes the server when it aborts. */
  signal?: AbortSignal | undefined
}

/** Over standard input and output, for the program that started this one. */
export interface ServeStdioOptions extends ServeCommonOptions {
  transport: 'stdio'
}

/** Over Streamable HTTP. */
export interface ServeHttpOptions extends ServeCommonOptions {
  transport: 'http'
  /** The port. Default: 0, any that is free. */
  port?: number | undefined
  /** The address to listen at. One that other machines reach needs `auth`. Default: `127.0.0.1`. */
  host?: string | undefined
  /** The one path. Default: `/mcp`. */
  path?: string | undefined
  /** The names in the `Host` header that are let in, with or without a port. Default: `localhost`, `127.0.0.1` and `[::1]`. */
  allowedHosts?: readonly string[] | undefined
  /** The origins of pages that are let in, such as `https://app.example.com`. Default: those of this machine. Requests of other programs have none. */
  allowedOrigins?: readonly string[] | undefined
  /** The bearer token that every request has to bring, or what decides about it. What it throws counts as a no. Default on this machine: nobody is asked for one. */
  auth?: string | ServeAuthCallback | undefined
  /** Connections at once; further ones wait. Default: 128. */
  maxConnections?: number | undefined
  /** Sessions at once, of clients of revisions before 2026-07-28; further ones get 503. One that is idle for 5 minutes ends. Default: 64. */
  maxSessions?: number | undefined
}

/** How a registry is served. */
export type ServeOptions = ServeStdioOptions | ServeHttpOptions

const COMMON = ['transport', 'name', 'version', 'instructions', 'names', 'maxRequests', 'maxMessageBytes', 'maxWaitMs', 'signal']
const OF_HTTP = ['port', 'host', 'path', 'allowedHosts', 'allowedOrigins', 'auth', 'maxConnections', 'maxSessions']
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1'])

/** The options for the core. @throws ToolError `INVALID_OPTIONS`. */
export function readServeOptions(options: ServeOptions): object {
  checkKeys(options, [...COMMON, ...OF_HTTP], 'the options of serveMcp')
  const { transport, name, version, instructions, names, maxRequests, maxMessageBytes, maxWaitMs, signal } = options
  if (transport !== 'stdio' && transport !== 'http') throw invalidOption("transport must be 'stdio' or 'http'")
  checkText(name, 'name')
  checkText(version, 'version')
  checkText(instructions, 'instructions')
  checkList(names, 'names')
  checkChars(maxRequests, 'maxRequests')
  checkChars(maxMessageBytes, 'maxMessageBytes')
  checkLimitMs(maxWaitMs, 'maxWaitMs')
  if (signal !== undefined && !isSignal(signal)) throw invalidOption('signal must be an AbortSignal')
  return {
    name: name ?? 'toolbolt',
    version: version ?? '1.0.0',
    instructions: instructions ?? null,
    names: names ?? null,
    maxRequests: maxRequests ?? 64,
    maxMessageBytes: maxMessageBytes ?? 4 * 1024 * 1024,
    maxWaitMs: Math.ceil(maxWaitMs ?? 300_000),
    http: transport === 'http' ? readHttp(options as ServeHttpOptions) : refuseHttp(options),
  }
}

function readHttp({ port, host = '127.0.0.1', path = '/mcp', allowedHosts, allowedOrigins, auth, maxConnections, maxSessions }: ServeHttpOptions): object {
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535)) throw invalidOption('port must be a whole number from 0 to 65535')
  checkText(host, 'host')
  if (typeof path !== 'string' || !/^\/[\w.~/-]*$/.test(path)) throw invalidOption("path must begin with / and hold letters, digits, '.', '_', '~', '-' and '/' only")
  checkList(allowedHosts, 'allowedHosts')
  checkList(allowedOrigins, 'allowedOrigins')
  checkChars(maxConnections, 'maxConnections')
  checkChars(maxSessions, 'maxSessions')
  // The token itself is named in no error.
  if (auth !== undefined && typeof auth !== 'function' && (typeof auth !== 'string' || !/^[\x21-\x7e]+$/.test(auth))) throw invalidOption('auth must be a token of visible characters without blanks, or a function')
  if (auth === undefined && !LOOPBACK.has(host)) throw invalidOption(`other machines reach ${host}: give auth, a token or a function that decides about one; () => true lets everybody in`)
  return {
    port: port ?? 0, host, path, allowedHosts: allowedHosts ?? [], allowedOrigins: allowedOrigins ?? [], hasAuth: auth !== undefined,
    maxConnections: maxConnections ?? 128, maxSessions: maxSessions ?? 64,
  }
}

function refuseHttp(options: object): null {
  for (const key of OF_HTTP) {
    if ((options as Record<string, unknown>)[key] !== undefined) throw invalidOption(`'${key}' is for transport 'http'`)
  }
  return null
}

function checkList(value: unknown, name: string): void {
  if (value === undefined) return
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string' && item !== '')) throw invalidOption(`${name} must be an array of strings that are not empty`)
}
