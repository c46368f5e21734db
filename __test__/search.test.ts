// The search tool against real local servers: the recorded rows, what is asked of each service, and options. How it takes slow, broken,
// huge and hostile answers is in search-faults.test.ts.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { SearchTool, ToolRegistry } from 'toolbolt'
import { coded, vectors } from './support.ts'
import { type Answer, ENV, type Item, KEYS, LABELS, SOURCES, type Source, Vendors, empty, good, html, items, noSecrets, page, search, status, tracing } from './search-vendors.ts'

for (const name of Object.values(ENV)) delete process.env[name]
const LIMIT = { timeout: 60_000 }
const failing = status(400, '{}')

describe('search', () => {
  interface Row { case: string; status: string; text: string; data: { source: string; answer: string | null; results: Item[]; degraded?: string[] } | null }
  const rows = vectors<Row[]>('search')
  const row = (name: string): Row => rows.find(each => each.case === name)!
  /** What the services answer in each row. A source whose recorded reason is a word of the recording (`no tav`) fails here with 400. */
  const played: Record<string, Partial<Record<Source, Answer>>> = {
    'tavily ok with answer': { tavily: good('tavily', items(2), 'ANS') },
    'tavily ok without answer': { tavily: good('tavily', items(1)) },
    'tavily empty string answer': { tavily: good('tavily', items(1), '') },
    'tavily answer but no results -> falls through': { tavily: good('tavily', [], 'ANS') },
    'ddg after tavily failure: degraded': { duckduckgo: good('duckduckgo', items(1)) },
    'brave after empty ddg': { duckduckgo: empty('duckduckgo'), brave: good('brave', items(1)) },
    'hollow entries filtered': { duckduckgo: empty('duckduckgo'), serpapi: good('serpapi', [{}, { title: '', snippet: null, url: '' }, { snippet: 's' }]) },
    'more than max': { tavily: good('tavily', items(8, 0)) },
    'all fail': {},
  }
  /** A recorded line with a reason of the recording's own matches any reason; one with a key is taken literally. */
  const line = (recorded: string) => new RegExp(`^${recorded.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/^(\w+): no \w+$/, '$1: \\S.*')}$`)
  const lines = (actual: string[], recorded: string[]) => {
    assert.equal(actual.length, recorded.length, actual.join('\n'))
    recorded.forEach((each, index) => assert.match(actual[index]!, line(each)))
  }

  for (const [name, answers] of Object.entries(played)) test(`search ${rows.indexOf(row(name))}: ${name}`, LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: failing, duckduckgo: failing, brave: failing, serpapi: failing, ...answers })
    const { response, data } = await search(vendors, name === 'more than max' ? { maxResults: 3 } : {})
    const recorded = row(name)
    assert.equal(response.status, recorded.status, response.text)
    if (recorded.data === null) {
      assert.equal(response.data ?? null, null)
      const errors = (text: string) => /^<tool\.msg\.search\.all_failed\|errors=([\s\S]*)>$/.exec(text)![1]!.split('\n')
      lines(errors(response.text), errors(recorded.text))
    } else {
      assert.equal(response.text, recorded.text)
      assert.equal(data.source, recorded.data.source)
      assert.equal(data.answer || null, recorded.data.answer || null)
      const plain = (result: Item) => ({ title: result.title || null, snippet: result.snippet || null, url: result.url || null })
      assert.deepEqual(data.results.map(plain), recorded.data.results.map(plain))
      if (recorded.data.degraded === undefined) assert.equal('degraded' in data, false)
      else lines(data.degraded!, recorded.data.degraded)
    }
  })
  test('search 9: empty', LIMIT, async () => {
    await using vendors = await Vendors.start()
    for (const query of ['', '   ', '\n\t', '\u00a0']) assert.equal((await search(vendors, {}, { query })).response.text, row('empty').text)
    assert.deepEqual(vendors.seen, [])
  })
  test('search 10: nothing configured', LIMIT, async () => {
    await using vendors = await Vendors.start({ duckduckgo: failing })
    const { response } = await search(vendors, { keys: {} })
    assert.equal(response.status, 'error')
    for (const source of SOURCES) assert.ok(response.text.includes(ENV[source] === undefined ? `${LABELS[source]}: ` : `${LABELS[source]}: ${ENV[source]} not configured`), response.text)
    assert.deepEqual(vendors.seen.map(seen => seen.source), ['duckduckgo'])
  })
  test('every row is played', () => assert.deepEqual(rows.map(each => each.case).filter(name => !(name in played)), ['empty', 'real: nothing configured (ddgs not installed)']))
})

