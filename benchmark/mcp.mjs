// What a call to an MCP server costs: ours through the whole gate (`registry`) and past it (`callTool`), beside the official
// client, over standard streams and Streamable HTTP. The servers answer at once (benchmark/servers), each in a process of its
// own; so does each cell, and the clients take turns. Everything is measured twice: with client and server on one processor, where
// figures repeat and show what a client costs, and free to use all, where each message also waits for a sleeping processor to wake,
// which on a virtual machine takes longer than most of what a client does.
import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { MCPClient, ToolRegistry } from 'toolbolt'
import { median, round } from './figures.mjs'

const SELF = fileURLToPath(import.meta.url)
const server = name => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url))
const TRANSPORTS = ['stdio', 'http']
const canPin = spawnSync('taskset', ['-c', '0', 'true']).status === 0
/** What the processes of a cell may run on. */
const PROCESSORS = canPin ? ['one', 'all'] : ['all']
const run = (processors, args) => {
  const [command, ...rest] = [...(processors === 'one' ? ['taskset', '-c', '0'] : []), process.execPath, ...args]
  return spawnSync(command, rest, { encoding: 'utf8' })
}
const OFFICIAL = 'official'
const CLIENTS = ['registry', 'callTool', OFFICIAL]
const IN_FLIGHT = 64
const BATCHES = 3
const LARGE_CALLS = 9
/** Calls in a process: to warm up, one at a time, and in each of the batches with 64 in flight. */
const CALLS = { stdio: { warm: 500, single: 8000, batch: 10_000 }, http: { warm: 300, single: 2000, batch: 1500 } }
const QUICK = { warm: 5, single: 20, batch: 128 }
/** What is wanted of ours beside the official client. */
const AIMS = [
  { transport: 'http', figure: 'single', most: 0.35, what: 'HTTP, one call at a time: time' },
  { transport: 'stdio', figure: 'rate', least: 2, what: 'stdio, 64 in flight: calls per second' },
]
const MESSAGE = { message: 'hello' }

async function connectOurs(transport, url) {
  const options = { namespace: 'bench', requiresConfirmation: false }
  return transport === 'stdio' ? MCPClient.connect([process.execPath, server('stdio')], options) : MCPClient.connectHttp(url, options)
}

/** Each connects one of the clients, and gives the calls: one gives the text of an answer. */
const WAYS = {
  async registry(transport, url) {
    const client = await connectOurs(transport, url)
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    return { call: async (name, args) => (await registry.execute(`bench_${name}`, args)).text, close: () => client.close() }
  },
  async callTool(transport, url) {
    const client = await connectOurs(transport, url)
    return { call: async (name, args) => (await client.callTool(name, args)).text, close: () => client.close() }
  },
  async [OFFICIAL](transport, url) {
    const client = new Client({ name: 'bench', version: '1.0.0' })
    await client.connect(transport === 'stdio' ? new StdioClientTransport({ command: process.execPath, args: [server('stdio')] }) : new StreamableHTTPClientTransport(new URL(url)))
    await client.listTools()
    return { call: async (name, args) => (await client.callTool({ name, arguments: args })).content[0].text, close: () => client.close() }
  },
}

async function checkedEcho(call) {
  const text = await call('echo', MESSAGE)
  if (text !== MESSAGE.message) throw new Error(`wrong answer: ${text}`)
}

/** Runs `work`; milliseconds of processor time of this process for 10,000 calls. */
async function cpuOf(calls, work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / calls * 10_000
}

/** One call after the other: µs of each, sorted. */
async function oneAtATime(call, calls) {
  const times = []
  for (let i = 0; i < calls; i++) {
    const started = process.hrtime.bigint()
    await checkedEcho(call)
    times.push(Number(process.hrtime.bigint() - started) / 1000)
  }
  return times.sort((a, b) => a - b)
}

/** Calls per second. */
async function manyAtOnce(call, calls) {
  let left = calls
  const started = process.hrtime.bigint()
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => { while (left-- > 0) await checkedEcho(call) }))
  return calls / (Number(process.hrtime.bigint() - started) / 1e9)
}

