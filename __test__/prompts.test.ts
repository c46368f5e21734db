// PromptRegistry: every sentence a model may read can be overridden, and an override that would lose something is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CalculatorTool, PromptError, PromptRegistry, ToolError, ToolPermissions, ToolRegistry } from 'toolbolt'
import { bare, coded, ours, tracingPrompts } from './support.ts'

const invalid = coded('PROMPT_INVALID', PromptError)

test('both languages have the same keys and variables, and no empty text', () => {
  const [en, zh] = [PromptRegistry.load('en'), PromptRegistry.load('zh')]
  assert.deepEqual([...zh.keys()].sort(), [...en.keys()].sort())
  assert.equal(new Set(en.keys()).size, en.keys().length)
  let chinese = 0
  for (const key of en.keys()) {
    assert.deepEqual([...zh.variables(key)].sort(), [...en.variables(key)].sort(), key)
    assert.ok(en.get(key).length > 0 && zh.get(key).length > 0, key)
    if (/\p{Script=Han}/u.test(zh.get(key))) chinese++
    assert.ok(!/\p{Script=Han}/u.test(en.get(key)), `${key} is English`)
    for (const name of en.variables(key)) assert.ok(en.get(key).includes(`{${name}}`) && zh.get(key).includes(`{${name}}`), `${key} uses ${name}`)
  }
  assert.ok(chinese > en.keys().length * 0.8, `${chinese} Chinese texts`)
  for (const wrong of ['xx', '', 'EN', 5, null, '__proto__']) assert.throws(() => PromptRegistry.load(wrong as never), ours)
})

test('render fills every declared variable and nothing else', () => {
  const prompts = PromptRegistry.load('en')
  prompts.register('test.a', '{name} {{name}} {other} $& {name}', { variables: ['name'] })
  assert.equal(prompts.render('test.a', { name: '{other}$1' }), '{other}$1 {{name}} {other} $& {other}$1')
  assert.equal(prompts.render('test.a', { name: 'n', other: 2 }), 'n {{name}} 2 $& n')
  assert.throws(() => prompts.render('test.a'), invalid)
  assert.throws(() => prompts.render('test.a', { other: 1 }), invalid)
  for (const key of ['test.unknown', '', 'constructor', '__proto__', 'toString']) {
    assert.throws(() => prompts.get(key), invalid, key)
    assert.throws(() => prompts.render(key, {}), invalid, key)
    assert.throws(() => prompts.override({ [key]: 'x' }), invalid, key)
  }
})

test('an override keeps variables and protected words, may add variables, and knows its key', () => {
  const prompts = PromptRegistry.load('en')
  prompts.register('test.a', '{x} KEEP', { variables: ['x'], protected: ['KEEP'] })
  for (const text of ['KEEP', '{x}', '{{x}} KEEP', '{ x } KEEP', '']) assert.throws(() => prompts.override({ 'test.a': text }), invalid, text)
  assert.equal(prompts.get('test.a'), '{x} KEEP')
  prompts.override({ 'test.a': 'KEEP {y} {x}' })
  assert.equal(prompts.render('test.a', { x: 1, y: 2 }), 'KEEP 2 1')
  for (const wrong of [5, null, undefined, {}]) assert.throws(() => prompts.override({ 'test.a': wrong as never }), ours)
})

test('of several overrides with a wrong one, none is taken', () => {
  const prompts = PromptRegistry.load('en')
  const before = prompts.get('tool.none')
  assert.throws(() => prompts.override({ 'tool.none': 'changed', 'tool.no_such_key': 'x' }), invalid)
  assert.throws(() => prompts.withOverrides({ 'tool.none': 'changed', 'tool.error.not_found': 'variables lost' }), invalid)
  assert.equal(prompts.get('tool.none'), before)
})

