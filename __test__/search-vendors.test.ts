// The search against local servers that play the services: what is sent, and the bounds that only the inside knows. What a user sees
// of it stands in search.test.ts.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { SearchTool, ToolRegistry } from 'toolbolt'
import type { SearchOptions, ToolEvent, ToolResponse } from 'toolbolt'
import { coded, fixturePath, sleep, within } from './support.ts'

const KEYS = { tavily: 'planted-tavily-key', brave: 'planted-brave-key', serpapi: 'planted/serpapi+key' }
const LIMIT = { timeout: 60_000 }
const MAX_BODY = 2 * 1024 * 1024

interface Seen { method: string; url: string; headers: IncomingMessage['headers']; body: string }
type Play = (response: ServerResponse, seen: Seen, count: number) => void

/** A server that plays one service; what it was asked is kept. */
async function service(t: TestContext, play: Play) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const asked = { method: request.method!, url: request.url!, headers: request.headers, body }
    seen.push(asked)
    play(response, asked, seen.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => { server.closeAllConnections(); server.close() })
  return { seen, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = (value: unknown, status = 200): Play => response => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
const status = (code: number, headers: Record<string, string> = {}, body = ''): Play => response => { response.writeHead(code, headers).end(body) }
const TAVILY = { answer: 'Narrow', results: [{ title: 'Fjord', content: 'A sea inlet', url: 'https://example.org/fjord' }] }
const BRAVE = { web: { results: [{ title: 'Fjord', description: 'A sea inlet', url: 'https://example.org/fjord' }] } }

/** A search in Tavily, played, and then in a Brave that has a result. */
async function fallback(t: TestContext, play: Play, options: SearchOptions = {}) {
  const [tavily, brave] = [await service(t, play), await service(t, json(BRAVE))]
  const tool = new SearchTool({ sources: ['tavily', 'brave'], keys: KEYS, baseUrls: { tavily: tavily.url, brave: brave.url }, ...options })
  return { tavily, brave, tool, response: await within(30_000, tool.run({ query: 'fjord' })) }
}

function degraded(response: ToolResponse, lines = 1): readonly string[] {
  assert.equal(response.status, 'success', response.text)
  const { degraded } = response.data as { degraded: string[] }
  assert.equal(degraded.length, lines, JSON.stringify(degraded))
  return degraded
}

function withoutKeys(...values: unknown[]) {
  const text = JSON.stringify(values)
  for (const key of [...Object.values(KEYS), encodeURIComponent(KEYS.serpapi), encodeURIComponent(KEYS.serpapi).toLowerCase()]) assert.ok(!text.includes(key), text)
}

test('what each service is asked', LIMIT, async t => {
  const played = { tavily: await service(t, json({})), duckduckgo: await service(t, status(200, {}, '<html></html>')), brave: await service(t, json({})), serpapi: await service(t, json({})) }
  const baseUrls = { tavily: played.tavily.url, duckduckgo: `${played.duckduckgo.url}/base/`, brave: played.brave.url, serpapi: played.serpapi.url }
  const response = await new SearchTool({ maxResults: 7, keys: KEYS, baseUrls }).run({ query: ' fjord\n& sea ' })
  assert.equal(response.status, 'error')
  const asked = Object.fromEntries(Object.entries(played).map(([name, { seen }]) => {
    assert.equal(seen.length, 1)
    return [name, seen[0]!]
  })) as Record<keyof typeof played, Seen>
  assert.deepEqual([asked.tavily.method, asked.tavily.url, asked.tavily.headers.authorization], ['POST', '/search', `Bearer ${KEYS.tavily}`])
  assert.deepEqual(JSON.parse(asked.tavily.body), { query: 'fjord & sea', max_results: 7, include_answer: true })
  assert.deepEqual([asked.duckduckgo.method, asked.duckduckgo.url, asked.duckduckgo.body], ['POST', '/base/html/', 'q=fjord+%26+sea&b=&l=us-en'])
  assert.deepEqual([asked.brave.method, asked.brave.url], ['GET', '/res/v1/web/search?q=fjord+%26+sea&count=7'])
  assert.deepEqual([asked.brave.headers['x-subscription-token'], asked.brave.headers.accept], [KEYS.brave, 'application/json'])
  assert.deepEqual([asked.serpapi.method, asked.serpapi.url], ['GET', '/search?engine=google&q=fjord+%26+sea&num=7&api_key=planted%2Fserpapi%2Bkey'])
  withoutKeys(response)
})

for (const code of [429, 500, 502, 503]) {
  test(`${code} is tried once more`, LIMIT, async t => {
    const { tavily, response } = await fallback(t, (response, seen, count) => (count === 1 ? status(code, { 'retry-after': '0' }) : json(TAVILY))(response, seen, count))
    assert.equal(tavily.seen.length, 2)
    assert.equal((response.data as { source: string }).source, 'Tavily')
    assert.equal('degraded' in (response.data as object), false)
  })

  test(`${code} twice is a failure`, LIMIT, async t => {
    const { tavily, response } = await fallback(t, status(code, { 'retry-after': '0' }))
    assert.equal(tavily.seen.length, 2)
    assert.match(degraded(response)[0]!, new RegExp(`^Tavily: .*${code}`))
  })
}

for (const code of [204, 304, 400, 401, 403, 404, 422]) {
  test(`${code} is final`, LIMIT, async t => {
    const { tavily, response } = await fallback(t, status(code, {}, code === 204 || code === 304 ? '' : `invalid key ${KEYS.tavily}`))
    assert.equal(tavily.seen.length, 1)
    degraded(response)
    withoutKeys(response)
  })
}

test('a source that wants a longer pause than there is time is left alone', LIMIT, async t => {
  for (const [pause, timeoutMs] of [['3600', undefined], [new Date(Date.now() + 3_600_000).toUTCString(), undefined], ['3', 2_000]] as const) {
    const started = performance.now()
    const { tavily, response } = await fallback(t, status(429, { 'retry-after': pause }), { timeoutMs })
    assert.equal(tavily.seen.length, 1)
    assert.match(degraded(response)[0]!, /429/)
    assert.ok(performance.now() - started < 1_900)
  }
})

test('a pause that is asked for is kept', LIMIT, async t => {
  const at: number[] = []
  const { tavily } = await fallback(t, (response, seen, count) => {
    at.push(performance.now())
    const play = count === 1 ? status(503, { 'retry-after': '1' }) : json(TAVILY)
    play(response, seen, count)
  })
  assert.equal(tavily.seen.length, 2)
  assert.ok(at[1]! - at[0]! > 950, String(at))
})

test('redirects within the origin are followed, six are too many', LIMIT, async t => {
  const one = await fallback(t, (response, seen, count) => (count === 1 ? status(307, { location: '/other?x' }) : json(TAVILY))(response, seen, count))
  assert.deepEqual(one.tavily.seen.map(({ url, method, headers }) => [url, method, headers.authorization]), [['/search', 'POST', `Bearer ${KEYS.tavily}`], ['/other?x', 'POST', `Bearer ${KEYS.tavily}`]])
  assert.equal((one.response.data as { source: string }).source, 'Tavily')
  const loop = await fallback(t, status(302, { location: '/search' }))
  assert.equal(loop.tavily.seen.length, 6)
  degraded(loop.response)
})

test('no redirect leads to another place, and no key goes there', LIMIT, async t => {
  const other = await service(t, json(TAVILY))
  const { port } = new URL(other.url)
  const places = [other.url, `http://localhost:${port}/`, `http://[::1]:${port}/`, 'http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'https://example.invalid/', 'file:///etc/passwd', 'gopher://x/']
  for (const location of places) for (const code of [301, 302, 303, 307, 308]) {
    const { tavily, response } = await fallback(t, status(code, { location }))
    assert.equal(tavily.seen.length, 1, location)
    degraded(response)
  }
  assert.equal(other.seen.length, 0)
})

test('bodies are capped after decompression', LIMIT, async t => {
  const filler = 'x'.repeat(MAX_BODY)
  const plays: Record<string, Play> = {
    announced: status(200, {}, JSON.stringify({ ...TAVILY, filler })),
    bomb: status(200, { 'content-encoding': 'gzip' }, undefined),
    endless: response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => { while (response.write(filler)); }
      response.on('drain', more)
      more()
    },
  }
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20), { level: 1 })
  plays.bomb = response => { response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(bomb) }
  for (const [name, play] of Object.entries(plays)) {
    const before = process.memoryUsage.rss()
    const { response } = await fallback(t, play)
    assert.match(degraded(response)[0]!, /2097152/, name)
    assert.ok(process.memoryUsage.rss() - before < 150 * 1024 * 1024, name)
  }
  const { response } = await fallback(t, response => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify({ ...TAVILY, filler: 'x'.repeat(MAX_BODY - 1_000) })))
  })
  assert.equal((response.data as { source: string }).source, 'Tavily', response.text)
})

