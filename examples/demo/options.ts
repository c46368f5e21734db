/** What the demo is told on its command line and by the environment. */
import { parseArgs } from 'node:util'

export const USAGE = `Usage: npm run demo -- [options]

An agent's turn over real tools: two functions, the calculator and two MCP servers behind one registry.

  --yes          answer every question with yes
  --no           answer every question with no
  --json         print JSON lines instead of the timeline
  --task TEXT    what a model is asked to do (only with OPENAI_API_KEY)
  --help         print this

Without --yes and --no you are asked in the terminal; where there is none, every question counts as no.
With OPENAI_API_KEY set, a model chooses the calls. OPENAI_BASE_URL (default https://api.openai.com/v1) names any
OpenAI-compatible endpoint, OPENAI_MODEL (default gpt-4o-mini) the model.`

/** An OpenAI-compatible endpoint. */
export interface Endpoint { readonly url: string; readonly key: string; readonly model: string }

export interface DemoOptions {
  /** `terminal` asks a person, `nobody` refuses, because there is no terminal. */
  readonly answer: 'yes' | 'no' | 'terminal' | 'nobody'
  readonly json: boolean
  readonly help: boolean
  readonly task: string | undefined
  /** Set when a model shall choose the calls. */
  readonly endpoint: Endpoint | undefined
}

/** @throws Error that says what is wrong with an option. */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv, hasTerminal: boolean): DemoOptions {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({ args: [...args], options: { yes: flag, no: flag, json: flag, help: flag, task: { type: 'string' } } })
  if (values.yes && values.no) throw new Error('--yes and --no exclude each other')
  const key = env.OPENAI_API_KEY
  const base = env.OPENAI_BASE_URL || 'https://api.openai.com/v1'
  return {
    answer: values.yes ? 'yes' : values.no ? 'no' : hasTerminal ? 'terminal' : 'nobody',
    json: values.json,
    help: values.help,
    task: values.task,
    endpoint: key ? { url: `${base.replace(/\/+$/, '')}/chat/completions`, key, model: env.OPENAI_MODEL || 'gpt-4o-mini' } : undefined,
  }
}
