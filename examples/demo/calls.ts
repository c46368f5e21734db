/** What a model might send in one turn: names and JSON text, some of it wrong. */
import { join } from 'node:path'
import { ToolPermissions } from 'toolbolt'

/** What the registry of the demo forbids from the start: this tool would show a model every variable of the environment. */
export const FIRST_RULES = { deny: ['everything_get-env'] } as const

/** What it forbids before the last call: everything from one origin, whatever its tools are called. */
export const LATER_RULES = { ...FIRST_RULES, denyOrigins: ['mcp:everything'] } as const

export type Step =
  | { readonly name: string; readonly text: string; readonly why: string }
  | { readonly permissions: ToolPermissions; readonly note: string }

export function steps(folder: string): Step[] {
  const call = (name: string, args: object | string, why: string): Step => ({ name, text: typeof args === 'string' ? args : JSON.stringify(args), why })
  return [
    call('get_weather', { city: 'Oslo' }, 'fits its schema; the default for days is filled in'),
    call('get_weather', '{"city":"Oslo","days":', 'is cut off'),
    call('calculator', { expression: '(1234 + 5678) * sqrt(2)' }, 'is built in'),
    call('calculator', '{"expression":"1 + 1","expression":"2 + 2"}', 'names an argument twice'),
    call('book_table', { restaurant: 'Maaemo', people: 'two', tonight: true }, 'has three faults, and hears of all three'),
    call('book_table', { restaurant: 'Maaemo', people: 2, time: '19:00' }, 'is the corrected one'),
    call('get_wether', { city: 'Oslo' }, 'names no tool'),
    call('everything_get-sum', { a: 2, b: 40 }, 'runs in an MCP server'),
    call('everything_get-env', {}, 'is on the deny list'),
    call('files_read_text_file', { path: join(folder, 'plan.txt') }, 'needs a yes; its text comes from outside'),
    call('files_write_file', { path: join(folder, 'booked.txt'), content: 'Maaemo, 19:00, two people\n' }, 'needs a yes'),
    { permissions: new ToolPermissions(LATER_RULES), note: 'from here on, nothing of the origin mcp:everything may run' },
    call('everything_echo', { message: 'still there?' }, 'is forbidden by its origin now'),
  ]
}
