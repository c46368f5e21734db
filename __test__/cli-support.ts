// Shared by the tests of the command line tool: stub programs, calls whose question is counted, living processes.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { CLITool, ToolRegistry } from 'toolbolt'
import type { ExecuteOptions, ToolResponse } from 'toolbolt'
import { located, program, scratch } from './machine.ts'
import { sleep, wellFormed } from './support.ts'

/** A folder in which every name is a program that does nothing; git and sed, which the policy may ask something, are the real ones. */
export function stubs(names: Iterable<string>): string {
  const folder = scratch()
  for (const name of new Set(names)) {
    const real = name === 'git' || name === 'sed' ? located(name) : undefined
    if (real === undefined) program(folder, name, '#!/bin/sh\nexit 0\n')
    else symlinkSync(real, join(folder, name))
  }
  return folder
}

/** `programs` and others may not be in the types yet, and wrong options are tested too. */
export const cli = (allowed: readonly string[], options: Record<string, unknown> = {}): CLITool => new CLITool(allowed, options as ConstructorParameters<typeof CLITool>[1])

export const quoted = (argv: readonly string[]): string => argv.map(arg => /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`).join(' ')

export interface Call { response: ToolResponse; asked: number; preview: string; ms: number }

/** Runs a command through a registry of its own and counts how often somebody was asked. */
export async function call(tool: CLITool, command: string, { yes = true, ...options }: ExecuteOptions & { yes?: boolean } = {}): Promise<Call> {
  let asked = 0
  let preview = ''
  const registry = new ToolRegistry({ confirm: request => { asked += 1; preview = request.preview; return yes } })
  registry.register(tool)
  const started = performance.now()
  const response = await registry.execute('shell', { command }, options)
  const ms = performance.now() - started
  await registry.close()
  wellFormed(response)
  return { response, asked, preview, ms }
}

/** Asserts that the command was refused before anybody was asked. */
export async function refused(tool: CLITool, command: string): Promise<ToolResponse> {
  const { response, asked } = await call(tool, command)
  assert.deepEqual([response.status, response.executed, asked], ['error', false, 0], `${command.slice(0, 200)}: ${response.text.slice(0, 500)}`)
  return response
}

/** Asserts that the command was refused right before it would run: by the app's own policy, or for the repository it stands in. */
export async function refusedAtLast(tool: CLITool, command: string): Promise<ToolResponse> {
  const { response, asked } = await call(tool, command)
  assert.deepEqual([response.status, response.code, response.executed, asked], ['error', 'PERMISSION_DENIED', false, 1], `${command.slice(0, 200)}: ${response.text.slice(0, 500)}`)
  return response
}

/** Whether the argument policy lets a command through, seen from whether anybody is asked. Nothing runs: the answer is no. */
export async function passes(tool: CLITool, command: string): Promise<boolean> {
  const { response, asked } = await call(tool, command, { yes: false })
  assert.deepEqual([response.status, response.executed], ['error', false], command)
  assert.ok(asked <= 1)
  if (asked === 1) assert.equal(response.code, 'CONFIRMATION_REJECTED', command)
  else assert.notEqual(response.code, 'CONFIRMATION_REJECTED', command)
  return asked === 1
}

export interface CLIData { returncode: number; signal?: string; truncated?: true; killed?: 'timeout' | 'overflow' | 'cancelled'; sandbox?: string }
export const dataOf = (response: ToolResponse): CLIData => {
  assert.ok(typeof response.data === 'object' && response.data !== null, `no data: ${response.text}`)
  return response.data as CLIData
}

/** Whether a process still does something: a zombie does not. */
export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0))
  } catch {
    if (existsSync('/proc/self/stat')) return false
    try { process.kill(pid, 0); return true } catch { return false }
  }
}

/** Asserts that the process ends soon. One that does not is ended, so that no test leaves it behind. */
export async function ends(pid: number, what: string, ms = 3_000): Promise<void> {
  for (const until = performance.now() + ms; alive(pid); await sleep(20)) {
    if (performance.now() < until) continue
    process.kill(pid, 'SIGKILL')
    assert.fail(`${what} (${pid}) is still running`)
  }
}

/** The number that a program writes into a file. */
export async function pidIn(path: string, ms = 15_000): Promise<number> {
  for (const until = performance.now() + ms; performance.now() < until; await sleep(10)) {
    const pid = existsSync(path) ? /^(\d+)\n/.exec(readFileSync(path, 'utf8')) : null
    if (pid !== null) return Number(pid[1])
  }
  throw new Error(`no process wrote ${path}`)
}
