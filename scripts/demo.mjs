// `npm run demo`: sets up what is missing, then runs examples/demo.ts with the same arguments.
import { spawn } from 'node:child_process'
import { ROOT } from './run.mjs'
import { setUp } from './setup.mjs'

setUp()
const child = spawn(process.execPath, ['--import', 'tsx', 'examples/demo.ts', ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' })
// Ctrl-C reaches both processes from the terminal; this one waits until the demo has cleaned up.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { child.kill(signal) })
child.on('close', (code, signal) => { process.exitCode = signal === null ? code : 1 })