test('broken answers', LIMIT, async t => {
  const plays: Play[] = [
    response => { response.socket!.destroy() },
    response => { response.writeHead(200, { 'content-length': '1000' }).write('{"results":['); setTimeout(() => { response.socket!.destroy() }, 20) },
    response => { response.socket!.end('no http\r\n\r\n') },
    status(200, { 'content-encoding': 'gzip' }, 'no gzip'),
    status(200, {}, ''), status(200, {}, '<html>'), status(200, {}, '{"results":{}}'), status(200, {}, '['.repeat(100_000)), status(200, {}, '{"results":[{"title":"\\ud800"}]}'),
  ]
  for (const play of plays) degraded((await fallback(t, play)).response)
})

test('nobody listens', LIMIT, async t => {
  const gone = await service(t, json({}))
  gone.server.close()
  await once(gone.server, 'close')
  const { response } = await fallback(t, json({}), {})
  degraded(response)
  const alone = await new SearchTool({ sources: ['tavily'], keys: KEYS, baseUrls: { tavily: gone.url } }).run({ query: 'x' })
  assert.equal(alone.status, 'error')
  assert.equal(alone.data, undefined)
})

test('the limit of one service, and of all', LIMIT, async t => {
  const started = performance.now()
  const slow = await fallback(t, () => {}, { timeoutMs: 300 })
  assert.match(degraded(slow.response)[0]!, /300/)
  assert.ok(performance.now() - started < 5_000)

  const [one, two] = [await service(t, () => {}), await service(t, json(BRAVE))]
  const response = await new SearchTool({ sources: ['tavily', 'brave'], keys: KEYS, baseUrls: { tavily: one.url, brave: two.url }, deadlineMs: 300 }).run({ query: 'x' })
  assert.equal(response.status, 'error')
  assert.equal(two.seen.length, 0, 'no time is left for the second')
  assert.equal(response.text.split('\n').filter(line => /^(Tavily|Brave): /.test(line)).length, 2, response.text)
})

