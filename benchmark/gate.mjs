// What a call costs through the whole gate (look up, permit, validate, confirm or not, run, bound, record), beside the least
// that a program without a gate would write: a Map, a validator and the function.
import { spawnSync } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ToolRegistry, tool } from 'toolbolt'
import { z } from 'zod'
import { median, round } from './figures.mjs'

const SELF = fileURLToPath(import.meta.url)
const BATCHES = 5
/** In a batch. */
const CALLS = { '46 B': 40_000, '2 KB': 10_000 }

// Arguments of 46 bytes and of 2 KB, as JSON text.
const SMALL = { city: 'Oslo, a city on the fjords', days: 3 }
const LARGE = { city: 'Oslo', days: 3, tags: Array.from({ length: 40 }, (_, i) => `tag number ${i}`), note: '' }
LARGE.note = 'x'.repeat(2048 - JSON.stringify(LARGE).length)
for (const [args, bytes] of [[SMALL, 46], [LARGE, 2048]]) if (JSON.stringify(args).length !== bytes) throw new Error(`not ${bytes} bytes`)
const ARGUMENTS = { '46 B': SMALL, '2 KB': LARGE }

const JSON_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } }, note: { type: 'string' } },
  required: ['city', 'days'],
}
const ZOD_SCHEMA = z.object({ city: z.string(), days: z.number(), tags: z.array(z.string()).optional(), note: z.string().optional() })

const CELLS = ['zod', 'JSON Schema'].flatMap(schema => Object.keys(ARGUMENTS).flatMap(size => ['object', 'text'].flatMap(form => ['sync', 'async'].map(body => ({ schema, size, form, body })))))

const BODIES = { sync: ({ city }) => city, async: async ({ city }) => city }

function gateCall({ schema, body }) {
  const registry = new ToolRegistry()
  registry.register(tool({ name: 'forecast', description: 'Forecast', inputSchema: schema === 'zod' ? ZOD_SCHEMA : JSON_SCHEMA, run: BODIES[body] }))
  return args => registry.execute('forecast', args)
}

/** Map + validator + function. A failed check would throw; the answer is an object, as from the gate. */
function plainCall({ schema, body }) {
  const ajv = new Ajv2020().compile(JSON_SCHEMA)
  const check = schema === 'zod'
    ? args => { const result = ZOD_SCHEMA.safeParse(args); if (!result.success) throw result.error; return result.data }
    : args => { if (!ajv(args)) throw new Error(JSON.stringify(ajv.errors)); return args }
  const tools = new Map([['forecast', { check, run: BODIES[body] }]])
  return async args => {
    const found = tools.get('forecast')
    if (found === undefined) throw new Error('no such tool')
    const text = await found.run(found.check(typeof args === 'string' ? JSON.parse(args) : args))
    return { text, status: 'success' }
  }
}

/**
 * µs per call, one number for each batch, after two to warm up. Garbage is collected when V8 likes: a forced collection
 * would make it throw optimised code away, and the next thousands of calls slower than any program sees them.
 */
async function measure(call, args, calls) {
  const { text, status } = await call(args)
  if (status !== 'success' || !text.startsWith('Oslo')) throw new Error(`wrong answer: ${text}`)
  const figures = []
  for (let batch = -2; batch < BATCHES; batch++) {
    const started = process.hrtime.bigint()
    for (let i = 0; i < calls; i++) await call(args)
    if (batch >= 0) figures.push(Number(process.hrtime.bigint() - started) / 1000 / calls)
  }
  return figures
}

/** In a process of its own: both ways for one cell, by turns. */
async function measureCell(index, calls) {
  const cell = CELLS[index]
  const args = cell.form === 'text' ? JSON.stringify(ARGUMENTS[cell.size]) : ARGUMENTS[cell.size]
  console.log(JSON.stringify({ gate: await measure(gateCall(cell), args, calls), plain: await measure(plainCall(cell), args, calls) }))
}

const summary = figures => ({ median: round(median(figures)), best: round(Math.min(...figures)) })

/** A row for each cell, its gate and plain figures over the rounds. */
export function runGate(rounds, quick) {
  const figures = CELLS.map(() => ({ gate: [], plain: [] }))
  for (let turn = 0; turn < rounds; turn++) {
    CELLS.forEach(({ size }, index) => {
      const calls = quick ? 200 : CALLS[size]
      const { status, stdout, stderr } = spawnSync(process.execPath, [SELF, '--cell', `${index}`, `${calls}`], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      const measured = JSON.parse(stdout)
      figures[index].gate.push(median(measured.gate), Math.min(...measured.gate))
      figures[index].plain.push(median(measured.plain), Math.min(...measured.plain))
    })
  }
  return CELLS.map((cell, index) => {
    const [gate, plain] = [summary(figures[index].gate), summary(figures[index].plain)]
    return { ...cell, gate, plain, ratio: round(gate.median / plain.median) }
  })
}

export function reportGate(cells) {
  console.log('\nCalls of JavaScript functions: µs per call, median (best); plain = Map + zod or Ajv + function\n')
  const cell = ({ median, best }) => `${median.toFixed(2)} (${best.toFixed(2)})`.padStart(16)
  console.log(`${'schema'.padEnd(13)}${'arguments'.padEnd(14)}${'body'.padEnd(7)}${'gate'.padStart(16)}${'plain'.padStart(16)}${'ratio'.padStart(8)}`)
  for (const { schema, size, form, body, gate, plain, ratio } of cells) {
    console.log(`${schema.padEnd(13)}${`${size} ${form}`.padEnd(14)}${body.padEnd(7)}${cell(gate)}${cell(plain)}${ratio.toFixed(2).padStart(8)}`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await measureCell(Number(process.argv[3]), Number(process.argv[4]))
