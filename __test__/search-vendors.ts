// Real local servers that play the four search services, and the searches that are made against them. Every text, data, event and
// error that comes back is looked through for the planted keys.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { SearchTool, ToolRegistry } from 'toolbolt'
import type { ExecuteOptions, PromptRegistry, ToolEvent, ToolResponse } from 'toolbolt'
import { tracingPrompts, wellFormed } from './support.ts'

export type Source = 'tavily' | 'duckduckgo' | 'brave' | 'serpapi'
export const SOURCES = ['tavily', 'duckduckgo', 'brave', 'serpapi'] as const
export const LABELS: Record<Source, string> = { tavily: 'Tavily', duckduckgo: 'DuckDuckGo', brave: 'Brave', serpapi: 'SerpAPI' }
export const ENV: Partial<Record<Source, string>> = { tavily: 'TAVILY_API_KEY', brave: 'BRAVE_API_KEY', serpapi: 'SERPAPI_API_KEY' }
/** With characters that are written otherwise in a URL, in JSON and in HTML. */
export const KEYS: Record<Exclude<Source, 'duckduckgo'>, string> = { tavily: 'planted-tavily-k3y+/=', brave: 'planted-brave-k3y', serpapi: 'planted serpapi&k3y/+%"<é' }

export interface Item { title?: string | null; snippet?: string | null; url?: string | null }
export interface Seen { source: Source; method: string; url: string; query: URLSearchParams; headers: IncomingHttpHeaders; body: string }
export type Answer = (response: ServerResponse, seen: Seen, time: number) => void

