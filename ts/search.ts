/** Web search. */
import { binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { backWith, runNative } from './native-tool.js'
import { checkChars, checkKeys, checkLimitMs } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import { type ToolResponse, nameSource } from './response.js'
import { Tool } from './tool.js'
import type { InputSchema, ToolContext } from './types.js'

/** A search service. All but `duckduckgo` need a key. */
export type SearchSource = 'tavily' | 'duckduckgo' | 'brave' | 'serpapi'

/** One result, cleaned. `null` where the service gives nothing, or an address that is no absolute http or https URL. */
export interface SearchResult {
  readonly title: string | null
  readonly snippet: string | null
  readonly url: string | null
}

/** What a search found. */
export interface SearchData {
  /** The service that answered. */
  readonly source: 'Tavily' | 'DuckDuckGo' | 'Brave' | 'SerpAPI'
  /** The service's own summary, where it gives one. */
  readonly answer: string | null
  /** At most 50, also those that the text leaves out. */
  readonly results: readonly SearchResult[]
  /** Why the services asked before gave nothing, a line each. Absent when the first one answered. */
  readonly degraded?: readonly string[]
}

/** How to search. */
export interface SearchOptions {
  /** How many results the text lists, 1 to 20. Default: 5. */
  maxResults?: number | undefined
  /** Which services are asked, in this order, until one has results. Default: tavily, duckduckgo, brave, serpapi. */
  sources?: readonly SearchSource[] | undefined
  /**
   * Keys by service. One that is missing or blank is read at each call from `TAVILY_API_KEY`, `BRAVE_API_KEY` or `SERPAPI_API_KEY`
   * of `process.env`. Keys appear in no text, data, event or error.
   */
  keys?: Partial<Record<SearchSource, string>> | undefined
  /** Other addresses by service, such as one of a proxy: what comes before the service's own path. */
  baseUrls?: Partial<Record<SearchSource, string>> | undefined
  /** Limit in milliseconds for one service, a second attempt included; at most 600,000. Default: 10,000. */
  timeoutMs?: number | undefined
  /** Limit in milliseconds for all services together; at most 600,000. Default: 30,000. */
  deadlineMs?: number | undefined
  /** The words of description, parameters, results and errors. Default: English. */
  prompts?: PromptRegistry | undefined
}

const KNOWN = ['maxResults', 'sources', 'keys', 'baseUrls', 'timeoutMs', 'deadlineMs', 'prompts']
const SOURCES: readonly string[] = ['tavily', 'duckduckgo', 'brave', 'serpapi'] satisfies SearchSource[]

/**
 * Searches the web: asks Tavily, DuckDuckGo, Brave and SerpAPI, one after the other, until one has results. The text lists titles,
 * excerpts and addresses; `data` is a `SearchData`. Never asks, always external, may run beside others, named `search`.
 * A search that finds nothing anywhere is an error with every reason.
 */
export class SearchTool extends Tool<{ query: string }, SearchData> {
  readonly #schema: () => InputSchema

  /** @throws ToolError `INVALID_OPTIONS` for an option that is unknown, of a wrong type or out of range. */
  constructor(options: SearchOptions = {}) {
    const native = unwrap(() => binding.searchTool(checked(options), nativePrompts(options.prompts)))
    super('search', native.description)
    this.externalContent = true
    this.supportsParallel = true
    this.#schema = () => JSON.parse(native.inputSchema)
    backWith(this, native, SearchTool)
  }

  override getParameters(): InputSchema { return this.#schema() }

  /** Searches by itself, outside any registry. */
  override async run(args: { query: string }, context?: ToolContext): Promise<ToolResponse<SearchData>> { return nameSource(await runNative(this, args, { context }), this.name) }
}

function checked(options: SearchOptions) {
  checkKeys(options, KNOWN, 'the options of a SearchTool')
  const { maxResults, sources, timeoutMs, deadlineMs } = options
  checkChars(maxResults, 'maxResults')
  if (sources !== undefined && !(Array.isArray(sources) && sources.every(source => typeof source === 'string'))) {
    throw invalidOption(`sources must be an array of ${SOURCES.join(', ')}`)
  }
  return {
    keys: textsBySource(options.keys, 'keys'),
    baseUrls: textsBySource(options.baseUrls, 'baseUrls'),
    ...(maxResults === undefined ? {} : { maxResults }),
    ...(sources === undefined ? {} : { sources: [...sources] }),
    ...limit(timeoutMs, 'timeoutMs'),
    ...limit(deadlineMs, 'deadlineMs'),
  }
}

function limit<Name extends string>(value: number | undefined, name: Name) {
  checkLimitMs(value, name)
  return value === undefined ? {} : { [name]: value }
}

function textsBySource(values: Partial<Record<SearchSource, string>> | undefined, name: string): Record<string, string> {
  if (values === undefined) return {}
  checkKeys(values, SOURCES, name)
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  for (const [source, value] of given) if (typeof value !== 'string') throw invalidOption(`${name}.${source} must be a string`)
  return Object.fromEntries(given)
}
