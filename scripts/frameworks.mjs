// Installs the agent frameworks that the tests of the adapters run in: each folder of __test__/frameworks has its own package.json and lock
// file, since all together are larger than everything else here. `npm test` runs this; what is there already stays. Where something
// cannot be installed, it says so, and the tests with that framework are skipped with the reason; with `CI` set that is an error.
// Arguments are names of folders.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT, fail } from './run.mjs'

/** The oldest major version of Node.js that each one names, as far as it is newer than what this package needs. */
const NEWER_NODE = { 'ai-7': 22, mastra: 22 }
export const FRAMEWORKS = ['ai-6', 'ai-7', 'openai-agents', 'langchain', 'mastra', 'genkit']
const LIMIT_MS = 10 * 60_000

/** Where a framework is, with the folder `node_modules`. */
export const frameworkFolder = name => join(ROOT, '__test__', 'frameworks', name)

const readIfThere = path => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
const lockOf = name => readFileSync(join(frameworkFolder(name), 'package-lock.json'), 'utf8')
/** The lock file that a folder was installed from. */
const stampFile = name => join(frameworkFolder(name), 'node_modules', '.installed-from.json')
const isInstalled = name => readIfThere(stampFile(name)) === lockOf(name)

/** Why the tests with a framework cannot run in this process, or `undefined`. */
export function frameworkMissing(name, version = process.versions.node) {
  const needs = NEWER_NODE[name] ?? 0
  if (Number(version.split('.')[0]) < needs) return `${name} needs Node.js ${needs} or later; npm run test:node22 runs it`
  return isInstalled(name) ? undefined : `${name} is not installed (node scripts/frameworks.mjs)`
}

/** Installs a framework unless it is there; gives the reason if it cannot be installed. */
function install(name) {
  if (isInstalled(name)) return undefined
  const cwd = frameworkFolder(name)
  const started = performance.now()
  console.log(`${name}: installing…`)
  const { status, signal, error, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS, killSignal: 'SIGKILL' })
  if (error !== undefined || status !== 0) {
    rmSync(join(cwd, 'node_modules'), { recursive: true, force: true })
    return `npm ci failed (${error?.message ?? signal ?? `exit code ${status}`}): ${(stderr ?? '').trim().split('\n').slice(0, 2).join(' ')}`
  }
  writeFileSync(stampFile(name), lockOf(name))
  console.log(`${name}: installed in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return undefined
}

function installAll(names) {
  const reasons = names.map(name => [name, install(name)]).filter(([, reason]) => reason !== undefined)
  for (const [name, reason] of reasons) console.log(`NOT RUN: the tests with ${name}. It cannot be installed: ${reason}`)
  if (reasons.length === 0) console.log(`the frameworks are installed: ${names.join(', ')}`)
  else if (process.env.CI) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  for (const name of names) if (!FRAMEWORKS.includes(name)) fail(`there is no framework ${name}; there are ${FRAMEWORKS.join(', ')}`)
  installAll(names.length === 0 ? FRAMEWORKS : names)
}
