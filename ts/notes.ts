/** Notes. */
import { type NativeTool, binding } from './binding.js'
import { toText } from './arguments.js'
import { invalidOption, unwrap } from './errors.js'
import { backWith, runNative } from './native-tool.js'
import { checkChars, checkFolder, checkKeys } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import type { ToolResponse } from './response.js'
import { Tool } from './tool.js'
import type { InputSchema, ToolContext } from './types.js'

/** How much one call may read and write. */
export interface NotesOptions {
  /** Characters that a call gives to the model at most. Default: 8,000. */
  maxReadChars?: number | undefined
  /** Characters that a call may add at most, as they were given. Default: 50,000. */
  maxAppendChars?: number | undefined
  /** Bytes that a note may grow to. Default: 2,000,000. */
  maxFileBytes?: number | undefined
  /** The words of description, parameters and answers. Default: English. */
  prompts?: PromptRegistry | undefined
}

/** What notes can be asked for. */
export type NotesAction = 'read' | 'append' | 'list' | 'search'

/** What a call asks for. */
export interface NotesArgs {
  action: NotesAction
  /** The note, relative to the root; for `list` and `search` a folder, the root by default. */
  path?: string
  /** What to add. For `append` alone. */
  content?: string
  /** What to look for. For `search` alone. */
  query?: string
}

/** Data of `read`. */
export interface NoteRead {
  readonly path: string
  readonly exists: boolean
  /** Set where the text is only the note's beginning. */
  readonly truncated?: true
}

/** Data of `append`. */
export interface NoteAppended {
  readonly path: string
  /** Characters that were added, with the line feed at the end. */
  readonly appended_chars: number
}

/** A note or a folder of them. */
export interface NoteEntry {
  readonly path: string
  readonly kind: 'note' | 'folder'
  /** Size of a note. */
  readonly bytes?: number
  /** When it was changed last, in milliseconds since 1970. */
  readonly modifiedMs?: number
}

/** Data of `list`. */
export interface NotesListed {
  /** The folder; empty for the root. */
  readonly path: string
  readonly exists: boolean
  /** In order of their paths, each folder before what is in it. */
  readonly entries: readonly NoteEntry[]
  /** How many files and folders were passed over, if any: links, devices, names that notes cannot have. */
  readonly skipped?: number
  /** Set where there are more. */
  readonly truncated?: true
}

/** A line that holds what was searched for. */
export interface NoteMatch {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  /** The line; of a long one the part around the match. */
  readonly text: string
}

/** Data of `search`. */
export interface NotesFound {
  readonly query: string
  /** Where it was searched; empty for the root. */
  readonly path: string
  readonly exists: boolean
  readonly matches: readonly NoteMatch[]
  /** How many files and folders were passed over, if any: as for `list`, and what is no UTF-8 text or may not be read. */
  readonly skipped?: number
  /** Set where not everything was searched, or not every match is here. */
  readonly truncated?: true
}

/** Data of a result, if it is no error: which one follows from the action. */
export type NotesData = NoteRead | NoteAppended | NotesListed | NotesFound

interface DataOf { read: NoteRead; append: NoteAppended; list: NotesListed; search: NotesFound }

/** Data of a result of one action. */
export type NotesDataOf<Action extends string> = Action extends keyof DataOf ? DataOf[Action] : NotesData

/**
 * Notes as text files below one folder: `read`, `append`, `list` and `search`, and no way to anything outside. Appending asks for a yes, as
 * does everything that is not exactly one of the other three. Results are not external content. Named `notes`.
 */
export class NotesTool extends Tool<NotesArgs, NotesData> {
  readonly #native: NativeTool

  /**
   * @param root the folder, made by the first append, for its owner alone. A relative path counts from the working folder of now; One that begins with `~` is refused: it is not expanded.
   * @throws ToolError `INVALID_OPTIONS`; `UNSUPPORTED_PLATFORM` where the system is not a POSIX one.
   */
  constructor(root: string, options: NotesOptions = {}) {
    if (typeof root !== 'string' || !root.isWellFormed()) throw invalidOption('the root of notes must be the path of a folder, as a string')
    checkFolder(root, 'the root of notes')
    checkKeys(options, ['maxReadChars', 'maxAppendChars', 'maxFileBytes', 'prompts'], 'the options of a NotesTool')
    const { maxReadChars, maxAppendChars, maxFileBytes, prompts } = options
    checkChars(maxReadChars, 'maxReadChars')
    checkChars(maxAppendChars, 'maxAppendChars')
    checkChars(maxFileBytes, 'maxFileBytes')
    const settings = {
      ...(maxReadChars === undefined ? {} : { maxReadChars }),
      ...(maxAppendChars === undefined ? {} : { maxAppendChars }),
      ...(maxFileBytes === undefined ? {} : { maxFileBytes }),
    }
    const native = unwrap(() => binding.notesTool(root, settings, nativePrompts(prompts)))
    super('notes', native.description)
    this.#native = native
    backWith(this, native, NotesTool)
  }

  override getParameters(): InputSchema { return JSON.parse(this.#native.inputSchema) }

  /** False for exactly `read`, `list` and `search`. */
  override needsConfirmation(args: NotesArgs): boolean { return this.#native.needsConfirmation(toText(args)) }

  /** Carries a call out by itself, outside any registry: nobody is asked. */
  override run<Action extends NotesAction>(args: NotesArgs & { action: Action }, context?: ToolContext): Promise<ToolResponse<NotesDataOf<Action>>> {
    return runNative(this, args, { context })
  }
}
