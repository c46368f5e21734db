// The error classes, and that the list of codes is one list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PromptError, PromptRegistry, ToolError, ToolRegistrationError, ToolRegistry } from 'toolbolt'

const inside = async (file: string): Promise<any> => import(new URL(`../dist/${file}`, import.meta.url).href)

function caught(work: () => unknown): ToolError {
  try { work() } catch (error) { assert.ok(ToolError.isInstance(error)); return error }
  return assert.fail('nothing was thrown')
}

test('the codes of the binding are those of the TypeScript union', async () => {
  const { ERROR_CODES } = await inside('errors.js')
  const { binding } = await inside('binding.js')
  assert.ok(ERROR_CODES.length >= 19)
  assert.deepEqual([...binding.errorCodes()].sort(), [...ERROR_CODES].sort())
  assert.equal(new Set(ERROR_CODES).size, ERROR_CODES.length)
})

test('class, name, code, stack', () => {
  const rows: [ToolError, new (...args: any[]) => Error, string][] = [
    [caught(() => new ToolRegistry({ timeoutMs: 'x' as never })), ToolError, 'INVALID_OPTIONS'],
    [caught(() => new ToolRegistry().register({ name: 'a.b', description: 'x' })), ToolRegistrationError, 'INVALID_NAME'],
    [caught(() => PromptRegistry.load('en').get('nothing')), PromptError, 'PROMPT_INVALID'],
  ]
  for (const [error, type, code] of rows) {
    assert.equal(error.constructor, type)
    assert.ok(error instanceof ToolError && error instanceof Error)
    assert.deepEqual([error.code, error.name], [code, type.name])
    assert.match(error.stack!, /errors\.test\.ts/, 'the stack shows the line of the caller')
  }
})

test('isInstance knows errors of another copy of the package, and nothing else', async () => {
  const copy = await inside('errors.js?copy')
  assert.notEqual(copy.ToolError, ToolError)
  const error = caught(() => new ToolRegistry().register({ name: 'a.b', description: 'x' }))
  assert.equal(error instanceof copy.ToolError, false)
  assert.equal(copy.ToolError.isInstance(error), true)
  assert.equal(ToolError.isInstance(error), true)
  for (const other of [new Error('x'), Object.assign(new Error('x'), { code: 'CLOSED' }), { code: 'CLOSED' }, null, undefined, 5, 'CLOSED', new Proxy({}, { get() { throw new Error('trap') } })]) assert.equal(ToolError.isInstance(other), false)
})
