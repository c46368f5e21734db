// Servers of MCP over HTTP for tests: real ones in processes of their own, and one that does what a test says.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { fileURLToPath } from 'node:url'

/** A request as the server got it. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The body; `undefined` where there is none. */
  body: any
}

export interface Running extends AsyncDisposable {
  url: string
  /** Everything that came, in order. */
  received: Received[]
  server: Server
  /** Requests of one JSON-RPC method. */
  of(method: string): Received[]
}

type Answer = (request: Received, response: ServerResponse) => void | Promise<void>

/** A server on loopback that answers as it is told. */
export async function serve(answer: Answer, port = 0): Promise<Running> {
  const received: Received[] = []
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.setEncoding('utf8')
    incoming.on('data', chunk => { text += chunk })
    incoming.on('end', () => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body: text === '' ? undefined : JSON.parse(text) }
      received.push(request)
      response.on('error', () => {})
      Promise.resolve(answer(request, response)).catch(error => { response.destroy(error) })
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, received, server,
    of: method => received.filter(request => request.body?.method === method),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

export const result = (request: Received, value: unknown) => ({ jsonrpc: '2.0', id: request.body.id, result: value })
export const text = (request: Received, words: string) => result(request, { content: [{ type: 'text', text: words }] })
export const refusal = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })

/** Starts a stream of events, and gives what writes one. */
export function events(response: ServerResponse): (data: unknown, fields?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  return (data, fields = '') => { response.write(`${fields}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`) }
}

export const TOOL = { name: 'echo', description: 'E', inputSchema: { type: 'object' } }

/** A server of the older revisions, with a session where an id is given. What `call` does not answer is answered with the method's name. */
export function legacy({ session, call, tools = [TOOL], refuse = 400 }: {
  session?: () => string
  call?: (request: Received, response: ServerResponse) => void | boolean | Promise<void | boolean>
  tools?: unknown[]
  refuse?: number
} = {}): Answer {
  return async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    const method = request.body.method as string | undefined
    if (method === 'server/discover') return json(response, refusal(null, -32000, 'Bad Request: no valid session'), refuse)
    if (method === 'initialize') {
      return json(response, result(request, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }), 200, session === undefined ? {} : { 'mcp-session-id': session() })
    }
    if (session !== undefined && request.headers['mcp-session-id'] !== session()) return json(response, 'Session not found', 404)
    if (request.body.id === undefined) {
      response.writeHead(202).end()
      return
    }
    if (method === 'tools/list') return json(response, result(request, { tools }))
    if (await call?.(request, response) !== undefined || response.headersSent || response.destroyed) return
    if (call === undefined) json(response, text(request, 'done'))
  }
}

/** A server of revision 2026-07-28. */
export function modern({ call, tools = [TOOL], list }: {
  call?: (request: Received, response: ServerResponse) => void | Promise<void>
  tools?: unknown[]
  list?: () => unknown[]
} = {}): Answer {
  return async (request, response) => {
    const method = request.body?.method as string
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    if (request.headers['mcp-protocol-version'] !== '2026-07-28' || request.headers['mcp-method'] !== method) return json(response, refusal(request.body.id, -32020, 'HeaderMismatch'), 400)
    if (method === 'server/discover') return json(response, result(request, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, instructions: 'Be kind.' }))
    if (method === 'tools/list') return json(response, result(request, { tools: list?.() ?? tools }))
    if (call === undefined) return json(response, text(request, 'done'))
    await call(request, response)
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createPlainServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The reference server in a process of its own. */
export async function startEverything(transport: 'streamableHttp' | 'sse', port?: number): Promise<{ port: number; child: ChildProcess } & AsyncDisposable> {
  const script = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))
  const chosen = port ?? await freePort()
  const child = spawn(process.execPath, [script, transport], { env: { ...process.env, PORT: String(chosen) }, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', chunk => { said += chunk })
  while (!/port/i.test(said)) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`)
    await new Promise(resolve => { setTimeout(resolve, 50) })
  }
  return {
    port: chosen, child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    },
  }
}
