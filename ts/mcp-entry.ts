/** One entry of an `mcpServers` file. */
import { resolve } from 'node:path'
import { invalidOption } from './errors.js'
import { nearest } from './nearest.js'
import { checkText } from './options.js'

/** What of an entry is read. */
const READ = ['command', 'args', 'env', 'cwd', 'url', 'type', 'transport', 'headers', 'disabled']
/** The words that others use for a transport. */
const TRANSPORTS: Readonly<Record<string, 'http' | 'sse'>> = { http: 'http', 'streamable-http': 'http', streamableHttp: 'http', streamable_http: 'http', sse: 'sse' }

/** An entry as options of a client. @throws ToolError `INVALID_OPTIONS`. */
export function readEntry(entry: Readonly<Record<string, unknown>>, folder: string | undefined) {
  const { command, args, env, cwd, url, headers, type = entry.transport } = entry
  const unknown = Object.keys(entry).filter(key => !READ.includes(key))
  if (command !== undefined && url !== undefined) throw invalidOption("its entry has both 'command' and 'url': keep 'command' to start a program, or 'url' to reach a server that runs already, and remove the other")
  if (command === undefined && url === undefined) throw invalidOption(`its entry has neither 'command' nor 'url'${misspelt(unknown)}: add 'command' to start a program, or 'url' to reach a server that runs already`)
  if (type !== undefined && type !== 'stdio' && (typeof type !== 'string' || !Object.hasOwn(TRANSPORTS, type))) throw invalidOption("its 'type' must be 'stdio', 'http' or 'sse'")
  if (type !== undefined && (type === 'stdio') !== (url === undefined)) throw invalidOption(`its 'type' does not fit its ${url === undefined ? 'command' : 'url'}`)
  const reached: Record<string, unknown> = url === undefined
    ? { command: program(command, folder), args: list(args), env: record(env, 'env') }
    : { url: text(url, 'url'), headers: record(headers, 'headers'), ...(typeof type === 'string' ? { transport: TRANSPORTS[type] } : {}) }
  if (url === undefined && cwd !== undefined) reached.cwd = resolve(folder ?? '.', folderOf(cwd))
  return { ...reached, unknown }
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw invalidOption(`its '${what}' must be a text that is not empty`)
  return expand(value)
}

/** What stands in place of a missing key. */
function misspelt(unknown: readonly string[]): string {
  const [key] = unknown.filter(key => nearest(key, ['command', 'url']) !== undefined)
  return key === undefined ? '' : `, but '${key}'; did you mean '${nearest(key, ['command', 'url'])}'?`
}

/** A path that begins with a dot counts from the folder of the file, wherever the program that reads it runs. */
function program(value: unknown, folder: string | undefined): string {
  const command = fromHome(text(value, 'command'), 'command')
  return folder !== undefined && /^\.{1,2}[\\/]/.test(command) ? resolve(folder, command) : command
}

function folderOf(value: unknown): string {
  const path = fromHome(text(value, 'cwd'), 'cwd')
  checkText(path, "its 'cwd'")
  return path
}

function fromHome(path: string, what: string): string {
  if (/^~($|[\\/])/.test(path)) throw invalidOption(`its '${what}' begins with ~, which no shell expands here (${JSON.stringify(path)}): write \${HOME} in its place, or ./~ for a folder of that name`)
  return path
}

function list(value: unknown = []): string[] {
  if (!Array.isArray(value) || !value.every(word => typeof word === 'string')) throw invalidOption("its 'args' must be a list of texts")
  return value.map(expand)
}

function record(value: unknown = {}, what: string): Record<string, string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidOption(`its '${what}' must be an object of texts`)
  for (const [key, item] of Object.entries(value)) if (typeof item !== 'string') throw invalidOption(`its '${what}' must be an object of texts: put what '${key}' has in quotes`)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item)]))
}

/** Puts variables of this process in: `${NAME}`, `${env:NAME}`, `${NAME:-default}`. What they hold is not looked at again. */
function expand(given: string): string {
  if (/\$\{[^}]*$/.test(given)) throw invalidOption(`a '\${' has no '}': write a variable of the environment as \${NAME}`)
  return given.replace(/\$\{([^}]*)\}/g, (whole, inner: string) => {
    const [, name, otherwise] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? []
    if (name !== undefined ? otherwise?.includes('${') : /\$\{|^[A-Za-z_]\w*[-+:=?]/.test(inner)) {
      // Its parts may be secrets that somebody wrote down.
      const [begin] = /^\w*/.exec(inner)!
      throw invalidOption(`'\${${begin}…' cannot be filled in; write a variable of the environment, \${NAME} or \${NAME:-default}, with no other in its default`)
    }
    if (name === undefined) return whole
    const value = process.env[name]
    if (otherwise !== undefined) return value || otherwise
    if (value === undefined) throw invalidOption(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
    return value
  })
}
