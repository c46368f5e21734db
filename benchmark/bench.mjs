// `npm run bench`: what calls cost, of JavaScript functions (gate.mjs) and of tools of MCP servers (mcp.mjs).
//
//   --json     one JSON object instead of the tables
//   --rounds N rounds, each with a fresh process for every cell (default 5)
//   --quick    one short round, to see that it runs
//   --gate, --mcp  one of the two alone
import { isRelease, machine } from './figures.mjs'
import { reportGate, runGate } from './gate.mjs'
import { reportMcp, runMcp } from './mcp.mjs'

const args = process.argv.slice(2)
const quick = args.includes('--quick')
const rounds = quick ? 1 : args.includes('--rounds') ? Number(args[args.indexOf('--rounds') + 1]) : 5
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number')
const [gate, mcp] = [!args.includes('--mcp'), !args.includes('--gate')]

const result = {
  machine: machine(), rounds, unit: 'µs per call', release: isRelease(), cells: gate ? runGate(rounds, quick) : [], mcp: mcp ? runMcp(rounds, quick) : [],
}
if (args.includes('--json')) console.log(JSON.stringify(result))
else {
  const { cpu, cores, memoryGiB, node, load } = result.machine
  console.log(`${cpu}, ${cores} cores, ${memoryGiB} GiB; Node.js ${node}; load ${load}; ${rounds} rounds`)
  if (!result.release) console.log('NOTE: the addon is a debug build. Build the release one first (npm run build); these figures mean nothing.')
  if (gate) reportGate(result.cells)
  if (mcp) reportMcp(result.mcp)
}
