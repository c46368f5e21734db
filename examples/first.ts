/** The example of the README. It checks itself: `node --import tsx examples/first.ts` prints nothing when all is well. */
import assert from 'node:assert/strict'
// README begins
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { z } from 'zod'

const registry = new ToolRegistry({
  permissions: new ToolPermissions({ deny: ['format_disk'] }),
  confirm: async ({ preview }) => askSomebody(preview), // only true lets the call run
})

registry.register(tool({
  name: 'delete_note',
  description: 'Delete a note',
  inputSchema: z.object({ title: z.string(), force: z.boolean().default(false) }),
  requiresConfirmation: ({ force }) => force,
  run: ({ title }) => `deleted '${title}'`,
}))

const tools = registry.toOpenAISchema() // give this to a model; then run what it sends, as it came:
const good = await registry.execute('delete_note', '{"title":"milk"}')
const bad = await registry.execute('delete_note', '{"titel":"milk"}')
console.log(registry.render(good)) // deleted 'milk': this is what the model gets
console.log(bad.code, bad.text) // INVALID_ARGUMENTS, and what to correct: bad calls are answered, not thrown
// README ends

assert.equal(tools.length, 1)
assert.equal(good.text, "deleted 'milk'")
assert.deepEqual([bad.code, bad.executed], ['INVALID_ARGUMENTS', false])
assert.match(bad.text, /title/)
const forced = await registry.execute('delete_note', { title: 'milk', force: true })
assert.equal(forced.code, 'CONFIRMATION_REJECTED')

async function askSomebody(preview: string): Promise<boolean> {
  assert.match(preview, /^delete_note \(from builtin\)\n/)
  return false
}
