// Which arguments the default policy lets through. Every program is a stub in a folder that stands first on PATH, and the question
// is answered with no: a refused command never asks, an allowed one does. What happens when hostile lines really run is in cli-hostile.test.ts.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { describe, test } from 'node:test'
import { coded, tracingPrompts, vectors } from './support.ts'
import { call, cli, passes, quoted, refused, refusedAtLast, stubs } from './cli-support.ts'
import { SYSTEM_PATH, located, program, scratch } from './machine.ts'
import { ALLOWED, REFUSED, WRITERS } from './cli-policy-lines.ts'

interface Row { argv: string[]; denied: boolean; hit: string | null }
const rows = vectors<Row[]>('cli_arg_policy')
const first = (line: string): string => /^\S+/.exec(line)![0]
const lines = [...Object.values(REFUSED), ...Object.values(ALLOWED)].flat()

const bin = stubs([...rows.map(row => basename(row.argv[0]!)), ...lines.map(first), ...WRITERS.map(first)])
const cwd = scratch()
if (located('git') !== undefined) execFileSync(located('git')!, ['init', '-q', cwd], { env: { PATH: SYSTEM_PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' } })
process.env.PATH = [bin, SYSTEM_PATH].join(delimiter)
const prompts = tracingPrompts()
const only = (name: string, options: Record<string, unknown> = {}) => cli([name], { cwd, prompts, ...options })

/** Rows that differ on purpose, with the verdict turned. */
const DIFFERENCES: [rows: number[], reason: string][] = [
  [[2, 3, 47, 48, 49], 'a shell runs programs whatever its options: refused until the app gives a policy'],
  [[10, 12, 13, 16, 17, 18, 22, 25, 26, 27, 29, 33, 34, 35, 36, 37, 38, 40, 41, 44, 45, 50, 92, 139, 145, 146, 147, 152], 'an interpreter or a build tool runs what a file says: refused until the app gives a policy'],
  [[9], 'an unknown program: -c is refused by the generic rule'],
  [[52, 53, 54, 55, 56, 57], 'a wrapper runs any program: refused until the app gives a policy'],
  [[62, 63, 64, 65], 'find has a list of allowed predicates; those that ask, run and write are not on it'],
  [[75, 76, 77, 78, 79, 80], 'curl has a list of allowed options, values that begin with @ are refused, an operand is an http address'],
  [[81, 82, 127, 128, 129, 130, 131, 132, 133, 134, 142, 143, 144], 'a remote or administrative tool: refused until the app gives a policy'],
  [[90, 91], 'an unknown program: an option that begins with config is refused by the generic rule'],
  [[96], 'git -C leaves the folder'],
  [[103, 109, 110, 111, 112, 115, 116, 117], 'git has a list of allowed subcommands, each with its options'],
  [[135, 136, 137], 'tar only lists'],
  [[140, 141], 'a pager runs programs: refused until the app gives a policy'],
  [[83, 84, 87], 'laxer: -T and -K of ls and grep neither run nor write'],
]

describe('cli_arg_policy', () => {
  const differing = new Map(DIFFERENCES.flatMap(([indices, reason]) => indices.map(index => [index, reason] as const)))
  test('there are 156 rows', () => assert.equal(rows.length, 156))
  rows.forEach((row, index) => test(`cli_arg_policy ${index}: ${quoted(row.argv)}`, async () => {
    const allowed = await passes(only(basename(row.argv[0]!)), quoted(row.argv))
    const reason = differing.get(index)
    assert.equal(allowed, reason === undefined ? !row.denied : row.denied, reason ?? 'as recorded')
  }))
})

describe('the default policy', () => {
  for (const [id, list] of Object.entries(REFUSED)) for (const line of list) test(`${id} refused: ${line}`, async () => {
    const { text } = await refused(only(first(line)), line)
    assert.doesNotMatch(text, /^<tool\.msg\.shell\.(not_allowed|cmd_not_found|parse_failed|operator)/, 'the policy refuses it, nothing else')
  })
  for (const [id, list] of Object.entries(ALLOWED)) for (const line of list) test(`${id} allowed: ${line}`, async () => {
    const { response, asked } = await call(only(first(line)), line, { yes: false })
    assert.deepEqual([asked, response.code], [1, 'CONFIRMATION_REJECTED'], response.text)
  })

  test('a refused option is named in the text', async () => {
    for (const [line, bad] of [['find . -delete', '-delete'], ['sort -o x f', '-o'], ['rg --pre=./p x', '--pre'], ['find . -fprintf f x', '-fprintf'], ['git log --output=f', '--output']] as const) {
      const { text } = await refused(only(first(line)), line)
      assert.ok(text.startsWith('<tool.msg.shell.dangerous_arg|bad=') && text.includes(bad), text)
    }
  })

  test('the program behind a link counts, not only its name', async () => {
    for (const target of ['bash', 'python3', 'env', 'xargs']) {
      const real = located(target)
      if (real === undefined) continue
      const folder = scratch()
      symlinkSync(real, join(folder, 'mytool'))
      process.env.PATH = [folder, bin, SYSTEM_PATH].join(delimiter)
      try { await refused(only('mytool'), 'mytool script') } finally { process.env.PATH = [bin, SYSTEM_PATH].join(delimiter) }
    }
  })

  test('under strict an unknown program is refused, a known one is not', async () => {
    for (const line of ['tool', 'tool x', 'tool --help', 'tool --version']) {
      await refused(only('tool', { strict: true }), line)
      assert.equal(await passes(only('tool', { strict: false }), line), true, line)
    }
    for (const line of ['ls -l', 'git status', 'grep x f', 'touch f']) assert.equal(await passes(only(first(line), { strict: true }), line), true, line)
    await refused(only('sh', { strict: true }), 'sh x')
    assert.throws(() => only('tool', { strict: 'yes' }), coded('INVALID_OPTIONS'))
  })
})

describe('ARG-13 what writes is tagged in the preview', () => {
  const head = async (line: string) => {
    const { preview, asked, response } = await call(only(first(line)), line, { yes: false })
    assert.equal(asked, 1, `${line}: ${response.text}`)
    return preview.split('\n')[0]!
  }
  for (const line of WRITERS) test(`tagged: ${line}`, async () => assert.match(await head(line), /\bwrites\b/))
  for (const line of ['ls -l', 'cat f', 'git status', 'git log', 'grep -r x .', 'find . -name x', 'sort f', 'tar tf t.tar', 'wc -l f']) {
    test(`not tagged: ${line}`, async () => assert.doesNotMatch(await head(line), /\bwrites\b/))
  }
  test('the preview shows the command', async () => {
    const { preview } = await call(only('ls'), "ls -l 'a b'", { yes: false })
    assert.ok(preview.includes('ls -l'), preview)
  })
})

describe('ARG-18 a policy of the app', () => {
  const answers: [name: string, policy: (...args: any[]) => unknown][] = [
    ['throws', () => { throw new Error('the policy broke') }], ['a promise', async () => null], ['a promise of undefined', () => Promise.resolve()], ['0', () => 0], ['an empty text', () => ''],
    ['false', () => false], ['true', () => true], ['NaN', () => Number.NaN], ['an object', () => ({})], ['a list', () => []], ['a symbol', () => Symbol('x')], ['a thenable', () => ({ then: (done: (value: null) => void) => done(null) })],
    ['a boxed text', () => new String('no')], ['a function', () => () => null], ['1n', () => 1n], ['throws null', () => { throw null }],
  ]
  for (const [name, argPolicy] of answers) test(`${name} refuses`, async () => { await refusedAtLast(only('echo', { argPolicy }), 'echo x') })
  for (const allow of [null, undefined]) test(`${allow} allows, also what the default policy refuses`, async () => {
    for (const line of ['sh -c x', 'find . -delete', 'git -c a=b x', 'python3 -c x', 'tool --config f']) {
      assert.equal(await passes(only(first(line), { argPolicy: () => allow }), line), true, line)
    }
  })
  test('a text refuses and is what the model reads; it gets the words once, and never those of an operator or a foreign program', async () => {
    const seen: string[][] = []
    const tool = only('echo', { argPolicy: (tokens: string[]) => { seen.push(tokens); return tokens.includes('secret') ? 'this word is not for you' : null } })
    assert.ok((await refusedAtLast(tool, "echo 'a b' secret")).text.includes('this word is not for you'))
    assert.deepEqual(seen.map(tokens => tokens.slice(1)), [['a b', 'secret']])
    for (const line of ['echo a | b', 'ls', "echo 'x", '']) await refused(tool, line)
    assert.equal(seen.length, 1)
    assert.equal(await passes(tool, 'echo plain'), true)
  })
  test('changing the words changes nothing', async () => {
    const { response } = await call(only('echo', { argPolicy: (tokens: string[]) => { tokens[1] = 'changed'; tokens.push('more'); return null }, prompts: undefined, env: { PATH: SYSTEM_PATH } }), 'echo kept')
    assert.doesNotMatch(response.text, /changed|more/)
  })
  test('it must be a function', () => {
    for (const wrong of ['no', true, {}, [], 5]) assert.throws(() => only('echo', { argPolicy: wrong }), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
  })
})

describe('a policy for one program', () => {
  const check = async (programs: Record<string, unknown>, verdicts: Record<string, boolean>) => {
    for (const [line, allowed] of Object.entries(verdicts)) assert.equal(await passes(cli([first(line), ...Object.keys(programs)], { cwd, prompts, programs }), line), allowed, `${line} with ${JSON.stringify(programs)}`)
  }
  test("'any' lets a refused program through, and only that one", () => check({ python3: 'any', env: 'any' }, { 'python3 -c x': true, 'python3 s.py': true, 'env sh -c x': true, 'perl -e x': false, 'python -c x': false, 'sh -c x': false }))
  test("'refuse' refuses a harmless program", () => check({ ls: 'refuse', tool: 'refuse' }, { ls: false, 'ls -l': false, 'tool x': false, 'cat f': true }))
  test('a deny rule in the shape of the default policy', () => check({ tool: { mode: 'deny', long: ['--danger'], short: 'd', takes: 'n' } }, {
    'tool -x --config f': true, 'tool --danger': false, 'tool --danger=x': false, 'tool --dang': false, 'tool -d': false, 'tool -xd': false, 'tool -n d': true, 'tool -nd': true, 'tool -- -d': false,
  }))
  test('an allow rule in the shape of the default policy', () => check({ tool: { mode: 'allow', long: ['--good'], short: 'gn', takes: 'n' } }, {
    'tool --good x': true, 'tool -g x': true, 'tool -n 5': true, 'tool --bad': false, 'tool -b': false, 'tool -gb': false, 'tool --good --bad': false,
  }))
  test('a rule replaces the default one of that program', () => check({ sort: { mode: 'deny', long: [], short: 'r', takes: '' } }, { 'sort -o x f': true, 'sort -r f': false, 'shuf -o x f': false }))
  test('a function decides as argPolicy does', async () => {
    const noScripts = (tokens: string[]) => tokens.includes('-c') ? 'no scripts' : null
    await check({ sh: noScripts }, { 'bash x': false })
    assert.equal((await call(only('sh', { programs: { sh: noScripts } }), 'sh x')).response.status, 'success')
    await refusedAtLast(only('sh', { programs: { sh: noScripts } }), 'sh -c x')
    for (const answer of ['', 0, false, true, Promise.resolve(null), {}]) await refusedAtLast(only('sh', { programs: { sh: () => answer } }), 'sh x')
    await refusedAtLast(only('sh', { programs: { sh: () => { throw new Error('broke') } } }), 'sh x')
    assert.ok((await refusedAtLast(only('sh', { programs: { sh: () => 'not today' } }), 'sh x')).text.includes('not today'))
  })
  test('strict refuses an unknown program until it has a policy', async () => {
    assert.equal(await passes(only('tool', { strict: true, programs: { tool: 'any' } }), 'tool x'), true)
    assert.equal(await passes(cli(['tool', 'echo'], { cwd, prompts, strict: true, programs: { echo: 'any' } }), 'tool x'), false)
  })
  test('it adds no program to the list', () => { assert.throws(() => only('ls', { programs: { sh: 'any' } }), coded('INVALID_OPTIONS')) })
  test('wrong rules are refused', () => {
    for (const wrong of [null, 'any', [], 5, new Map(), { sh: 'allow' }, { sh: 5 }, { sh: null }, { sh: true }, { sh: {} }, { sh: { mode: 'maybe' } }, { sh: { mode: 'deny', long: 'x' } }]) {
      assert.throws(() => only('sh', { programs: wrong }), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
    }
  })
  test('names of inherited properties are ordinary names', async () => {
    const folder = scratch()
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) program(folder, name, '#!/bin/sh\n')
    process.env.PATH = [folder, bin, SYSTEM_PATH].join(delimiter)
    try {
      for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
        assert.equal(await passes(only(name), `${name} x`), true, name)
        await refused(only(name, { strict: true }), `${name} x`)
        await refused(only(name, { programs: {} }), `${name} --config=f`)
      }
    } finally { process.env.PATH = [bin, SYSTEM_PATH].join(delimiter) }
  })
})

test('wrong options are refused', () => {
  for (const wrong of [
    { timeoutMs: 0 }, { timeoutMs: -1 }, { timeoutMs: Number.NaN }, { timeoutMs: '5' }, { maxOutputChars: 0 }, { maxOutputChars: -5 }, { maxOutputChars: 1.5 }, { maxOutputChars: Number.NaN }, { maxOutputBytes: 0 },
    { maxOutputBytes: -1 }, { maxOutputBytes: '9' }, { env: 'PATH=x' }, { env: [] }, { env: { A: 5 } }, { env: { A: null } }, { cwd: 5 }, { cwd: '' }, { sandbox: 'maybe' }, { sandbox: true }, { shell: true }, { timeout: 5 },
    { allowedCommands: ['x'] }, { argpolicy: () => null }, { prompts: {} },
  ]) assert.throws(() => cli(['ls'], wrong), coded('INVALID_OPTIONS'), JSON.stringify(wrong))
  for (const wrong of [null, 5, 'x', []]) assert.throws(() => cli(['ls'], wrong as never), coded('INVALID_OPTIONS'), String(wrong))
})

test('what the tool says of itself', async () => {
  const tool = cli(['ls', 'git'], { prompts })
  assert.equal(tool.name, 'shell')
  assert.deepEqual([tool.requiresConfirmation, tool.externalContent], [true, true])
  assert.equal(tool.needsConfirmation({ command: 'ls' }), true)
  assert.ok(tool.description.startsWith('<tool.desc.shell|allowed=') && tool.description.includes('ls') && tool.description.includes('git'), tool.description)
  const schema = tool.inputSchema as { properties: Record<string, { type: string; description: string }>; required: string[] }
  assert.deepEqual([Object.keys(schema.properties), schema.required, schema.properties.command!.type], [['command'], ['command'], 'string'])
  assert.equal(schema.properties.command!.description, '<tool.param.shell.command>')
  const { response } = await call(tool, 'ls', { confirm: () => 1 as never })
  assert.deepEqual([response.code, response.executed], ['CONFIRMATION_REJECTED', false])
})

test('ARG-13 a file may be named like an option after --, and is still counted', async () => {
  writeFileSync(join(cwd, '-o'), 'x')
  assert.equal(await passes(only('uniq'), 'uniq -- -o'), true)
  await refused(only('sort'), 'sort -- -o')
  await refused(only('rg'), 'rg -- --pre')
  await refused(only('uniq'), 'uniq -- -o -c')
  await refused(only('uniq'), 'uniq -c in -- out')
})