test('a slow body counts too', LIMIT, async t => {
  const { response } = await fallback(t, response => {
    response.writeHead(200)
    const timer = setInterval(() => { response.write(' ') }, 20)
    response.on('close', () => { clearInterval(timer) })
  }, { timeoutMs: 300 })
  degraded(response)
})

test('an abort ends the request', LIMIT, async t => {
  let closed!: () => void
  const close = new Promise<void>(done => { closed = done })
  const { url } = await service(t, response => { response.on('close', closed) })
  const registry = new ToolRegistry()
  registry.register(new SearchTool({ sources: ['tavily'], keys: KEYS, baseUrls: { tavily: url } }))
  const abort = new AbortController()
  const running = registry.execute('search', { query: 'x' }, { signal: abort.signal })
  await sleep(200)
  abort.abort()
  const response = await within(5_000, running)
  assert.deepEqual([response.status, response.code], ['error', 'CANCELLED'])
  await within(5_000, close, 'closing the connection')
})

test('keys come from the environment of each call, also in a worker', LIMIT, async t => {
  const { url, seen } = await service(t, json(BRAVE))
  const tool = new SearchTool({ sources: ['brave'], keys: { brave: ' ' }, baseUrls: { brave: url } })
  const before = process.env.BRAVE_API_KEY
  t.after(() => { before === undefined ? delete process.env.BRAVE_API_KEY : process.env.BRAVE_API_KEY = before })
  for (const [key, sent] of [[undefined, undefined], ['first-key', 'first-key'], ['', undefined], [' second-key\n', 'second-key'], ['third\u00fckey', undefined]] as const) {
    if (key === undefined) delete process.env.BRAVE_API_KEY
    else process.env.BRAVE_API_KEY = key
    seen.length = 0
    const response = await tool.run({ query: 'x' })
    assert.equal(seen[0]?.headers['x-subscription-token'], sent)
    assert.equal(response.status, sent === undefined ? 'error' : 'success')
    if (sent === undefined) assert.match(response.text, /BRAVE_API_KEY/)
  }
  seen.length = 0
  const code = `import('toolbolt').then(async ({ SearchTool }) => {
    process.env.BRAVE_API_KEY = 'key-of-the-worker'
    await new SearchTool({ sources: ['brave'], baseUrls: { brave: ${JSON.stringify(url)} } }).run({ query: 'x' })
  })`
  const worker = new Worker(code, { eval: true, env: {} })
  assert.deepEqual(await once(worker, 'exit'), [0])
  assert.equal(seen[0]?.headers['x-subscription-token'], 'key-of-the-worker')
})

