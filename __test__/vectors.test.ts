// The recorded behaviour of the system whose interface this package follows, row by row. A row where we differ on purpose
// stands in DIFFERENCES, and its test asserts that it does differ. Names and cleaned texts that only Rust sees are tested there.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { MCPClient, MCPTool, PromptError, PromptRegistry, Tool, ToolPermissions, ToolRegistrationError, ToolRegistry, sanitizeToolName } from 'toolbolt'
import type { ToolCall, ToolEvent, ToolParameter } from 'toolbolt'
import { binding } from '../dist/binding.js'
import { bare, coded, fixturePath, ours, paths, sleep, tracingPrompts, vectors, type PromptKey } from './support.ts'

const DIFFERENCES = [
  { row: 'openai_schema description', reason: 'a boolean default prints as JSON (`false`), not as a Python value (`False`)' },
  { row: 'prompt_templates 10', reason: 'null does not print as the Python value `None`' },
  { row: 'sagewai_tool_decorator 1', reason: 'a description is required; it does not fall back to the function name' },
] as const
const differs = (row: string): boolean => DIFFERENCES.some(difference => difference.row === row)

/** Rows about reading a Python signature or docstring. JavaScript keeps neither types nor docstrings at run time, so a schema is given. */
const NO_NOTION: Record<string, Record<string, string>> = {
  decorator: {
    'Any': 'no type annotations at run time', 'Literal': 'no type annotations at run time', 'Union': 'no type annotations at run time',
    'bytes': 'no type annotations at run time', 'unannotated': 'no type annotations at run time', 'bad fwd': 'no type annotations at run time',
    'set': 'no type annotations at run time', 'object': 'no type annotations at run time', 'None': 'no type annotations at run time',
    'Opt union': 'no type annotations at run time', 'List[int]': 'no type annotations at run time',
    '*args': 'parameters come from the schema, a rest parameter is never read', '**kw': 'JavaScript has no keyword parameters',
    'self second': '`this` is no parameter', 'ann opt': 'no Annotated', 'opt ann': 'no Annotated',
    'positional only': 'every JavaScript parameter is positional', 'kwonly': 'JavaScript has no keyword-only parameters',
  },
  sagewai_tool_decorator: {
    3: 'Optional[int] read as a string: no type annotations', 4: 'Union: no type annotations', 5: 'int | None: no type annotations',
    6: 'int | str: no type annotations', 9: 'Any, bytes, set, tuple: no type annotations', 11: '*args and **kw as parameters',
    12: 'Literal: no type annotations', 13: 'Annotated: no type annotations', 14: 'the docstring as description',
  },
}

describe('permissions', () => {
  interface Row { allow: string[] | null; deny: string[]; allow_origins: string[] | null; deny_origins: string[]; arg: 'str' | 'tool'; reason: string | null }
  const rows = vectors<Row[]>('permissions')
  const prompts = tracingPrompts()
  const subject = bare('t', () => 'ran')
  test('there are 128 rows', () => assert.equal(rows.length, 128))
  rows.forEach((row, index) => test(`permissions ${index}: ${JSON.stringify([row.allow, row.deny, row.allow_origins, row.deny_origins, row.arg])}`, () => {
    const permissions = new ToolPermissions({ allow: row.allow, deny: row.deny, allowOrigins: row.allow_origins, denyOrigins: row.deny_origins, prompts })
    assert.equal(permissions.denialReason(row.arg === 'tool' ? subject : 't'), row.reason)
  }))
})

