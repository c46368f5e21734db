// The recorded behaviour of the MCP clients whose interface this one follows, row by row, against real servers that play the row.
// A row where we differ on purpose stands in DIFFERENCES with what we do; anything else fails. `fingerprint` is replayed in the core:
// crates/core/src/mcp/pins/agentmaker.rs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MCPClient, type MCPClientOptions, ToolError } from 'toolbolt'
import { type Script, ScriptedServer, sendJson } from './fixtures/scripted-http.ts'
import { RESULTS, SCHEMAS } from './mcp-vectors-rows.ts'
import { fixturePath, tracingPrompts, vectors } from './support.ts'

const LIMIT = { timeout: 120_000 }

/** By row: why we differ, and what we do instead where that is more than the other of two outcomes. */
const DIFFERENCES: Record<string, { reason: string; ours?: unknown }> = {
  'mcp_load_tools 4': { reason: 'suffixes are given by the order of the remote names, so that a server cannot move a name by its listing', ours: [['ns_a_b_2', 'a.b'], ['ns_a_b', 'a b']] },
  'mcp_load_tools 7': { reason: 'a tool without a name is left out and reported', ours: [] },

  'mcp_call_results image only': { reason: 'the text mentions the blocks that are no text', ours: { status: 'success', text: '[image, image/png: not shown here, the program has it]' } },
  'mcp_call_results text+image': { reason: 'the text mentions the blocks that are no text', ours: { status: 'success', text: 't\n[image, image/png: not shown here, the program has it]' } },
  'mcp_call_results 512 blocks': { reason: 'the text mentions the blocks that are no text', ours: { status: 'success' } },
  'mcp_call_results private keys dropped': { reason: 'every part of a result is kept as it was written', ours: { status: 'success', text: 't', content: [{ type: 'text', text: 't', meta: null, annotations: null, _meta: { secret: 1 } }], structured: { ok: 2, _no: 1 } } },
  'mcp_call_results trunc 10': { reason: 'what was cut is partial; the data has a bound of its own', ours: { status: 'partial', text: 'xxxxxxxxxx<tool.truncated|max=10>' } },
  'mcp_call_results exact 10': { reason: 'the data has a bound of its own', ours: { status: 'success', text: 'xxxxxxxxxx', content: [{ type: 'text', text: 'xxxxxxxxxx' }], structured: null } },
  'mcp_call_results two texts limit 10 (5+1+4)': { reason: 'the data has a bound of its own', ours: { status: 'success', text: 'xxxxx\nyyyy' } },
  'mcp_call_results two texts limit 10 (5+1+5)': { reason: 'what was cut is partial; the data has a bound of its own', ours: { status: 'partial', text: 'xxxxx\nyyyy<tool.truncated|max=10>' } },
  'mcp_call_results 10 then more': { reason: 'what was cut is partial; the data has a bound of its own', ours: { status: 'partial', text: 'xxxxxxxxxx<tool.truncated|max=10>' } },
  'mcp_call_results 9 then y': { reason: 'the joined text is cut, not the list of texts', ours: { status: 'partial', text: 'xxxxxxxxx\n<tool.truncated|max=10>' } },
  'mcp_call_results structured big': { reason: 'structured content that comes alone is the text; the data has a bound of its own', ours: { status: 'partial' } },
  'mcp_call_results structured nan': { reason: 'NaN is no JSON, so what comes nearest is played: a number beyond every double, which is refused', ours: { status: 'error', code: 'EXECUTION_FAILED' } },
  'mcp_call_results structured depth33': { reason: 'structured content that comes alone is the text; data may be deeper', ours: { status: 'success', text: `${'['.repeat(33)}1${']'.repeat(33)}` } },
  'mcp_call_results structured depth32': { reason: 'structured content that comes alone is the text', ours: { status: 'success', text: `${'['.repeat(32)}1${']'.repeat(32)}` } },
  'mcp_call_results structured bytes': { reason: 'structured content that comes alone is the text', ours: { status: 'success', text: '{"b":"QUJD"}', content: [], structured: { b: 'QUJD' } } },
  'mcp_call_results 513 blocks': { reason: 'blocks are not counted: bytes are', ours: { status: 'success', textLength: 1025 } },
  'mcp_call_results timeout': { reason: 'times are told in tenths of a second', ours: { status: 'error', text: '<tool.msg.mcp.timeout|timeout=0.1>', code: 'TIMEOUT' } },

  'mcp_schema_and_config_errors dangling local $ref': { reason: 'a reference that leads nowhere would fail every call', ours: false },
  'mcp_schema_and_config_errors nodes 4094': { reason: '`type` and `properties` count where they are filled in', ours: false },
  "mcp_schema_and_config_errors client {'command': ''}": { reason: 'nothing can be started', ours: false },

  'sagewai_mcp_client 0': { reason: 'a description that is missing is empty: a name alone tells a model nothing', ours: { tools: [['a', '', {}]], text: 'x\ny' } },
  'sagewai_mcp_client 1': { reason: '`null` stands for a description that is missing', ours: { tools: [['a', '', {}]] } },
  'sagewai_mcp_client 2': { reason: 'a block that is no text is in the data; the text mentions it', ours: { tools: [['a', 'd', {}]], text: '[image: not shown here, the program has it]' } },
  'sagewai_mcp_client 3': { reason: 'the text says that there is none', ours: { tools: [['a', 'd', {}]], text: '<tool.msg.mcp.no_text>' } },
  'sagewai_mcp_client 4': { reason: 'a result whose content is no list is an error', ours: { tools: [['a', 'd', {}]], code: 'EXECUTION_FAILED' } },
  'sagewai_mcp_client 5': { reason: '`isError` is an error', ours: { tools: [['a', 'd', {}]], status: 'error', text: '<tool.msg.mcp.error|text=boom>' } },
  'sagewai_mcp_client 6': { reason: 'structured content alone is the text, without what surrounds it', ours: { tools: [['a', 'd', {}]], text: '{"k":1}' } },
  'sagewai_mcp_client 7': { reason: 'an answer that is no list of tools is an error', ours: { code: 'CONNECTION_FAILED' } },
  'sagewai_mcp_client 9': { reason: 'a result that is no object is an error', ours: { tools: [['a', 'd', {}]], code: 'EXECUTION_FAILED' } },
  'sagewai_mcp_client 10': { reason: 'a result that is no object is an error', ours: { tools: [['a', 'd', {}]], code: 'EXECUTION_FAILED' } },
  'sagewai_mcp_client 11': { reason: 'a block that is no text is in the data; the text says that there is none', ours: { tools: [['a', 'd', {}]], text: '<tool.msg.mcp.no_text>' } },
  'sagewai_mcp_client 12': { reason: 'a tool without a name is left out and reported', ours: { tools: [] } },
}
/** Rows that nothing over the wire, and nothing in JavaScript, can be. */
const NO_NOTION: Record<string, string> = {
  'mcp_schema_and_config_errors key int': 'the names of JSON members are strings',
}
const met = new Set<string>()

