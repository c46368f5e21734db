// MCP servers that people use: how to start each, over every transport that it offers. What they need lies in a folder of the caller.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Listening, everythingListening, startListening } from './fixtures/http-servers.ts'
import { fixturePath } from './support.ts'

export type Transport = 'stdio' | 'http' | 'sse'

export interface RealServer {
  name: string
  /** Why it cannot be started here. */
  missing?: string
  /** The transports over which it speaks revision 2026-07-28 too. */
  dual: readonly Transport[]
  stdio: { command: string; args: string[]; env?: Record<string, string> }
  http?: (port: number) => Listening
  sse?: (port: number) => Listening
}

/** A server that can be connected: what to give to `MCPClient.connect` beside the namespace, and how to end it afterwards. */
export interface StartedServer {
  options: RealServer['stdio'] | { url: string; transport: 'http' | 'sse' }
  /** Where a server behind an address was started. */
  pid?: number
  stop(): Promise<void>
}

type Found = { bin: string; reason?: undefined } | { reason: string; bin?: undefined }
export const { pythonServers }: { pythonServers(name: 'mcp-1' | 'mcp-2'): Found } = await import(new URL('../scripts/python-servers.mjs', import.meta.url).href)

const npmBin = (name: string) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url))
const FASTMCP = fileURLToPath(new URL('./python-servers/fastmcp-server.py', import.meta.url))
const FASTMCP_NPM = fixturePath('fastmcp-server.mjs')

/** Files for the servers: a text, and a git repository with one commit. */
function prepare(folder: string): { files: string; repository: string } {
  const [files, repository] = [join(folder, 'files'), join(folder, 'repository')]
  for (const path of [files, repository]) mkdirSync(path, { recursive: true })
  writeFileSync(join(files, 'hello.txt'), 'hello from a file')
  writeFileSync(join(repository, 'first.txt'), 'one line\n')
  const git = (...args: string[]) => execFileSync('git', ['-C', repository, '-c', 'user.name=Tester', '-c', 'user.email=tester@example.com', ...args], { stdio: 'ignore' })
  git('init', '--initial-branch=main')
  git('add', '.')
  git('commit', '--no-gpg-sign', '-m', 'the first commit')
  return { files, repository }
}

/** Every server. `folder` is an empty one: what they read and write is there. */
export function realServers(folder: string): RealServer[] {
  const { files, repository } = prepare(folder)
  const npm = (name: string, ...args: string[]): RealServer => ({ name, dual: [], stdio: { command: npmBin(`mcp-server-${name}`), args } })
  const python = (name: string, environment: 'mcp-1' | 'mcp-2', program: string, ...args: string[]): RealServer => {
    const { bin, reason } = pythonServers(environment)
    const server: RealServer = { name, dual: environment === 'mcp-2' ? ['stdio'] : [], stdio: { command: join(bin ?? '', program), args } }
    return reason === undefined ? server : { ...server, missing: reason }
  }
  const memory = npm('memory')
  const fastmcp = python('fastmcp', 'mcp-2', 'python', FASTMCP, 'stdio')
  const fastmcpOver = (transport: 'http' | 'sse', path: string) => (port: number): Listening => ({ command: [fastmcp.stdio.command, FASTMCP, transport, `${port}`], path })
  const fastmcpNpmAt = (path: string) => (port: number): Listening => ({ command: [process.execPath, FASTMCP_NPM, `${port}`], path })
  return [
    { ...npm('everything', 'stdio'), http: everythingListening('streamableHttp'), sse: everythingListening('sse') },
    npm('filesystem', files),
    { ...memory, stdio: { ...memory.stdio, env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } } },
    npm('sequential-thinking'),
    python('time', 'mcp-2', 'mcp-server-time', '--local-timezone', 'UTC'),
    python('git', 'mcp-2', 'mcp-server-git', '--repository', repository),
    python('fetch', 'mcp-2', 'mcp-server-fetch', '--allow-private-ips', '--ignore-robots-txt'),
    python('sqlite', 'mcp-1', 'mcp-server-sqlite', '--db-path', join(folder, 'rows.db')),
    { ...fastmcp, dual: ['stdio', 'http'], http: fastmcpOver('http', '/mcp'), sse: fastmcpOver('sse', '/sse') },
    { name: 'fastmcp-npm', dual: [], stdio: { command: process.execPath, args: [FASTMCP_NPM] }, http: fastmcpNpmAt('/mcp'), sse: fastmcpNpmAt('/sse') },
  ]
}

/** The transports that a server offers. */
export const transportsOf = (server: RealServer): Transport[] => (['stdio', 'http', 'sse'] as const).filter(transport => server[transport] !== undefined)

/** Starts a server for one of its transports. Over stdio the client does that. */
export async function startReal(server: RealServer, transport: Transport): Promise<StartedServer> {
  if (transport === 'stdio') return { options: server.stdio, stop: async () => undefined }
  const { url, pid, stop } = await startListening(server[transport]!)
  return { options: { url, transport }, pid, stop }
}
