/** What the JavaScript side keeps of a registered tool: the function. Everything that decides is in the core. */
import type { NativeTool } from './binding.js'
import type { Validate } from './schema.js'
import type { Tool } from './tool.js'
import type { ConfirmCallback, ToolEvent } from './types.js'
import type { NativeRegistry } from './binding.js'

/** 0: for no call. 1: for every call. 2: the tool is asked. */
export type PerCall = 0 | 1 | 2

export interface Entry {
  /** The core's number of the tool. */
  readonly id: number
  readonly tool: Tool
  /** As they were when it was registered; what becomes of the tool's own does not matter. */
  readonly name: string
  readonly origin: string
  readonly run: Tool['run']
  readonly validate: Validate | undefined
  /** The body, where it is the core's. */
  readonly native: NativeTool | undefined
  readonly external: PerCall
  readonly supportsParallel: boolean
  /** The limit of the core's choice: the tool's own or the registry's. */
  readonly timeoutMs: number | undefined
  /** Whether somebody asked for that limit. */
  readonly explicitTimeout: boolean
}

/** A registry from the inside. */
export interface Inner {
  readonly native: NativeRegistry
  /** The gate's number. */
  readonly index: number
  readonly entries: Map<string, Entry>
  readonly confirm: ConfirmCallback | undefined
  readonly confirmTimeoutMs: number | undefined
  readonly onEvent: ((event: ToolEvent) => void) | undefined
  /** Cancels what is under way when the registry closes. */
  readonly closers: Set<() => void>
  isClosed: boolean
}
