/**
 * An agent's turn over real tools, with everything that a gate has to do on the way. Run it with `npm run demo`, which also
 * sets up what is missing. The parts: demo/tools.ts (what can be called), demo/calls.ts (what a model might send),
 * demo/ask.ts (asking a person), demo/model.ts (a real model in place of the prepared calls), demo/screen.ts (what you see).
 */
import { ToolPermissions, ToolRegistry } from 'toolbolt'
import { makeAsker } from './demo/ask.ts'
import { FIRST_RULES, steps } from './demo/calls.ts'
import { converse } from './demo/model.ts'
import { type DemoOptions, USAGE, readOptions } from './demo/options.ts'
import { type CallRecord, Recorder } from './demo/record.ts'
import { type Screen, jsonScreen, timeline } from './demo/screen.ts'
import { openTools } from './demo/tools.ts'

const stopping = new AbortController()
const stop = () => { stopping.abort(new Error('stopped')) }
// Not `once`: Ctrl-C may arrive twice, from the terminal and from npm, and must not cut the cleaning up short.
process.on('SIGINT', stop)
process.on('SIGTERM', stop)

async function main(options: DemoOptions, screen: Screen): Promise<void> {
  const questions = process.stdout.isTTY && !options.json ? process.stdout : process.stderr
  const recorder = new Recorder(makeAsker(options.answer, questions, stop))
  await using registry = new ToolRegistry({
    permissions: new ToolPermissions(FIRST_RULES),
    confirm: recorder.confirm,
    onEvent: recorder.onEvent,
    timeoutMs: 30_000,
  })
  await using box = await openTools(registry)
  screen.catalog(registry)
  const records: CallRecord[] = []
  const keep = (record: CallRecord, why?: string) => {
    records.push(record)
    screen.call(record, why)
  }

  if (options.endpoint === undefined) {
    for (const step of steps(box.folder)) {
      if (stopping.signal.aborted) break
      if ('permissions' in step) {
        registry.setPermissions(step.permissions)
        screen.note('app', step.note)
        continue
      }
      const response = await registry.execute(step.name, step.text, { signal: stopping.signal })
      keep(recorder.record(registry, step.name, step.text, response), step.why)
    }
  } else {
    await converse({
      registry,
      endpoint: options.endpoint,
      system: `You are a helpful assistant with tools. Files are in ${box.folder}. Use the tools; do not guess.`,
      task: options.task ?? 'Read plan.txt, look up the weather there, book a table at Maaemo that fits the plan, work out 15 % of 1,860 as a tip, and write what you did to booked.txt.',
      signal: stopping.signal,
      onText: text => { screen.note('model', text) },
      onResults: (calls, responses) => {
        calls.forEach(({ name, arguments: args }, index) => {
          const response = responses[index]
          if (response !== undefined) keep(recorder.record(registry, name, String(args), response))
        })
      },
    })
  }
  screen.end(records)
}

try {
  const options = readOptions(process.argv.slice(2), process.env, process.stdin.isTTY === true)
  const colours = process.stdout.isTTY === true && !process.env.NO_COLOR
  if (options.help) console.log(USAGE)
  else await main(options, options.json ? jsonScreen(process.stdout) : timeline(process.stdout, colours))
  if (stopping.signal.aborted) process.exitCode = 130
} catch (error) {
  console.error(stopping.signal.aborted ? 'stopped' : error instanceof Error ? error.message : String(error))
  process.exitCode = stopping.signal.aborted ? 130 : 1
}
