// Installs the MCP servers in Python that tests talk to (__test__/real-servers.test.ts, __test__/connectors-builtin.test.ts): a virtual
// environment below target/python-servers for each file of requirements in __test__/python-servers. `npm test` runs this; what is there
// already stays. Where something cannot be installed, it says so, and the tests of those servers are skipped with the reason; with `CI` set
// that is an error. An argument is another folder.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT, allExist, ask } from './run.mjs'

/** Two, since mcp-server-sqlite does not run with version 2 of the SDK. */
const ENVIRONMENTS = { 'mcp-2': ['time', 'git', 'fetch', 'fastmcp'], 'mcp-1': ['sqlite'] }
const FOLDER = join(ROOT, 'target', 'python-servers')
/** Of Python 3: fastmcp needs it. */
const OLDEST_MINOR = 11
/** For one environment. A minute is usual. */
const LIMIT_MS = 10 * 60_000
const TELL_EVERY_MS = 10_000

const requirementsFile = name => join(ROOT, '__test__', 'python-servers', `${name}.txt`)
const requirements = name => readFileSync(requirementsFile(name), 'utf8')
const reasonFile = (folder, name) => join(folder, `${name}.reason.txt`)
const readIfThere = path => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

/** What an environment was made of, if it is complete: its Python in the first line, then the requirements. */
const stampOf = environment => (allExist(environment, 'bin/python') ? readIfThere(join(environment, 'stamp.txt')) : undefined)

/** The folder of an environment's programs, `{ bin }`, or why there is none, `{ reason }`. */
export function pythonServers(name, folder = FOLDER) {
  const environment = join(folder, name)
  if (stampOf(environment)?.endsWith(`\n${requirements(name)}`) === true) return { bin: join(environment, 'bin') }
  return { reason: readIfThere(reasonFile(folder, name)) ?? 'it is not installed (node scripts/python-servers.mjs)' }
}

/** Installs an environment unless it is there; gives the reason if it cannot be installed. */
async function install(name, folder, python) {
  const environment = join(folder, name)
  const stamp = `${python}\n${requirements(name)}`
  if (stampOf(environment) === stamp) return undefined
  rmSync(environment, { recursive: true, force: true })
  const count = requirements(name).split('\n').filter(line => line.includes('==')).length
  const started = performance.now()
  console.log(`${name}: installing ${count} packages for ${ENVIRONMENTS[name].join(', ')}…`)
  let seen = 0
  const telling = setInterval(() => { console.log(`${name}: ${seen >= count ? 'installing what was fetched' : `${seen} of ${count} packages fetched`}`) }, TELL_EVERY_MS)
  const reason = await attempt('python3', ['-m', 'venv', environment])
    ?? await attempt(join(environment, 'bin', 'python'), ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off', '-r', requirementsFile(name)], line => {
      if (line.startsWith('Collecting ')) seen += 1
    })
  clearInterval(telling)
  if (reason !== undefined) {
    rmSync(environment, { recursive: true, force: true })
    return reason
  }
  writeFileSync(join(environment, 'stamp.txt'), stamp)
  console.log(`${name}: installed in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return undefined
}

/** Runs a program. If it fails, shows the end of what it printed and gives its last words. */
function attempt(command, args, onLine = () => {}) {
  return new Promise(done => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS, killSignal: 'SIGKILL' })
    let last = ''
    let rest = ''
    const take = text => {
      last = `${last}${text}`.slice(-2_000)
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop()
      lines.forEach(onLine)
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take)
    child.on('error', error => done(error.message))
    child.on('close', (code, signal) => {
      if (code === 0) return done(undefined)
      console.log(last.trim())
      return done(`${[basename(command), ...args.slice(0, 3)].join(' ')} failed (${signal ?? `exit code ${code}`}): ${last.trim().split('\n').at(-1)}`)
    })
  })
}

/** Which Python there is, or `{ problem }`. */
function findPython() {
  const python = ask('python3', ['-c', 'import sys; print(sys.executable, sys.version.split()[0])'])?.trim()
  if (python === undefined) return { problem: 'there is no python3 here' }
  return Number(/ 3\.(\d+)/.exec(python)?.[1]) >= OLDEST_MINOR ? { python } : { problem: `they need Python 3.${OLDEST_MINOR} or later; this is ${python}` }
}

async function installAll(folder) {
  mkdirSync(folder, { recursive: true })
  const { python, problem } = findPython()
  const reasons = await Promise.all(Object.keys(ENVIRONMENTS).map(async name => {
    rmSync(reasonFile(folder, name), { force: true })
    const reason = problem ?? await install(name, folder, python)
    if (reason !== undefined) writeFileSync(reasonFile(folder, name), reason)
    return [name, reason]
  }))
  const failed = reasons.filter(([, reason]) => reason !== undefined)
  for (const [name, reason] of failed) console.log(`NOT RUN: the tests with the servers ${ENVIRONMENTS[name].join(', ')}. They cannot be installed: ${reason}`)
  if (failed.length === 0) console.log(`the servers in Python are installed: ${Object.values(ENVIRONMENTS).flat().join(', ')}`)
  else if (process.env.CI) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installAll(process.argv[2] ?? FOLDER)
