// How a command line is split: the recorded rows, observed through the argument policy, and the `cli-parse` field cases.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { coded, tracingPrompts, vectors } from './support.ts'
import { call, cli, refused } from './cli-support.ts'
import { SYSTEM_PATH, program, scratch } from './machine.ts'

/** Written in two parts, so that it does not look like a template that lost its backticks. */
const BRACED = '$' + '{HOME}'
const ALLOWED = ['bash', 'cat', 'echo', 'false', 'find', 'git', 'grep', 'ls', 'printenv', 'python3', 'sh', 'sleep', 'true']
process.env.PATH = SYSTEM_PATH

/** The words of a command as the argument policy gets them, or the refusal that came before it. Nothing runs. */
async function split(command: string): Promise<{ tokens: string[] | undefined; text: string }> {
  let tokens: string[] | undefined
  const tool = cli(ALLOWED, { prompts: tracingPrompts(), argPolicy: (words: string[]) => { tokens = [...words]; return 'seen by the hook' } })
  const { response: { text, status, executed } } = await call(tool, command)
  assert.deepEqual([status, executed], ['error', false], text)
  if (tokens !== undefined) assert.ok(text.includes('seen by the hook'), `the hook's words are the refusal's: ${text}`)
  return { tokens: tokens && [basename(tokens[0]!), ...tokens.slice(1)], text }
}

/** Rows that differ on purpose: what is expected instead. `refusal` is any error before the policy. */
const DIFFERENCES: Record<string, { tokens: string[] | 'refusal'; reason: string }> = {
  'echo a#b': { tokens: ['echo', 'a#b'], reason: 'a # inside a word is a character' },
  'echo a\nls': { tokens: 'refusal', reason: 'a newline between words is an error: two commands were meant' },
  'echo a\n\nb': { tokens: 'refusal', reason: 'a newline between words is an error: two commands were meant' },
}

describe('cli_tokenize', () => {
  interface Row { command: string; tokens: string[] | null; error: string | null }
  const rows = vectors<Row[]>('cli_tokenize')
  test('there are 72 rows, and every difference is one of them', () => {
    assert.equal(rows.length, 72)
    for (const command of Object.keys(DIFFERENCES)) assert.ok(rows.some(row => row.command === command), command)
  })
  rows.forEach((row, index) => test(`cli_tokenize ${index}: ${JSON.stringify(row.command)}`, async () => {
    const { tokens, text } = await split(row.command)
    const recorded = row.tokens && ['echo', ...row.tokens.slice(1)]
    const difference = DIFFERENCES[row.command]
    if (difference !== undefined) {
      assert.notDeepEqual(tokens, recorded, difference.reason)
      if (difference.tokens !== 'refusal') assert.deepEqual(tokens, difference.tokens)
      else assert.equal(tokens, undefined, text)
    } else if (row.command.includes('\0')) {
      // No argument can hold NUL: it may be refused at once or by the hook, never run.
      assert.ok(tokens === undefined || tokens[1] === '\0')
    } else if (recorded !== null) {
      assert.deepEqual(tokens, recorded)
    } else {
      assert.equal(tokens, undefined, `refused before the policy: ${JSON.stringify(tokens)}`)
      const [, key, variables] = /^<(tool\.[\w.]+)\|?([\s\S]*)>$/.exec(row.error!)!
      assert.ok(text.startsWith(`<${key}`), `${text} instead of ${row.error}`)
      if (key === 'tool.msg.shell.operator') for (const [, bad] of variables!.matchAll(/'([^']+)'/g)) assert.ok(text.includes(bad!), `${bad} in ${text}`)
      if (key === 'tool.msg.shell.not_allowed') {
        const program = /program=([^|]*)\|/.exec(variables!)![1]!
        assert.ok(text.includes(/[^!-~]/.test(program) ? 'program=echo' : `program=${program}`), text)
        for (const name of ALLOWED) assert.ok(text.includes(name), `${name} in ${text}`)
      }
    }
  }))
})

