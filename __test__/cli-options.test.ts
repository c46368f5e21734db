// What an app says to the command line tool: where a mistake in its rules is, contradictions, programs that never run, what its own
// policy threw; and output that is plain text.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, test } from 'node:test'
import { NotesTool, SearchTool, ToolError, ToolRegistry } from 'toolbolt'
import { coded } from './support.ts'
import { call, cli, refused, refusedAtLast, stubs } from './cli-support.ts'
import { SYSTEM_PATH, program, scratch } from './machine.ts'

const bin = stubs(['git', 'tool', 'other', 'bash', 'my-tool', 'ls', 'python3'])
process.env.PATH = [bin, SYSTEM_PATH].join(delimiter)

/** Asserts that the options are refused with a sentence that includes each of these. */
function wrong(make: () => unknown, ...parts: string[]): void {
  assert.throws(make, error => {
    coded('INVALID_OPTIONS')(error)
    for (const part of parts) assert.ok((error as Error).message.includes(part), `${part}: ${(error as Error).message}`)
    return true
  })
}

describe('a mistake in a rule is named by its place', () => {
  const cases: [programs: unknown, place: string, expected: string][] = [
    [{ git: { mode: 'deny', option: 'x' } }, 'programs.git.option', 'long, short'],
    [{ git: { mode: 'allow', maxOperands: 1 } }, 'programs.git.maxOperands', 'longTakes'],
    [{ git: { mode: 'deny', long: '--output' } }, 'programs.git.long', 'list'],
    [{ git: { mode: 'deny', long: ['--output', 5] } }, 'programs.git.long[1]', 'text'],
    [{ git: { mode: 'deny', long: ['--a', '--b', 'output'] } }, 'programs.git.long[2]', '--output'],
    [{ git: { mode: 'allow', long: ['--a'], longTakes: ['--b=c'] } }, 'programs.git.longTakes[0]', '--output'],
    [{ 'my-tool': { mode: 'allow', short: ['a'] } }, 'programs["my-tool"].short', 'text'],
    [{ tool: { mode: 'deny', writes: 'yes' } }, 'programs.tool.writes', 'true or false'],
    [{ tool: { mode: 'deny', maxOperands: Number.NaN } }, 'programs.tool.maxOperands', 'number'],
    [{ tool: { mode: 'deny', maxOperands: -1 } }, 'programs.tool.maxOperands', 'number'],
    [{ tool: { mode: 'perhaps' } }, 'programs.tool', "'deny'"],
    [{ tool: 'all' }, 'programs.tool', "'any'"],
    [{ git: 'any', tool: null }, 'programs.tool', "'any'"],
  ]
  for (const [programs, place, expected] of cases) test(JSON.stringify(programs), () => wrong(() => cli(['git', 'tool', 'my-tool'], { programs }), `${place} `, expected))

  test('the core takes every field that the types have', () => {
    const deny = { mode: 'deny', long: ['--a'], short: 'a', takes: 'b', abbreviations: false, maxOperands: 0, singleDashLong: true, needsFirst: ['-c'], operands: ['x'], writes: true }
    const allow = { mode: 'allow', long: ['--a'], short: 'a', takes: 'b', longTakes: ['--a'], forceArgs: ['-f'], operands: ['x'], refuseValues: '@', changes: ['-a'], writes: true, network: true }
    assert.deepEqual(cli(['tool', 'other'], { programs: { tool: deny, other: { ...allow, long: undefined } } }).unavailable, [])
  })
})

test('only where null is taken is it offered', () => {
  for (const make of [
    () => cli(['ls'], { timeoutMs: null }), () => new SearchTool({ timeoutMs: null } as never), () => new SearchTool({ deadlineMs: 0 }), () => cli(['ls'], { timeoutMs: 'x' }),
  ]) assert.throws(make, error => coded('INVALID_OPTIONS')(error) && !(error as Error).message.includes('null'))
  wrong(() => new ToolRegistry({ timeoutMs: 0 }), 'null')
})

describe('cwd', () => {
  const folder = scratch()
  writeFileSync(join(folder, 'file'), '')
  for (const cwd of [join(folder, 'none'), join(folder, 'file')]) test(`${cwd.slice(folder.length)} is no folder`, () => wrong(() => cli(['ls'], { cwd }), cwd))
  test('~ is not expanded, in the root of notes neither', () => {
    for (const path of ['~', '~/project', '~somebody/x']) {
      wrong(() => cli(['ls'], { cwd: path }), 'cwd', path, 'homedir')
      wrong(() => new NotesTool(path), 'root', path, 'homedir')
    }
    mkdirSync(join(folder, '~odd'))
    assert.equal(cli(['ls'], { cwd: join(folder, '~odd') }).name, 'shell')
  })
})

