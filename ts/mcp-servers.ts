/** The file of `mcpServers` that editors and assistants share. */
import { dirname, resolve } from 'node:path'
import { binding } from './binding.js'
import { operation } from './dispatch.js'
import { type ErrorCode, ToolError, invalidOption } from './errors.js'
import { MCPClient, adopt, remark } from './mcp.js'
import type { MCPClientOptions, MCPUrlOptions } from './mcp-options.js'
import { sanitizeToolName } from './names.js'
import { checkFolder } from './options.js'
import type { ToolRegistry } from './registry.js'

/** A path, or what such a file holds. */
export type McpServersSource = string | { readonly mcpServers: Readonly<Record<string, unknown>> }

/** Options that hold for every server; the file says the rest. */
export type McpServersOptions = Partial<Omit<MCPUrlOptions, (typeof OF_THE_FILE)[number]>>

const OF_THE_FILE = ['namespace', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'transport', 'expectedFingerprints'] as const
/** What of an entry is read. */
const READ = ['command', 'args', 'env', 'cwd', 'url', 'type', 'transport', 'headers', 'disabled']
/** The words that others use for a transport. */
const TRANSPORTS: Readonly<Record<string, 'http' | 'sse'>> = { http: 'http', 'streamable-http': 'http', streamableHttp: 'http', streamable_http: 'http', sse: 'sse' }

interface Failure {
  readonly server: string
  readonly code: ErrorCode
  readonly message: string
  /** Facts for a program, where the error has some. */
  readonly data?: unknown
}

interface Server {
  readonly name: string
  readonly namespace: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** The servers of a registry: those that are connected, and the namespaces of those that are about to be. */
export class ConnectedServers {
  readonly clients = new Set<MCPClient>()
  readonly #connecting = new Set<string>()
  #isClosed = false

