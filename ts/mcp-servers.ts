/** The file of `mcpServers` that editors and assistants share. */
import { dirname, resolve } from 'node:path'
import { binding } from './binding.js'
import { operation } from './dispatch.js'
import { type ErrorCode, ToolError, invalidOption } from './errors.js'
import { MCPClient, adopt, remark } from './mcp.js'
import { readEntry } from './mcp-entry.js'
import { type MCPClientOptions, type MCPUrlOptions, checkShared } from './mcp-options.js'
import { sanitizeToolName } from './names.js'
import type { ToolRegistry } from './registry.js'

/** A path, or what such a file holds. */
export type McpServersSource = string | { readonly mcpServers: Readonly<Record<string, unknown>> }

/** Options that hold for every server; the file says the rest. */
export type McpServersOptions = Partial<Omit<MCPUrlOptions, (typeof OF_THE_FILE)[number]>>

const OF_THE_FILE = ['namespace', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'transport', 'expectedFingerprints', 'fingerprintFormat'] as const

interface Failure {
  readonly server: string
  readonly code: ErrorCode
  readonly message: string
  /** Facts for a program, where the error has some. */
  readonly data?: unknown
  /** What was thrown, where it is one of ours. */
  readonly error?: ToolError
}

interface Server {
  readonly name: string
  readonly namespace: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** Where a client comes from. */
interface Origin {
  /** The path of the file; none for an object. */
  readonly file: string | undefined
  /** The entry, in one spelling. */
  readonly entry: string
}

/** The servers of a registry: those that are connected, and the namespaces of those that are about to be. */
export class ConnectedServers {
  readonly clients = new Map<MCPClient, Origin>()
  readonly #connecting = new Set<string>()
  #isClosed = false

