// `npm test`: sets up, builds, then the Rust tests, the type checks, the conformance suite, a few tests on Node.js 22 and the Node tests,
// for which it installs the MCP servers in Python that they talk to, and the agent frameworks that the adapters are for.
// `--node` runs the Node tests alone on what is built, `--node22` those on Node.js 22, `--rust` the Rust tests, `--types` the type checks;
// the conformance suite alone is `npm run conformance`.
// Other arguments are names of test files, such as `turn` for __test__/turn.test.ts.
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findNode22 } from './node-22.mjs'
import { ROOT, bin, fail, run } from './run.mjs'
import { setUp } from './setup.mjs'

/** For one file. The longest makes a million calls, in a child process, on whatever machine this is. */
const FILE_TIMEOUT_MS = 30 * 60_000
const NODE_TESTS = 'Node tests'
const isAdapters = name => name.startsWith('adapters')
const NODE_22_TIMEOUT_MS = 120_000
const TYPE_CHECKS = ['tsconfig.json', 'tsconfig.test.json', '__test__/contract/tsconfig.json']

const args = process.argv.slice(2)
const only = args.find(arg => arg.startsWith('--'))
const names = args.filter(arg => !arg.startsWith('--'))

const failed = []

/** Runs a part. A failed one does not keep the others from running, so that one run shows all that is wrong. */
function part(title, work) {
  console.log(`\n== ${title}`)
  const started = performance.now()
  const ok = work()
  if (!ok) failed.push(title)
  // The Node tests come last, and their own summary has the last word.
  if (title !== NODE_TESTS) console.log(`== ${title}: ${ok ? 'ok' : 'FAILED'}, ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

function testFiles() {
  const all = readdirSync(join(ROOT, '__test__'), { recursive: true }).map(String).filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'))
  const wanted = names.length === 0 ? all : all.filter(file => names.includes(file.replace(/\.test\.ts$/, '')))
  if (wanted.length === 0) fail(`no test file is named ${names.join(' or ')}`)
  return wanted.sort().map(file => join('__test__', file))
}

/** Those of the adapters only where they are wanted: some frameworks need this version, and none takes long. */
function node22Tests() {
  const adapters = testFiles().filter(file => isAdapters(basename(file)))
  return [...['exports', 'smoke'].map(name => join('__test__', `${name}.test.ts`)), ...adapters]
}

const build = () => part('set-up and build', () => {
  setUp({ release: true })
  return true
})
const rust = () => part('Rust tests', () => run('cargo', ['test', '-p', 'toolbolt-core', '--locked', '--no-fail-fast'], { mayFail: true }))
const types = () => part('type checks', () => TYPE_CHECKS.map(config => run(bin('tsc'), ['-p', config, '--noEmit'], { mayFail: true })).every(Boolean))
const conformance = () => part('conformance suite', () => run(process.execPath, ['scripts/conformance.mjs'], { mayFail: true }))
/** What __test__/real-servers.test.ts talks to. What is there already stays. */
const pythonServers = () => {
  if (names.length > 0 && !names.includes('real-servers')) return
  part('MCP servers in Python', () => run(process.execPath, ['scripts/python-servers.mjs'], { mayFail: true }))
}
/** What the tests of the adapters run in. What is there already stays. */
const frameworks = () => {
  if (names.length > 0 && !names.some(isAdapters)) return
  part('agent frameworks', () => run(process.execPath, ['scripts/frameworks.mjs'], { mayFail: true }))
}
const node = () => part(NODE_TESTS, () => run(process.execPath, [
  '--expose-gc', '--import', 'tsx', '--test', '--test-reporter=spec', '--test-reporter-destination=stdout',
  '--test-concurrency=2', `--test-timeout=${FILE_TIMEOUT_MS}`, ...testFiles(),
], { mayFail: true }))

/** The other version that is supported: that the addon loads there, what rests on the version, and the frameworks that need it. */
const node22 = () => part('Node.js 22', () => {
  const { path, reason } = findNode22()
  if (path === undefined) {
    console.log(`NOT RUN: ${reason}. Nothing was tested on Node.js 22.`)
    return true
  }
  return run(path, ['--import', 'tsx', '--test', '--test-reporter=spec', `--test-timeout=${NODE_22_TIMEOUT_MS}`, ...node22Tests()], { mayFail: true })
})

const PARTS = { '--node': [pythonServers, frameworks, node], '--node22': [frameworks, node22], '--rust': [rust], '--types': [types], undefined: [build, rust, types, conformance, frameworks, node22, pythonServers, node] }
const chosen = PARTS[only]
if (chosen === undefined) fail(`unknown option ${only}; use --node, --node22, --rust or --types`)
for (const one of chosen) one()
if (failed.length > 0) fail(`FAILED: ${failed.join(', ')}`)
