// Where a tool's schema may come from, and that what it says decides: JSON Schema, ToolParameter lists and Standard Schemas.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { ToolError, ToolRegistry, ToolResponse, tool } from 'toolbolt'
import type { ConfirmRequest, InputSchema, JsonSchema } from 'toolbolt'
import * as v from 'valibot'
import { z } from 'zod'
import { ours, paths, sleep, unhandledDuring, violations } from './support.ts'

/** A registry with one tool `t` of this schema, and what its body got. */
function withSchema(inputSchema: InputSchema, flags: { requiresConfirmation?: boolean } = {}) {
  const got: any[] = []
  const registry = new ToolRegistry()
  registry.register(tool({ name: 't', description: 'T', inputSchema, run: (args: any) => { got.push(args); return 'ran' }, ...flags }))
  return { registry, got, exported: () => registry.toOpenAISchema()[0]!.function.parameters as { type: string; properties: Record<string, any>; required?: string[] } }
}

function refusedAt(response: ToolResponse, expected: string[]) {
  assert.deepEqual([response.status, response.code, response.executed], ['error', 'INVALID_ARGUMENTS', false])
  assert.deepEqual(paths(response), expected)
}

const libraries: Record<string, () => InputSchema> = {
  'zod 4': () => z.object({ city: z.string().describe('city name'), days: z.number().int().min(1).max(7).default(3), tags: z.array(z.string()).optional() }),
  'arktype': () => type({ city: 'string', days: '1 <= number.integer <= 7 = 3', 'tags?': 'string[]' }),
  'valibot': () => toStandardJsonSchema(v.object({ city: v.pipe(v.string(), v.description('city name')), days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(7)), 3), tags: v.optional(v.array(v.string())) })),
}

for (const [library, make] of Object.entries(libraries)) describe(library, () => {
  test('is exported as JSON Schema', () => {
    const { exported } = withSchema(make())
    assert.equal(exported().type, 'object')
    assert.deepEqual(Object.keys(exported().properties).sort(), ['city', 'days', 'tags'])
    assert.equal(exported().properties.city.type, 'string')
    if (library !== 'arktype') assert.equal(exported().properties.city.description, 'city name')
    assert.ok(!('~standard' in exported()) && JSON.parse(JSON.stringify(exported())))
    assert.deepEqual((exported().required ?? []).filter(name => name !== 'days'), ['city'], 'what a caller must send')
  })
  test('fills defaults, as text and as value', async () => {
    const { registry, got } = withSchema(make())
    assert.equal((await registry.execute('t', '{"city":"Oslo"}')).status, 'success')
    assert.equal((await registry.execute('t', { city: 'Oslo', days: 5 })).status, 'success')
    assert.equal(registry.executeSync('t', { city: 'Oslo' }).status, 'success')
    assert.deepEqual(got.map(({ city, days }) => [city, days]), [['Oslo', 3], ['Oslo', 5], ['Oslo', 3]])
  })
  test('names every fault with its pointer', async () => {
    const { registry, got } = withSchema(make())
    const response = await registry.execute('t', { city: 5, days: 99, tags: ['a', 5] })
    refusedAt(response, ['/city', '/days', '/tags/1'])
    for (const word of ['city', 'days', 'tags']) assert.ok(response.text.includes(word))
    assert.deepEqual(got, [])
  })
  test('a missing key is a fault', async () => {
    const { registry } = withSchema(make())
    const [fault, ...more] = violations(await registry.execute('t', {}))
    assert.deepEqual(more, [])
    assert.ok(['', '/city'].includes(fault!.path))
    assert.match(`${fault!.path} ${fault!.message}`, /city/)
  })
  test('takes objects only', async () => {
    const { registry } = withSchema(make())
    for (const args of ['[]', '5', 'null', '"x"', [], 5, null]) {
      const response = await registry.execute('t', args as never)
      assert.deepEqual([response.code, response.executed], ['INVALID_ARGUMENTS', false], JSON.stringify(args))
    }
  })
})

