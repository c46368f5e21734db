/** The sentences that a model may read. */
import { type NativePrompts, binding } from './binding.js'
import { PromptError, invalidOption, unwrap } from './errors.js'

const natives = new WeakMap<PromptRegistry, NativePrompts>()
let shared: PromptRegistry | undefined

/** Every sentence that a model may read, by key: templates with `{variable}` placeholders that an app may replace. */
export class PromptRegistry {
  /** The built-in English texts. */
  constructor() {
    natives.set(this, unwrap(() => binding.NativePrompts.load('en'), PromptError))
  }

  /**
   * The built-in texts of a language.
   * @throws ToolError `INVALID_OPTIONS` for another language.
   */
  static load(language: 'en' | 'zh'): PromptRegistry {
    return wrap(unwrap(() => binding.NativePrompts.load(keyOf(language))))
  }

  /** The template behind a key. @throws PromptError for an unknown key. */
  get(key: string): string {
    return unwrap(() => nativePrompts(this).get(keyOf(key)), PromptError)
  }

  /** The variables that every text of a key must keep. @throws PromptError for an unknown key. */
  variables(key: string): string[] {
    return unwrap(() => nativePrompts(this).variables(keyOf(key)), PromptError)
  }

  /**
   * Fills a template in. Strings stand as they are, other values as JSON; values are not scanned for placeholders again.
   * @throws PromptError for an unknown key or a missing variable.
   */
  render(key: string, variables: Record<string, unknown> = {}): string {
    if (variables === null || typeof variables !== 'object') throw new PromptError('PROMPT_INVALID', 'the variables of a prompt must be an object')
    const texts = Object.entries(variables).map(([name, value]) => [name, typeof value === 'string' ? value : shown(value)])
    return unwrap(() => nativePrompts(this).render(keyOf(key), Object.fromEntries(texts)), PromptError)
  }

  /**
   * Adds a template of the app's own.
   * @throws PromptError when the key exists. What a text must keep is checked when it is replaced.
   */
  register(key: string, text: string, options: { variables?: readonly string[]; protected?: readonly string[] } = {}): void {
    unwrap(() => nativePrompts(this).register(keyOf(key), keyOf(text), [...(options.variables ?? [])], [...(options.protected ?? [])]), PromptError)
  }

  /**
   * Replaces texts, all or none. Each must keep its variables; it may add placeholders.
   * Takes effect at once for every registry and tool that shares these prompts; descriptions of tools that exist stay as they are.
   * @throws PromptError naming the first key that is unknown or lost something.
   */
  override(texts: Record<string, string>): void {
    unwrap(() => nativePrompts(this).overrideTexts(checked(texts)), PromptError)
  }

  /** A copy with texts replaced; this one stays as it is. @throws PromptError as `override`. */
  withOverrides(texts: Record<string, string>): PromptRegistry {
    return wrap(unwrap(() => nativePrompts(this).withOverrides(checked(texts)), PromptError))
  }

  /** Every key. */
  keys(): string[] {
    return nativePrompts(this).keys()
  }
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}

/** Keys from outside TypeScript may be anything. */
function keyOf(value: unknown): string {
  if (typeof value !== 'string') throw new PromptError('PROMPT_INVALID', 'the key and text of a prompt must be strings')
  return value
}

function checked(texts: Record<string, string>): Record<string, string> {
  if (texts === null || typeof texts !== 'object' || !Object.values(texts).every(text => typeof text === 'string')) throw invalidOption('texts must be an object of strings, by key')
  return texts
}

function wrap(native: NativePrompts): PromptRegistry {
  const prompts: PromptRegistry = Object.create(PromptRegistry.prototype)
  natives.set(prompts, native)
  return prompts
}

/** The core's side of prompts; English where there are none. */
export function nativePrompts(prompts: PromptRegistry | undefined): NativePrompts {
  const native = natives.get(prompts ?? (shared ??= new PromptRegistry()))
  if (native === undefined) throw invalidOption('prompts must be a PromptRegistry')
  return native
}
