/** Which tools may be called. */
import { type NativePermissions, binding } from './binding.js'
import { invalidOption, unwrap } from './errors.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import { Tool } from './tool.js'

const LISTS = ['allow', 'deny', 'allowOrigins', 'denyOrigins'] as const

/** Lists by name and by origin. `null` and `undefined` mean that a list is not set; `[]` as an allow list denies everything. */
export interface PermissionOptions {
  /** Names that may be called. */
  allow?: readonly string[] | null | undefined
  /** Names that may never be called. */
  deny?: readonly string[] | null | undefined
  /** Origins whose tools may be called. */
  allowOrigins?: readonly string[] | null | undefined
  /** Origins whose tools may never be called. */
  denyOrigins?: readonly string[] | null | undefined
  /** The words of `denialReason`. Default: English. */
  prompts?: PromptRegistry | undefined
}

const natives = new WeakMap<ToolPermissions, NativePermissions>()

/**
 * Allow and deny lists. A denied name or origin always loses; where an allow list is set, a tool has to be on one of them.
 * Entries match exactly. The origin is the root of trust: a remote server chooses its tools' names, never their origin.
 * Rules are about names and origins, not about data: what one tool may not do, another may still be able to.
 */
export class ToolPermissions {
  readonly #prompts: PromptRegistry | undefined

  /**
   * The lists are copied: changing them later has no effect.
   * @throws ToolError `INVALID_OPTIONS` for a list that is no array of strings, or an entry that looks like a pattern.
   */
  constructor(options: PermissionOptions = {}) {
    if (options === null || typeof options !== 'object') throw invalidOption('the options of ToolPermissions must be an object')
    const rules: Record<string, string[] | null> = {}
    for (const list of LISTS) rules[list] = checked(options[list], list)
    for (const key of Object.keys(options)) {
      if (key !== 'prompts' && !LISTS.some(list => list === key)) throw invalidOption(`unknown permission list '${key}'; use ${LISTS.join(', ')}`)
    }
    nativePrompts(options.prompts)
    this.#prompts = options.prompts
    natives.set(this, unwrap(() => new binding.NativePermissions(JSON.stringify(rules))))
  }

  /** Why a tool may not be called, or `null` if it may. A bare name has no origin: origin lists neither hit nor save it. */
  denialReason(tool: string | Tool): string | null {
    const known = tool instanceof Tool
    if (!known && typeof tool !== 'string') throw invalidOption('denialReason takes a name or a Tool')
    const native = nativePermissions(this)
    return unwrap(() => native.denialReason(known ? tool.name : tool, known ? tool.origin : undefined, nativePrompts(this.#prompts))) ?? null
  }
}

function checked(list: unknown, name: string): string[] | null {
  if (list === undefined || list === null) return null
  if (!Array.isArray(list) || !list.every(entry => typeof entry === 'string')) throw invalidOption(`${name} must be an array of strings, or null`)
  return [...list]
}

/** The core's side of permissions. */
export function nativePermissions(permissions: ToolPermissions): NativePermissions {
  const native = natives.get(permissions)
  if (native === undefined) throw invalidOption('permissions must be a ToolPermissions')
  // The core decides by the lists alone: an override that nobody asks would protect nothing.
  if (permissions.denialReason !== ToolPermissions.prototype.denialReason) throw invalidOption('a ToolPermissions with its own denialReason cannot be used; the lists decide')
  return native
}