test('register takes new keys only', () => {
  const prompts = PromptRegistry.load('en')
  const count = prompts.keys().length
  prompts.register('test.a', 'text')
  assert.deepEqual([prompts.get('test.a'), prompts.variables('test.a'), prompts.keys().length], ['text', [], count + 1])
  assert.throws(() => prompts.register('test.a', 'again'), invalid)
  assert.throws(() => prompts.register('tool.none', 'again'), invalid)
  assert.ok(!PromptRegistry.load('en').keys().includes('test.a'), 'another registry does not have it')
})

test('withOverrides copies, override changes in place', () => {
  const prompts = PromptRegistry.load('en')
  const before = prompts.get('tool.none')
  const copy = prompts.withOverrides({ 'tool.none': 'nil' })
  assert.ok(copy instanceof PromptRegistry)
  assert.deepEqual([prompts.get('tool.none'), copy.get('tool.none')], [before, 'nil'])
  copy.override({ 'tool.none': 'nought' })
  prompts.override({ 'tool.none': 'naught' })
  assert.deepEqual([prompts.get('tool.none'), copy.get('tool.none'), PromptRegistry.load('en').get('tool.none')], ['naught', 'nought', before])
})

test('a registry speaks through its prompts', async () => {
  const registry = new ToolRegistry({ prompts: tracingPrompts() })
  registry.register(bare('asks', () => 'ran', { requiresConfirmation: true }))
  registry.register(bare('boom', () => { throw new TypeError('bad') }))
  registry.registerFunction(() => 'ran', 'strict', 'S', [{ name: 'a', type: 'string', description: 'a' }, { name: 'b', type: 'string', description: 'b' }])
  const said = async (name: string, args: object = {}) => (await registry.execute(name, args)).text
  assert.equal(await said('nobody'), '<tool.error.not_found|name=nobody|available=asks, boom, strict>')
  assert.equal(await said('asks'), '<tool.error.needs_confirmation|name=asks>')
  assert.match(await said('boom'), /^<tool\.error\.exec_failed\|name=boom\|err=.*bad.*>$/)
  assert.match(await said('strict', { a: 1 }), /^<tool\.error\.validation\|name=strict\|err=(?!<tool\.validation_field).+<tool\.validation_sep><tool\.validation_field\|path=\/?a\|message=.+>>$/)
  registry.setPermissions(new ToolPermissions({ deny: ['asks'], prompts: tracingPrompts() }))
  assert.equal(await said('asks'), '<tool.error.denied|reason=<tool.permission.in_deny|name=asks>>')
  assert.equal(new ToolRegistry({ prompts: tracingPrompts() }).getCatalog(), '<tool.empty_catalog>')
  const empty = await new ToolRegistry({ prompts: tracingPrompts() }).execute('nobody', {})
  assert.equal(empty.text, '<tool.error.not_found|name=nobody|available=<tool.none>>')
})

test('Chinese prompts give Chinese answers', async () => {
  const registry = new ToolRegistry({ prompts: PromptRegistry.load('zh') })
  registry.register(bare('asks', () => 'ran', { requiresConfirmation: true, externalContent: true }))
  for (const text of [(await registry.execute('nobody', {})).text, (await registry.execute('asks', {})).text, registry.render(await registry.execute('asks', {}, { confirm: () => true }))]) assert.match(text, /\p{Script=Han}/u)
})

test('a description is fixed when the tool is made, parameter texts are read when asked', () => {
  const prompts = PromptRegistry.load('en')
  const calculator = new CalculatorTool({ prompts })
  prompts.override({ 'tool.desc.calculator': 'changed description', 'tool.param.calculator.expression': 'changed parameter' })
  assert.notEqual(calculator.description, 'changed description')
  assert.ok(JSON.stringify(calculator.getParameters()).includes('changed parameter'))
  assert.equal(new CalculatorTool({ prompts }).description, 'changed description')
})

test('PromptError is a ToolError', () => {
  assert.throws(() => PromptRegistry.load('en').get('nothing'), (error: unknown) => error instanceof PromptError && error instanceof ToolError && error instanceof Error)
})
