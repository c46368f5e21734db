// Starts other programs for the scripts beside this file.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A program of the development dependencies. */
export const bin = name => join(ROOT, 'node_modules', '.bin', name)

/**
 * Runs a program in the checkout and shows what it prints; ends this process when it fails, or gives back `false` where it
 * `mayFail`. `quiet` sends its standard output to standard error, so that standard output stays free for a result.
 */
export function run(command, args, { quiet = false, mayFail = false, cwd = ROOT, env } = {}) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd,
    stdio: ['inherit', quiet ? 2 : 'inherit', 'inherit'],
    env: env === undefined ? process.env : { ...process.env, ...env },
  })
  if (error !== undefined) fail(error.code === 'ENOENT' ? `${command} is not installed.` : `${command} cannot be started: ${error.message}`)
  if (status === 0) return true
  if (mayFail) return false
  return fail(`failed (${signal ?? `exit code ${status}`}): ${[command, ...args].join(' ')}`)
}

/** What a program prints, or `undefined` when it is missing or fails. */
export function ask(command, args, { cwd = ROOT } = {}) {
  const { status, stdout, error } = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 << 20 })
  return error === undefined && status === 0 ? stdout : undefined
}

/** Says what is wrong and ends. */
export function fail(message) {
  console.error(message)
  process.exit(1)
}

/** Whether all of these exist in a folder. */
export const allExist = (root, ...names) => names.every(name => existsSync(join(root, name)))
