// How connections are, and the monitor.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConnectorRegistry, ConnectorSpec, type HealthChange } from 'toolbolt'
import { scratch } from './machine.ts'
import { coded, endedWell, runFixture, vectors } from './support.ts'

const LIMIT = { timeout: 180_000 }
const SERVER = fileURLToPath(new URL('./fixtures/connector-server.mjs', import.meta.url))
const folder = scratch()
const spec = (name: string) => new ConnectorSpec({ name, displayName: name, category: 'test', description: 'Test', authType: 'NONE', mcpCommand: [process.execPath, SERVER] })

function registryOf(...names: string[]): ConnectorRegistry {
  const registry = new ConnectorRegistry()
  for (const name of names) registry.register(spec(name))
  return registry
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    assert.ok(performance.now() < deadline, `never: ${what}`)
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}

test('a look says how long it took, how many tools there are, and what went wrong', LIMIT, async () => {
  await using registry = registryOf('far')
  const mode = join(folder, 'mode')
  const connection = await registry.connect('far', { client: { env: { CONNECTOR_MODE: mode } } })
  const fine = await connection.health()
  assert.deepEqual([fine.status, fine.toolCount, fine.error, fine.consecutiveFailures], ['healthy', 4, undefined, 0])
  assert.ok(fine.latencyMs! > 0 && fine.latencyMs! < 60_000)
  assert.ok(Math.abs(Date.parse(fine.lastCheck!) - Date.now()) < 60_000)
  writeFileSync(mode, 'silent')
  const statuses = []
  for (let look = 0; look < 4; look += 1) statuses.push(await connection.health({ timeoutMs: 100 }))
  assert.deepEqual(statuses.map(({ status, consecutiveFailures, error }) => [status, consecutiveFailures, error?.code]), [['degraded', 1, 'TIMEOUT'], ['degraded', 2, 'TIMEOUT'], ['disconnected', 3, 'TIMEOUT'], ['disconnected', 4, 'TIMEOUT']])
  assert.deepEqual([statuses[0]?.latencyMs, statuses[0]?.toolCount], [fine.latencyMs, 4], 'of the last answer')
  rmSync(mode)
  assert.equal((await connection.health()).status, 'healthy')
  await connection.close()
  assert.deepEqual([(await connection.health()).status], ['disconnected'])
  for (const options of [{ timeoutMs: 0 }, { degradedAfter: 0 }, { degradedAfter: 5, disconnectedAfter: 4 }, { x: 1 }]) await assert.rejects(connection.health(options as any), coded('INVALID_OPTIONS'))
})

test('the thresholds of the originals, as recorded', LIMIT, async () => {
  await using registry = registryOf('far')
  const mode = join(folder, 'recorded')
  const connection = await registry.connect('far', { client: { env: { CONNECTOR_MODE: mode } } })
  writeFileSync(mode, 'silent')
  for (const { consecutive_failures, status } of vectors<{ consecutive_failures: number; status: string }[]>('sagewai_health')) {
    const found = await connection.health({ timeoutMs: 20, degradedAfter: 3, disconnectedAfter: 10 })
    assert.deepEqual([found.consecutiveFailures, found.status], [consecutive_failures, status])
  }
})

test('a monitor tells of changes, finds what is connected later, and brings back what is dead', LIMIT, async () => {
  await using registry = registryOf('one', 'two')
  const changes: HealthChange[] = []
  using monitor = registry.monitor({ intervalMs: 40, jitter: 0.5, timeoutMs: 5_000, onChange: change => { changes.push(change); throw new Error('not heard') } })
  assert.deepEqual([monitor.statuses, monitor.status('one').status], [{}, 'unknown'])
  const mode = join(folder, 'monitored')
  const one = await registry.connect('one', { client: { env: { CONNECTOR_MODE: mode }, respawn: { attempts: 1, firstDelayMs: 1 } } })
  await registry.connect('two')
  await until(() => Object.values(monitor.statuses).every(({ status }) => status === 'healthy'), 'both are healthy')
  writeFileSync(mode, 'dead')
  process.kill(one.client.pid!, 'SIGKILL')
  await until(() => monitor.status('one').status === 'disconnected', 'one is away')
  assert.equal(monitor.status('two').status, 'healthy')
  rmSync(mode)
  await until(() => monitor.status('one').status === 'healthy', 'one is back')
  await registry.disconnect('two')
  assert.equal(monitor.status('two').status, 'disconnected')
  const told = changes.filter(({ name }) => name === 'one').map(({ previous, current }) => [previous, current.status])
  for (const [at, [previous]] of told.entries()) assert.equal(previous, at === 0 ? 'unknown' : told[at - 1]![1])
  assert.equal((await monitor.check()).one?.status, 'healthy')
  monitor.stop()
  const { length } = changes
  process.kill(one.client.pid!, 'SIGKILL')
  await new Promise(resolve => { setTimeout(resolve, 300) })
  assert.equal(changes.length, length)
  for (const options of [{ intervalMs: 0 }, { jitter: 2 }, { jitter: Number.NaN }, { onChange: 1 }, { x: 1 }, { intervalMs: 2 ** 31 }]) assert.throws(() => registry.monitor(options as any), coded('INVALID_OPTIONS'))
})

test('neither a connection nor a monitor keeps a process alive', LIMIT, async () => {
  const result = await runFixture('connectors-idle.mjs')
  endedWell(result)
  assert.equal(result.stdout, 'connected 50\n')
})
