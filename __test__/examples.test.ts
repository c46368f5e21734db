// Every example checks itself; this runs them, and holds the README to what it quotes.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const examples = readdirSync(join(ROOT, 'examples')).filter(name => name.endsWith('.ts') && name !== 'demo.ts')

describe('examples', { concurrency: 2 }, () => {
  for (const name of examples) {
    test(name, { timeout: 60_000 }, async () => {
      const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
      await new Promise<void>((done, fail) => {
        execFile(process.execPath, ['--import', 'tsx', join('examples', name)], { cwd: ROOT, env, timeout: 50_000 }, (error, stdout, stderr) => { error === null ? done() : fail(new Error(stderr || stdout)) })
      })
    })
  }

  test('the README quotes its example as it is', () => {
    const quoted = /\/\/ README begins\n([\s\S]*?)\/\/ README ends/.exec(readFileSync(join(ROOT, 'examples/first.ts'), 'utf8'))?.[1]
    assert.ok(quoted !== undefined && readme.includes(`\`\`\`ts\n${quoted}\`\`\``), 'the first block of the README differs from examples/first.ts')
  })

  test('every file and command that the README names exists', () => {
    for (const [, path] of readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) assert.doesNotThrow(() => readFileSync(join(ROOT, path!)), path)
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const [, script] of readme.matchAll(/npm run ([a-z:]+)/g)) assert.ok(script! in scripts, script)
  })
})
