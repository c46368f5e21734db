// Cases from public bug and security reports, each named by its id in field-cases.json: how permissions, confirmation and the
// registry must behave. Those about values stand in field-cases-values.test.ts.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MCPClient, Tool, ToolError, ToolPermissions, ToolRegistrationError, ToolRegistry, ToolResponse } from 'toolbolt'
import type { ConfirmRequest, InputSchema, ToolCall } from 'toolbolt'
import { ANY_OBJECT, bare, coded, deferred, endedWell, fixturePath, ours, runFixture, sleep, unhandledDuring, within } from './support.ts'

/** A registry with one tool `t` that counts its runs. */
function counted(options: ConstructorParameters<typeof ToolRegistry>[0] = {}, flags: Parameters<typeof bare>[2] = {}) {
  const ran: unknown[] = []
  const registry = new ToolRegistry(options)
  registry.register(bare('t', args => { ran.push(args); return 'ran' }, flags))
  return { registry, ran }
}

test('PERM-01 deny beats allow, and the reason names the deny rule', async () => {
  const permissions = new ToolPermissions({ allow: ['t'], deny: ['t'] })
  assert.match(permissions.denialReason('t')!, /den/i)
  assert.notEqual(permissions.denialReason('t'), new ToolPermissions({ allow: [] }).denialReason('t'), 'another reason than a missing allow')
  const { registry, ran } = counted({ permissions })
  const response = await registry.execute('t', {})
  assert.deepEqual([response.status, response.code, response.executed, ran.length], ['error', 'PERMISSION_DENIED', false, 0])
  assert.ok(response.text.includes(permissions.denialReason('t')!))
})

test('PERM-02 an empty list denies everything, undefined and null mean not set, another type is refused', () => {
  const subject = bare('t', () => 'ran')
  for (const unset of [undefined, null]) {
    assert.equal(new ToolPermissions({ allow: unset, deny: unset, allowOrigins: unset, denyOrigins: unset }).denialReason(subject), null)
  }
  assert.equal(new ToolPermissions().denialReason(subject), null)
  assert.equal(typeof new ToolPermissions({ allow: [] }).denialReason(subject), 'string')
  assert.equal(typeof new ToolPermissions({ allowOrigins: [] }).denialReason(subject), 'string')
  assert.equal(new ToolPermissions({ deny: [], denyOrigins: [] }).denialReason(subject), null)
  for (const key of ['allow', 'deny', 'allowOrigins', 'denyOrigins']) for (const wrong of ['t', new Set(['t']), { 0: 't', length: 1 }, 5, true, [5], [null], [['t']]]) {
    assert.throws(() => new ToolPermissions({ [key]: wrong } as never), coded('INVALID_OPTIONS'), `${key}: ${JSON.stringify(wrong)}`)
  }
})

test('PERM-03 names match exactly, a pattern character is refused', () => {
  for (const key of ['allow', 'deny', 'allowOrigins', 'denyOrigins']) for (const pattern of ['git_*', '*', 'git_?']) {
    assert.throws(() => new ToolPermissions({ [key]: [pattern] }), (error: unknown) => coded('INVALID_OPTIONS')(error) && (error as Error).message.includes(pattern))
  }
  const permissions = new ToolPermissions({ allow: ['git'] })
  assert.equal(permissions.denialReason('git'), null)
  for (const near of ['git_status', 'GIT', 'gi', ' git']) assert.equal(typeof permissions.denialReason(near), 'string', near)
})