/** A row is as recorded, or it is listed and is what the list says. */
function replayed(row: string, ours: unknown, recorded: unknown, part: unknown = ours): void {
  const difference = DIFFERENCES[row]
  met.add(row)
  if (difference === undefined) {
    assert.deepEqual(ours, recorded, row)
    return
  }
  assert.notDeepEqual(ours, recorded, `${row} differs no more: ${difference.reason}`)
  const { ours: expected = part } = difference
  // Of an object, what the list names.
  if (expected === null || typeof expected !== 'object' || Array.isArray(expected)) assert.deepEqual(part, expected, row)
  else for (const [key, value] of Object.entries(expected)) assert.deepEqual((part as Record<string, unknown>)[key], value, `${row}: ${key}`)
}

const prompts = tracingPrompts().withOverrides({ 'tool.truncated': '<tool.truncated|max={max}>' })
const odd = (code: string, more: Partial<MCPClientOptions> = {}) => MCPClient.connect({
  namespace: 'ns', command: process.execPath, args: [fixturePath('odd-server.mjs'), code], respawn: false, prompts, ...more,
} as MCPClientOptions)

describe('mcp_load_tools', () => {
  interface Tool { display: string; remote: string; desc: string; origin: string; confirm: boolean; schema: any; fp: string; params: [string, string, boolean][] }
  const rows = vectors<{ tools: object[] | string; out: Tool[] }[]>('mcp_load_tools')
  /** The recorded text of the long case tells how it was made. */
  const LONG = { name: 'long'.repeat(40), description: 'z'.repeat(5000), inputSchema: { type: 'object', properties: { p: { type: 'string', description: 'q'.repeat(5000) } } } }
  rows.forEach((row, index) => test(`mcp_load_tools ${index}`, LIMIT, async () => {
    const isLong = typeof row.tools === 'string'
    const listed = DIFFERENCES[`mcp_load_tools ${index}`] !== undefined
    const expectedFingerprints = Object.fromEntries(row.out.map(({ display, fp }) => [display, fp]))
    await using client = await odd(`state.tools = ${JSON.stringify(isLong ? [LONG] : row.tools)}`, listed ? {} : { expectedFingerprints, fingerprintFormat: 'agentmaker' })
    const tools = await client.loadTools()
    const shown = (text: string) => isLong ? `${text.slice(0, 30)}…${text.length}` : text
    const ours = tools.map(tool => {
      const schema = tool.getParameters() as any
      return {
        display: tool.name, remote: tool.remoteName, desc: shown(tool.description), origin: tool.origin, confirm: tool.requiresConfirmation, schema: isLong ? '…' : schema,
        ...(listed ? {} : { fp: tool.fingerprint }),
        params: Object.entries<any>(schema.properties).map(([name, { type }]) => [name, type, (schema.required ?? []).includes(name)]),
      }
    })
    replayed(`mcp_load_tools ${index}`, ours, listed ? row.out.map(({ fp: _fp, ...tool }) => tool) : row.out, listed ? tools.map(tool => [tool.name, tool.remoteName]) : ours)
  }))

  test('the fingerprints of tools whose names differ are the recorded ones', LIMIT, async () => {
    const row = rows[4]!
    await using client = await odd(`state.tools = ${JSON.stringify(row.tools)}`, { expectedFingerprints: { ns_a_b: row.out[1]!.fp, ns_a_b_2: row.out[0]!.fp }, fingerprintFormat: 'agentmaker' })
    assert.deepEqual((await client.loadTools()).map(tool => tool.fingerprint), row.out.map(({ fp }) => fp))
  })
})