describe('what a Standard Schema adds', () => {
  test('transforms reach the body, once; the person sees what the model sent', async () => {
    let transforms = 0
    const requests: ConfirmRequest[] = []
    const { registry, got } = withSchema(z.object({ when: z.string().transform(text => { transforms++; return new Date(text) }), keys: z.array(z.string()).transform(list => new Set(list)) }), { requiresConfirmation: true })
    const response = await registry.execute('t', { when: '2026-01-02T00:00:00Z', keys: ['a', 'a'] }, { confirm: request => { requests.push(request); return true } })
    assert.equal(response.status, 'success')
    assert.equal(transforms, 1)
    assert.ok(got[0].when instanceof Date && got[0].keys instanceof Set)
    assert.equal(got[0].when.getUTCFullYear(), 2026)
    assert.deepEqual(requests[0]!.args, { when: '2026-01-02T00:00:00Z', keys: ['a', 'a'] })
    assert.ok(requests[0]!.preview.includes('2026-01-02'))
  })
  test('an asynchronous refinement is awaited, and refused on the synchronous path', async () => {
    const schema = z.object({ user: z.string().refine(async name => { await sleep(2); return name !== 'root' }, 'not that user') })
    const { registry, got } = withSchema(schema)
    assert.equal((await registry.execute('t', { user: 'ann' })).status, 'success')
    const response = await registry.execute('t', { user: 'root' })
    refusedAt(response, ['/user'])
    assert.match(response.text, /not that user/)
    assert.deepEqual(got, [{ user: 'ann' }])
    const unhandled = await unhandledDuring(async () => {
      const [sync, executed] = registry.executeSyncChecked('t', { user: 'ann' })
      assert.deepEqual([sync.status, executed], ['error', false])
    })
    assert.deepEqual([unhandled, got.length], [[], 1])
  })
  test('unknown keys follow the schema', async () => {
    const strip = withSchema(z.object({ a: z.string() }))
    assert.equal((await strip.registry.execute('t', { a: 'x', more: 1 })).status, 'success')
    assert.deepEqual(strip.got, [{ a: 'x' }])
    const strict = withSchema(z.strictObject({ a: z.string() }))
    assert.equal((await strict.registry.execute('t', { a: 'x', more: 1 })).code, 'INVALID_ARGUMENTS')
    assert.equal((await withSchema(z.looseObject({ a: z.string() })).registry.execute('t', { a: 'x', more: 1 })).status, 'success')
  })
  test('pointers go deep and are escaped', async () => {
    const { registry } = withSchema(z.object({ 'a/b': z.object({ 'm~n': z.array(z.object({ id: z.number() })) }) }))
    refusedAt(await registry.execute('t', { 'a/b': { 'm~n': [{ id: 1 }, { id: 'x' }] } }), ['/a~1b/m~0n/1/id'])
  })
  test('a validate that throws refuses the call', async () => {
    const base = z.object({ a: z.string() })['~standard'] as any
    for (const validate of [() => { throw new Error('validator broke') }, () => Promise.reject(new Error('validator broke')), () => undefined, () => 5]) {
      const { registry, got } = withSchema({ '~standard': { ...base, validate } } as never)
      const unhandled = await unhandledDuring(async () => {
        const response = await registry.execute('t', { a: 'x' })
        assert.deepEqual([response.status, response.executed], ['error', false])
      })
      assert.deepEqual([unhandled, got], [[], []])
    }
  })
  test('without a conversion to JSON Schema it is refused with a clear error', () => {
    const bare = { '~standard': { version: 1, vendor: 'homemade', validate: (value: unknown) => ({ value }) } } as const
    for (const schema of [bare, v.object({ a: v.string() })]) {
      assert.throws(() => { withSchema(schema as InputSchema) }, (error: unknown) => ours(error) && /JSON Schema/i.test((error as Error).message))
    }
  })
  test('a schema that is no object is refused', () => {
    for (const schema of [z.string(), z.array(z.string())]) assert.throws(() => { withSchema(schema) }, ours)
  })
})