  /** @throws ToolError `CLOSED`. */
  checkOpen(): void {
    if (this.#isClosed) throw new ToolError('CLOSED', 'the registry is closed; make a new one')
  }

  /** The clients that nobody has closed, by namespace. */
  open(): Map<string, MCPClient> {
    for (const client of this.clients.keys()) if (client.state === 'closed') this.clients.delete(client)
    return new Map([...this.clients.keys()].map(client => [client.namespace, client]))
  }

  /**
   * Takes the namespaces of the servers that are not connected yet, and gives these servers. Two must not share a namespace: one could pass for the other.
   * @throws ToolError `INVALID_OPTIONS`.
   */
  reserve(servers: readonly Server[], file: string | undefined): Server[] {
    const open = this.open()
    const taken = new Map<string, string>()
    const missing: Server[] = []
    for (const server of servers) {
      const { name, namespace } = server
      const other = taken.get(namespace)
      if (other !== undefined) throw invalidOption(`server '${name}' would have the namespace '${namespace}' of server '${other}'; rename one`)
      taken.set(namespace, name)
      if (this.#connecting.has(namespace)) throw invalidOption(`server '${name}' would have the namespace '${namespace}' of a server that is being connected; wait for that, or rename one`)
      const client = open.get(namespace)
      if (client === undefined) missing.push(server)
      else this.#checkSame(server, this.clients.get(client)!, file)
    }
    for (const { namespace } of missing) this.#connecting.add(namespace)
    return missing
  }

  #checkSame({ name, namespace, entry }: Server, origin: Origin, file: string | undefined): void {
    if (origin.file === file && origin.entry === spelling(entry)) return
    const from = origin.file === file ? 'with another entry' : 'from another place'
    throw invalidOption(`server '${name}' would have the namespace '${namespace}' of a server that is connected already, ${from}: close that one first, with registry.mcpClients.get('${namespace}')?.close(), or rename one`)
  }

  release(servers: readonly Server[]): void {
    for (const { namespace } of servers) this.#connecting.delete(namespace)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.clients.keys()].map(client => client.close()))
  }
}

/** JSON with its members in one order. */
function spelling(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (item !== null && typeof item === 'object' && !Array.isArray(item) ? Object.fromEntries(Object.entries(item).sort()) : item))
}

export async function connectServers(registry: ToolRegistry, connections: ConnectedServers, source: McpServersSource, options: McpServersOptions = {}): Promise<MCPClient[]> {
  const misplaced = OF_THE_FILE.find(key => Object.hasOwn(options, key))
  if (misplaced !== undefined) throw invalidOption(`the options of connectMcpServers have no '${misplaced}'; ${misplaced === 'expectedFingerprints' || misplaced === 'fingerprintFormat' ? 'servers share pins' : 'it stands in the entry of a server'}`)
  checkShared(options, OF_THE_FILE, 'the options of connectMcpServers')
  const { servers, file } = await readSource(source)
  connections.checkOpen()
  const missing = connections.reserve(servers, file)
  try {
    await connectAll(registry, connections, missing, { file, options, all: servers.length })
  } finally {
    connections.release(missing)
  }
  const open = connections.open()
  return servers.map(({ namespace }) => open.get(namespace)).filter(client => client !== undefined)
}

interface Surroundings {
  readonly file: string | undefined
  readonly options: McpServersOptions
  /** How many servers the source has, those that are connected already included. */
  readonly all: number
}

/** What holds for one server: nobody asks a program on this machine for a token. */
function optionsFor(entry: Readonly<Record<string, unknown>>, { auth, allowInsecureHttp, ...options }: McpServersOptions): McpServersOptions {
  if (entry.url === undefined) return options
  return { ...options, ...(auth === undefined ? {} : { auth }), ...(allowInsecureHttp === undefined ? {} : { allowInsecureHttp }) }
}

async function connectAll(registry: ToolRegistry, connections: ConnectedServers, servers: readonly Server[], { file, options, all }: Surroundings): Promise<void> {
  const attempts = await Promise.allSettled(servers.map(async ({ entry, namespace }) => {
    const { unknown, ...reached } = readEntry(entry, file === undefined ? undefined : dirname(file))
    const client = await MCPClient.connect({ ...optionsFor(entry, options), ...reached, namespace } as MCPClientOptions)
    if (unknown.length > 0) remark(client, `of its entry these keys mean nothing here: ${unknown.join(', ')}`)
    // From here on it is closed with the registry, which may have been closed meanwhile.
    connections.clients.set(client, { file, entry: spelling(entry) })
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
  // In the order of the file, whichever was first.
  for (const [index, attempt] of attempts.entries()) {
    const server = servers[index]!
    if (attempt.status === 'rejected') {
      failures.push(failureOf(server, attempt.reason))
      continue
    }
    try {
      connections.checkOpen()
      adopt(attempt.value, registry, 'error')
    } catch (error) {
      failures.push(failureOf(server, error))
      connections.clients.delete(attempt.value)
      await attempt.value.close()
    }
  }
  if (failures.length > 0) throw aggregate(failures, all)
}

async function readSource(source: McpServersSource): Promise<{ servers: Server[]; file: string | undefined }> {
  const file = typeof source === 'string' ? resolve(source.toWellFormed()) : undefined
  const where = file === undefined ? 'the object' : `'${source as string}'`
  const config: unknown = file === undefined ? source : JSON.parse(await operation(token => { binding.readMcpConfig(token, file) }))
  const entries = entriesOf(config)
  if (entries === null || typeof entries !== 'object' || Array.isArray(entries)) throw invalidOption(`${where} has no mcpServers; write { "mcpServers": { "name": { "command": "…" } } }`)
  const servers: Server[] = []
  for (const [name, entry] of Object.entries(entries)) {
    if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) throw invalidOption(`server '${name}' of ${where} must be an object`)
    if ((entry as Record<string, unknown>).disabled === true) continue
    servers.push({ name, namespace: sanitizeToolName(name), entry: { ...entry } })
  }
  return { servers, file }
}

/** One editor calls it `servers`. */
function entriesOf(config: unknown): unknown {
  if (config === null || typeof config !== 'object') return undefined
  const key = ['mcpServers', 'servers'].find(key => Object.hasOwn(config, key))
  return key === undefined ? undefined : (config as Record<string, unknown>)[key]
}

function failureOf({ name: server, namespace }: Server, error: unknown): Failure {
  if (!ToolError.isInstance(error)) return { server, code: 'CONNECTION_FAILED', message: error instanceof Error ? error.message : String(error) }
  const message = error.code === 'DUPLICATE_NAME' ? `one of its tools has the name of another tool (${error.message.split(';')[0]}); rename the server, which is the namespace '${namespace}' of its tools, or unregister that tool first` : error.message
  return { server, code: error.code, message, error, ...(error.data === undefined ? {} : { data: error.data }) }
}

function extent(failed: number, all: number): string {
  if (failed === all) return `None of the ${all} MCP servers could be connected.`
  return `${failed} of ${all} MCP servers could not be connected; ${all - failed === 1 ? 'the other is, and its' : 'the others are, and their'} tools are registered.`
}

function aggregate(failures: readonly Failure[], all: number): ToolError {
  const [first] = failures
  const code = failures.every(failure => failure.code === first?.code) ? first!.code : 'CONNECTION_FAILED'
  const reasons = failures.map(failure => `- ${named(failure, `'${failure.server}': `)}`).join('\n')
  const told = all === 1 ? named(first!, `MCP server '${first!.server}' could not be connected: `) : `${extent(failures.length, all)}\n${reasons}`
  const data = { failures: failures.map(({ error: _error, ...failure }) => failure) }
  return new ToolError(code, told, { data, ...(all === 1 && first?.error?.cause !== undefined ? { cause: first.error.cause } : {}) })
}

/** The reason, with the name of the server once. */
function named({ server, message }: Failure, prefix: string): string {
  return message.startsWith(`MCP server \`${sanitizeToolName(server)}\``) ? message : `${prefix}${message}`
}