describe('what each service is asked', () => {
  const query = 'Ærø & "fjord" +1 100%'
  const asked = async (source: Source) => {
    await using vendors = await Vendors.start({ [source]: good(source, items(3)) })
    const { response } = await search(vendors, { sources: [source], maxResults: 4 }, { query })
    assert.equal(response.status, 'success', response.text)
    assert.equal(vendors.seen.length, 1)
    return vendors.seen[0]!
  }
  test('Tavily', LIMIT, async () => {
    const seen = await asked('tavily')
    assert.deepEqual([seen.method, seen.headers.authorization], ['POST', `Bearer ${KEYS.tavily}`])
    assert.match(seen.headers['content-type']!, /^application\/json/)
    const body = JSON.parse(seen.body) as Record<string, unknown>
    assert.deepEqual([body.query, body.max_results, body.include_answer], [query, 4, true])
    assert.ok(!seen.url.includes('k3y') && !seen.body.includes('k3y'), 'the key is in the header alone')
  })
  test('DuckDuckGo', LIMIT, async () => {
    const seen = await asked('duckduckgo')
    assert.equal(seen.method, 'POST')
    assert.match(seen.headers['content-type']!, /^application\/x-www-form-urlencoded/)
    assert.equal(new URLSearchParams(seen.body).get('q'), query)
  })
  test('Brave', LIMIT, async () => {
    const seen = await asked('brave')
    assert.deepEqual([seen.method, seen.query.get('q'), seen.query.get('count')], ['GET', query, '4'])
    assert.equal(seen.headers['x-subscription-token'], KEYS.brave)
    assert.match(seen.headers.accept!, /application\/json/)
    assert.ok(!seen.url.includes('k3y'))
  })
  test('SerpAPI', LIMIT, async () => {
    const seen = await asked('serpapi')
    assert.deepEqual([seen.method, seen.query.get('engine'), seen.query.get('q'), seen.query.get('num'), seen.query.get('api_key')], ['GET', 'google', query, '4', KEYS.serpapi])
  })
})

describe('a page of DuckDuckGo', () => {
  const ad = (href: string) => `
    <div class="result results_links results_links_deep result--ad ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">Buy a fjord</a></h2>
        <a class="result__snippet" href="${href}">Cheap fjords, now.</a>
      </div>
    </div>`
  const found = async (body: string) => {
    await using vendors = await Vendors.start({ duckduckgo: html(body) })
    return await search(vendors, { sources: ['duckduckgo'], maxResults: 10 })
  }
  test('links are unwrapped, markup and entities become text, blanks are collapsed', LIMIT, async () => {
    const { data } = await found(page([
      { title: 'Fjord &amp; <b>sea</b> &#8211; caf&eacute;', snippet: 'A <b>fjord</b> is a\n      narrow &lt;inlet&gt;  &nbsp;of the sea&hellip;', url: 'https://example.org/fjord?a=1&b=2#top' },
      { title: 'Deux', snippet: 'S', url: 'http://example.org/%C3%A9/x%2Fy?q=a%20b+c' },
    ]))
    assert.deepEqual(data.results, [
      { title: 'Fjord & sea – café', snippet: 'A fjord is a narrow <inlet> of the sea…', url: 'https://example.org/fjord?a=1&b=2#top' },
      { title: 'Deux', snippet: 'S', url: 'http://example.org/%C3%A9/x%2Fy?q=a%20b+c' },
    ])
    assert.equal(data.source, 'DuckDuckGo')
  })
  test('advertisements are dropped, however they are linked', LIMIT, async () => {
    for (const href of [
      'https://duckduckgo.com/y.js?ad_domain=x.example&amp;ad_provider=bingv7aa&amp;u3=abc', '//duckduckgo.com/y.js?ad_domain=x.example', `//duckduckgo.com/l/?uddg=${encodeURIComponent('https://duckduckgo.com/y.js?ad_domain=x.example&ad_provider=bing')}&amp;rut=1`, 'https://html.duckduckgo.com/y.js?u=1',
    ]) {
      const { data, response } = await found(page(items(2), ad(href)))
      assert.deepEqual(data.results.map(result => result.title), ['T1', 'T2'], href)
      assert.ok(!response.text.includes('Buy a fjord'))
    }
    assert.equal((await found(page([], ad('https://duckduckgo.com/y.js?ad_domain=x')))).response.status, 'error', 'a page of advertisements alone is empty')
  })
  test('links that are no web address are never shown', LIMIT, async () => {
    const { data, response } = await found(page([...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'ftp://x/y', '/relative', '//', 'http://', ' '].map((url, index) => ({ title: `odd ${index}`, snippet: 's', url })), ...items(1)]))
    for (const { url } of data.results) assert.ok(url === null || url === '' || /^https?:\/\/[^/]/.test(url), String(url))
    assert.doesNotMatch(response.text, /javascript:|data:text|file:|ftp:/)
    assert.ok(data.results.some(result => result.url === 'http://u/1'))
  })
  test('a page that is cut or malformed gives what can be read, or fails', LIMIT, async () => {
    const whole = page(items(5))
    for (const body of [whole.slice(0, whole.length / 2), whole.replaceAll('</div>', ''), whole.replaceAll('"', "'"), `${whole}<div class="result`, '<div class="result__body"><h2>', '<html>', 'not html at all', '\0\0\0', '<'.repeat(100_000), '<div>'.repeat(50_000), `<div class="result result__body"><h2><a href="http://u/1">`]) {
      const { response } = await found(body)
      assert.ok(['success', 'error'].includes(response.status), response.status)
      assert.ok(response.text.length < 20_000)
    }
  })
})