  /** @throws ToolError `CLOSED`. */
  checkOpen(): void {
    if (this.#isClosed) throw new ToolError('CLOSED', 'the registry is closed; make a new one')
  }

  /** Two servers must not share a namespace: one could pass for the other. @throws ToolError `INVALID_OPTIONS`. */
  reserve(servers: readonly Server[]): void {
    const taken = new Map<string, string>([...this.#connecting].map(namespace => [namespace, 'a server that is being connected']))
    for (const client of this.clients) {
      if (client.state === 'closed') this.clients.delete(client)
      else taken.set(client.namespace, 'a server that is connected already')
    }
    for (const { name, namespace } of servers) {
      const other = taken.get(namespace)
      if (other !== undefined) throw invalidOption(`server '${name}' would have the namespace '${namespace}' of ${other}; rename one`)
      taken.set(namespace, `server '${name}'`)
    }
    for (const { namespace } of servers) this.#connecting.add(namespace)
  }

  release(servers: readonly Server[]): void {
    for (const { namespace } of servers) this.#connecting.delete(namespace)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.clients].map(client => client.close()))
  }
}

export async function connectServers(registry: ToolRegistry, connections: ConnectedServers, source: McpServersSource, options: McpServersOptions = {}): Promise<MCPClient[]> {
  const misplaced = OF_THE_FILE.find(key => Object.hasOwn(options, key))
  if (misplaced !== undefined) throw invalidOption(`the options of connectMcpServers have no '${misplaced}'; ${misplaced === 'expectedFingerprints' ? 'servers share pins' : 'it stands in the entry of a server'}`)
  const { servers, folder } = await readSource(source)
  connections.checkOpen()
  connections.reserve(servers)
  try {
    return await connectAll(registry, connections, servers, folder, options)
  } finally {
    connections.release(servers)
  }
}

async function connectAll(registry: ToolRegistry, connections: ConnectedServers, servers: readonly Server[], folder: string | undefined, options: McpServersOptions): Promise<MCPClient[]> {
  const attempts = await Promise.allSettled(servers.map(async ({ entry, namespace }) => {
    const { unknown, ...reached } = readEntry(entry, folder)
    const client = await MCPClient.connect({ ...options, ...reached, namespace } as MCPClientOptions)
    if (unknown.length > 0) remark(client, `of its entry these keys mean nothing here: ${unknown.join(', ')}`)
    // From here on it is closed with the registry, which may have been closed meanwhile.
    connections.clients.add(client)
    try {
      connections.checkOpen()
      await client.loadTools()
    } catch (error) {
      connections.clients.delete(client)
      await client.close()
      throw error
    }
    return client
  }))
  const failures: Failure[] = []
  const connected: MCPClient[] = []
  // In the order of the file, whichever was first.
  for (const [index, attempt] of attempts.entries()) {
    const server = servers[index]!.name
    if (attempt.status === 'rejected') {
      failures.push(failureOf(server, attempt.reason))
      continue
    }
    try {
      connections.checkOpen()
      adopt(attempt.value, registry, 'error')
      connected.push(attempt.value)
    } catch (error) {
      failures.push(failureOf(server, error))
      connections.clients.delete(attempt.value)
      await attempt.value.close()
    }
  }
  if (failures.length > 0) throw aggregate(failures, servers.length)
  return connected
}

async function readSource(source: McpServersSource): Promise<{ servers: Server[]; folder: string | undefined }> {
  const isFile = typeof source === 'string'
  const where = isFile ? `'${source}'` : 'the object'
  const path = isFile ? resolve(source.toWellFormed()) : ''
  const config: unknown = isFile ? JSON.parse(await operation(token => { binding.readMcpConfig(token, path) })) : source
  const entries: unknown = config !== null && typeof config === 'object' && Object.hasOwn(config, 'mcpServers') ? (config as { mcpServers: unknown }).mcpServers : undefined
  if (entries === null || typeof entries !== 'object' || Array.isArray(entries)) throw invalidOption(`${where} has no mcpServers; write { "mcpServers": { "name": { "command": "…" } } }`)
  const servers: Server[] = []
  for (const [name, entry] of Object.entries(entries)) {
    if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) throw invalidOption(`server '${name}' of ${where} must be an object`)
    if ((entry as Record<string, unknown>).disabled === true) continue
    servers.push({ name, namespace: sanitizeToolName(name), entry: { ...entry } })
  }
  return { servers, folder: isFile ? dirname(path) : undefined }
}

/** An entry as options of a client. @throws ToolError `INVALID_OPTIONS`. */
function readEntry(entry: Readonly<Record<string, unknown>>, folder: string | undefined) {
  const { command, args, env, cwd, url, headers, type = entry.transport } = entry
  const unknown = Object.keys(entry).filter(key => !READ.includes(key))
  if (command !== undefined && url !== undefined) throw invalidOption("its entry has both 'command' and 'url': keep 'command' to start a program, or 'url' to reach a server that runs already, and remove the other")
  if (command === undefined && url === undefined) throw invalidOption("its entry has neither 'command' nor 'url': add 'command' to start a program, or 'url' to reach a server that runs already")
  if (type !== undefined && type !== 'stdio' && (typeof type !== 'string' || !Object.hasOwn(TRANSPORTS, type))) throw invalidOption("its 'type' must be 'stdio', 'http' or 'sse'")
  if (type !== undefined && (type === 'stdio') !== (url === undefined)) throw invalidOption(`its 'type' does not fit its ${url === undefined ? 'command' : 'url'}`)
  const reached: Record<string, unknown> = url === undefined
    ? { command: text(command, 'command'), args: list(args), env: record(env, 'env') }
    : { url: text(url, 'url'), headers: record(headers, 'headers'), ...(typeof type === 'string' ? { transport: TRANSPORTS[type] } : {}) }
  if (url === undefined && cwd !== undefined) reached.cwd = resolve(folder ?? '.', folderOf(cwd))
  return { ...reached, unknown }
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw invalidOption(`its '${what}' must be a text that is not empty`)
  return expand(value)
}

function folderOf(value: unknown): string {
  const path = text(value, 'cwd')
  checkFolder(path, "its 'cwd'")
  return path
}

function list(value: unknown = []): string[] {
  if (!Array.isArray(value) || !value.every(word => typeof word === 'string')) throw invalidOption("its 'args' must be a list of texts")
  return value.map(expand)
}

function record(value: unknown = {}, what: string): Record<string, string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.values(value).every(item => typeof item === 'string')) throw invalidOption(`its '${what}' must be an object of texts`)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item)]))
}

/** Puts variables of this process in: `${NAME}`, `${env:NAME}`, `${NAME:-default}`. What they hold is not looked at again. */
function expand(given: string): string {
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

function failureOf(server: string, error: unknown): Failure {
  return ToolError.isInstance(error) ? { server, code: error.code, message: error.message, ...(error.data === undefined ? {} : { data: error.data }) } : { server, code: 'CONNECTION_FAILED', message: error instanceof Error ? error.message : String(error) }
}

function extent(failed: number, all: number): string {
  if (failed === all) return `None of the ${all} MCP servers could be connected.`
  return `${failed} of ${all} MCP servers could not be connected; ${all - failed === 1 ? 'the other is, and its' : 'the others are, and their'} tools are registered.`
}

function aggregate(failures: readonly Failure[], all: number): ToolError {
  const [first] = failures
  const code = failures.every(failure => failure.code === first?.code) ? first!.code : 'CONNECTION_FAILED'
  const reasons = failures.map(({ server, message }) => `- '${server}': ${message}`).join('\n')
  const told = all === 1 ? `MCP server '${first!.server}' could not be connected: ${first!.message}` : `${extent(failures.length, all)}\n${reasons}`
  return new ToolError(code, told, { data: { failures } })
}