describe('validation', () => {
  interface Row { params: unknown; status: 'success' | 'error'; text: string; executed: boolean }
  const parameters: ToolParameter[] = [
    { name: 's', type: 'string', description: 'S' },
    ...(['i:integer', 'n:number', 'b:boolean', 'a:array', 'o:object'] as const).map(spec => {
      const [name, type] = spec.split(':') as [string, ToolParameter['type']]
      return { name, type, description: name.toUpperCase(), required: false }
    }),
    { name: 'e', type: 'string', description: 'E', required: false, schema: { type: 'string', enum: ['x', 'y'] } },
  ]
  /** The paths of a recorded text, as JSON pointers. */
  const recordedPaths = (text: string): string[] => text.replace('<tool.error.validation|name=t|err=', '').split('<tool.validation_sep>')
    .map(part => /^<tool\.validation_field\|path=([^|]*)\|/.exec(part)?.[1])
    .map(path => path === undefined ? '' : `/${path.split('.').join('/')}`)

  vectors<Row[]>('validation').forEach((row, index) => {
    // A JavaScript string is JSON text, so the row whose argument is a string exists only as text.
    for (const form of typeof row.params === 'string' ? ['text'] as const : ['value', 'text'] as const) {
      test(`validation ${index} as ${form}: ${JSON.stringify(row.params)}`, async () => {
        const seen: unknown[] = []
        const registry = new ToolRegistry()
        registry.registerFunction(args => { seen.push(args); return 'ran' }, 't', 'desc', parameters)
        const [response, executed] = await registry.executeChecked('t', form === 'text' ? JSON.stringify(row.params) : row.params as object)
        assert.equal(response.status, row.status)
        assert.equal(executed, row.executed)
        assert.equal(response.executed, row.executed)
        if (row.status === 'success') {
          assert.deepEqual(seen, [row.params], 'the function gets every argument, extra ones included, and nothing else')
        } else {
          assert.equal(response.code, 'INVALID_ARGUMENTS')
          assert.deepEqual(paths(response), recordedPaths(row.text))
          assert.deepEqual(seen, [])
        }
      })
    }
  })
  test('1.0 in JSON text is an integer, 1.5 is not', async () => {
    const registry = new ToolRegistry()
    registry.registerFunction(() => 'ran', 't', 'desc', parameters)
    assert.equal((await registry.execute('t', '{"s":"x","i":1.0}')).status, 'success')
    assert.deepEqual(paths(await registry.execute('t', '{"s":"x","i":1.5}')), ['/i'])
  })
})

describe('openai_schema', () => {
  const recorded = vectors<{ schema: unknown; catalog: string; description: string }>('openai_schema')
  const registry = new ToolRegistry({ prompts: tracingPrompts() })
  registry.registerFunction(() => 'ran', 't', 'desc', [
    { name: 's', type: 'string', description: 'S' },
    { name: 'i', type: 'integer', description: 'I', required: false },
    { name: 'n', type: 'number', description: 'N', required: false, default: 1.5 },
    { name: 'b', type: 'boolean', description: 'B', required: false, default: false },
    { name: 'a', type: 'array', description: 'A', required: false },
    { name: 'o', type: 'object', description: 'O', required: false },
    { name: 'e', type: 'string', description: 'E', required: false, schema: { type: 'string', enum: ['x', 'y'], description: 'E' } },
  ])
  test('openai_schema schema', () => assert.deepEqual(registry.toOpenAISchema(), recorded.schema))
  test('openai_schema catalog', () => assert.equal(registry.getCatalog(), recorded.catalog))
  test('openai_schema description', () => {
    assert.ok(differs('openai_schema description'))
    assert.notEqual(registry.getToolsDescription(), recorded.description)
    assert.equal(registry.getToolsDescription(), recorded.description.replace('value=False', 'value=false'))
  })
})

describe('parallel_batches', () => {
  interface Row { calls: string; batches: ['serial' | 'parallel', number[]][] }
  vectors<Row[]>('parallel_batches').forEach((row, index) => test(`parallel_batches ${index}: ${row.calls || '(none)'}`, async () => {
    const marks: { call: number; edge: 'start' | 'end' }[] = []
    const registry = new ToolRegistry({ confirm: () => true })
    const body = async (_args: unknown, { callId }: { callId: string }) => {
      marks.push({ call: Number(callId), edge: 'start' })
      await sleep(15)
      marks.push({ call: Number(callId), edge: 'end' })
      return 'ran'
    }
    registry.register(bare('P', body, { supportsParallel: true }))
    registry.register(bare('S', body))
    registry.register(bare('C', body, { supportsParallel: true, requiresConfirmation: true }))
    const calls = [...row.calls].map((kind, id): ToolCall => ({
      id: String(id),
      name: kind === 'X' ? 'nobody' : 'PSC'.includes(kind) ? kind : 'P',
      arguments: kind === 'J' ? '{"broken":' : kind === 'A' ? '[1]' : '{}',
    }))
    const responses = await registry.executeAll(calls)
    assert.deepEqual(responses.map(r => r.callId), calls.map(c => c.id))
    assert.deepEqual(responses.map(r => r.executed), [...row.calls].map(kind => 'PSC'.includes(kind)))

    const at = (call: number, edge: 'start' | 'end') => marks.findIndex(mark => mark.call === call && mark.edge === edge)
    const batchOf = new Map(row.batches.flatMap(([, members], batch) => members.map(call => [call, batch] as const)))
    const ran = [...row.calls].flatMap((kind, call) => 'PSC'.includes(kind) ? [call] : [])
    for (const first of ran) for (const second of ran.filter(call => call > first)) {
      const overlapped = at(second, 'start') < at(first, 'end')
      assert.equal(overlapped, batchOf.get(first) === batchOf.get(second), `${first} and ${second}`)
      assert.ok(at(first, 'start') < at(second, 'start'), 'calls start in order')
    }
  }))
})

