// Servers that send more than anybody can use. Each runs in a process of its own, so that memory can be measured: resident memory comes back
// to where it was, every call settles with what happened, and the host's timers are not held up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endedWell, runFixture } from './support.ts'

const LIMIT = { timeout: 600_000 }
const MOST_MB = 100
/** Where nobody counts what other programs took, this holds that too. */
const LATE_MS = 100
/** A machine that is busy makes timers late too, but not each time. */
const TRIES = 3

interface Settled { status: string; code?: string; text: string }
interface Found {
  before: number; peak: number; after: number; latest: number
  settled: Settled[]; loaded: number; skipped: number; served: number; slowest: number; dropped: number; withPattern: number; without: number
}

async function run(transport: 'stdio' | 'http', what: string, late = (found: Found) => found.latest - LATE_MS): Promise<Found> {
  for (let tried = 1; ; tried++) {
    const result = await runFixture('extreme.mjs', [transport, what], { nodeArgs: ['--expose-gc'], timeoutMs: 280_000 })
    endedWell(result)
    const found = JSON.parse(result.stdout) as Found
    const memory = `${found.before} MB before, ${found.peak} at its highest, ${found.after} after`
    assert.ok(found.after - found.before < MOST_MB, memory)
    if (late(found) <= 0) return found
    assert.ok(tried < TRIES, `a timer was ${found.latest} ms late: ${JSON.stringify(found).slice(0, 500)}`)
  }
}

const codes = ({ settled }: Found) => settled.map(({ status, code }) => [status, code])

test('a pattern that ruins other engines holds up no timer', LIMIT, async () => {
  const { withPattern, without } = await run('stdio', 'pattern', found => found.withPattern - found.without - 20)
  assert.ok(withPattern <= without + 20, `${withPattern} ms with it, ${without} ms without`)
})

test('1 GB without an end of line', LIMIT, async () => {
  const found = await run('stdio', 'line')
  assert.deepEqual(codes(found), [['error', 'CONNECTION_FAILED'], ['error', 'CONNECTION_FAILED']])
  assert.ok(found.peak - found.before < MOST_MB, 'nor did it take more meanwhile')
})

for (const [what, title] of [['plain', 'a body of 1 GB'], ['packed', 'a body of 1 GB in 1 MB']] as const) {
  test(title, LIMIT, async () => {
    const found = await run('http', what)
    assert.deepEqual(codes(found), [['error', 'CONNECTION_FAILED'], ['success', undefined]], 'the other call is none the worse')
    assert.ok(found.peak - found.before < MOST_MB, 'nor did it take more meanwhile')
  })
}

for (const transport of ['stdio', 'http'] as const) {
  test(`10,000 notifications a second over ${transport}`, LIMIT, async () => {
    const found = await run(transport, 'flood')
    assert.deepEqual(codes(found), [['success', undefined]])
    assert.ok(found.dropped >= 10_000, `${found.dropped} were dropped`)
    assert.ok(found.served > 10, `${found.served} calls were served meanwhile`)
  })

  test(`references that lead in circles, over ${transport}`, LIMIT, async () => {
    const found = await run(transport, 'loops')
    assert.equal(found.loaded + found.skipped, 10)
    assert.ok(found.loaded >= 5)
    assert.equal(found.settled.length, found.loaded * 5)
    for (const { status, code } of found.settled) assert.ok(status === 'success' || code === 'INVALID_ARGUMENTS', `${status} ${code}`)
  })

  test(`a listing of 100,000 tools over ${transport}`, LIMIT, async () => {
    const found = await run(transport, 'many')
    assert.equal(found.loaded, 128)
    assert.ok(found.skipped <= 300, 'what is left out is counted, not kept')
    assert.deepEqual(codes(found), [['success', undefined]])
  })
}

test('4,000 tools that are taken are made in turns of the event loop', LIMIT, async () => {
  assert.equal((await run('stdio', 'taken')).loaded, 4000)
})