describe('options', () => {
  test('order and subset of the sources', LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: failing, duckduckgo: failing, brave: failing, serpapi: good('serpapi', items(1)) })
    const { data } = await search(vendors, { sources: ['brave', 'serpapi', 'tavily'] })
    assert.deepEqual([data.source, data.degraded!.map(reason => reason.split(':')[0]), vendors.seen.map(seen => seen.source)], ['SerpAPI', ['Brave'], ['brave', 'serpapi']])
  })
  test('the default order, and the first success ends it', LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: failing, duckduckgo: failing, brave: failing, serpapi: failing })
    const { response } = await search(vendors)
    assert.deepEqual(vendors.seen.map(seen => seen.source), [...SOURCES])
    const at = SOURCES.map(source => response.text.indexOf(`${LABELS[source]}: `))
    assert.ok(at.every(position => position >= 0), response.text)
    assert.deepEqual(at, [...at].sort((one, two) => one - two))
    vendors.seen.length = 0
    vendors.answers.tavily = good('tavily', items(1))
    await search(vendors)
    assert.deepEqual(vendors.seen.map(seen => seen.source), ['tavily'])
  })
  test('keys are read from the environment at each call; a given one wins; an empty one is missing', LIMIT, async () => {
    await using vendors = await Vendors.start({ brave: good('brave', items(1)) })
    const tool = new SearchTool({ sources: ['brave'], baseUrls: vendors.baseUrls })
    const own = new SearchTool({ sources: ['brave'], baseUrls: vendors.baseUrls, keys: { brave: 'its own k3y' } })
    assert.match((await tool.run({ query: 'q' })).text, /BRAVE_API_KEY/)
    try {
      for (const key of ['first', 'second']) {
        process.env.BRAVE_API_KEY = key
        assert.equal((await tool.run({ query: 'q' })).status, 'success')
        assert.equal(vendors.seen.at(-1)!.headers['x-subscription-token'], key)
      }
      assert.equal((await own.run({ query: 'q' })).status, 'success')
      assert.equal(vendors.seen.at(-1)!.headers['x-subscription-token'], 'its own k3y')
      const count = vendors.seen.length
      process.env.BRAVE_API_KEY = ''
      assert.match((await tool.run({ query: 'q' })).text, /BRAVE_API_KEY/)
      delete process.env.BRAVE_API_KEY
      assert.match((await tool.run({ query: 'q' })).text, /BRAVE_API_KEY/)
      assert.match((await new SearchTool({ sources: ['brave'], baseUrls: vendors.baseUrls, keys: { brave: '' } }).run({ query: 'q' })).text, /BRAVE_API_KEY/)
      assert.equal(vendors.seen.length, count, 'without a key nobody is asked')
    } finally { delete process.env.BRAVE_API_KEY }
  })
  test('a key cannot add a header', LIMIT, async () => {
    await using vendors = await Vendors.start({ brave: good('brave', items(1)), tavily: good('tavily', items(1)) })
    for (const key of ['a\r\nx-evil: 1', 'a\nx-evil: 1', 'a\0b']) {
      try { await new SearchTool({ sources: ['brave', 'tavily'], baseUrls: vendors.baseUrls, keys: { brave: key, tavily: key } }).run({ query: 'q' }) } catch (error) { coded('INVALID_OPTIONS')(error) }
    }
    assert.ok(vendors.seen.every(seen => !('x-evil' in seen.headers)))
  })
  test('SRCH-05 a wrong number of results is a construction error', () => {
    for (const maxResults of [0, -1, 1e9, Number.NaN, 1.5, Number.POSITIVE_INFINITY, '5']) assert.throws(() => new SearchTool({ maxResults } as never), coded('INVALID_OPTIONS'), String(maxResults))
    for (const maxResults of [1, 5, 10]) assert.ok(new SearchTool({ maxResults }))
  })
  test('SRCH-05 a query that is too long is refused before any network', LIMIT, async () => {
    await using vendors = await Vendors.start({ tavily: good('tavily', items(1)) })
    for (const query of ['x'.repeat(10_000_000), 'é '.repeat(50_000), '😀'.repeat(20_000)]) {
      const { response } = await search(vendors, {}, { query })
      assert.equal(response.status, 'error')
      assert.ok(response.text.length < 5_000)
    }
    assert.deepEqual(vendors.seen, [])
  })
  test('other wrong options are refused', () => {
    for (const wrong of [
      { sources: ['google'] }, { sources: 'tavily' }, { sources: [5] }, { sources: [null] }, { keys: 'x' }, { keys: { google: 'x' } }, { keys: { tavily: 5 } }, { baseUrls: { tavily: 'not a url' } }, { baseUrls: { tavily: 'ftp://x' } }, { baseUrls: { tavily: 'file:///etc' } }, { baseUrls: { google: 'http://x' } }, { baseUrls: { brave: 5 } },
      { timeoutMs: 0 }, { timeoutMs: -1 }, { timeoutMs: Number.NaN }, { timeoutMs: '5' }, { deadlineMs: 0 }, { deadlineMs: -5 }, { max_results: 5 }, { retries: 3 }, { prompts: {} }, null, 5, 'x', [],
    ]) assert.throws(() => new SearchTool(wrong as never), (error: unknown) => { noSecrets(error); return coded('INVALID_OPTIONS')(error) }, JSON.stringify(wrong))
  })
})

