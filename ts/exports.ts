/** Exports of the tools, kept until the registry changes. */
import { deepFreeze } from './arguments.js'
import type { Inner } from './entry.js'
import { invalidOption, unwrap } from './errors.js'
import { checkBoolean, checkKeys } from './options.js'
import type { DeferOptions, ExportFormat, ExportWeakening } from './provider-types.js'
import { TOOL_SEARCH } from './tool-search.js'

/** Exports that are kept, of one state of a registry. */
interface Kept {
  stamp: string
  readonly lists: Map<string, readonly object[]>
}

const MAX_LISTS = 32
const FORMATS: readonly ExportFormat[] = ['openai', 'openai-responses', 'anthropic', 'gemini', 'mcp']
const keptOf = new WeakMap<Inner, Kept>()

export function checkNames(names: readonly string[] | undefined): string[] | null {
  if (names === undefined || names === null) return null
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string')) throw invalidOption('names must be an array of strings')
  return [...names]
}

/** The tools in a provider's shape. The tools are copies for the caller; their schemas are shared and frozen. */
export function exportTools(inner: Inner, format: ExportFormat, names: readonly string[] | undefined, options: object = {}, keys: readonly string[] = []): any[] {
  checkKeys(options, keys, `the options of an export for ${format}`)
  const { strict = false, deferLoading } = options as { strict?: boolean } & DeferOptions
  checkBoolean(strict, 'strict')
  const wanted = checkNames(names)
  const isDeferred = readDeferred(deferLoading)
  return listOf(inner, format, strict, wanted).map(tool => {
    const copy: any = 'function' in tool ? { ...tool, function: { ...(tool.function as object) } } : { ...tool }
    if (isDeferred(copy.name)) copy.defer_loading = true
    return copy
  })
}

function listOf(inner: Inner, format: ExportFormat, strict: boolean, names: string[] | null): readonly object[] {
  const stamp = unwrap(() => inner.native.exportStamp())
  let kept = keptOf.get(inner)
  if (kept?.stamp !== stamp) {
    kept = { stamp, lists: new Map() }
    keptOf.set(inner, kept)
  }
  const key = JSON.stringify([format, strict, names])
  const known = kept.lists.get(key)
  if (known !== undefined) return known
  const list: object[] = deepFreeze(JSON.parse(unwrap(() => inner.native.exportTools(format, strict, names))))
  if (kept.lists.size >= MAX_LISTS) kept.lists.clear()
  kept.lists.set(key, list)
  return list
}

function readDeferred(deferLoading: DeferOptions['deferLoading']): (name: string) => boolean {
  if (deferLoading === undefined || deferLoading === false) return () => false
  if (deferLoading === true) return name => name !== TOOL_SEARCH
  const names = new Set(checkNames(deferLoading))
  return name => names.has(name)
}

/** What an export gives up. */
export function exportReport(inner: Inner, format: ExportFormat, names: readonly string[] | undefined, options: object = {}): ExportWeakening[] {
  if (!FORMATS.includes(format)) throw invalidOption(`format must be one of ${FORMATS.map(known => `'${known}'`).join(', ')}`)
  checkKeys(options, ['strict'], 'the options of exportReport')
  const { strict = false } = options as { strict?: boolean }
  checkBoolean(strict, 'strict')
  return JSON.parse(unwrap(() => inner.native.exportReport(format, strict, checkNames(names))))
}
