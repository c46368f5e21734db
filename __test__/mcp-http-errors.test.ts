// What an app is told when a server behind an address does not answer as it should: where it asked (origin and path, never the query) and
// what to do.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MCPClient, ToolError } from 'toolbolt'
import { freePort, json, legacy, serve } from './mcp-http-support.ts'
import { located, scratch } from './machine.ts'

const LIMIT = { timeout: 60_000 }

/** Asserts that the connection fails with a sentence that includes where it asked and each of these, and no part of the query. */
async function fails(url: string, parts: string[], options: object = {}): Promise<void> {
  const { origin, pathname } = new URL(url)
  await assert.rejects(MCPClient.connect({ namespace: 'wiki', url: `${url}?key=planted-key`, ...options }), error => {
    assert.ok(ToolError.isInstance(error) && error.code === 'CONNECTION_FAILED')
    for (const part of ['wiki', `${origin}${pathname}`, ...parts]) assert.ok(error.message.includes(part), `${part}: ${error.message}`)
    assert.ok(!error.message.includes('planted'), error.message)
    return true
  })
}

describe('a server that cannot be reached', () => {
  test('nobody listens', LIMIT, async () => fails(`http://127.0.0.1:${await freePort()}/mcp`, ['refuses connections']))
  test('a name that leads nowhere', LIMIT, async () => fails('https://no-such-host.invalid/mcp', ['host']))
  test('plain http at an https address', LIMIT, async () => {
    await using server = await serve((_request, response) => { response.end() })
    await fails(server.url.replace('http:', 'https:'), ['TLS', 'http://'])
  })
  test('a certificate that is not trusted', { ...LIMIT, skip: located('openssl') === undefined }, async () => {
    const folder = scratch()
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' })
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try { await fails(`https://localhost:${(server.address() as AddressInfo).port}/mcp`, ['certificate', 'NODE_EXTRA_CA_CERTS']) } finally { server.close() }
  })
})

describe('a server that is none', () => {
  const answering = async (status: number, kind: string, path: string, parts: string[], options: object = {}) => {
    await using server = await serve((_request, response) => { response.writeHead(status, { 'content-type': kind }).end('<html>planted</html>') })
    await fails(server.url.replace('/mcp', path), parts, options)
  }
  for (const transport of ['auto', 'http'] as const) {
    test(`404, ${transport}`, LIMIT, async () => {
      await answering(404, 'text/plain', '/', ['404', '/mcp?'], { transport })
      await answering(404, 'text/plain', '/api/mcp', ['404', 'path'], { transport })
    })
    test(`405, ${transport}`, LIMIT, () => answering(405, 'text/plain', '/tools', ['405', '/mcp?'], { transport }))
    test(`a web page, ${transport}`, LIMIT, () => answering(200, 'text/html; charset=utf-8', '/', ['text/html', '/mcp?'], { transport }))
    test(`401, ${transport}`, LIMIT, async () => {
      await answering(401, 'text/plain', '/mcp', ['401', 'auth', 'headers'], { transport })
      await answering(401, 'text/plain', '/mcp', ['401', 'token'], { transport, auth: () => 'planted-token' })
    })
  }
  test('a web page in place of a stream of events', LIMIT, () => answering(200, 'text/html', '/sse', ['stream'], { transport: 'sse' }))
})

test('a long part of a path, which may be a key, is not shown, and a call is told of no path', LIMIT, async () => {
  await using server = await serve(legacy({ call: (_request, response) => { json(response, {}, 403) } }))
  await using client = await MCPClient.connect({ namespace: 'wiki', url: server.url.replace('/mcp', `/s/planted${'0'.repeat(20)}/mcp?key=planted`) })
  const { code, text } = await client.callTool('echo', {})
  const told = client.lastError?.message ?? ''
  assert.deepEqual([code, told.includes(`${new URL(server.url).origin}/s/…/mcp`), told.includes('planted')], ['CONNECTION_FAILED', true, false], told)
  assert.ok(text.includes('wiki') && text.includes('403') && !text.includes('127.0.0.1'), 'a model reads no address')
})