/** ms of a call that is answered with a text of a million characters. */
async function large(call) {
  const started = process.hrtime.bigint()
  const text = await call('large', {})
  if (!text.startsWith('xxxx')) throw new Error(`wrong answer: ${text.slice(0, 200)}`)
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** The server of an HTTP cell: its address, and how to end it. Over stdio the client starts it. */
async function startServer(transport) {
  if (transport === 'stdio') return { url: undefined, stop() {} }
  const child = spawn(process.execPath, [server('http')], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const port of createInterface({ input: child.stdout })) return { url: `http://127.0.0.1:${port}/mcp`, stop: () => child.kill() }
  throw new Error('the server did not start')
}

/** In a process of its own: all figures of one client over one transport. */
async function measureCell(transport, name, { warm, single, batch }) {
  const { url, stop } = await startServer(transport)
  const { call, close } = await WAYS[name](transport, url)
  for (let i = 0; i < warm; i++) await checkedEcho(call)
  let times
  const singleCpu = await cpuOf(single, async () => { times = await oneAtATime(call, single) })
  await manyAtOnce(call, Math.min(batch, warm * 5))
  const rates = []
  const batchCpu = await cpuOf(BATCHES * batch, async () => { for (let i = 0; i < BATCHES; i++) rates.push(await manyAtOnce(call, batch)) })
  const larges = []
  for (let i = 0; i < LARGE_CALLS; i++) larges.push(await large(call))
  await close()
  stop()
  console.log(JSON.stringify({ single: median(times), p99: times[Math.floor(times.length * 0.99)], singleCpu, rate: median(rates), batchCpu, large: median(larges) }))
}

const FIGURES = ['single', 'p99', 'singleCpu', 'rate', 'batchCpu', 'large']

/** A row for each client and transport on one processor and on all: the median and the best of each figure over the rounds, and the ratio to the official client. */
export function runMcp(rounds, quick) {
  const cells = PROCESSORS.flatMap(processors => TRANSPORTS.flatMap(transport => CLIENTS.map(client => ({ processors, transport, client, rounds: [] }))))
  for (let turn = 0; turn < rounds; turn++) {
    for (const cell of cells) {
      // Without warnings: over HTTP the official client has thousands of listeners on one signal, and Node.js 20 names each.
      const calls = JSON.stringify(quick ? QUICK : CALLS[cell.transport])
      const { status, stdout, stderr } = run(cell.processors, ['--no-warnings', SELF, '--cell', cell.transport, cell.client, calls])
      if (status !== 0) throw new Error(`${cell.client} over ${cell.transport}: ${stderr}`)
      cell.rounds.push(JSON.parse(stdout))
    }
  }
  const rows = cells.map(({ processors, transport, client, rounds: measured }) => ({
    processors, transport, client, ...Object.fromEntries(FIGURES.map(figure => {
      const values = measured.map(one => one[figure])
      return [figure, { median: round(median(values)), best: round(figure === 'rate' ? Math.max(...values) : Math.min(...values)) }]
    })),
  }))
  for (const row of rows) {
    const official = rows.find(other => other.processors === row.processors && other.transport === row.transport && other.client === OFFICIAL)
    row.ratio = Object.fromEntries(FIGURES.map(figure => [figure, round(row[figure].median / official[figure].median)]))
  }
  return rows
}

const COLUMNS = { single: ['one at a time, µs', 1], p99: ['p99, µs', 0], singleCpu: ['CPU, ms', 0], rate: ['64 in flight, /s', 0], batchCpu: ['CPU, ms', 0], large: ['1 MB, ms', 1] }

export function reportMcp(rows) {
  console.log(`\nCalls to MCP servers, median (ratio to the official client); CPU of the client alone, for 10,000 calls; ${IN_FLIGHT} in flight`)
  for (const processors of PROCESSORS) {
    console.log(`\n${`${processors} processor${processors === 'one' ? '' : 's'}`.padEnd(18)}${Object.values(COLUMNS).map(([title]) => title.padStart(20)).join('')}`)
    for (const { transport, client, ratio, ...row } of rows.filter(row => row.processors === processors)) {
      const figures = Object.entries(COLUMNS).map(([figure, [, digits]]) => `${row[figure].median.toFixed(digits)} (${ratio[figure].toFixed(2)})`.padStart(20))
      console.log(`${transport.padEnd(7)}${client.padEnd(11)}${figures.join('')}`)
    }
  }
  console.log('')
  for (const processors of PROCESSORS) {
    for (const { transport, figure, most, least, what } of AIMS) {
      const ratio = rows.find(row => row.processors === processors && row.transport === transport && row.client === 'registry').ratio[figure]
      const isMet = most === undefined ? ratio >= least : ratio <= most
      console.log(`${what} ${ratio.toFixed(2)} of the official client's, processors: ${processors}; wanted: at ${most === undefined ? `least ${least}` : `most ${most}`}${isMet ? '' : ', MISSED'}`)
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await measureCell(process.argv[3], process.argv[4], JSON.parse(process.argv[5]))
