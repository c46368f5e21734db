// The first program of the page on serving runs as it stands there.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MCPClient } from 'toolbolt'
import { scratch } from './machine.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('the first program', { timeout: 60_000 }, async () => {
  const [, program] = /```js\n(\/\/ server\.mjs\n[\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/serving.md'), 'utf8')) ?? []
  assert.ok(program !== undefined)
  const folder = scratch()
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/toolbolt'))
  writeFileSync(join(folder, 'server.mjs'), program)
  const client = await MCPClient.connect({ namespace: 'sums', command: process.execPath, args: [join(folder, 'server.mjs')], requiresConfirmation: false })
  try {
    assert.deepEqual((await client.loadTools()).map(({ name }) => name), ['sums_add'])
    assert.equal((await client.callTool('add', { a: 1, b: 2 })).status, 'success')
  } finally {
    await client.close()
  }
})
