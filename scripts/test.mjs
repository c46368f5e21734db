// `npm test`: sets up, builds, then the Rust tests, the type checks and the Node tests.
// `--node` runs the Node tests alone on what is built, `--rust` the Rust tests alone, `--types` the type checks alone.
// Other arguments are names of test files, such as `turn` for __test__/turn.test.ts.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, bin, run } from './run.mjs'
import { setUp } from './setup.mjs'

/** For one file. The longest makes a million calls, in a child process, on whatever machine this is. */
const FILE_TIMEOUT_MS = 30 * 60_000
const TYPE_CHECKS = ['tsconfig.json', 'tsconfig.test.json', '__test__/contract/tsconfig.json']

const args = process.argv.slice(2)
const only = args.find(arg => arg.startsWith('--'))
const names = args.filter(arg => !arg.startsWith('--'))

/** Runs a part, and tells how long it took unless its own last words are worth keeping last. */
function part(title, work, { closes = false } = {}) {
  console.log(`\n== ${title}`)
  const started = performance.now()
  work()
  if (!closes) console.log(`== ${title}: ok, ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

function testFiles() {
  const all = readdirSync(join(ROOT, '__test__'), { recursive: true }).map(String).filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'))
  const wanted = names.length === 0 ? all : all.filter(file => names.includes(file.replace(/\.test\.ts$/, '')))
  return wanted.sort().map(file => join('__test__', file))
}

const rust = () => part('Rust tests', () => run('cargo', ['test', '-p', 'toolbolt-core', '--locked']))
const types = () => part('type checks', () => { for (const config of TYPE_CHECKS) run(bin('tsc'), ['-p', config, '--noEmit']) })
const node = () => part('Node tests', () => run(process.execPath, [
  '--expose-gc', '--import', 'tsx', '--test', '--test-reporter=spec', '--test-reporter-destination=stdout',
  '--test-concurrency=2', `--test-timeout=${FILE_TIMEOUT_MS}`, ...testFiles(),
]), { closes: true })

switch (only) {
  case undefined:
    part('set-up and build', () => setUp({ release: true }))
    rust()
    types()
    node()
    break
  case '--node': node(); break
  case '--rust': rust(); break
  case '--types': types(); break
  default:
    console.error(`unknown option ${only}; use --node, --rust or --types`)
    process.exit(1)
}