describe('splitting beyond the rows', () => {
  const words: [command: string, tokens: string[]][] = [
    ['echo http://x/#top', ['echo', 'http://x/#top']], ['echo a\\#b', ['echo', 'a#b']], ["echo '#' \\#", ['echo', '#', '#']], ['echo a # b', ['echo', 'a']],
    ["echo ''#x", ['echo', '#x']], ["echo 'a\nb'", ['echo', 'a\nb']], ['echo "a\nb"', ['echo', 'a\nb']], ["echo a'b;c'd", ['echo', 'ab;cd']],
    ['echo a=b', ['echo', 'a=b']], ['echo \\\\', ['echo', '\\']], ["echo '\\'", ['echo', '\\']], ['echo "\\\\"', ['echo', '\\']], ['echo -- -n', ['echo', '--', '-n']],
    ['echo 😀 é', ['echo', '😀', 'é']], ['echo "" \'\' ""', ['echo', '', '', '']], ['e\\cho x', ['echo', 'x']], ['echo %PATH% ^a', ['echo', '%PATH%', '^a']],
  ]
  for (const [command, tokens] of words) test(`words of ${JSON.stringify(command)}`, async () => assert.deepEqual((await split(command)).tokens, tokens))
  for (const command of ['echo a\nls', 'echo a\r\nls', 'echo a # c\nls', '\necho\na', 'echo a\n\n\nid', 'echo\nid', "echo 'a'\nid", 'echo a \\\\\nid']) {
    test(`a newline between words: ${JSON.stringify(command)}`, async () => {
      const { tokens, text } = await split(command)
      assert.equal(tokens, undefined, `${JSON.stringify(tokens)} ${text}`)
    })
  }
  test('a newline at the end is no second command; if it is taken, it is no word', async () => {
    const { tokens } = await split('echo a\n')
    if (tokens !== undefined) assert.deepEqual(tokens, ['echo', 'a'])
  })
  for (const command of ['echo "a\'', "echo 'a\" b", 'echo a"', "'", '"', '\\']) {
    test(`unbalanced ${JSON.stringify(command)}`, async () => assert.match((await split(command)).text, /^<tool\.msg\.shell\.parse_failed/))
  }
})

test('CLIP-01 shell operators are refused by a text that says that there is no shell, and nothing runs', async () => {
  const cwd = scratch()
  const tool = cli(['git', 'echo', 'ls', 'sh', 'a', 'touch'], { cwd })
  for (const command of [
    'git status && id', 'echo a; id', 'ls | sh', 'echo $(id)', 'ls > f', 'a & b', 'ls >f', 'ls>f', 'echo x >> f', 'ls < f', 'echo $(touch f)', 'ls || touch f',
    'ls;touch f', 'ls&touch f', 'ls&&touch f', 'echo a |& sh', '(touch f)', 'echo <(touch f)', 'echo >(touch f)', 'ls 2>f', 'ls &>f', 'ls &', 'ls ;', '; ls', '| ls',
  ]) {
    const { text } = await refused(tool, command)
    assert.match(text, /no shell/i, `${command}: ${text}`)
  }
  await refused(tool, '`touch f`')
  await refused(tool, '$(touch f)')
  await refused(tool, 'echo a\ntouch f')
  assert.equal(existsSync(join(cwd, 'f')), false)
})

test('CLIP-02 an assignment before the program is no program', async () => {
  const tool = cli(['git', 'man', 'echo', 'env'], { prompts: tracingPrompts() })
  for (const command of ['GIT_SSH_COMMAND=sh git fetch', 'PAGER=x man ls', 'A=1 echo x', "'A'=1 echo x", 'A= echo x', '=x echo', 'PATH=. git status']) {
    assert.match((await refused(tool, command)).text, /^<tool\.msg\.shell\.not_allowed/, command)
  }
  for (const entry of ['A=1', 'GIT_SSH_COMMAND=sh']) {
    try { cli([entry]) } catch (error) { coded('INVALID_OPTIONS')(error); continue }
    await refused(cli([entry]), `${entry} git fetch`)
  }
})

test('CLIP-03 a program is resolved once, through absolute entries of PATH only', async () => {
  const [before, here, right, late] = [process.cwd(), scratch(), scratch(), scratch()]
  program(here, 'probe', '#!/bin/sh\necho hijacked\n')
  program(right, 'probe', '#!/bin/sh\necho right\n')
  mkdirSync(join(here, 'bin'))
  program(join(here, 'bin'), 'probe', '#!/bin/sh\necho hijacked\n')
  const argPolicy = () => null
  process.chdir(here)
  try {
    for (const path of [`.:${right}`, `:${right}`, `bin:${right}`, `./bin:${right}:`, `${right}:.`, `::${right}`]) {
      process.env.PATH = path
      for (const options of [{ argPolicy }, { argPolicy, cwd: here }]) {
        const { response } = await call(cli(['probe'], options), 'probe')
        assert.match(response.text, /right/, `${path}: ${response.text}`)
        assert.doesNotMatch(response.text, /hijacked/, path)
      }
    }
    for (const path of ['', '.', ':', 'bin', './bin:', '..']) {
      process.env.PATH = path
      const { response } = await call(cli(['probe'], { argPolicy, cwd: here, prompts: tracingPrompts() }), 'probe')
      assert.deepEqual([response.status, response.executed], ['error', false], `PATH=${path}: ${response.text}`)
      assert.match(response.text, /^<tool\.msg\.shell\.cmd_not_found\|program=probe>/)
    }
    process.env.PATH = `${late}:${right}:/usr/bin:/bin`
    const tool = cli(['probe'], { argPolicy, cwd: here })
    program(late, 'probe', '#!/bin/sh\necho late\n')
    process.env.PATH = late
    assert.match((await call(tool, 'probe')).response.text, /right/, 'resolved when the tool was made')
  } finally {
    process.chdir(before)
    process.env.PATH = SYSTEM_PATH
  }
})