describe('JSON Schema', () => {
  test('every violation comes with its pointer, sorted by path', async () => {
    const { registry } = withSchema({
      type: 'object', required: ['z'],
      properties: { z: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'array', items: { type: 'integer', minimum: 1 } } } }, a: { enum: ['x', 'y'] }, 'm~n/o': { type: 'null' } },
    })
    refusedAt(await registry.execute('t', { 'm~n/o': 1, b: { c: [1, 0, 'x'] }, a: 'q' }), ['', '/a', '/b/c/1', '/b/c/2', '/m~0n~1o'])
  })
  test('2020-12 unless $schema names an older draft', async () => {
    const newer = withSchema({ type: 'object', properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false } } })
    refusedAt(await newer.registry.execute('t', { pair: ['a', 'b'] }), ['/pair/1'])
    assert.equal((await newer.registry.execute('t', { pair: ['a', 1] })).status, 'success')
    const older = withSchema({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] } } })
    refusedAt(await older.registry.execute('t', { pair: ['a', 'b'] }), ['/pair/1'])
    assert.equal((await older.registry.execute('t', { pair: ['a', 1] })).status, 'success')
  })
  test('local references work, others are refused and nothing is fetched', async () => {
    const local = withSchema({ type: 'object', properties: { p: { $ref: '#/$defs/point' } }, $defs: { point: { type: 'object', required: ['x'] } } })
    refusedAt(await local.registry.execute('t', { p: {} }), ['/p'])
    for (const $ref of ['#/$defs/nothing', 'https://example.invalid/schema.json', 'file:///etc/passwd']) {
      try {
        const { registry, got } = withSchema({ type: 'object', properties: { p: { $ref } } })
        const response = await registry.execute('t', { p: 1 })
        assert.deepEqual([response.status, response.executed, got], ['error', false, []])
      } catch (error) { assert.ok(ToolError.isInstance(error), String(error)) }
    }
  })
  test('a broken schema never lets a call through', async () => {
    for (const schema of [{ type: 'strng' }, { type: 'object', properties: 5 }, { type: 'object', properties: { a: { pattern: '(' } } }, { type: 'object', required: 'a' }]) {
      try {
        const { registry, got } = withSchema(schema)
        const response = await registry.execute('t', { a: 'x' })
        assert.deepEqual([response.status, response.executed, got], ['error', false, []], JSON.stringify(schema))
      } catch (error) { assert.ok(ToolError.isInstance(error), String(error)) }
    }
  })
  test('no coercion', async () => {
    const { registry } = withSchema({ type: 'object', properties: { n: { type: 'integer' }, b: { type: 'boolean' }, s: { type: 'string' }, l: { type: 'array' } } })
    for (const [args, path] of [[{ n: '1' }, '/n'], [{ n: true }, '/n'], [{ b: 1 }, '/b'], [{ b: 'true' }, '/b'], [{ s: 1 }, '/s'], [{ l: 'a' }, '/l'], [{ l: {} }, '/l']] as const) refusedAt(await registry.execute('t', args), [path])
  })
  test('the schema is copied: a later change of the object changes nothing', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } } }
    const { registry, exported } = withSchema(schema)
    schema.properties.n.type = 'string'
    refusedAt(await registry.execute('t', { n: 'x' }), ['/n'])
    assert.equal(exported().properties.n.type, 'integer')
    assert.throws(() => { (exported().properties.n as { type: string }).type = 'string' }, TypeError, 'the export is kept, so it is frozen')
    refusedAt(await registry.execute('t', { n: 'x' }), ['/n'])
  })
  test('exports keep every keyword and the order of properties', () => {
    const schema: JsonSchema = { type: 'object', properties: { zeta: { type: 'string', format: 'date', 'x-own': 1 }, alpha: { anyOf: [{ type: 'null' }, { type: 'integer' }] }, mid: { const: 1 } }, required: ['mid', 'alpha'], additionalProperties: false }
    const { exported } = withSchema(schema)
    assert.deepEqual(exported(), schema)
    assert.equal(JSON.stringify(exported().properties), JSON.stringify(schema.properties))
    const zod = withSchema(z.object({ zeta: z.string(), alpha: z.number(), mid: z.boolean() }))
    assert.deepEqual(Object.keys(zod.exported().properties), ['zeta', 'alpha', 'mid'])
    const list = withSchema(['zeta', 'alpha', 'mid'].map(name => ({ name, type: 'string' as const, description: name })))
    assert.deepEqual(Object.keys(list.exported().properties), ['zeta', 'alpha', 'mid'])
    assert.deepEqual(list.exported().required, ['zeta', 'alpha', 'mid'])
  })
})

describe('ToolParameter lists', () => {
  test('a full schema stands verbatim', () => {
    const { exported } = withSchema([{ name: 'e', type: 'string', description: 'not merged', required: false, default: 'x', schema: { enum: ['x', 'y'] } }])
    assert.deepEqual(exported().properties.e, { enum: ['x', 'y'] })
    assert.deepEqual(exported().required, [])
  })
  test('false, 0 and empty text are defaults, null is none', () => {
    const { exported } = withSchema([false, 0, '', null].map((value, i) => ({ name: `p${i}`, type: 'string' as const, description: 'd', required: false, default: value })))
    assert.deepEqual(Object.values(exported().properties).map(p => p.default), [false, 0, '', undefined])
  })
  test('an empty list takes an empty object', async () => {
    const { registry, exported } = withSchema([])
    assert.deepEqual(exported(), { type: 'object', properties: {}, required: [] })
    assert.equal((await registry.execute('t', {})).status, 'success')
  })
  test('bad entries are refused', () => {
    for (const wrong of [[{ type: 'string' }], [{ name: 5, type: 'string' }], [{ name: 'a', type: 'strng' }], [null], [{ name: 'a', type: 'string' }, { name: 'a', type: 'string' }]]) {
      assert.throws(() => { withSchema(wrong as never) }, ours, JSON.stringify(wrong))
    }
  })
})