describe('sanitize_tool_name', () => {
  vectors<{ in: string | null; out: string }[]>('sanitize_tool_name').forEach((row, index) =>
    test(`sanitize_tool_name ${index}: ${JSON.stringify(row.in)}`, () => assert.equal(sanitizeToolName(row.in as string), row.out)))
})

describe('prompt_templates', () => {
  interface Row { template?: string; base?: string; variables: string[]; protected?: string[]; kwargs?: Record<string, unknown>; override?: string; out: string }
  vectors<Row[]>('prompt_templates').forEach((row, index) => test(`prompt_templates ${index}: ${row.template ?? `${row.base} → ${row.override}`}`, () => {
    const prompts = PromptRegistry.load('en')
    const work = (): string => {
      if (row.template !== undefined) return prompts.render('test.template', row.kwargs)
      prompts.override({ 'test.template': row.override! })
      return prompts.get('test.template')
    }
    prompts.register('test.template', row.template ?? row.base!, { variables: row.variables, protected: row.protected })
    if (row.out === 'PromptError') assert.throws(work, coded('PROMPT_INVALID', PromptError))
    else if (differs(`prompt_templates ${index}`)) assert.notEqual(work(), row.out)
    else assert.equal(work(), row.out)
  }))
})

describe('prompt_keys', () => {
  const outOfScope = /^tool\.(?:tool_search_result$|(?:desc|param|msg)\.(?:memory|mem|rag|agent|conversation_search|conv|tool_search)(?:\.|$))/
  const rows = Object.entries(vectors<Record<string, PromptKey>>('prompt_keys')).filter(([key]) => key.startsWith('tool.') && !outOfScope.test(key))
  test('some 70 keys are in scope', () => assert.ok(rows.length > 60, String(rows.length)))
  for (const language of ['en', 'zh'] as const) {
    const prompts = PromptRegistry.load(language)
    const keys = new Set(prompts.keys())
    for (const [key, recorded] of rows) test(`prompt_keys ${language} ${key}`, () => {
      assert.ok(keys.has(key))
      assert.deepEqual([...prompts.variables(key)].sort(), [...recorded.variables].sort())
      assert.ok(prompts.get(key).length > 0)
      for (const name of recorded.variables) assert.ok(prompts.get(key).includes(`{${name}}`), `{${name}} in the text`)
      for (const token of recorded.protected) assert.ok(prompts.get(key).includes(token), token)
    })
  }
})

test('tracer_redaction', async () => {
  const recorded = vectors<{ in: object; out: object }>('tracer_redaction')
  const events: (ToolEvent & { args?: unknown })[] = []
  const registry = new ToolRegistry({ onEvent: event => { events.push(event) } })
  let got: unknown
  registry.registerFunction(args => { got = args; return 'ran' }, 't', 'desc')
  assert.equal((await registry.execute('t', recorded.in)).status, 'success')
  assert.deepEqual(events.find(event => event.type === 'call')?.args, recorded.out)
  assert.deepEqual(got, recorded.in, 'what runs is not redacted')
})

