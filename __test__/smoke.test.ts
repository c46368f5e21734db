// The few tests that also run on the other supported version of Node.js: see scripts/test.mjs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endedWell, runFixture } from './support.ts'

test('a process that loads the addon, asks, calls a server and closes nothing ends well', { timeout: 100_000 }, async () => {
  const result = await runFixture('smoke.mjs', [], { timeoutMs: 90_000 })
  endedWell(result)
  const { version, asked, answers } = JSON.parse(result.stdout)
  assert.equal(version, process.version)
  assert.deepEqual(asked, ['greet (from builtin)', 'every_get-sum (from mcp:every)'])
  assert.deepEqual(answers.map(([status, code]: string[]) => [status, code]), [
    ['success', null], ['success', null], ['error', 'INVALID_ARGUMENTS'], ['success', null], ['error', 'EXECUTION_FAILED'],
  ])
  assert.deepEqual([answers[0][2], answers[1][2]], ['1180591620717411303424', 'hello you'])
  assert.match(answers[3][2], /5/)
})