describe('fingerprintFormat', () => {
  const ADD = { name: 'add', description: 'Add', inputSchema: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } }
  const ns_add = vectors<{ out: { fp: string }[] }[]>('mcp_load_tools')[0]!.out[0]!.fp
  const offering = (tool: object, options: Partial<MCPClientOptions>) => odd(`state.tools = [${JSON.stringify(tool)}]`, { requiresConfirmation: false, ...options })
  test('recorded pins approve, refuse, and hold before calls', LIMIT, async () => {
    const pinned = { expectedFingerprints: { ns_add: ns_add.toUpperCase() }, fingerprintFormat: 'agentmaker' } as const
    await using client = await odd(`
      state.tools = [${JSON.stringify(ADD)}]
      on['tools/call'] = message => { state.tools[0].description = 'Another'; changed(); usual(message) }`, { requiresConfirmation: false, ...pinned })
    const [tool] = await client.loadTools()
    assert.equal(tool!.fingerprint, ns_add)
    assert.equal((await tool!.run({ a: 1 })).status, 'success')
    const refused = await tool!.run({ a: 1 })
    assert.deepEqual([refused.code, refused.executed], ['PIN_MISMATCH', false])
    await using other = await offering({ ...ADD, description: 'Adds' }, pinned)
    await assert.rejects(other.loadTools(), (error: any) => error.code === 'PIN_MISMATCH' && error.data.changed[0].expected === ns_add)
    // The way to the fingerprints of a server: approve nothing, and look at what was found.
    await using nothing = await offering(ADD, { ...pinned, expectedFingerprints: {} })
    await assert.rejects(nothing.loadTools(), (error: any) => error.data.found.ns_add === ns_add)
  })
  test('its weakness is as the page says', LIMIT, async () => {
    await using client = await offering({ ...ADD, title: 'T', annotations: { readOnlyHint: true }, outputSchema: { type: 'object' }, description: 'A\u200bdd' }, { expectedFingerprints: { ns_add }, fingerprintFormat: 'agentmaker' })
    assert.equal((await client.loadTools())[0]!.fingerprint, ns_add)
  })
  test('ours is the default, and the option stands beside fingerprints only', LIMIT, async () => {
    for (const fingerprintFormat of [undefined, 'toolbolt'] as const) {
      await using client = await offering(ADD, { expectedFingerprints: { ns_add }, fingerprintFormat })
      await assert.rejects(client.loadTools(), (error: any) => error.code === 'PIN_MISMATCH')
    }
    for (const wrong of [{ fingerprintFormat: 'agentmaker' }, { fingerprintFormat: 'sha1', expectedFingerprints: {} }, { fingerprintFormat: null, expectedFingerprints: {} }, { fingerprintFormat: 'agentmaker', pins: { file: 'x', mode: 'record' } }]) {
      await assert.rejects(offering(ADD, wrong as never), (error: any) => error.code === 'INVALID_OPTIONS', JSON.stringify(wrong))
    }
  })
})

