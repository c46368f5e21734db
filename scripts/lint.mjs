// `npm run lint`: everything that is checked beside the tests. Each step is named with its time; what fails is shown in full.
// Needs what `npm run build` makes.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cargoDeny } from './cargo-deny.mjs'
import { ROOT, ask, bin } from './run.mjs'

/** Runs a program: whether it succeeded, and all that it printed. */
function attempt(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 << 20 })
  return { ok: error === undefined && status === 0, output: error === undefined ? `${stdout}${stderr}` : error.message }
}

/** A step is a command, or a function that gives `{ ok, output?, note? }`. */
const command = (program, ...args) => () => attempt(program, args)
const all = (...steps) => () => {
  const failed = steps.map(step => step()).filter(({ ok }) => !ok)
  return { ok: failed.length === 0, output: failed.map(({ output }) => output).join('\n') }
}

function advisories(program) {
  const result = attempt(program, ['--locked', 'check', 'advisories'])
  if (!result.ok && /failed to fetch advisory database/.test(result.output)) return { ok: true, note: 'NOT checked: the advisory database cannot be fetched from here' }
  return result
}

function audit() {
  const { ok, output } = attempt('npm', ['audit', '--omit=dev', '--json'])
  let answer
  try {
    answer = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
  } catch {
    answer = undefined
  }
  const found = answer?.metadata?.vulnerabilities?.total
  if (found === undefined) return { ok: true, note: 'NOT checked: the audit service cannot be reached from here' }
  return { ok: ok && found === 0, output, note: 'the package has no dependencies at run time' }
}

function generated() {
  const files = ['binding.cjs', 'binding.d.cts']
  if (ask('git', ['rev-parse', 'HEAD']) === undefined) return { ok: true, note: 'NOT checked: this is no git checkout' }
  const { ok, output } = attempt('git', ['diff', '--exit-code', 'HEAD', '--', ...files])
  return { ok, output: `${output}\nThe build wrote other files than the committed ones. Commit them.` }
}

function published() {
  const out = join(ROOT, 'target', 'packed')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const packed = attempt(process.execPath, ['scripts/pack.mjs', '--out', out])
  if (!packed.ok) return packed
  return all(...readdirSync(out).map(name => command(bin('publint'), 'run', join(out, name), '--strict')))()
}

const deny = cargoDeny()
const denied = check => (deny === undefined ? () => ({ ok: false, output: 'cargo-deny cannot be installed' }) : check)

const STEPS = {
  'cargo fmt': command('cargo', 'fmt', '--all', '--check'),
  'cargo clippy: everything': command('cargo', 'clippy', '--workspace', '--locked', '--', '-D', 'warnings'),
  // The addon has no tests in Rust: compiled as one, its exports are left out, and all that they use would count as unused.
  'cargo clippy: tests and benches of the core': command('cargo', 'clippy', '-p', 'toolbolt-core', '--all-targets', '--locked', '--', '-D', 'warnings'),
  'cargo deny: licences, bans, sources': denied(() => attempt(deny, ['--locked', 'check', 'licenses', 'bans', 'sources'])),
  'cargo deny: advisories': denied(() => advisories(deny)),
  'biome': command(bin('biome'), 'lint', '--error-on-warnings'),
  'tsc: the package': command(bin('tsc'), '-p', 'tsconfig.json', '--noEmit'),
  'tsc: tests and examples': command(bin('tsc'), '-p', 'tsconfig.test.json'),
  'tsc: contract programs': command(bin('tsc'), '-p', '__test__/contract/tsconfig.json'),
  'rules of dependency': command(process.execPath, 'scripts/check-rules.mjs'),
  'npm audit': audit,
  'publint': published,
  'generated files are the committed ones': generated,
}

const failed = []
for (const [name, step] of Object.entries(STEPS)) {
  const started = performance.now()
  const { ok, output, note } = step()
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)${note === undefined ? '' : `: ${note}`}`)
  if (ok) continue
  failed.push(name)
  console.log((output ?? '').trimEnd().replace(/^/gm, '      '))
}
console.log(`checks: ${Object.keys(STEPS).length - failed.length} passed, ${failed.length} failed`)
if (failed.length > 0) process.exitCode = 1