export class Vendors implements AsyncDisposable {
  readonly seen: Seen[] = []
  readonly answers: Partial<Record<Source, Answer>> = {}
  /** Requests whose connection went away before the answer was whole. */
  aborted = 0
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const source = SOURCES.find(name => url.pathname.startsWith(`/${name}`)) ?? 'tavily'
    let body = ''
    request.setEncoding('utf8').on('data', chunk => { body += chunk }).on('end', () => {
      const seen: Seen = { source, method: request.method!, url: request.url!, query: url.searchParams, headers: request.headers, body }
      this.seen.push(seen)
      response.on('close', () => { if (!response.writableFinished) this.aborted += 1 })
      response.on('error', () => {})
      const answer = this.answers[source] ?? status(404, '{}')
      answer(response, seen, this.of(source).length)
    })
  })
  static async start(answers: Partial<Record<Source, Answer>> = {}, host = '127.0.0.1'): Promise<Vendors> {
    const vendors = new Vendors()
    Object.assign(vendors.answers, answers)
    vendors.#server.listen(0, host)
    await once(vendors.#server, 'listening')
    return vendors
  }
  get port(): number { return (this.#server.address() as AddressInfo).port }
  get baseUrls(): Record<Source, string> { return Object.fromEntries(SOURCES.map(name => [name, `http://127.0.0.1:${this.port}/${name}`])) as Record<Source, string> }
  of(source: Source): Seen[] { return this.seen.filter(seen => seen.source === source) }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

export const status = (code: number, body = '', headers: Record<string, string> = {}): Answer => response => { response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body) }
export const json = (value: unknown, headers: Record<string, string> = {}): Answer => status(200, JSON.stringify(value), headers)
export const html = (body: string, code = 200): Answer => status(code, body, { 'content-type': 'text/html; charset=UTF-8' })
export const never: Answer = () => {}
export const broken: Answer = response => { response.writeHead(200, { 'content-type': 'application/json', 'content-length': '10000' }); response.write('{"results": [{"title": "T1"', () => response.socket?.destroy()) }
export const redirect = (location: string, code = 302): Answer => response => { response.writeHead(code, { location }).end() }

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const wrapped = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=0123456789abcdef`

/** A page of results in the shape of DuckDuckGo's. `extra` stands among the results as it is. */
export function page(items: Item[], extra = ''): string {
  const block = ({ title, snippet, url }: Item) => `
    <div class="result results_links results_links_deep web-result ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title">
          <a rel="nofollow" class="result__a" href="${wrapped(url ?? '')}">${title ?? ''}</a>
        </h2>
        <div class="result__extras"><div class="result__extras__url">
          <span class="result__icon"><a rel="nofollow" href="${wrapped(url ?? '')}"><img class="result__icon__img" width="16" height="16" alt="" src="//external-content.duckduckgo.com/ip3/x.ico" name="i15" /></a></span>
          <a class="result__url" href="${wrapped(url ?? '')}">
            ${escaped((url ?? '').replace(/^https?:\/\//, ''))}
          </a>
        </div></div>
        <a class="result__snippet" href="${wrapped(url ?? '')}">${snippet ?? ''}</a>
        <div class="clear"></div>
      </div>
    </div>`
  return `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><meta http-equiv="content-type" content="text/html; charset=UTF-8" /><title>query at DuckDuckGo</title></head>
<body class="body--html"><a name="top" id="top"></a>
<form action="/html/" method="post"><div class="header cw"><a title="DuckDuckGo" href="/html/" class="header__logo"></a><input name="q" class="search__input" type="text" value="query" /></div></form>
<div><div class="serp__results"><div id="links" class="results">${extra}${items.map(block).join('\n')}
  <div class="nav-link"><form action="/html/" method="post"><input type="submit" class='btn btn--alt' value="Next" /></form></div>
</div></div></div></body></html>`
}

export const NO_RESULTS = page([]).replace('<div class="nav-link">', '<div class="result results_links results_links_deep result--no-result"><div class="links_main links_deep result__body"><div class="no-results">No  results.</div></div></div><div class="nav-link">')
export const CHALLENGE = `<!DOCTYPE html><html><head><title>DuckDuckGo</title></head><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=botnet" method="POST">
<div class="anomaly-modal__mask"><div class="anomaly-modal__modal" data-testid="anomaly-modal"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
<div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a human.</div></div></div></form></body></html>`

/** The body of a service's good answer for some results. */
export function body(source: Source, found: Item[], answer: string | null = null): string {
  if (source === 'tavily') return JSON.stringify({ query: 'q', answer, images: [], results: found.map(({ title, snippet, url }) => ({ title, url, content: snippet, score: 0.9, raw_content: null })), response_time: 1.2 })
  if (source === 'brave') return JSON.stringify({ type: 'search', web: { type: 'search', results: found.map(({ title, snippet, url }) => ({ title, url, description: snippet, is_source_local: false })) } })
  if (source === 'serpapi') return JSON.stringify({ search_metadata: { status: 'Success' }, organic_results: found.map(({ title, snippet, url }, index) => ({ position: index + 1, title, link: url, snippet })) })
  return page(found)
}
export const good = (source: Source, found: Item[], answer: string | null = null): Answer => (source === 'duckduckgo' ? html : (text: string) => status(200, text))(body(source, found, answer))
/** The answer of a service that found nothing. */
export const empty = (source: Source): Answer => source === 'duckduckgo' ? html(NO_RESULTS) : good(source, [])
export const items = (count: number, from = 1): Item[] => Array.from({ length: count }, (_, index) => ({ title: `T${index + from}`, snippet: `S${index + from}`, url: `http://u/${index + from}` }))
export const all = (make: (source: Source) => Answer): Record<Source, Answer> => Object.fromEntries(SOURCES.map(source => [source, make(source)])) as Record<Source, Answer>

export interface SearchData { source: string; answer: string | null; results: { title: string | null; snippet: string | null; url: string | null }[]; degraded?: string[] }

/** No form of a key is anywhere in what can be seen from outside. */
export function noSecrets(...values: unknown[]): void {
  const shown = values.map(value => `${inspect(value, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null })}\n${value instanceof Error ? value.stack : ''}\n${JSON.stringify(value) ?? ''}`).join('\n')
  for (const key of Object.values(KEYS)) {
    for (const form of [key, encodeURIComponent(key), encodeURI(key), new URLSearchParams({ k: key }).toString().slice(2), escaped(key), JSON.stringify(key).slice(1, -1), Buffer.from(key).toString('base64')]) {
      assert.ok(!shown.includes(form), `a key is visible as ${form} in ${shown.slice(0, 2_000)}`)
    }
  }
  assert.doesNotMatch(shown, /k3y/, 'not even a part of a key')
}

export interface Search { response: ToolResponse; data: SearchData; events: ToolEvent[]; ms: number }
export const tracing = tracingPrompts()

/** Searches through a registry of its own; the options are those of the tool, with the servers' addresses and the planted keys filled in. */
export async function search(vendors: Pick<Vendors, 'baseUrls'>, options: Record<string, unknown> = {}, { query = 'fjord', prompts = tracing as PromptRegistry | undefined, ...execute }: ExecuteOptions & { query?: string; prompts?: PromptRegistry | undefined } = {}): Promise<Search> {
  const events: ToolEvent[] = []
  const tool = new SearchTool({ keys: KEYS, baseUrls: vendors.baseUrls, timeoutMs: 20_000, ...(prompts === undefined ? {} : { prompts }), ...options } as ConstructorParameters<typeof SearchTool>[0])
  const registry = new ToolRegistry({ onEvent: event => { events.push(event) } })
  registry.register(tool)
  const started = performance.now()
  const response = await registry.execute('search', { query }, execute)
  const ms = performance.now() - started
  wellFormed(response)
  noSecrets(response, events, tool, registry, registry.render(response), registry.toOpenAISchema())
  await registry.close()
  return { response, data: response.data as SearchData, events, ms }
}
