// Every way to register a tool, and what the registry then says about it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Tool, ToolPermissions, ToolRegistrationError, ToolRegistry, ToolResponse, tool, toolsOf } from 'toolbolt'
import type { InputSchema, ToolContext, ToolParameter, ToolResult } from 'toolbolt'
import { ANY_OBJECT, bare, coded, ours, paths } from './support.ts'

const CITY: ToolParameter[] = [
  { name: 'city', type: 'string', description: 'city name' },
  { name: 'days', type: 'integer', description: 'number of days', required: false, default: 3 },
]
const CITY_SCHEMA = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', default: 3 } }, required: ['city'] } as const

class Weather extends Tool<{ city: string; days?: number }> {
  seen: unknown[] = []
  constructor(name = 'weather', options?: { origin?: string }) { super(name, 'Weather of a city', options) }
  getParameters(): InputSchema { return CITY }
  run(args: { city: string; days?: number }, _context: ToolContext): ToolResult { this.seen.push(args); return `${args.city} ${args.days}` }
}
class Declared extends Tool {
  override requiresConfirmation = true
  override externalContent = true
  override supportsParallel = true
  getParameters(): InputSchema { return [] }
  run() { return 'ran' }
}

describe('Tool subclasses', () => {
  test('constructor values, schema, identity', async () => {
    const weather = new Weather()
    assert.deepEqual([weather.name, weather.description, weather.origin], ['weather', 'Weather of a city', 'builtin'])
    assert.deepEqual([weather.requiresConfirmation, weather.externalContent, weather.supportsParallel], [false, false, false])
    assert.deepEqual(weather.inputSchema, {
      type: 'object',
      properties: { city: { type: 'string', description: 'city name' }, days: { type: 'integer', description: 'number of days', default: 3 } },
      required: ['city'],
    })
    const registry = new ToolRegistry()
    registry.register(weather)
    assert.equal(registry.get('weather'), weather)
    assert.deepEqual(registry.listTools(), [weather])
    assert.equal((await registry.execute('weather', { city: 'Oslo' })).text, 'Oslo 3')
    assert.equal(new Weather('other', { origin: 'crm' }).origin, 'crm')
  })
  test('flags as class fields count', async () => {
    const registry = new ToolRegistry()
    registry.register(new Declared('declared', 'Declares its flags'))
    assert.equal((await registry.execute('declared', {})).code, 'CONFIRMATION_REQUIRED')
    const response = await registry.execute('declared', {}, { confirm: () => true })
    assert.notEqual(registry.render(response), response.text)
    assert.ok(registry.render(response).includes('ran'))
  })
  test('flags are read at registration, a later change weakens nothing', async () => {
    const registry = new ToolRegistry()
    const subject = new Declared('declared', 'Declares its flags')
    registry.register(subject)
    subject.requiresConfirmation = false
    subject.externalContent = false
    assert.equal((await registry.execute('declared', {})).code, 'CONFIRMATION_REQUIRED')
    const response = await registry.execute('declared', {}, { confirm: () => true })
    assert.notEqual(registry.render(response), response.text)
  })
  test('needsConfirmation and isExternalContent decide per call', async () => {
    class Notes extends Tool<{ action: string }> {
      getParameters(): InputSchema { return [{ name: 'action', type: 'string', description: 'what to do' }] }
      override needsConfirmation({ action }: { action: string }) { return action === 'wipe' }
      override isExternalContent({ action }: { action: string }) { return action === 'read' }
      run({ action }: { action: string }) { return `did ${action}` }
    }
    const registry = new ToolRegistry()
    registry.register(new Notes('notes', 'Notes'))
    assert.equal(registry.needsConfirmation('notes', { action: 'wipe' }), true)
    assert.equal(registry.needsConfirmation('notes', '{"action":"read"}'), false)
    assert.equal((await registry.execute('notes', { action: 'wipe' })).code, 'CONFIRMATION_REQUIRED')
    const [read, write] = [await registry.execute('notes', { action: 'read' }), await registry.execute('notes', { action: 'write' })]
    assert.notEqual(registry.render(read), 'did read')
    assert.equal(registry.render(write), 'did write')
  })
  test('an abstract or incomplete object is refused', () => {
    const registry = new ToolRegistry()
    class NoRun extends Tool { getParameters(): InputSchema { return [] } run!: () => string }
    for (const wrong of [null, undefined, 5, 'weather', () => 'ran', {}, [], { name: 'x' }, new NoRun('no_run', 'No body')]) assert.throws(() => { registry.register(wrong as never) }, ours)
    assert.deepEqual(registry.listTools(), [])
  })
})