describe('mcp_call_results', () => {
  interface Row { case: string; max_result_chars?: number; status: string; text?: string; text_len?: number; data: any }
  for (const row of vectors<Row[]>('mcp_call_results')) {
    const name = `mcp_call_results ${row.case}`
    test(name, LIMIT, async () => {
      const result = RESULTS[row.case]
      const play = result === undefined ? '' : `raw('{"jsonrpc":"2.0","id":' + id + ',"result":' + ${JSON.stringify(result)} + '}')`
      const client = await odd(`on['tools/call'] = ({ id }) => { ${play} }`, { maxResultChars: row.max_result_chars })
      if (row.case === 'no session') await client.close()
      else assert.ok(result !== undefined || row.case === 'timeout', 'a new row needs a result to play')
      const response = await client.callTool('go', {}, row.case === 'timeout' ? { timeoutMs: 50 } : {})
      await client.close()
      const { content, structuredContent: structured = null } = (response.data ?? {}) as any
      const data = response.data === undefined ? null : { content, structured }
      const ours = row.text_len === undefined ? { status: response.status, text: response.text, data } : { status: response.status, textLength: response.text.length }
      const recorded = row.text_len === undefined ? { status: row.status, text: row.text, data: row.data } : { status: row.status, textLength: row.text_len }
      replayed(name, ours, recorded, { ...ours, code: response.code, content, structured })
    })
  }
})

