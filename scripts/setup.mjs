// Brings a checkout to where it can run: the tools it needs, its dependencies, the addon and the TypeScript.
// What is already there and newer than its sources stays as it is.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { ROOT, allExist, ask, fail, run } from './run.mjs'

const ADDON = 'toolbolt.linux-x64-gnu.node'
const ADDON_SOURCES = ['Cargo.toml', 'Cargo.lock', 'build.rs', 'src', 'crates/core/Cargo.toml', 'crates/core/src']

/** What is wrong with a Node.js version, or `undefined`. The same range stands in package.json under `engines`. */
export function nodeProblem(version) {
  const [major, minor] = numbers(version)
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return undefined
  return `toolbolt needs Node.js 20.19 or later (of 22: 22.12 or later); this is ${version}. Install a newer one and try again.`
}

/** What is wrong with the answer of `cargo --version`, or `undefined`. The same version stands in Cargo.toml as `rust-version`. */
export function cargoProblem(answer) {
  const needs = 'Building the addon needs Rust 1.88 or later'
  if (answer === undefined) return `${needs}, and there is no cargo here. Install Rust with rustup and try again.`
  const [major, minor] = numbers(answer)
  return major > 1 || (major === 1 && minor >= 88) ? undefined : `${needs}; this is ${answer.trim()}. Update it (rustup update) and try again.`
}

/** What has to be done in a checkout before it can run: some of `install`, `addon` and `typescript`, in this order. */
export function missing(root = ROOT) {
  const steps = []
  if (!isInstalled(root)) steps.push('install')
  if (!allExist(root, ADDON, 'binding.cjs', 'binding.d.cts') || isOlder(root, ADDON, ADDON_SOURCES)) steps.push('addon')
  if (!allExist(root, 'dist/registry.js') || isOlder(root, 'dist/registry.js', ['ts', 'tsconfig.json'])) steps.push('typescript')
  return steps
}

/**
 * Does what is missing, and says so on standard error. With `release` the addon and the TypeScript are built in any case:
 * cargo itself knows what has changed.
 */
export function setUp({ release = false } = {}) {
  stopAt(nodeProblem(process.version))
  const steps = missing()
  if (steps.includes('install')) {
    console.error('installing the development dependencies (npm ci)…')
    run('npm', ['ci', '--no-audit', '--no-fund'], { quiet: true })
  }
  const addon = release || steps.includes('addon')
  if (addon) stopAt(builderProblem())
  if (addon || steps.includes('typescript')) build({ addon: addon ? 'release' : 'none', quiet: true })
}

function builderProblem() {
  const problem = cargoProblem(ask('cargo', ['--version']))
  if (problem !== undefined) return problem
  if (ask('cc', ['--version']) !== undefined) return undefined
  return 'Building the addon needs a C compiler as linker, and there is no cc here. Install one (Debian: apt-get install build-essential) and try again.'
}

function stopAt(problem) {
  if (problem !== undefined) fail(problem)
}

/** Whether every package of package-lock.json is there in its version, as npm itself has noted it. */
function isInstalled(root) {
  const read = name => JSON.parse(readFileSync(join(root, name), 'utf8')).packages
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return false
  const [wanted, found] = [read('package-lock.json'), read('node_modules/.package-lock.json')]
  return Object.entries(wanted).every(([path, { version, optional, devOptional, peer }]) => {
    if (path === '' || ((optional || devOptional || peer) && !(path in found))) return true
    return found[path]?.version === version && existsSync(join(root, path))
  })
}

function isOlder(root, product, sources) {
  const made = statSync(join(root, product)).mtimeMs
  return sources.some(source => newest(join(root, source)) > made)
}

function newest(path) {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(0, ...readdirSync(path).map(name => newest(join(path, name))))
}

function numbers(text) {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [text, '0', '0']
  return [Number(major), Number(minor)]
}