describe('tool()', () => {
  test('makes a Tool; run sees defaults; flags and a confirmation function', async () => {
    const seen: unknown[] = []
    const made = tool({
      name: 'weather', description: 'Weather', inputSchema: CITY_SCHEMA, origin: 'crm', externalContent: true, supportsParallel: true,
      requiresConfirmation: ({ days }) => days > 5, run: args => { seen.push(args); return args.city },
    })
    assert.ok(made instanceof Tool)
    assert.deepEqual([made.name, made.description, made.origin, made.externalContent, made.supportsParallel], ['weather', 'Weather', 'crm', true, true])
    const registry = new ToolRegistry()
    registry.register(made)
    assert.equal((await registry.execute('weather', { city: 'Oslo' })).status, 'success')
    assert.deepEqual(seen, [{ city: 'Oslo', days: 3 }])
    assert.equal((await registry.execute('weather', { city: 'Oslo', days: 6 })).code, 'CONFIRMATION_REQUIRED')
  })
  test('incomplete definitions are refused', () => {
    const whole = { name: 'a', description: 'A', inputSchema: ANY_OBJECT, run: () => 'ran' }
    for (const without of ['name', 'description', 'inputSchema', 'run'] as const) {
      const part: Record<string, unknown> = { ...whole }
      delete part[without]
      assert.throws(() => { new ToolRegistry().register(tool(part as never) as never) }, ours, without)
    }
    for (const wrong of [{ timeoutMs: 'x' }, { timeoutMs: -1 }, { maxTextChars: -1 }, { origin: 5 }, { run: 'x' }, { inputSchema: 5 }, { description: 5 }]) {
      assert.throws(() => { new ToolRegistry().register(tool({ ...whole, ...wrong } as never) as never) }, ours, JSON.stringify(wrong))
    }
  })
})

describe('decorated methods', () => {
  class Desk {
    papers: string[]
    constructor(...papers: string[]) { this.papers = papers }
    @tool({ description: 'List the papers', inputSchema: ANY_OBJECT })
    list() { return this.papers.join(',') }
    @tool({ name: 'put_paper', description: 'Put a paper', inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }, requiresConfirmation: true })
    put({ title }: { title: string }) { this.papers.push(title); return this.papers.length }
    plain() { return 'not a tool' }
  }
  class Drawer extends Desk {
    @tool({ description: 'Lock it', inputSchema: [] })
    lock() { return `locked ${this.papers.length}` }
  }
  test('toolsOf gives them in order, bound to the instance', async () => {
    const [one, two] = [new Desk('a'), new Desk('b', 'c')]
    assert.deepEqual(toolsOf(one).map(t => [t.name, t.description, t.origin]), [['list', 'List the papers', 'builtin'], ['put_paper', 'Put a paper', 'builtin']])
    const first = new ToolRegistry({ confirm: () => true })
    const second = new ToolRegistry()
    first.registerAll(toolsOf(one))
    second.registerAll(toolsOf(two))
    assert.equal((await first.execute('put_paper', { title: 'z' })).text, '2')
    assert.equal((await first.execute('list', {})).text, 'a,z')
    assert.equal((await second.execute('list', {})).text, 'b,c')
    assert.equal((await second.execute('put_paper', { title: 'z' })).code, 'CONFIRMATION_REQUIRED')
    assert.deepEqual(paths(await second.execute('put_paper', {})), [''])
    assert.equal(one.list(), 'a,z', 'a decorated method is still a method')
  })
  test('a subclass has the methods of its base', async () => {
    const registry = new ToolRegistry()
    registry.registerAll(toolsOf(new Drawer('x')))
    assert.deepEqual(registry.listTools().map(t => t.name).sort(), ['list', 'lock', 'put_paper'])
    assert.equal((await registry.execute('lock', {})).text, 'locked 1')
    assert.equal(toolsOf(new Desk()).length, 2, 'and the base has not those of the subclass')
  })
  test('an object without decorated methods has no tools', () => assert.deepEqual(toolsOf({ list() { return 1 } }), []))
})