describe('mcp_schema_and_config_errors', () => {
  interface Row { case: string; ok?: true; kind?: string }
  const rows = vectors<Row[]>('mcp_schema_and_config_errors')
  const isConfig = ({ case: name }: Row) => /^(client|namespace) /.test(name)
  const name = (row: Row) => `mcp_schema_and_config_errors ${row.case}`
  const ofSchemas = rows.filter(row => !isConfig(row) && NO_NOTION[name(row)] === undefined)
  test('every schema has what to play', () => assert.deepEqual(ofSchemas.filter(row => SCHEMAS[row.case] === undefined).map(name), []))
  test('schemas', LIMIT, async t => {
    const raw = ofSchemas.map((row, index) => `{"name":"t${index}","inputSchema":${SCHEMAS[row.case]}}`)
    // Not as an argument: together they are too long for one.
    await using server = await ScriptedServer.start((seen, response, usual) => {
      if (seen.rpc.method !== 'tools/list') usual()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${seen.rpc.id},"result":{"tools":[${raw.join(',')}]}}`)
    })
    await using client = await MCPClient.connectHttp(server.url, { namespace: 'ns', protocol: 'legacy' })
    const loaded = new Set((await client.loadTools()).map(tool => tool.remoteName))
    for (const [index, row] of ofSchemas.entries()) await t.test(name(row), () => {
      const skipped = client.skippedTools.find(({ remoteName }) => remoteName === `t${index}`)
      assert.equal(loaded.has(`t${index}`), skipped === undefined)
      replayed(name(row), skipped === undefined, row.ok === true)
    })
  })

  const NAMES: Record<string, string> = { timeout: 'timeoutMs', max_tools: 'maxTools', max_desc_chars: 'maxDescChars', max_result_chars: 'maxResultChars', allow_insecure_http: 'allowInsecureHttp' }
  /** The recorded options, with nobody behind any address: a documentation address stands for a foreign one. */
  function options({ case: recorded }: Row): object {
    const nobody = { namespace: 'ns', command: 'there-is-no-such-program' }
    if (recorded.startsWith('namespace ')) {
      const [, text] = /^namespace '?(.*?)'?$/.exec(recorded)!
      // The recorded names of 65 and of 64 characters were cut alike.
      const long = rows.filter(row => row.case === recorded).length > 1 ? 'x'.repeat(met.has(`${recorded} first`) ? 64 : 65) : undefined
      met.add(`${recorded} first`)
      return { ...nobody, namespace: text === 'None' ? null : long ?? text!.replace('\\n', '\n') }
    }
    const json = recorded.slice('client '.length).replace(/<object>/g, '"auth"').replace(/'/g, '"').replace(/\bTrue\b/g, 'true').replace(/\bNone\b/g, 'null')
    const given = Object.entries<any>(JSON.parse(json)).map(([key, value]) => [
      NAMES[key] ?? key,
      value === 'auth' ? () => 'token' : key === 'url' && value === 'https://b' ? 'https://127.0.0.1:9' : key === 'url' && recorded.includes('allow_insecure') ? 'http://192.0.2.1:9' : value === 'a' ? nobody.command : value,
    ])
    return { namespace: 'ns', connectTimeoutMs: 5_000, ...Object.fromEntries(given) }
  }
  rows.filter(isConfig).forEach((row, index) => test(`${name(row)} (${index})`, LIMIT, async () => {
    const error = await MCPClient.connect({ ...options(row) } as MCPClientOptions).then(client => client.close(), (thrown: unknown) => thrown)
    assert.ok(ToolError.isInstance(error), `nothing is there: ${error}`)
    const accepted = !['INVALID_OPTIONS', 'INVALID_NAME'].includes(error.code)
    if (accepted) assert.ok(['CONNECTION_FAILED', 'TIMEOUT'].includes(error.code), error.code)
    replayed(name(row), accepted, row.ok === true)
  }))
})

describe('sagewai_mcp_client', () => {
  type Out = [raised: string] | [tools: [string, string, { required?: string[] }][], text: string | null, requests: [string, any][]]
  const rows = vectors<{ tools_list: unknown; call_result: unknown; out: Out }[]>('sagewai_mcp_client')
  rows.forEach((row, index) => test(`sagewai_mcp_client ${index}`, LIMIT, async () => {
    const play: Script = (seen, response, usual) => {
      const { id, method } = seen.rpc
      if (method === 'tools/list') sendJson(response, { jsonrpc: '2.0', id, result: row.tools_list })
      else if (method === 'tools/call') sendJson(response, { jsonrpc: '2.0', id, result: row.call_result })
      else usual()
    }
    await using server = await ScriptedServer.start(play)
    await using client = await MCPClient.connectHttp(server.url, { namespace: 'ns', protocol: 'legacy', requiresConfirmation: false, prompts })
    const tools = await client.loadTools().catch((error: any) => error.code as string)
    const first = Array.isArray(tools) ? tools[0] : undefined
    const response = first === undefined || row.out[1] == null && row.call_result == null && row.out.length === 1 ? undefined : await first.run({ k: 1 })
    // Where a schema is missing, the recorded one has an empty `required` too.
    const listed = Array.isArray(tools) ? tools.map(tool => { const { type: _type, properties: _none, ...rest } = tool.getParameters() as any; return [tool.remoteName, tool.description, rest] }) : tools
    const [recorded, text] = row.out.length === 1 ? ['raises', null] : [row.out[0].map(([remote, description, { required: _none }]) => [remote, description, {}]), row.out[1]]
    replayed(`sagewai_mcp_client ${index}`, { tools: listed, text: response?.text ?? null, isError: response?.status === 'error' }, { tools: recorded, text, isError: false }, {
      ...(Array.isArray(tools) ? { tools: listed } : { code: tools }), text: response?.text, ...(response === undefined ? {} : { status: response.status, code: response.code }),
    })
    if (row.out.length === 3) {
      // What is asked of a server is the same, but for the handshake, which tells a newer revision and our name, and is completed.
      const asked = (method: string) => server.of(method).map(seen => seen.rpc.params)
      for (const [method, params] of row.out[2].filter(([method]) => method === 'tools/call')) assert.deepEqual(asked(method).map(({ name, arguments: args }: any) => ({ name, arguments: args })), [params])
      assert.deepEqual(asked('initialize').map(({ protocolVersion, clientInfo }: any) => [protocolVersion, clientInfo.name]), [['2025-11-25', 'toolbolt']])
      assert.equal(asked('notifications/initialized').length, 1)
    }
  }))
})

test('every listed row was met', () => {
  assert.deepEqual(Object.keys(DIFFERENCES).filter(row => !met.has(row)), [])
})
