// Shared helpers of the Node tests. Nothing here knows how the package is built.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PromptRegistry, ToolError, ToolResponse, tool } from 'toolbolt'
import type { JsonSchema, ToolContext, ToolFlags, ToolResult } from 'toolbolt'

export const ANY_OBJECT: JsonSchema = { type: 'object', properties: {} }

export function readJson<T>(relative: string): T {
  return JSON.parse(readFileSync(new URL(relative, import.meta.url), 'utf8')) as T
}

export function vectors<T>(name: string): T {
  return readJson<T>(`./vectors/${name}.json`)
}

export interface PromptKey { variables: string[]; protected: string[] }

/** Every recorded key that the registry has, overridden by `<key|variable={variable}|…>`: a text then tells its key and variables. */
export function tracingPrompts(): PromptRegistry {
  const prompts = PromptRegistry.load('en')
  const known = new Set(prompts.keys())
  const texts: Record<string, string> = {}
  for (const [key, { variables, protected: tokens }] of Object.entries(vectors<Record<string, PromptKey>>('prompt_keys'))) {
    if (known.has(key)) texts[key] = `<${[key, ...variables.map(name => `${name}={${name}}`), ...tokens].join('|')}>`
  }
  return prompts.withOverrides(texts)
}

/** A predicate for assert.throws and assert.rejects: one of our errors with this code. */
export function coded(code: string, type: new (...args: any[]) => Error = ToolError) {
  return (error: unknown): true => {
    assert.ok(ToolError.isInstance(error), `not a ToolError: ${String(error)}`)
    assert.ok(error instanceof type, `not a ${type.name}`)
    assert.equal(error.code, code)
    assert.ok(error.message.length > 0)
    return true
  }
}

/** One of our errors, whichever its code. */
export function ours(error: unknown): true {
  assert.ok(ToolError.isInstance(error), `not a ToolError: ${String(error)}`)
  assert.equal(typeof error.code, 'string')
  return true
}

/** A tool with an open schema, for tests about its body. */
export function bare(name: string, run: (args: any, context: ToolContext) => unknown, flags: Omit<ToolFlags, 'requiresConfirmation'> & { requiresConfirmation?: boolean | ((args: any) => boolean) } = {}) {
  return tool({ name, description: `The ${name} tool`, inputSchema: ANY_OBJECT, run: run as (args: any, context: ToolContext) => ToolResult | Promise<ToolResult>, ...flags })
}

export interface Violation { path: string; message: string }

export function violations(response: ToolResponse): Violation[] {
  const list = (response.data as { violations?: Violation[] } | undefined)?.violations
  assert.ok(Array.isArray(list), `no violations in ${JSON.stringify(response)}`)
  for (const { path, message } of list) {
    assert.equal(typeof path, 'string')
    assert.ok(typeof message === 'string' && message.length > 0)
  }
  return list
}

export const paths = (response: ToolResponse): string[] => violations(response).map(v => v.path)

export function wellFormed(response: unknown): asserts response is ToolResponse {
  assert.ok(response instanceof ToolResponse)
  assert.equal(typeof response.text, 'string')
  assert.ok(['success', 'partial', 'error'].includes(response.status), String(response.status))
  assert.equal(typeof response.executed, 'boolean')
  assert.ok(typeof response.callId === 'string' && response.callId.length > 0)
  if (response.code !== undefined) assert.match(response.code, /^[A-Z_]+$/)
  if (response.status === 'error') assert.ok(response.text.length > 0, 'an error says what is wrong')
  if (response.executed === false) assert.equal(response.status, 'error')
}

/** With the `u` flag a surrogate matches only when it stands alone. */
export const hasLoneSurrogate = (text: string): boolean => /\p{Surrogate}/u.test(text)

export const sleep = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms))

export function deferred<T = void>() {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((yes, no) => { resolve = yes; reject = no })
  return { promise, resolve, reject }
}

/** Fails instead of hanging; the timer does not outlive the race. */
export async function within<T>(ms: number, work: Promise<T>, what = 'work'): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, fail) => { timer = setTimeout(() => fail(new Error(`${what} took over ${ms} ms`)), ms) })
  try { return await Promise.race([work, late]) } finally { clearTimeout(timer) }
}

/** Runs `work` and answers the rejections that nobody handled meanwhile. */
export async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  const note = (reason: unknown) => { seen.push(reason) }
  process.on('unhandledRejection', note)
  try {
    await work()
    await sleep(20)
  } finally {
    process.off('unhandledRejection', note)
  }
  return seen
}

/** mulberry32: small, seeded, the same on every machine. */
export function prng(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (below: number): number => Math.floor(next() * below)
  return { next, int, chance: (p: number): boolean => next() < p, pick: <T>(list: readonly T[]): T => list[int(list.length)]! }
}

export interface ChildResult { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string; ms: number; killed: boolean }

export const fixturePath = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

/** Runs a fixture in a plain node process (no loader); `killed` tells that it did not end by itself in time. */
export function runFixture(name: string, args: readonly string[] = [], { nodeArgs = [] as readonly string[], timeoutMs = 120_000 } = {}): Promise<ChildResult> {
  const started = performance.now()
  const { NODE_OPTIONS: _dropped, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(process.execPath, [...nodeArgs, fixturePath(name), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  let killed = false
  child.stdout.setEncoding('utf8').on('data', chunk => { stdout += chunk })
  child.stderr.setEncoding('utf8').on('data', chunk => { stderr += chunk })
  const timer = setTimeout(() => { killed = true; child.kill('SIGKILL') }, timeoutMs)
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) => { clearTimeout(timer); done({ code, signal, stdout, stderr, killed, ms: performance.now() - started }) })
  })
}

export function endedWell(result: ChildResult): void {
  assert.equal(result.killed, false, `did not end by itself\n${result.stdout}\n${result.stderr}`)
  assert.deepEqual([result.code, result.signal], [0, null], result.stderr || result.stdout)
}