describe('functions', () => {
  test('fromCallable expands arguments by name, in the order of the schema', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'integer', default: 9 } }, required: ['a'] } as const
    const made = Tool.fromCallable(function join(a: number, b = 5, c?: number) { return `${a}-${b}-${c}` }, { description: 'Join', inputSchema })
    assert.equal(made.name, 'join')
    const registry = new ToolRegistry()
    registry.register(made)
    assert.equal((await registry.execute('join', { c: 3, a: 1, b: 2 })).text, '1-2-3')
    assert.equal((await registry.execute('join', { a: 1 })).text, '1-5-9', 'a missing argument leaves the place to its default')
    assert.equal((await registry.execute('join', { a: 1, c: 4, extra: 7 })).text, '1-5-4', 'an extra one is dropped')
  })
  test('registerCallable takes flags, a name and async functions', async () => {
    const registry = new ToolRegistry()
    registry.registerCallable(async (text: string) => ({ loud: text.toUpperCase() }), { name: 'shout', description: 'Shout', inputSchema: [{ name: 'text', type: 'string', description: 't' }], origin: 'crm' })
    const response = await registry.execute('shout', { text: 'hi' })
    assert.deepEqual([response.text, response.data, response.origin], ['{"loud":"HI"}', { loud: 'HI' }, 'crm'])
    assert.throws(() => registry.registerCallable((text: string) => text, { description: 'nameless', inputSchema: ANY_OBJECT }), ours)
    assert.throws(() => registry.registerCallable('shout' as never, { description: 'x', inputSchema: ANY_OBJECT }), ours)
    assert.throws(() => registry.registerCallable(async () => 'x', { name: 'shout', description: 'again', inputSchema: ANY_OBJECT }), coded('DUPLICATE_NAME', ToolRegistrationError))
    registry.registerCallable(async () => 'second', { name: 'shout', description: 'again', inputSchema: ANY_OBJECT, overwrite: true })
    assert.equal((await registry.execute('shout', {})).text, 'second')
  })
  test('registerFunction gets the whole object and no defaults', async () => {
    const registry = new ToolRegistry()
    const seen: unknown[] = []
    registry.registerFunction(args => { seen.push(args); return 'ran' }, 'weather', 'Weather', CITY, { requiresConfirmation: true, externalContent: true, origin: 'crm' })
    assert.equal((await registry.execute('weather', { city: 'Oslo' })).code, 'CONFIRMATION_REQUIRED')
    const response = await registry.execute('weather', { city: 'Oslo', extra: [1] }, { confirm: () => true })
    assert.deepEqual(seen, [{ city: 'Oslo', extra: [1] }])
    assert.equal(response.origin, 'crm')
    assert.notEqual(registry.render(response), 'ran')
    registry.registerFunction(() => 'none', 'none', 'No parameters')
    assert.equal((await registry.execute('none', {})).text, 'none')
    assert.throws(() => { registry.registerFunction(() => 'x', 'none', 'again') }, coded('DUPLICATE_NAME'))
    registry.registerFunction(() => 'again', 'none', 'again', [], { overwrite: true })
    assert.equal((await registry.execute('none', {})).text, 'again')
  })
})

describe('ToolSpec', () => {
  test('a spec runs its handler with the arguments as they came', async () => {
    const registry = new ToolRegistry()
    const seen: unknown[] = []
    registry.register({ name: 'spec', description: 'A spec', parameters: CITY_SCHEMA, handler: args => { seen.push(args); return 'ran' } })
    assert.equal((await registry.execute('spec', { city: 'Oslo' })).text, 'ran')
    assert.deepEqual(seen, [{ city: 'Oslo' }], 'no defaults')
    const got = registry.get('spec')!
    assert.ok(got instanceof Tool)
    assert.deepEqual([got.name, got.description, got.origin, got.inputSchema], ['spec', 'A spec', 'builtin', CITY_SCHEMA])
    registry.register({ name: 'open', description: 'No parameters given', handler: () => 'ran' })
    assert.equal((await registry.execute('open', {})).text, 'ran')
    assert.equal((registry.get('open')!.inputSchema as { type: string }).type, 'object')
  })
  test('without a handler a call is answered with NO_HANDLER', async () => {
    const registry = new ToolRegistry()
    registry.register({ name: 'hollow', description: 'No handler', parameters: CITY_SCHEMA })
    const response = await registry.execute('hollow', { city: 'Oslo' })
    assert.deepEqual([response.status, response.code, response.executed], ['error', 'NO_HANDLER', false])
    assert.deepEqual(registry.toOpenAISchema().map(t => t.function.name), ['hollow'])
  })
})