test('PERM-04 the loader stamps the origin, neither the definition nor the app does', { timeout: 60_000 }, async () => {
  await using client = await MCPClient.connect([process.execPath, fixturePath('hostile-server.mjs')], { namespace: 'x' })
  const tools = await client.loadTools()
  assert.deepEqual(tools.map(t => [t.name, t.origin]), [['x_echo', 'mcp:x'], ['x_huge', 'mcp:x'], ['x_deep', 'mcp:x'], ['x_wide', 'mcp:x']])
  const registry = new ToolRegistry({ permissions: new ToolPermissions({ allowOrigins: ['builtin'] }), confirm: () => true })
  registry.registerAll(tools)
  assert.equal((await registry.execute('x_echo', {})).code, 'PERMISSION_DENIED')
  registry.setPermissions(new ToolPermissions({ allowOrigins: ['mcp:x'] }))
  assert.equal((await registry.execute('x_echo', {})).status, 'success')
  class Pretender extends Tool { getParameters(): InputSchema { return [] } run() { return 'ran' } }
  for (const origin of ['mcp:x', 'mcp:']) {
    assert.throws(() => { registry.register(new Pretender('pretender', 'Pretends', { origin })) }, ours)
    assert.throws(() => { registry.register(bare('pretender', () => 'ran', { origin })) }, ours)
    assert.throws(() => { registry.registerFunction(() => 'ran', 'pretender', 'Pretends', [], { origin }) }, ours)
  }
  assert.equal(registry.get('pretender'), undefined)
})

test('PERM-05 the rules are copied when made', async () => {
  const lists = { allow: ['t'], deny: ['x'], allowOrigins: ['lab'], denyOrigins: ['y'] }
  const permissions = new ToolPermissions(lists)
  const { registry, ran } = counted({ permissions })
  for (const list of Object.values(lists)) list.length = 0
  lists.allow.push('other')
  lists.deny.push('t')
  lists.denyOrigins.push('builtin')
  assert.equal(permissions.denialReason('t'), null)
  assert.equal(typeof permissions.denialReason('other'), 'string')
  assert.equal(typeof permissions.denialReason('x'), 'string')
  assert.equal((await registry.execute('t', {})).status, 'success')
  for (const key of ['allow', 'deny', 'allowOrigins', 'denyOrigins']) {
    try { (permissions as never as Record<string, unknown>)[key] = ['other', 'x'] } catch (error) { assert.ok(error instanceof TypeError, 'frozen') }
  }
  assert.equal(typeof permissions.denialReason('other'), 'string')
  assert.equal(ran.length, 1)
})

test('PERM-06 names of inherited properties are ordinary names', async () => {
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf', 'then']
  const empty = new ToolRegistry()
  for (const name of names) {
    assert.equal(empty.get(name), undefined, name)
    assert.equal((await empty.execute(name, {})).code, 'TOOL_NOT_FOUND', name)
    assert.equal(empty.unregister(name), false)
    assert.equal(new ToolPermissions({ deny: ['x'] }).denialReason(name), null)
    assert.equal(typeof new ToolPermissions({ allow: ['x'] }).denialReason(name), 'string')
    assert.equal(typeof new ToolPermissions({ deny: [name] }).denialReason(name), 'string')
    assert.equal(new ToolPermissions({ allow: [name] }).denialReason(name), null)
  }
  const registry = new ToolRegistry()
  for (const name of names) registry.register(bare(name, () => `ran ${name}`))
  for (const name of names) assert.equal((await registry.execute(name, {})).text, `ran ${name}`)
  assert.deepEqual(registry.toOpenAISchema().map(t => t.function.name), names)
  registry.setPermissions(new ToolPermissions({ deny: ['constructor'] }))
  assert.equal((await registry.execute('constructor', {})).code, 'PERMISSION_DENIED')
  assert.equal((await registry.execute('__proto__', {})).status, 'success')
})

test('PERM-07 a fault in the permission path denies', async () => {
  const { registry, ran } = counted({ permissions: new ToolPermissions({ deny: ['t'] }) })
  for (const wrong of [{ denialReason: () => null }, 'all', 5, true]) {
    assert.throws(() => registry.setPermissions(wrong as never), coded('INVALID_OPTIONS'))
    assert.throws(() => new ToolRegistry({ permissions: wrong as never }), coded('INVALID_OPTIONS'))
  }
  assert.equal((await registry.execute('t', {})).code, 'PERMISSION_DENIED', 'the former rules still stand')
  for (const wrong of [42, null, undefined, {}, []]) {
    let reason: string | null
    try { reason = new ToolPermissions().denialReason(wrong as never) } catch (error) { assert.ok(ToolError.isInstance(error)); continue }
    assert.equal(typeof reason, 'string', `${String(wrong)} is no tool and passes nothing`)
  }
  class Broken extends ToolPermissions { override denialReason(): string | null { throw new Error('the check broke') } }
  try { registry.setPermissions(new Broken()) } catch (error) { assert.ok(ToolError.isInstance(error), 'refused at once') }
  const response = await registry.execute('t', {})
  assert.deepEqual([response.status, response.executed, ran.length], ['error', false, 0])
})

