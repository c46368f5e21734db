// The contract programs: unchanged, type-checked against the published declarations, and run as a user would run them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, '__test__/contract')
const SHARED = join(ROOT, '../shared/contract')
const LIMIT = { timeout: 120_000 }

/** The type check has the same list. 06 needs a framework: see adapters-ai-sdk.test.ts. */
const { files } = JSON.parse(readFileSync(join(FOLDER, 'tsconfig.json'), 'utf8').replace(/^\s*\/\/.*$/gm, '')) as { files: string[] }

function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  return new Promise(done => {
    execFile(program, args, { cwd: ROOT, env, encoding: 'utf8', timeout: LIMIT.timeout - 10_000 }, (error, stdout, stderr) => { done({ code: error === null ? 0 : 1, output: stdout + stderr }) })
  })
}

describe('contract', { concurrency: 2 }, () => {
  test('the copies are equal to the originals', { skip: !existsSync(SHARED) && 'the originals are not beside this checkout' }, () => {
    const programs = (folder: string) => readdirSync(folder).filter(name => /^\d\d-.*\.ts$/.test(name)).sort()
    assert.deepEqual(programs(FOLDER), programs(SHARED))
    for (const name of programs(SHARED)) assert.equal(readFileSync(join(FOLDER, name), 'utf8'), readFileSync(join(SHARED, name), 'utf8'), name)
  })

  test('the programs type-check', LIMIT, async () => {
    const { code, output } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(FOLDER, 'tsconfig.json')])
    assert.equal(code, 0, output)
  })

  for (const file of files) {
    test(`${file} runs`, LIMIT, async () => {
      const { code, output } = await run(process.execPath, ['--import', 'tsx', join(FOLDER, file)])
      assert.equal(code, 0, output)
    })
  }
})
