// Shared by the tests of the notes tool: a root in a folder of its own, and calls whose texts are checked for paths of the host.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { NotesTool, ToolError, ToolRegistry, ToolResponse } from 'toolbolt'
import type { ExecuteOptions } from 'toolbolt'
import { scratch } from './machine.ts'

export interface Place { base: string; root: string; outside: string }

/** A base folder; the root below it does not exist yet. */
export function place(): Place {
  const base = scratch()
  return { base, root: join(base, 'notebook'), outside: join(base, 'outside') }
}

export const notes = (root: string, options: Record<string, unknown> = {}): NotesTool => new NotesTool(root, options as ConstructorParameters<typeof NotesTool>[1])

/** No text and no data names where the notes are on this machine. */
export function tellsNoPath(response: ToolResponse, { base }: Pick<Place, 'base'>): void {
  assert.ok(!response.text.includes(base), `an absolute path: ${response.text}`)
  assert.ok(!(JSON.stringify(response.data) ?? '').includes(base), 'an absolute path in data')
}

/** Runs the tool by itself. A throw of ours counts as an error response, where a caller's mistake may be one. */
export async function run(tool: NotesTool, args: Record<string, unknown>): Promise<ToolResponse> {
  try {
    const response = await tool.run(args as never)
    assert.ok(response instanceof ToolResponse)
    return response
  } catch (error) {
    assert.ok(ToolError.isInstance(error), `not one of ours: ${String(error)}`)
    return ToolResponse.error(error.message)
  }
}

/** Runs the tool through a registry that says yes, and counts the questions. */
export async function execute(tool: NotesTool, args: Record<string, unknown>, options: ExecuteOptions = {}): Promise<{ response: ToolResponse; asked: number; preview: string }> {
  let asked = 0
  let preview = ''
  const registry = new ToolRegistry({ confirm: request => { asked += 1; preview = request.preview; return true } })
  registry.register(tool)
  const response = await registry.execute('notes', args, options)
  await registry.close()
  return { response, asked, preview }
}

export const read = (path: string) => ({ action: 'read', path })
export const append = (path: string, content: string) => ({ action: 'append', path, content })

export async function succeeds(tool: NotesTool, args: Record<string, unknown>): Promise<ToolResponse> {
  const response = await run(tool, args)
  assert.equal(response.status, 'success', `${JSON.stringify(args).slice(0, 200)}: ${response.text.slice(0, 500)}`)
  return response
}

export async function fails(tool: NotesTool, args: Record<string, unknown>): Promise<ToolResponse> {
  const response = await run(tool, args)
  assert.equal(response.status, 'error', `${JSON.stringify(args).slice(0, 200)}: ${response.text.slice(0, 500)}`)
  assert.ok(response.text.length > 0 && response.text.length < 5_000)
  return response
}