describe('contradictions are refused', () => {
  test('a rule for a program that is not allowed', () => {
    wrong(() => cli(['git'], { programs: { gti: 'any' } }), 'programs.gti', 'allowed')
    wrong(() => cli([], { programs: { tool: 'refuse' } }), 'programs.tool')
  })
  test('strict beside argPolicy', () => {
    wrong(() => cli(['tool'], { strict: true, argPolicy: () => null }), 'strict', 'argPolicy')
    assert.equal(cli(['tool'], { strict: false, argPolicy: () => null }).name, 'shell')
  })
})

describe('a program that never runs', () => {
  const all = ['tool', 'bash', 'absent', 'ls', 'other', 'git', 'python3']
  const advertised = (description: string): string[] => all.filter(name => new RegExp(`\\b${name}\\b`).test(description))
  test('is listed for the app with the reason, and the model is not told of it', async () => {
    const tool = cli(all, { strict: true, programs: { other: 'refuse', python3: 'any' } })
    assert.deepEqual(tool.unavailable, [
      { program: 'absent', reason: 'no-rule' }, { program: 'bash', reason: 'refused' }, { program: 'other', reason: 'refused' }, { program: 'tool', reason: 'no-rule' },
    ])
    assert.deepEqual(advertised(tool.description), ['ls', 'git', 'python3'])
    const { text } = await refused(tool, 'nothing x')
    assert.ok(text.includes('git') && !text.includes('bash'), text)
    assert.throws(() => { (tool.unavailable as unknown[]).push(1) }, TypeError)
  })
  test('one that is not installed', async () => {
    const tool = cli(['ls', 'absent'])
    assert.deepEqual([tool.unavailable, advertised(tool.description)], [[{ program: 'absent', reason: 'not-found' }], ['ls']])
    assert.equal((await refused(tool, 'absent')).code, 'EXECUTION_FAILED')
  })
  test('where the app judges, only what is missing never runs', () => {
    assert.deepEqual(cli(['bash', 'tool', 'absent'], { argPolicy: () => 'no' }).unavailable, [{ program: 'absent', reason: 'not-found' }])
  })
  test('all run', () => assert.deepEqual(cli(['ls', 'git', 'tool']).unavailable, []))
})

describe('what a policy of the app throws', () => {
  test('stays with the app', async () => {
    const fault = new Error('the rule book secret-7 is missing')
    for (const options of [{ argPolicy: () => { throw fault } }, { programs: { tool: () => { throw fault } } }]) {
      const tool = cli(['tool'], options)
      assert.equal(tool.lastPolicyError, undefined)
      const { text } = await refusedAtLast(tool, 'tool x')
      assert.equal(tool.lastPolicyError, fault)
      assert.ok(!text.includes('secret-7'), text)
    }
  })
  test('an answer that is none is named', async () => {
    for (const [answer, word] of [[Promise.resolve(null), 'promise'], [true, 'boolean'], [' ', 'blank']] as const) {
      const tool = cli(['tool'], { argPolicy: () => answer })
      await refusedAtLast(tool, 'tool x')
      assert.ok(tool.lastPolicyError instanceof TypeError && !ToolError.isInstance(tool.lastPolicyError))
      assert.ok(tool.lastPolicyError.message.includes(word) && tool.lastPolicyError.message.includes('tool'), tool.lastPolicyError.message)
    }
  })
  test('a refusal and a yes are no fault', async () => {
    const tool = cli(['tool'], { argPolicy: (words: string[]) => words.length > 1 ? 'too long' : null })
    await refusedAtLast(tool, 'tool x')
    await call(tool, 'tool')
    assert.equal(tool.lastPolicyError, undefined)
  })
})

describe('output is plain text', () => {
  const folder = scratch()
  program(folder, 'colours', `#!/bin/sh\nprintf '\\033[1;31mred\\033[0m \\033]8;;http://x/\\033\\\\link\\033]8;;\\007 %s %s\\n' "$NO_COLOR" "$TERM"\nprintf '\\033]0;no end\\nlast\\n'\n`)
  const options = { argPolicy: () => null }
  const shown = async (env: Record<string, string> | undefined): Promise<string> => {
    const before = process.env.PATH
    process.env.PATH = [folder, SYSTEM_PATH].join(delimiter)
    try { return (await call(cli(['colours'], { ...options, env }), 'colours')).response.text } finally { process.env.PATH = before }
  }
  test('programs are told so, and terminal sequences are left out', async () => {
    const text = await shown(undefined)
    assert.ok(text.includes('red link 1 dumb\n') && text.endsWith('\nlast') && !text.includes('\u001b'), text)
  })
  test('an environment of the app is the whole one', async () => {
    const text = await shown({ PATH: [folder, SYSTEM_PATH].join(delimiter), TERM: 'xterm' })
    assert.ok(text.includes('red link  xterm\n'), text)
  })
})
