// The first program of each page on credentials runs as it stands there, and prints what the page says.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scratch } from './machine.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

for (const page of ['credential-stores.md', 'webhooks.md']) {
  test(page, { timeout: 120_000 }, async () => {
    const [, program, printed] = /```js\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs', page), 'utf8')) ?? []
    assert.ok(program !== undefined && printed !== undefined)
    const folder = scratch()
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules', 'toolbolt'))
    writeFileSync(join(folder, 'first.mjs'), program)
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['first.mjs'], { cwd: folder, env, timeout: 100_000 })
    assert.deepEqual([stdout, stderr], [printed, ''])
  })
}
