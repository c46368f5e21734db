// Memory, garbage collection, workers and the end of a process; each in a child process of its own.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { endedWell, runFixture } from './support.ts'

const LONG = { timeout: 900_000 }
const GC = ['--expose-gc']

describe('resident memory stays within 10 MB of its level after warm-up', { concurrency: 1 }, () => {
  for (const [what, warmUp, count] of [['calls', 200_000, 1_000_000], ['registries', 2_000, 10_000]] as const) test(`${count} ${what}`, LONG, async t => {
    const result = await runFixture('memory.mjs', [what, `${warmUp}`, `${count}`], { nodeArgs: GC, timeoutMs: 850_000 })
    endedWell(result)
    const { before, after, seconds } = JSON.parse(result.stdout) as { before: number; after: number; seconds: number }
    const numbers = `${what}: ${before.toFixed(1)} MB after warm-up, ${after.toFixed(1)} MB after ${count} more, ${seconds.toFixed(1)} s`
    t.diagnostic(numbers)
    assert.ok(after - before <= 10, numbers)
  })
})

test('a registry that its own tools hold is collected', LONG, async () => {
  const result = await runFixture('collected.mjs', [], { nodeArgs: GC, timeoutMs: 300_000 })
  endedWell(result)
  assert.deepEqual(JSON.parse(result.stdout), { made: 500, left: 0, finalized: 500 })
})

test('100 workers with calls in flight are terminated without a crash or a hang', LONG, async t => {
  const result = await runFixture('workers.mjs', ['100', '8'], { timeoutMs: 600_000 })
  endedWell(result)
  assert.deepEqual(JSON.parse(result.stdout), { ended: 100, text: '42' })
  t.diagnostic(`${(result.ms / 1000).toFixed(1)} s`)
})

describe('the end of a process', () => {
  const ending = (mode: string) => runFixture('ending.mjs', [mode], { timeoutMs: 60_000 })
  test('an idle one exits by itself, though its registry is alive and open', LONG, async () => {
    const result = await ending('idle')
    endedWell(result)
    assert.equal(result.stdout, 'ran\n2\n')
    assert.ok(result.ms < 20_000, `${result.ms} ms`)
  })
  test('a busy one does not exit before its tool is done', LONG, async () => {
    const result = await ending('busy')
    endedWell(result)
    assert.equal(result.stdout, 'after the timer\n')
    assert.ok(result.ms >= 1500)
  })
  test('a native tool in flight is waited for', LONG, async () => {
    const result = await ending('native')
    endedWell(result)
    assert.equal(result.stdout, '2\n')
  })
  test('a tool that never settles holds nothing up', LONG, async () => {
    const result = await ending('never')
    endedWell(result)
    assert.equal(result.stdout, 'entered\n')
    assert.ok(result.ms < 20_000, `${result.ms} ms`)
  })
})