test('a key that an answer repeats reaches nobody', LIMIT, async t => {
  const echo = KEYS.serpapi
  const { url } = await service(t, json({ organic_results: [
    { title: `key ${echo}`, snippet: `${'x'.repeat(1_995)} ${echo}`, link: `https://example.org/?api_key=${encodeURIComponent(echo)}&k=${encodeURIComponent(echo).toLowerCase()}` },
    { title: echo.replace('/', '/\u200b'), snippet: KEYS.tavily, link: `https://example.org/${echo}` },
  ] }))
  const events: ToolEvent[] = []
  const registry = new ToolRegistry({ onEvent: event => { events.push(event) } })
  registry.register(new SearchTool({ sources: ['tavily', 'serpapi'], keys: KEYS, baseUrls: { tavily: 'http://127.0.0.1:1', serpapi: url } }))
  const response = await registry.execute('search', { query: 'x' })
  degraded(response)
  withoutKeys(response, events, registry.render(response))
  assert.ok(!/planted/.test(JSON.stringify([response, events])), response.text)
})

test('proxies of the environment are used, but not for this machine', LIMIT, async t => {
  const proxy = await service(t, json(BRAVE))
  const direct = await service(t, json(BRAVE))
  const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY']
  const before = names.map(name => [name, process.env[name]] as const)
  t.after(() => { for (const [name, value] of before) value === undefined ? delete process.env[name] : process.env[name] = value })
  for (const name of names) delete process.env[name]
  const run = (brave: string) => new SearchTool({ sources: ['brave'], keys: KEYS, baseUrls: { brave }, timeoutMs: 5_000 }).run({ query: 'x' })
  process.env.HTTP_PROXY = proxy.url
  assert.equal((await run('http://service.invalid')).status, 'success')
  assert.equal(proxy.seen[0]?.url, 'http://service.invalid/res/v1/web/search?q=x&count=5')
  assert.equal((await run(direct.url)).status, 'success')
  assert.deepEqual([proxy.seen.length, direct.seen.length], [1, 1])
  process.env.NO_PROXY = 'service.invalid'
  assert.equal((await run('http://service.invalid')).status, 'error')
  process.env.HTTP_PROXY = 'http://['
  assert.equal((await run(direct.url)).status, 'error')
})