describe('the tool', () => {
  test('what it says of itself', () => {
    const tool = new SearchTool({ prompts: tracing })
    assert.equal(tool.name, 'search')
    assert.deepEqual([tool.requiresConfirmation, tool.externalContent, tool.supportsParallel], [false, true, true])
    assert.equal(tool.description, '<tool.desc.search>')
    const schema = tool.inputSchema as { properties: Record<string, { type: string; description: string }>; required: string[] }
    assert.deepEqual([Object.keys(schema.properties), schema.required, schema.properties.query!.type, schema.properties.query!.description], [['query'], ['query'], 'string', '<tool.param.search.query>'])
  })
  test('by itself and through a registry it gives the same', LIMIT, async () => {
    await using vendors = await Vendors.start({ brave: good('brave', items(2)) })
    const tool = new SearchTool({ sources: ['brave'], keys: KEYS, baseUrls: vendors.baseUrls })
    const alone = await tool.run({ query: 'q' })
    const registry = new ToolRegistry()
    registry.register(tool)
    const called = await registry.execute('search', { query: 'q' })
    assert.deepEqual([alone.text, alone.status, alone.data], [called.text, called.status, called.data])
    assert.equal(registry.needsConfirmation('search', { query: 'q' }), false)
    assert.equal((await registry.execute('search', { query: 5 })).code, 'INVALID_ARGUMENTS')
    assert.equal((await registry.execute('search', {})).code, 'INVALID_ARGUMENTS')
    noSecrets(tool, alone, called)
  })
  test('many searches at once do not mix', LIMIT, async () => {
    await using vendors = await Vendors.start({ brave: (response, seen, time) => good('brave', [{ title: seen.query.get('q'), snippet: 's', url: 'http://u/1' }])(response, seen, time) })
    const tool = new SearchTool({ sources: ['brave'], keys: KEYS, baseUrls: vendors.baseUrls })
    const responses = await Promise.all(Array.from({ length: 60 }, (_, index) => tool.run({ query: `query ${index}` })))
    responses.forEach((response, index) => assert.ok(response.text.includes(`1. query ${index}\n`), response.text))
  })
})

after(() => { for (const name of Object.values(ENV)) assert.equal(process.env[name], undefined) })