describe('decorator', () => {
  type Param = [name: string, type: ToolParameter['type'], description: string, required: boolean, fallback: null | number | boolean | unknown[]]
  const recorded = vectors<{ ok: { name: string; desc: string; params: Param[] }[]; edge: { case: string; out: string | Param[] }[] }>('decorator')
  const asParameters = (params: Param[]): ToolParameter[] => params.map(([name, type, description, required, fallback]) =>
    ({ name, type, description, required, ...(fallback === null ? {} : { default: fallback as ToolParameter['default'] }) }))
  const schemaOf = (subject: Tool) => subject.inputSchema as { properties: Record<string, { type: string; description?: string; default?: unknown }>; required: string[] }

  for (const row of recorded.ok) test(`decorator ${row.name}: name from the function, parameters and required from the schema`, () => {
    const named = { [row.name]: (..._all: unknown[]) => 'ran' }[row.name]!
    const made = Tool.fromCallable(named, { description: row.desc, inputSchema: asParameters(row.params) })
    assert.equal(made.name, row.name)
    assert.equal(made.description, row.desc)
    const { properties, required } = schemaOf(made)
    assert.deepEqual(Object.keys(properties), row.params.map(([name]) => name))
    assert.deepEqual(required, row.params.filter(([, , , needed]) => needed).map(([name]) => name))
    for (const [name, type, description, , fallback] of row.params) {
      assert.equal(properties[name]!.type, type)
      assert.equal(properties[name]!.description ?? '', description)
      assert.deepEqual(properties[name]!.default ?? null, fallback)
    }
  })
  for (const row of recorded.edge) {
    if (NO_NOTION.decorator![row.case] !== undefined) continue
    test(`decorator edge ${row.case}`, async () => {
      if (row.case === 'lambda') {
        assert.throws(() => Tool.fromCallable((x: number) => x, { description: 'nameless', inputSchema: asParameters([['x', 'integer', '', true, null]]) }),
          (error: unknown) => error instanceof ToolRegistrationError)
      } else if (row.case === 'self first') {
        class Holder { factor = 2; twice(x: number) { return x * this.factor } }
        const holder = new Holder()
        const registry = new ToolRegistry()
        registry.registerCallable(holder.twice.bind(holder), { name: 'twice', description: 'Twice x', inputSchema: asParameters(row.out as Param[]) })
        assert.equal((await registry.execute('twice', { x: 4 })).text, '8')
        assert.deepEqual(schemaOf(registry.get('twice')!).required, ['x'])
      } else {
        assert.equal(row.case, 'optional no default', 'a new row needs a test or a reason')
        const made = Tool.fromCallable(function named(x?: number) { return x ?? null }, { description: 'd', inputSchema: asParameters(row.out as Param[]) })
        assert.deepEqual(schemaOf(made).required, [])
        assert.ok(!('default' in schemaOf(made).properties.x!))
      }
    })
  }
  test('every reason names a row', () => {
    for (const name of Object.keys(NO_NOTION.decorator!)) assert.ok(recorded.edge.some(row => row.case === name), name)
  })
})

describe('sagewai_tool_decorator', () => {
  interface Row { src: string; out: { name: string; description: string; parameters: { properties: Record<string, { type: ToolParameter['type'] }>; required: string[] } } }
  vectors<Row[]>('sagewai_tool_decorator').forEach((row, index) => {
    if (NO_NOTION.sagewai_tool_decorator![index] !== undefined) return
    test(`sagewai_tool_decorator ${index}: ${row.src}`, () => {
      const inputSchema = Object.entries(row.out.parameters.properties).map(([name, { type }]) =>
        ({ name, type, description: name, required: row.out.parameters.required.includes(name) }))
      const f = row.src.startsWith('async') ? async function f() { return 'ran' } : function f() { return 'ran' }
      if (differs(`sagewai_tool_decorator ${index}`)) {
        assert.equal(row.out.description, row.out.name)
        assert.throws(() => Tool.fromCallable(f, { inputSchema } as never), ours)
        return
      }
      const registry = new ToolRegistry()
      registry.registerCallable(f, { description: row.out.description, inputSchema })
      const [made] = registry.toOpenAISchema()
      assert.equal(made!.function.name, row.out.name)
      assert.equal(made!.function.description, row.out.description)
      const parameters = made!.function.parameters as Row['out']['parameters']
      assert.deepEqual(parameters.required, row.out.parameters.required)
      assert.deepEqual(Object.entries(parameters.properties).map(([name, { type }]) => [name, type]), Object.entries(row.out.parameters.properties).map(([name, { type }]) => [name, type]))
    })
  })
})

// Cleaning and numbering of foreign names have no public function of their own: the first is what a tool's description goes through.
describe('sanitize_text', async () => {
  const client = await MCPClient.connect([process.execPath, fixturePath('hostile-server.mjs')], { namespace: 'x' })
  after(() => client.close())
  const stricter: Record<number, string> = { 2: 'a\nb', 12: '', 14: '\n\n', 16: 'red', 25: '\ufffdx' }
  vectors<{ in: string; in_len: number; limit: number; out: string }[]>('sanitize_text').forEach((row, index) => test(`sanitize_text ${index}: ${JSON.stringify(row.in)}`, () => {
    // Long rows are recorded by their length: NULs, then a few letters.
    const elided = /\.\.\.\(len (\d+)\)$/.exec(row.in)
    const tail = elided === null ? '' : row.in_len === 5003 ? 'abc' : 'ab'
    const text = elided === null ? row.in : '\0'.repeat(row.in_len - tail.length) + tail
    const cleaned = new MCPTool(client, 't', text, { type: 'object' }, { maxDescChars: row.limit }).description
    assert.equal(cleaned, stricter[index] ?? row.out)
    if (index in stricter) assert.notEqual(cleaned, row.out)
  }))
})

describe('dedupe', () => {
  vectors<{ in: string[]; out: string[] }[]>('dedupe').forEach((row, index) => test(`dedupe ${index}: ${row.in.join(' ').slice(0, 40)}`, () => {
    assert.deepEqual(binding.uniqueToolNames(row.in), row.out)
  }))
})
