// Builds the addon and the TypeScript. `--release` for the optimised addon, `--ts` for the TypeScript alone; else a debug addon.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT, bin, run } from './run.mjs'

const ADDON = ['build', '--platform', '--js', 'binding.cjs', '--dts', 'binding.d.cts', '--no-const-enum']

/** `addon` is `release`, `debug` or `none`; progress goes to standard error. */
export function build({ addon, quiet = false }) {
  if (addon !== 'none') {
    console.error(`building the ${addon} addon…${addon === 'release' ? ' (the first time takes several minutes)' : ''}`)
    if (addon === 'release') run(bin('napi'), [...ADDON, '--release'], { quiet, env: { RUSTFLAGS: withoutMachinePaths(quiet) } })
    else run(bin('napi'), ADDON, { quiet })
  }
  console.error('building the TypeScript…')
  // Into another folder first: a failed build leaves the last good one in place.
  const made = join(ROOT, 'target', 'dist')
  const dist = join(ROOT, 'dist')
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  run(bin('tsc'), ['-p', 'tsconfig.json', '--outDir', made], { quiet })
  rmSync(dist, { recursive: true, force: true })
  renameSync(made, dist)
}

/** Compiler flags with which the binary holds no path of the machine that built it: places of panics are relative. */
function withoutMachinePaths(quiet) {
  const sources = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry', 'src')
  if (!existsSync(sources)) run('cargo', ['fetch', '--locked'], { quiet })
  const folders = existsSync(sources) ? readdirSync(sources).map(name => join(sources, name)) : []
  const remaps = folders.filter(folder => !/\s/.test(folder)).map(folder => `--remap-path-prefix=${folder}=crates`)
  return [process.env.RUSTFLAGS, ...remaps].filter(Boolean).join(' ')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const only = process.argv.includes('--ts')
  build({ addon: only ? 'none' : process.argv.includes('--release') ? 'release' : 'debug' })
}