test('CLIP-04 nothing is expanded', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'a.md'), '')
  const tool = cli(['echo'], { cwd })
  const rows: [command: string, output: string][] = [
    ["echo '$HOME'", '$HOME'], [`echo $HOME $$ $? ${BRACED}`, `$HOME $$ $? ${BRACED}`], ['echo "$(id)"', '$(id)'], ['echo "`id`" `id`', '`id` `id`'], ['echo *.md ?.md [a].md', '*.md ?.md [a].md'],
    ['echo ~ ~root ~/x', '~ ~root ~/x'], ['echo {a,b} {1..3}', '{a,b} {1..3}'], ['echo !! !x', '!! !x'], ["echo $'a'", '$a'], ['echo "$((1+1))"', '$((1+1))'],
  ]
  for (const [command, output] of rows) {
    const { response } = await call(tool, command)
    assert.equal(response.status, 'success', response.text)
    assert.equal(response.text, `[exit code 0]\nstdout:\n${output}`)
  }
})

test('CLIP-05 empty, comment only, too many words, too long a word', { timeout: 60_000 }, async () => {
  const tool = cli(['echo', 'x'], { prompts: tracingPrompts() })
  for (const command of ['', '   ', '\t', '# x', '   # x', '#', '\n', ' \n ']) assert.match((await refused(tool, command)).text, /^<tool\.msg\.shell\.empty_cmd/, JSON.stringify(command))
  for (const command of ["''", '""', "'' echo x"]) await refused(tool, command)
  for (const command of [`echo${' a'.repeat(100_000)}`, `echo ${'a'.repeat(3_000_000)}`, `echo '${'é'.repeat(1_500_000)}'`, 'a'.repeat(3_000_000)]) {
    const { text } = await refused(tool, command)
    assert.ok(text.length < 20_000, 'a refusal is short')
  }
  const { response } = await call(cli(['echo'], { maxOutputChars: 100_000, maxOutputBytes: 1_000_000 }), `echo ${'a'.repeat(1000)}`)
  assert.equal(response.text, `[exit code 0]\nstdout:\n${'a'.repeat(1000)}`, 'ordinary lengths work')
})

test('CLIP-06 an empty list denies all; entries that are no bare name are refused', async () => {
  for (const command of ['echo x', 'ls', "''", 'git status']) await refused(cli([]), command)
  for (const entry of ['git status', '', ' ', 'git ', ' git', '/bin/ls', './ls', 'bin/ls', '..', '.', 'a\nb', 'a\0b', 'a\tb']) {
    assert.throws(() => cli([entry]), coded('INVALID_OPTIONS'), JSON.stringify(entry))
    assert.throws(() => cli(['ls', entry]), coded('INVALID_OPTIONS'), JSON.stringify(entry))
  }
  for (const wrong of ['ls', { 0: 'ls', length: 1 }, [5], [null], null, undefined, 5, new Set(['ls'])]) {
    assert.throws(() => cli(wrong as never), coded('INVALID_OPTIONS'), String(wrong))
  }
  const tool = cli(['git'], { prompts: tracingPrompts() })
  for (const command of ['git-upload-pack x', 'gi status', 'GIT status', 'gitk', '/usr/bin/git status', './git status', '../git', 'git/ status', 'git\u200b status', 'gіt status', '-git']) {
    assert.match((await refused(tool, command)).text, /^<tool\.msg\.shell\.not_allowed/, command)
  }
})

test('the list of programs is copied when the tool is made', async () => {
  const names = ['echo']
  const tool = cli(names)
  names.push('ls')
  await refused(tool, 'ls')
  assert.match((await call(tool, 'echo x')).response.text, /x/)
})

test('by itself, without a registry, the same refusals are given', async () => {
  const tool = cli(['echo'], { prompts: tracingPrompts() })
  for (const [command, key] of [['echo a|b', 'operator'], ["echo 'a", 'parse_failed'], ['', 'empty_cmd'], ['ls', 'not_allowed']] as const) {
    const response = await tool.run({ command })
    assert.equal(response.status, 'error')
    assert.ok(response.text.startsWith(`<tool.msg.shell.${key}`), response.text)
  }
  const response = await tool.run({ command: 'echo hi' })
  assert.deepEqual([response.status, response.text], ['success', '<tool.msg.shell.exit_code|code=0>\nstdout:\nhi'])
})
