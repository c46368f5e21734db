// The first listing of tools is part of connecting: it is tried again within the same budget, and ends with the attempt.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ConnectorConnectOptions, ToolError } from 'toolbolt'
import { free, registryOf, remote } from './connectors-support.ts'
import { isAlive, scratch } from './machine.ts'
import { legacy, serve } from './mcp-http-support.ts'
import { coded } from './support.ts'

const LIMIT = { timeout: 120_000 }
const folder = scratch()
let files = 0
const QUICK = { retries: 3, firstDelayMs: 20, maxDelayMs: 60 }

/** A connector whose server does with its first listings what `mode` says. */
function rig(mode: string, resilient: ConnectorConnectOptions['resilient'], client: ConnectorConnectOptions['client'] = {}) {
  const [modeFile, log] = [join(folder, `file-${files++}`), join(folder, `file-${files++}`)]
  writeFileSync(modeFile, mode)
  const registry = registryOf([free()])
  const lines = () => readFileSync(log, 'utf8').split('\n')
  return {
    registry,
    connect: (signal?: AbortSignal) => registry.connect('my-api', { resilient, signal, client: { respawn: { attempts: 5, firstDelayMs: 20, maxDelayMs: 50 }, ...client, env: { CONNECTOR_MODE: modeFile, CONNECTOR_LOG: log } } }),
    listings: () => lines().filter(line => line === 'list').length,
    pids: () => lines().filter(line => line.startsWith('start')).map(line => Number(line.split(' ')[1])),
  }
}

for (const [mode, starts] of [['refuse 2', 1], ['die 2', 3]] as const) {
  test(`a server that is not ready at first is asked again: ${mode}`, LIMIT, async () => {
    const { registry, connect, listings, pids } = rig(mode, QUICK)
    const connection = await connect()
    assert.deepEqual([connection.tools.length, listings(), pids().length], [4, 3, starts])
    await registry.close()
  })
}

test('it is given up after the tries, with the last reason as the cause, and the server is gone', LIMIT, async () => {
  const { connect, listings, pids } = rig('refuse 100', QUICK)
  await assert.rejects(connect(), error => {
    assert.ok(coded('CONNECTION_FAILED')(error) && ToolError.isInstance(error) && ToolError.isInstance(error.cause))
    assert.deepEqual([(error.data as any).tries, (error.data as any).reason], [4, undefined])
    return true
  })
  assert.deepEqual([listings(), pids().filter(isAlive)], [4, []])
})

test('without resilience it is asked for once', LIMIT, async () => {
  const { connect, listings } = rig('refuse 1', false)
  await assert.rejects(connect(), error => coded('CONNECTION_FAILED')(error) && (error as any).data?.tries === undefined)
  assert.equal(listings(), 1)
})

test('what the connecting left of the budget is all that it has', LIMIT, async () => {
  let asked = 0
  const answer = legacy()
  await using server = await serve(async (request, response) => {
    asked += Number(request.body?.method === 'initialize')
    // Two of the three further tries are gone before the server can be reached.
    if (request.body?.method === 'initialize' && asked <= 2) response.writeHead(503).end()
    else if (request.body?.method === 'tools/list') response.writeHead(503).end()
    else await answer(request, response)
  })
  const registry = registryOf([remote(server.url, { authType: 'NONE', authFields: [] })])
  const tries = async (resilient: ConnectorConnectOptions['resilient']) => {
    asked = 0
    const before = server.of('tools/list').length
    await assert.rejects(registry.connect('my-api', { resilient }), coded('CONNECTION_FAILED'))
    return server.of('tools/list').length - before
  }
  assert.equal(await tries(QUICK), 2)
  const started = performance.now()
  await tries({ retries: 1_000, firstDelayMs: 300, maxDelayMs: 300, budgetMs: 1_500 })
  assert.ok(performance.now() - started < 20_000, 'the budget ends it')
})

test('an attempt that is given up ends while a listing is waited for, and between two', LIMIT, async () => {
  for (const [mode, resilient] of [['silent', QUICK], ['refuse 1000', { retries: 1_000, firstDelayMs: 60_000, maxDelayMs: 60_000, budgetMs: 600_000 }]] as const) {
    const { connect, pids, registry } = rig(mode, resilient)
    const started = performance.now()
    await assert.rejects(connect(AbortSignal.timeout(1_500)), coded('CANCELLED'))
    assert.ok(performance.now() - started < 30_000)
    assert.deepEqual(pids().filter(isAlive), [], mode)
    const closing = assert.rejects(connect(), coded('CANCELLED'))
    setTimeout(() => { void registry.close() }, 1_500)
    await closing
    assert.deepEqual(pids().filter(isAlive), [], mode)
  }
})

test('a listing that pins refuse is final', LIMIT, async () => {
  const { connect, listings, pids } = rig('ok', QUICK, { expectedFingerprints: {} })
  await assert.rejects(connect(), coded('PIN_MISMATCH'))
  assert.deepEqual([listings(), pids().filter(isAlive)], [1, []])
})