test('declared defaults: filled for tool(), callables and Tool subclasses, not for functions and specs', async () => {
  const text = async (add: (registry: ToolRegistry) => void, args: object) => {
    const registry = new ToolRegistry()
    add(registry)
    return (await registry.execute('weather', args)).text
  }
  const show = (args: unknown) => JSON.stringify(args)
  class Shown extends Weather { override run(args: { city: string; days?: number }) { return show(args) } }
  const filled: ((registry: ToolRegistry) => void)[] = [
    r => r.register(tool({ name: 'weather', description: 'x', inputSchema: CITY, run: show })),
    r => r.register(tool({ name: 'weather', description: 'x', inputSchema: CITY_SCHEMA, run: show })),
    r => r.register(new Shown()),
    r => r.registerCallable(function weather(city: string, days?: number) { return show({ city, days }) }, { description: 'x', inputSchema: CITY }),
    r => r.register(Tool.fromCallable(function weather(city: string, days?: number) { return show({ city, days }) }, { description: 'x', inputSchema: CITY_SCHEMA })),
  ]
  const asGiven: ((registry: ToolRegistry) => void)[] = [
    r => { r.registerFunction(show, 'weather', 'x', CITY) },
    r => r.register({ name: 'weather', description: 'x', parameters: CITY_SCHEMA, handler: show }),
  ]
  for (const add of filled) {
    assert.equal(await text(add, { city: 'Oslo' }), '{"city":"Oslo","days":3}')
    assert.equal(await text(add, { city: 'Oslo', days: 1 }), '{"city":"Oslo","days":1}')
  }
  for (const add of asGiven) assert.equal(await text(add, { city: 'Oslo' }), '{"city":"Oslo"}')
})

test('a default is a fresh value for every call', async () => {
  const registry = new ToolRegistry()
  registry.register(tool({ name: 't', description: 'x', inputSchema: { type: 'object', properties: { list: { type: 'array', items: { type: 'integer' }, default: [] } } }, run: ({ list }) => { list.push(1); return list.length } }))
  assert.deepEqual([(await registry.execute('t', {})).text, (await registry.execute('t', {})).text], ['1', '1'])
})

test('fromTools', () => {
  assert.equal(ToolRegistry.fromTools(null), null)
  assert.equal(ToolRegistry.fromTools(undefined), null)
  const registry = new ToolRegistry()
  assert.equal(ToolRegistry.fromTools(registry), registry)
  function* generate() { yield bare('a', () => 1); yield { name: 'b', description: 'B', handler: () => 2 } }
  for (const tools of [[...generate()], new Set(generate()), generate()]) assert.deepEqual(ToolRegistry.fromTools(tools).listTools().map(t => t.name), ['a', 'b'])
  assert.deepEqual(ToolRegistry.fromTools([]).listTools(), [])
  for (const wrong of [5, {}, true]) assert.throws(() => ToolRegistry.fromTools(wrong as never), coded('INVALID_OPTIONS'))
  assert.throws(() => ToolRegistry.fromTools([bare('a', () => 1), bare('a', () => 2)]), coded('DUPLICATE_NAME'))
})

test('fromTools takes registry options', async () => {
  const registry = ToolRegistry.fromTools([bare('a', () => 1)], { permissions: new ToolPermissions({ deny: ['a'] }) })
  assert.equal((await registry.execute('a', {})).code, 'PERMISSION_DENIED')
})

test('unregister, and one tool in two registries', async () => {
  const [one, two] = [new ToolRegistry(), new ToolRegistry()]
  const shared = bare('a', () => ToolResponse.ok('ran'))
  one.register(shared)
  two.register(shared)
  assert.equal(one.unregister('a'), true)
  assert.equal(one.unregister('a'), false)
  assert.equal((await one.execute('a', {})).code, 'TOOL_NOT_FOUND')
  assert.equal((await two.execute('a', {})).text, 'ran')
  one.register(shared)
  assert.equal((await one.execute('a', {})).text, 'ran')
})

test('catalog and schema keep the order of registration, hide what is denied, and say when there is nothing', () => {
  const registry = new ToolRegistry()
  const nothing = registry.getCatalog()
  assert.ok(nothing.length > 0)
  assert.equal(registry.getToolsDescription(), nothing)
  assert.deepEqual(registry.toOpenAISchema(), [])
  for (const name of ['zeta', 'alpha', 'mid']) registry.register(bare(name, () => name))
  assert.equal(registry.getCatalog(), ['zeta', 'alpha', 'mid'].map(name => `- ${name}: The ${name} tool`).join('\n'))
  assert.deepEqual(registry.toOpenAISchema(['mid', 'zeta', 'mid', 'nobody']).map(t => t.function.name), ['mid', 'zeta'])
  assert.deepEqual(registry.toOpenAISchema([]), [])
  assert.ok(!registry.getToolsDescription(['mid']).includes('zeta'))
  registry.setPermissions(new ToolPermissions({ deny: ['alpha'] }))
  assert.ok(!registry.getCatalog().includes('alpha') && !registry.getToolsDescription().includes('alpha'))
  assert.deepEqual(registry.toOpenAISchema(['alpha', 'mid']).map(t => t.function.name), ['mid'])
  registry.setPermissions(null)
  assert.equal(registry.toOpenAISchema().length, 3)
})
