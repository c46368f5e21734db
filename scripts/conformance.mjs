// `npm run conformance`: the official conformance suite of the protocol against our client and a server of
// ours, for both revisions that it has requirements for. What is expected to fail, and why, stands in
// __test__/conformance/expected-failures.json and expected-server-failures.json;
// what fails beside that, and what passes against it, is an error. The last line gives the counts.
//
//   --verbose  shows what the client printed and what failed, also where nothing is wrong
//   --client, --server  that side alone
//   names      of scenarios: those alone
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { findNode22 } from './node-22.mjs'
import { ROOT, fail } from './run.mjs'
import { setUp } from './setup.mjs'

const FOLDER = join(ROOT, '__test__', 'conformance')
const SUITE = join(ROOT, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
const REVISIONS = ['2025-11-25', '2026-07-28']
/** For all scenarios of a revision, which run at the same time. The suite gives each client 30 s. */
const LIMIT_MS = 120_000
/** What the client prints at its end. The suite itself does not look at how a client ended. */
const CLIENT_IS_DONE = 'done'

/** The suite does not start on Node.js 20. The client under test runs on this very Node.js in any case. */
function nodeForSuite() {
  const { path, reason } = findNode22({ orLater: true })
  return path ?? fail(`the suite does not start on ${process.version}, and ${reason}. Run it with Node.js 22 or later.`)
}

/** Runs all that a revision has; each scenario leaves a folder with its checks in `out`. */
function runSuite(node, mode, revision, out) {
  // The command is split at blanks, so that the path of this Node.js may not stand in it.
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
  const args = [SUITE, ...mode, '--requirements', revision, '--output-dir', out]
  return new Promise(done => {
    const child = spawn(node, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { output += text })
    child.on('error', error => done(error.message))
    child.on('close', () => done(output))
  })
}

/** Starts the server under test and gives its address; it ends when its input does. */
async function startServer() {
  const child = spawn(process.execPath, ['__test__/conformance/server.mjs'], { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] })
  for await (const line of child.stdout.setEncoding('utf8')) return { url: line.trim(), end: () => { child.stdin.end() } }
  return fail('the server under test did not start')
}

/** The scenarios that were run, from the folders `{scenario}-{time}`; a name may have a slash. */
function scenariosIn(out) {
  return readdirSync(out, { recursive: true }).map(String).filter(path => path.endsWith('checks.json')).sort().map(path => {
    const folder = dirname(path)
    const read = name => (existsSync(join(out, folder, name)) ? readFileSync(join(out, folder, name), 'utf8') : undefined)
    const scenario = folder.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
    // A server's scenarios have no program of their own, and one word more before each name.
    return { scenario: read('stdout.txt') === undefined ? scenario.slice('server-'.length) : scenario, checks: JSON.parse(read('checks.json')), stdout: read('stdout.txt'), stderr: read('stderr.txt') }
  })
}

const isBad = ({ status }) => status === 'FAILURE' || status === 'WARNING'

/** What is wrong with a scenario: the ids of checks, each with its words. Nothing checked is wrong too. */
function faults({ checks, stdout }) {
  const bad = new Map(checks.filter(isBad).map(({ id, errorMessage, description }) => [id, errorMessage ?? description]))
  if (!checks.some(({ status }) => status === 'SUCCESS')) bad.set('nothing-checked', 'no check succeeded')
  if (stdout !== undefined && !stdout.trimEnd().endsWith(CLIENT_IS_DONE)) bad.set('client-ended-early', 'the client failed, or was stopped')
  return bad
}

/** `passed`, `expected` or `failed`, and the lines that say why. */
function judge(result, expected) {
  const bad = faults(result)
  const words = [...bad].map(([id, message]) => `${id}: ${message}`)
  if (expected === undefined) return bad.size === 0 ? { verdict: 'passed', words } : { verdict: 'failed', words }
  if (bad.size === 0) return { verdict: 'failed', words: ['it passes, and is still listed among the expected failures: take it out'] }
  const { checks, reason } = expected
  if (checks === undefined) return { verdict: 'expected', words: [reason] }
  const surplus = words.filter(line => !checks.includes(line.split(':')[0]))
  const stale = checks.filter(id => !bad.has(id)).map(id => `${id} passes, and is still listed among the expected failures: take it out`)
  return surplus.length + stale.length === 0 ? { verdict: 'expected', words: [reason] } : { verdict: 'failed', words: [...surplus, ...stale] }
}

/** Reason and, where only some checks may fail, these checks, by the name of the scenario. */
function readExpected(file) {
  const groups = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
  const entries = groups.flatMap(({ reason, scenarios, checks }) => scenarios.map(scenario => [scenario, { reason, checks }]))
  const expected = new Map(entries)
  if (expected.size !== entries.length) fail(`${file} names a scenario twice`)
  return expected
}

setUp()
const args = process.argv.slice(2)
const verbose = args.includes('--verbose')
const wanted = args.filter(arg => !arg.startsWith('--'))
const node = nodeForSuite()
const counts = { passed: 0, expected: 0, failed: 0 }

/** Runs one side, as `mode` says it to the suite, for both revisions, and counts. */
async function runSide(name, mode, expected) {
  const met = new Set()
  for (const revision of REVISIONS) {
    console.log(`\n== ${name}: requirements of ${revision}`)
    const started = performance.now()
    const out = mkdtempSync(join(tmpdir(), 'toolbolt-conformance-'))
    const output = await runSuite(node, mode, revision, out)
    const results = scenariosIn(out).filter(({ scenario }) => wanted.length === 0 || wanted.includes(scenario))
    rmSync(out, { recursive: true })
    const announced = /\((\d+) scenarios\)/.exec(output)?.[1]
    if (announced === undefined || (wanted.length === 0 && Number(announced) !== results.length)) fail(`${output}\nthe suite ran ${results.length} of ${announced ?? 'an unknown number of'} scenarios`)
    for (const result of results) {
      met.add(result.scenario)
      report(result, expected.get(result.scenario))
    }
    console.log(`== ${results.length} scenarios, ${((performance.now() - started) / 1000).toFixed(0)} s`)
  }
  for (const scenario of wanted.length === 0 ? expected.keys() : []) {
    if (met.has(scenario)) continue
    counts.failed += 1
    console.log(`FAIL  ${scenario} is listed among the expected failures, and the suite has none of that name`)
  }
}

function report(result, expected) {
  const { verdict, words } = judge(result, expected)
  counts[verdict] += 1
  console.log(`${{ passed: 'ok  ', expected: 'xfail', failed: 'FAIL' }[verdict].padEnd(5)} ${result.scenario}${verdict === 'expected' ? ` (${words})` : ''}`)
  if (verdict === 'failed') for (const line of words) console.log(`        ${line}`)
  if (verdict === 'expected' && verbose) for (const [id, message] of faults(result)) console.log(`        ${id}: ${message}`)
  if (verdict === 'failed' || verbose) console.log(`${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd().replace(/^/gm, '        | '))
}

if (!args.includes('--server')) await runSide('client', ['client', '--command', 'node __test__/conformance/client.mjs'], readExpected('expected-failures.json'))
if (!args.includes('--client')) {
  const server = await startServer()
  await runSide('server', ['server', '--url', server.url], readExpected('expected-server-failures.json'))
  server.end()
}
if (counts.failed > 0) process.exitCode = 1
console.log(`\nconformance: ${counts.passed} passed, ${counts.failed} failed, ${counts.expected} expected failures`)
