// Builds the addon and the TypeScript. `--release` for the optimised addon; without it a debug one.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

const release = process.argv.includes('--release')

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

const addon = ['napi', 'build', '--platform', '--js', 'binding.cjs', '--dts', 'binding.d.cts', '--no-const-enum']
console.log(`building the ${release ? 'release' : 'debug'} addon…${release ? ' (the first time takes several minutes)' : ''}`)
run('npx', ['--no-install', ...addon, ...(release ? ['--release'] : [])])
console.log('building the TypeScript…')
rmSync('dist', { recursive: true, force: true })
run('npx', ['--no-install', 'tsc', '-p', 'tsconfig.json'])