test('PERM-08 the documentation says that rules are per tool name and origin, with no promise about data', () => {
  const pages = ['../README.md', '../docs/security.md'].map(path => new URL(path, import.meta.url)).filter(url => existsSync(url)).map(url => readFileSync(url, 'utf8'))
  assert.ok(pages.some(page => page.split(/\n\s*\n|\n(?=[-*#|])/).some(part => /permission|rule/i.test(part) && /name/i.test(part) && /origin/i.test(part) && /data|another tool|same effect|equivalent/i.test(part) && /\bno\b|\bnot\b/i.test(part))))
})

test('CONF-01 only true approves', async () => {
  for (const answer of [undefined, null, 1, 'true', 'yes', {}, new Boolean(true), [], false, 0, '', () => true, Symbol('yes'), 1n]) {
    for (const confirm of [() => answer as never, async () => answer as never]) {
      const { registry, ran } = counted({ confirm }, { requiresConfirmation: true })
      const response = await registry.execute('t', {})
      assert.deepEqual([response.code, response.executed, ran.length], ['CONFIRMATION_REJECTED', false, 0], String(answer))
    }
  }
  for (const confirm of [() => true, async () => true]) {
    const { registry, ran } = counted({ confirm }, { requiresConfirmation: true })
    assert.equal((await registry.execute('t', {})).status, 'success')
    assert.equal(ran.length, 1)
  }
})

test('CONF-02 a callback that throws or rejects denies, and the next call works', async () => {
  let broken = true
  for (const fail of [() => { throw new Error('dialog broke') }, () => Promise.reject(new Error('dialog broke')), () => { throw null }, () => Promise.reject(undefined)]) {
    const { registry, ran } = counted({ confirm: () => broken ? fail() : true }, { requiresConfirmation: true })
    broken = true
    const unhandled = await unhandledDuring(async () => {
      const response = await registry.execute('t', {})
      assert.deepEqual([response.code, response.executed], ['CONFIRMATION_REJECTED', false])
      assert.match(response.text, /callback|confirm/i)
    })
    assert.deepEqual(unhandled, [])
    assert.equal(ran.length, 0)
    broken = false
    assert.equal((await registry.execute('t', {})).status, 'success')
  }
})

test('CONF-03 no answer in time denies, and a late yes has no effect', async () => {
  const answer = deferred<boolean>()
  const { registry, ran } = counted({ confirm: () => answer.promise, confirmTimeoutMs: 60 }, { requiresConfirmation: true })
  const response = await within(30_000, registry.execute('t', {}))
  assert.deepEqual([response.code, response.executed], ['CONFIRMATION_REJECTED', false])
  answer.resolve(true)
  await sleep(30)
  assert.equal(ran.length, 0)
  const perCall = await within(30_000, registry.execute('t', {}, { confirm: () => new Promise(() => {}), confirmTimeoutMs: 30 }))
  assert.equal(perCall.code, 'CONFIRMATION_REJECTED')
})

test('CONF-04 what was shown is what runs', async () => {
  const args = { path: 'a.txt', list: [{ deep: 1 }] }
  let shown: ConfirmRequest | undefined
  const confirm = (request: ConfirmRequest) => {
    shown = request
    const tampered = request.args as { path: string; list: { deep: number }[] }
    for (const tamper of [() => { tampered.path = 'b.txt' }, () => { tampered.list[0]!.deep = 2 }, () => { tampered.list.push({ deep: 3 }) }, () => { Object.assign(tampered, { more: 1 }) }]) {
      assert.throws(tamper, TypeError, 'frozen at every depth')
    }
    args.path = 'c.txt'
    args.list[0]!.deep = 4
    return true
  }
  const { registry, ran } = counted({ confirm }, { requiresConfirmation: true })
  assert.equal((await registry.execute('t', args)).status, 'success')
  assert.deepEqual(ran, [{ path: 'a.txt', list: [{ deep: 1 }] }])
  assert.deepEqual(shown!.args, { path: 'a.txt', list: [{ deep: 1 }] })
})

test('CONF-05 the preview shows what a terminal would hide', async () => {
  const requests: ConfirmRequest[] = []
  const { registry } = counted({ confirm: request => { requests.push(request); return false } }, { requiresConfirmation: true })
  const text = `echo hi\u001b[2K\r\u202eabc\u200b\u{e0041}${'\n'.repeat(500)}rm -rf payload`
  await registry.execute('t', { text })
  const { preview, args } = requests[0]!
  assert.equal(args.text, text, 'the raw value is there too')
  for (const hidden of ['\u001b', '\r', '\u202e', '\u200b', '\u{e0041}']) {
    assert.ok(!preview.includes(hidden))
    assert.match(preview, hidden === '\r' ? /\\r/ : new RegExp(`\\\\u\\{0*${hidden.codePointAt(0)!.toString(16)}\\}`, 'i'))
  }
  assert.ok(preview.split('\n').length < 50, 'newlines do not push the rest out of sight')
  assert.ok(preview.includes('rm -rf payload'))
  await registry.execute('t', { text: `${'x'.repeat(300_000)} the end` })
  const long = requests[1]!.preview
  if (!long.includes('the end')) {
    assert.match(long.replace(/x{20,}/g, ' '), /300[,_ ]?0\d\d/, 'a cut tells the length')
    assert.match(long, /[0-9a-f]{16}/i, 'and a hash')
  }
})

test('CONF-06 without a callback nothing that needs confirmation runs', async () => {
  const { registry, ran } = counted({}, { requiresConfirmation: true })
  assert.equal((await registry.execute('t', {})).code, 'CONFIRMATION_REQUIRED')
  assert.equal(registry.executeSync('t', {}).code, 'CONFIRMATION_REQUIRED')
  assert.deepEqual((await registry.executeAll([{ id: '1', name: 't', arguments: '{}' }])).map(r => [r.code, r.executed]), [['CONFIRMATION_REQUIRED', false]])
  assert.equal(ran.length, 0)
})

test('CONF-07 a callback may call the registry', async () => {
  const registry: ToolRegistry = new ToolRegistry({
    confirm: async () => {
      assert.equal(registry.executeSync('other', {}).text, 'other ran')
      assert.equal((await registry.execute('other', {})).text, 'other ran')
      registry.register(bare('later', () => 'later ran'))
      return true
    },
  })
  registry.register(bare('other', () => 'other ran'))
  registry.register(bare('t', () => registry.executeSync('other', {}).text, { requiresConfirmation: true }))
  assert.equal((await within(10_000, registry.execute('t', {}), 're-entering')).text, 'other ran')
  assert.equal((await registry.execute('later', {})).text, 'later ran')
})

test('CONF-08 answers in reverse order reach their own calls', async () => {
  const answers = new Map<string, (yes: boolean) => void>()
  const { registry, ran } = counted({ confirm: request => new Promise<boolean>(done => answers.set(request.callId, done)) }, { requiresConfirmation: true })
  const calls = ['a', 'b', 'c'].map(id => registry.execute('t', { id }, { callId: id }))
  while (answers.size < 3) await sleep(1)
  answers.get('c')!(false)
  await sleep(5)
  answers.get('b')!(true)
  await sleep(5)
  answers.get('a')!(false)
  assert.deepEqual((await Promise.all(calls)).map(r => [r.callId, r.status]), [['a', 'error'], ['b', 'success'], ['c', 'error']])
  assert.deepEqual(ran, [{ id: 'b' }])
})

for (const mode of ['end', 'exit', 'worker']) test(`CONF-09 a pending confirmation: ${mode}`, { timeout: 60_000 }, async () => {
  const result = await runFixture('confirm-pending.mjs', [mode], { timeoutMs: 20_000 })
  endedWell(result)
  assert.deepEqual(result.stdout.trim().split('\n'), mode === 'worker' ? ['asked', 'terminated'] : ['asked'])
})
test('CONF-09 a pending confirmation: uncaught error', { timeout: 60_000 }, async () => {
  const result = await runFixture('confirm-pending.mjs', ['throw'], { timeoutMs: 20_000 })
  assert.deepEqual([result.code, result.signal, result.stdout.trim()], [1, null, 'asked'])
  assert.match(result.stderr, /uncaught on purpose/)
})

test('CONF-10 a needsConfirmation that throws or answers nonsense never lets a call through', async () => {
  for (const needs of [() => { throw new Error('odd') }, () => undefined, () => Promise.resolve(false), () => 0, () => 'no']) {
    const ran: unknown[] = []
    class Odd extends Tool {
      getParameters(): InputSchema { return ANY_OBJECT }
      override needsConfirmation(): boolean { return needs() as never }
      run(args: unknown) { ran.push(args); return 'ran' }
    }
    const registry = new ToolRegistry()
    registry.register(new Odd('odd', 'Odd'))
    const response = await registry.execute('odd', {})
    assert.deepEqual([response.executed, ran.length], [false, 0], String(needs))
    assert.ok(response.code === 'CONFIRMATION_REQUIRED' || response.code === 'CONFIRMATION_REJECTED', response.code)
    assert.equal((await registry.execute('odd', {}, { confirm: () => false })).executed, false)
    assert.equal(registry.needsConfirmation('odd', {}), true)
  }
})

test('REG-01 names a provider would refuse are refused, and shown with escapes', () => {
  const registry = new ToolRegistry()
  for (const name of ['a.b', '', 'x'.repeat(65), 'naïve', 'a\nb', ' a', 'a\n', 'a\u0000', 'a\u202eb', '工具']) {
    assert.throws(() => { registry.register({ name, description: 'x', handler: () => 'ran' }) }, (error: unknown) => {
      coded('INVALID_NAME', ToolRegistrationError)(error)
      assert.ok(!/[\u0000-\u001f\u202e]/.test((error as Error).message), 'escaped')
      if (name === 'a.b') assert.ok((error as Error).message.includes('a.b'))
      return true
    }, JSON.stringify(name))
    assert.throws(() => { registry.registerFunction(() => 'ran', name, 'x') }, ToolRegistrationError)
  }
  for (const name of [undefined, null, 5, {}]) assert.throws(() => { registry.register({ name, description: 'x', handler: () => 'ran' } as never) }, ours)
  assert.deepEqual(registry.listTools(), [])
  registry.register({ name: 'x'.repeat(64), description: 'x', handler: () => 'ran' })
  assert.equal(registry.listTools().length, 1)
})

test('REG-02 a name is taken once, and a batch that fails registers nothing', async () => {
  const registry = new ToolRegistry()
  const said = async (name: string) => (await registry.execute(name, {})).text
  const named = (name: string, text: string) => bare(name, () => text)
  registry.register(named('a', 'first'))
  assert.throws(() => registry.register(named('a', 'second')), coded('DUPLICATE_NAME', ToolRegistrationError))
  assert.equal(await said('a'), 'first')
  for (const batch of [[named('b', 'b'), named('a', 'second'), named('c', 'c')], [named('b', 'b'), named('c', 'c'), named('b', 'again')]]) {
    assert.throws(() => registry.registerAll(batch), coded('DUPLICATE_NAME', ToolRegistrationError))
    assert.deepEqual(registry.listTools().map(t => t.name), ['a'])
  }
  assert.throws(() => registry.registerAll([named('b', 'b'), { name: 'bad name', description: 'x' }]), coded('INVALID_NAME'))
  assert.deepEqual(registry.listTools().map(t => t.name), ['a'])
  assert.deepEqual(registry.registerAll([named('a', 'second'), named('b', 'b')], { onConflict: 'skip' }), ['b'])
  assert.equal(await said('a'), 'first')
  assert.deepEqual(registry.registerAll([named('a', 'third'), named('c', 'c')], { onConflict: 'overwrite' }), ['a', 'c'])
  assert.equal(await said('a'), 'third')
  assert.throws(() => registry.registerAll([], { onConflict: 'merge' as never }), coded('INVALID_OPTIONS'))
})

test('REG-03 what a body throws or returns never breaks the run', async () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const bad: Record<string, () => unknown> = {
    throws: () => { throw new Error('boom') }, rejects: async () => { throw new Error('boom') }, fn: () => () => 1, symbol: () => Symbol('s'),
    cycle: () => cycle, getter: () => ({ get x() { throw new Error('boom') } }), bigint: () => 1n, asyncFn: async () => () => 1, proxy: () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy },
  }
  const registry = new ToolRegistry()
  for (const [name, body] of Object.entries(bad)) registry.register(bare(name, body))
  registry.register(bare('give', ({ kind }) => ({ undefined: undefined, null: null, string: 'text', number: 1.5, false: false, array: [1, 'a'], object: { a: [1] } } as Record<string, unknown>)[kind]))
  const unhandled = await unhandledDuring(async () => {
    for (const name of Object.keys(bad)) {
      const response = await registry.execute(name, {})
      assert.deepEqual([response.status, response.code, response.executed], ['error', 'EXECUTION_FAILED', true], name)
    }
  })
  assert.deepEqual(unhandled, [])
  const rows: [kind: string, text: string, data: unknown][] = [
    ['undefined', '', undefined], ['null', '', undefined], ['string', 'text', undefined], ['number', '1.5', 1.5], ['false', 'false', false], ['array', '[1,"a"]', [1, 'a']], ['object', '{"a":[1]}', { a: [1] }],
  ]
  for (const [kind, text, data] of rows) {
    const response = await registry.execute('give', { kind })
    assert.deepEqual([response.status, response.text], ['success', text], kind)
    assert.deepEqual(response.data ?? undefined, data, kind)
  }
})

test('REG-04 a running call ends with the tool it began with', async () => {
  const gate = deferred()
  const registry = new ToolRegistry()
  registry.register(bare('t', async () => { await gate.promise; return 'old' }))
  const [first, second] = [registry.execute('t', {}), registry.execute('t', {})]
  await sleep(5)
  registry.register(bare('t', () => 'new'), { overwrite: true })
  assert.equal((await registry.execute('t', {})).text, 'new')
  assert.equal(registry.unregister('t'), true)
  assert.equal((await registry.execute('t', {})).code, 'TOOL_NOT_FOUND')
  gate.resolve()
  assert.deepEqual((await Promise.all([first, second])).map(r => [r.status, r.text]), [['success', 'old'], ['success', 'old']])
})

test('REG-05 serial tools run one at a time within a turn, parallel ones bounded', async () => {
  for (const [supportsParallel, most] of [[false, 1], [true, 8]] as const) {
    let now = 0
    let peak = 0
    const started: number[] = []
    const registry = new ToolRegistry()
    registry.register(bare('t', async ({ n }) => { started.push(n); peak = Math.max(peak, ++now); await null; await new Promise(setImmediate); now--; return n }, { supportsParallel }))
    const calls = Array.from({ length: 1000 }, (_, n): ToolCall => ({ id: String(n), name: 't', arguments: { n } }))
    const responses = await registry.executeAll(calls)
    assert.ok(responses.every((response, n) => response instanceof ToolResponse && response.callId === String(n) && response.text === String(n)))
    assert.equal(peak, most)
    assert.deepEqual(started, calls.map((_, n) => n))
  }
  let now = 0
  let peak = 0
  const registry = new ToolRegistry()
  registry.register(bare('t', async () => { peak = Math.max(peak, ++now); await sleep(10); now--; return 'ran' }))
  await Promise.all(Array.from({ length: 20 }, () => registry.execute('t', {})))
  assert.equal(peak, 20, 'separate calls run as the caller starts them')
})
