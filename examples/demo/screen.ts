/** What the demo shows: a timeline for people, or JSON lines for programs. */
import type { ToolRegistry } from 'toolbolt'
import type { CallRecord } from './record.ts'

const TEXT_LINES = 4
const TEXT_CHARS = 320
const WIDTH = 110

export interface Screen {
  catalog(registry: ToolRegistry): void
  call(record: CallRecord, why?: string): void
  /** Something that happens between calls, or what a model says. */
  note(from: 'app' | 'model', text: string): void
  end(records: readonly CallRecord[]): void
}

export function jsonScreen(output: NodeJS.WritableStream): Screen {
  const line = (type: string, value: object) => { output.write(`${JSON.stringify({ type, ...value })}\n`) }
  return {
    catalog: registry => { for (const [origin, tools] of byOrigin(registry)) line('catalog', { origin, ...tools }) },
    call: (record, why) => { line('call', { ...record, ...(why === undefined ? {} : { why }) }) },
    note: (from, text) => { line('note', { from, text }) },
    end: records => { line('end', summary(records)) },
  }
}

export function timeline(output: NodeJS.WritableStream, colours: boolean): Screen {
  const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const [bold, dim, red, green, yellow, cyan] = [1, 2, 31, 32, 33, 36].map(paint) as [Paint, Paint, Paint, Paint, Paint, Paint]
  const write = (text: string) => { output.write(`${text}\n`) }
  const decided = (record: CallRecord) => (record.decision === 'allowed' || record.decision === 'confirmed' ? green : record.decision === 'refused' ? yellow : red)
  return {
    catalog(registry) {
      write(bold('Tools by origin'))
      for (const [origin, { permitted, forbidden }] of byOrigin(registry)) {
        write(`  ${cyan(origin)} ${dim(`(${permitted.length + forbidden.length})`)}`)
        for (const row of rows(permitted)) write(`    ${row}`)
        if (forbidden.length > 0) write(`    ${red('forbidden:')} ${forbidden.join(', ')}`)
      }
      write(`\n${bold('Calls')}`)
    },
    call(record, why) {
      const status = record.code ?? record.status
      write(`\n${String(record.number).padStart(3)} ${bold(printable(record.name))} ${printable(shorten(record.arguments))}`)
      if (why !== undefined) write(dim(`    The call ${why}.`))
      write(`    origin ${cyan(record.origin ?? 'none')} · ${decided(record)(record.decision)} · ${asked(record)} · ${record.ms.toFixed(1)} ms · ${record.status === 'error' ? red(status) : green(status)}`)
      for (const row of excerpt(record.text)) write(`    ${dim('│')} ${row}`)
      if (record.guarded && record.executed) write(dim('    The text comes from outside: the model gets it between delimiters, as material and not as instructions.'))
    },
    note(from, text) {
      write(from === 'app' ? `\n    ${yellow(`— ${text} —`)}` : `\n${bold('The model says')}`)
      if (from === 'model') for (const row of printable(text).split('\n')) write(`  ${row}`)
    },
    end(records) {
      const { calls, ran, refused } = summary(records)
      write(`\n${bold('Done')}: ${calls} calls, ${ran} ran, ${refused} stopped before anything ran.`)
    },
  }
}

type Paint = (text: string) => string

function asked(record: CallRecord): string {
  return record.asked === null ? 'not asked' : `asked ${record.asked}`
}

function summary(records: readonly CallRecord[]): { calls: number; ran: number; refused: number } {
  const ran = records.filter(record => record.executed).length
  return { calls: records.length, ran, refused: records.length - ran }
}

/** Names by origin; what the permissions forbid is in no export, so that is how it is told apart. */
function byOrigin(registry: ToolRegistry): Map<string, { permitted: string[]; forbidden: string[] }> {
  const shown = new Set(registry.toOpenAISchema().map(entry => entry.function.name))
  const groups = new Map<string, { permitted: string[]; forbidden: string[] }>()
  for (const { name, origin } of registry.listTools()) {
    const group = groups.get(origin) ?? { permitted: [], forbidden: [] }
    groups.set(origin, group)
    group[shown.has(name) ? 'permitted' : 'forbidden'].push(name)
  }
  return groups
}

function rows(names: readonly string[]): string[] {
  const made: string[] = []
  for (const name of names) {
    const last = made.at(-1)
    if (last !== undefined && last.length + name.length + 2 <= WIDTH) made[made.length - 1] = `${last}, ${name}`
    else made.push(name)
  }
  return made
}

/** Text from a tool may hold what moves a cursor or hides: a terminal gets its escapes instead. */
function printable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

function shorten(text: string): string {
  return text.length <= TEXT_CHARS ? text : `${text.slice(0, TEXT_CHARS)}… (${text.length - TEXT_CHARS} more characters)`
}

function excerpt(text: string): string[] {
  const lines = printable(shorten(text)).trimEnd().split('\n')
  return lines.length <= TEXT_LINES ? lines : [...lines.slice(0, TEXT_LINES), `… (${lines.length - TEXT_LINES} more lines)`]
}
