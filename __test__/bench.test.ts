// The benchmark runs and measures what it says; its figures are not judged here.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('npm run bench -- --quick --json', { timeout: 300_000 }, async () => {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const output = await new Promise<string>((done, fail) => {
    execFile(process.execPath, ['benchmark/bench.mjs', '--quick', '--json'], { cwd: fileURLToPath(new URL('..', import.meta.url)), env }, (error, stdout, stderr) => { error === null ? done(stdout) : fail(new Error(stderr)) })
  })
  const { cells, machine, mcp } = JSON.parse(output)
  assert.equal(cells.length, 16)
  assert.equal(new Set(cells.map(({ schema, size, form, body }: any) => [schema, size, form, body].join())).size, 16)
  for (const { gate, plain, ratio } of cells) for (const figure of [gate.median, gate.best, plain.median, plain.best, ratio]) assert.ok(figure > 0 && figure < 1e5)
  const processors: string[] = [...new Set<string>(mcp.map((row: any) => row.processors))]
  assert.equal(processors.at(-1), 'all')
  assert.deepEqual(mcp.map(({ transport, client }: any) => `${transport} ${client}`), processors.flatMap(() => ['stdio registry', 'stdio callTool', 'stdio official', 'http registry', 'http callTool', 'http official']))
  for (const { ratio, ...row } of mcp) for (const figure of ['single', 'p99', 'singleCpu', 'rate', 'batchCpu', 'large']) assert.ok(row[figure].median > 0 && row[figure].best > 0 && ratio[figure] > 0)
  assert.equal(machine.node, process.version)
})