test('options out of range are refused, and nothing is asked for a query that is', LIMIT, async t => {
  const { url, seen } = await service(t, json(BRAVE))
  for (const options of [
    { maxResults: 21 }, { maxResults: 1.5 }, { maxResults: '5' }, { timeoutMs: 0 }, { timeoutMs: null }, { timeoutMs: 600_001 }, { timeoutMs: 1e300 }, { deadlineMs: Number.NaN },
    { sources: [] }, { sources: ['brave', 'brave'] }, { sources: ['bing'] }, { sources: 'brave' }, { keys: { bing: 'x' } }, { keys: { brave: 1 } }, { keys: { brave: 'a\nb' } }, { keys: { brave: 'ü' } }, { keys: { serpapi: 'x'.repeat(1_001) } }, { keys: null },
    { baseUrls: { brave: 'example.org' } }, { baseUrls: { brave: 'ftp://example.org' } }, { baseUrls: { brave: 'https://user:pw@example.org' } }, { maxresults: 5 },
  ]) assert.throws(() => new SearchTool(options as never), coded('INVALID_OPTIONS'), JSON.stringify(options))

  const tool = new SearchTool({ sources: ['brave'], keys: KEYS, baseUrls: { brave: url } })
  const registry = new ToolRegistry()
  registry.register(tool)
  for (const query of ['', ' \n', '\u200b\u202e', 'x'.repeat(401), 'x'.repeat(10_000_000)]) {
    for (const response of [await tool.run({ query }), await registry.execute('search', { query })]) {
      assert.deepEqual([response.status, response.code, response.executed], ['error', 'INVALID_ARGUMENTS', false])
    }
  }
  assert.equal((await tool.run({} as never)).code, 'INVALID_ARGUMENTS')
  assert.equal(seen.length, 0)
  assert.equal((await tool.run({ query: 'ü'.repeat(400) })).status, 'success')
})

test('results are bounded in number and length', LIMIT, async t => {
  const results = Array.from({ length: 3_000 }, (_, index) => ({ title: `T${index} ${'t'.repeat(400)}`, description: 's', url: index % 2 ? 'javascript:alert(1)' : `https://example.org/${index}` }))
  const { url } = await service(t, json({ web: { results } }))
  const response = await new SearchTool({ sources: ['brave'], keys: KEYS, baseUrls: { brave: url }, maxResults: 2 }).run({ query: 'x' })
  const found = response.data!.results
  assert.equal(found.length, 50)
  assert.deepEqual(found.slice(0, 2).map(({ url }) => url), ['https://example.org/0', null])
  assert.ok(found.every(({ title }) => title!.length < 320))
  assert.equal(response.text.split('\n').length, 1 + 2 * 3)
})

test('certificates are trusted as system, environment and Node.js say', LIMIT, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE'])
  if (made.status !== 0) return t.skip('openssl is not installed')
  const run = async (env: Record<string, string>, flag = '') => {
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...inherited } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, [fixturePath('search-tls.mjs'), key, certificate, flag], { env: { ...inherited, ...env }, timeout: 50_000 })
    return JSON.parse(stdout) as { status: string; versions: string[] }
  }
  const trusted = { status: 'success', versions: ['2.0'] }
  const refused = { status: 'error', versions: [] }
  const nothing = { SSL_CERT_FILE: join(folder, 'none'), SSL_CERT_DIR: join(folder, 'none') }
  assert.deepEqual(await run({}), refused)
  assert.deepEqual(await run({ NODE_EXTRA_CA_CERTS: certificate }), trusted)
  assert.deepEqual(await run({ SSL_CERT_FILE: certificate }), trusted)
  assert.deepEqual(await run(nothing), refused)
  assert.deepEqual(await run(nothing, 'bundled'), trusted)
  assert.deepEqual(await run({}, 'bundled'), refused, 'the list of Node.js counts only where the system has none')
})
