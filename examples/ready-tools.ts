/**
 * The ready tools behind one gate: a person is asked before a command runs and before a note is written, and reads what will happen;
 * what the rules refuse asks nobody.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLITool, CalculatorTool, NotesTool, SearchTool, ToolRegistry } from 'toolbolt'

const folder = await mkdtemp(join(tmpdir(), 'ready-tools-'))
const asked: string[] = []
const registry = new ToolRegistry({ confirm: ({ preview }) => { asked.push(preview); return true } })
registry.registerAll([
  new CalculatorTool(),
  new NotesTool(join(folder, 'notes')),
  new CLITool(['git', 'ls', 'grep', 'rm'], { cwd: folder, sandbox: 'best-effort' }),
  new SearchTool(), // keys from TAVILY_API_KEY and the like; DuckDuckGo needs none
])

const sum = await registry.execute('calculator', { expression: '2**64 + round(2.5)' })
assert.equal(sum.data, 18446744073709551618n)

await registry.execute('notes', { action: 'append', path: 'ideas.md', content: 'try the gate' })
const found = await registry.execute('notes', { action: 'search', query: 'gate' })
assert.match(found.text, /ideas\.md/)

const listing = await registry.execute('shell', { command: 'ls notes' })
assert.match(listing.text, /\[exit code 0\]\nstdout:\nideas\.md/)
const refused = await registry.execute('shell', { command: 'ls notes | sh' })
assert.deepEqual([refused.code, refused.executed], ['INVALID_ARGUMENTS', false])
const dangerous = await registry.execute('shell', { command: 'git -c core.pager=sh log' })
assert.equal(dangerous.code, 'PERMISSION_DENIED')

// The note and the listing were asked about, reading and refused commands were not. What writes says so.
assert.deepEqual(asked.map(preview => preview.split('\n')[0]), ['notes (from builtin; writes)', 'shell (from builtin)'])
await registry.close()
await rm(folder, { recursive: true })
