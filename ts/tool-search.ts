/** Finding tools by what they are for, and the tool with which a model does so. */
import { invalidOption, unwrap } from './errors.js'
import type { Inner } from './entry.js'
import { checkKeys } from './options.js'
import { PromptRegistry } from './prompts.js'
import { ToolResponse } from './response.js'
import { Tool } from './tool.js'
import type { InputSchema } from './types.js'

/** The name of the tool that finds others. */
export const TOOL_SEARCH = 'tool_search'
const DEFAULT_TOP = 5
const MAX_TOP = 100

/** A tool that was found. */
export interface ToolMatch {
  readonly name: string
  readonly description: string
  /** How well it fits; only the order of scores of one search means anything. */
  readonly score: number
}

/** Options of a search among tools. */
export interface ToolSearchOptions {
  /** How many tools are found at most, up to 100. Default: 5. */
  topK?: number | undefined
}

export function searchTools(inner: Inner, query: string, options: ToolSearchOptions = {}): ToolMatch[] {
  checkKeys(options, ['topK'], 'the options of search')
  const topK = checkTop(options.topK)
  if (typeof query !== 'string') throw invalidOption('the query of a search must be a string')
  return JSON.parse(unwrap(() => inner.native.search(query.toWellFormed(), topK)))
}

function checkTop(topK: number | undefined): number {
  if (topK === undefined) return DEFAULT_TOP
  if (!Number.isInteger(topK) || topK < 1 || topK > MAX_TOP) throw invalidOption(`topK must be a whole number from 1 to ${MAX_TOP}`)
  return topK
}

/** What has tools to search among: a registry. */
export interface Searchable { search(query: string, options?: ToolSearchOptions): ToolMatch[] }

/**
 * Lets a model find tools that were not given to it. Register it, give the model this one and what `found` names, and it has what it needs:
 * `registry.toOpenAISchema(['tool_search', ...search.found])`. Make one for each conversation. Never asks, never external, named `tool_search`.
 */
export class ToolSearchTool extends Tool<{ query: string }, { tools: { name: string; description: string }[] }> {
  readonly #registry: Searchable
  readonly #prompts: PromptRegistry
  readonly #topK: number
  readonly #found = new Set<string>()
  override supportsParallel = true

  /**
   * @param registry what is searched; denied tools are not found.
   * @param options.prompts the words of description, parameter and results. Default: English.
   * @throws ToolError `INVALID_OPTIONS`.
   */
  constructor(registry: Searchable, options: ToolSearchOptions & { prompts?: PromptRegistry | undefined } = {}) {
    checkKeys(options, ['topK', 'prompts'], 'the options of ToolSearchTool')
    if (typeof (registry as Partial<Searchable> | null)?.search !== 'function') throw invalidOption('ToolSearchTool takes the registry whose tools are searched')
    if (options.prompts !== undefined && !(options.prompts instanceof PromptRegistry)) throw invalidOption('prompts must be a PromptRegistry')
    const prompts = options.prompts ?? new PromptRegistry()
    super(TOOL_SEARCH, prompts.render('tool.desc.tool_search'))
    this.#registry = registry
    this.#prompts = prompts
    this.#topK = checkTop(options.topK)
  }

  /** The names of all tools that were found since this was made or cleared, in the order of finding. */
  get found(): readonly string[] { return [...this.#found] }

  /** Forgets what was found, as for a new conversation. */
  clear(): void { this.#found.clear() }

  override getParameters(): InputSchema {
    return {
      type: 'object',
      properties: { query: { type: 'string', description: this.#prompts.render('tool.param.tool_search.query') } },
      required: ['query'],
    }
  }

  /** Searches by itself, outside any registry. */
  override run({ query }: { query: string }): ToolResponse<{ tools: { name: string; description: string }[] }> {
    // One more, in case it finds itself.
    const tools = this.#registry.search(query, { topK: Math.min(this.#topK + 1, MAX_TOP) }).filter(({ name }) => name !== TOOL_SEARCH).slice(0, this.#topK)
      .map(({ name, description }) => ({ name, description }))
    for (const { name } of tools) this.#found.add(name)
    const lines = tools.map(({ name, description }) => `- ${name}: ${description.replace(/\s*[\r\n]+\s*/g, ' ').trim()}`)
    const text = tools.length === 0 ? this.#prompts.render('tool.msg.tool_search.none', { query }) : this.#prompts.render('tool.msg.tool_search.found', { tools: lines.join('\n') })
    return ToolResponse.ok(text, { tools })
  }
}
