// The first program of the page on MCP servers runs as it stands there, as a newcomer has it, and prints what the page says.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scratch } from './machine.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('the first program', { timeout: 120_000 }, async () => {
  const page = readFileSync(join(ROOT, 'docs/mcp.md'), 'utf8')
  const [, program, printed] = /```js\n(\/\/ first\.mjs\n[\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(page) ?? []
  assert.ok(program !== undefined && printed !== undefined)
  const folder = scratch()
  // What `npm install` would have put there.
  for (const [name, target] of [['toolbolt', ROOT], ['@modelcontextprotocol', join(ROOT, 'node_modules/@modelcontextprotocol')], ['.bin', join(ROOT, 'node_modules/.bin')]] as const) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(target, join(folder, 'node_modules', name))
  }
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, 'first.mjs'), program)
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['first.mjs'], { cwd: folder, env, timeout: 100_000 })
  assert.deepEqual([stdout, stderr], [printed, ''])
})

test('no page and no example lets npx fetch a package by the name of a program', () => {
  const pages = ['README.md', ...['docs', 'examples'].flatMap(folder => readdirSync(join(ROOT, folder)).filter(name => /\.(md|ts|mjs|json)$/.test(name)).map(name => join(folder, name)))]
  const words = pages.flatMap(page => [...readFileSync(join(ROOT, page), 'utf8').matchAll(/npx['"]?,?\s+(?:"?args"?:\s*\[)?['"]?([\w@./-]+)/g)].map(([whole, word]) => ({ page, whole, word })))
  assert.ok(words.length >= 5, 'it looks at something')
  // The page says once what not to write.
  assert.deepEqual(words.filter(({ word }) => !['-y', '--no', 'NAME', 'finds'].includes(word!)), [])
})
