/** The native addon, typed. Nothing outside this package may use it. */
import { createRequire } from 'node:module'
import type * as Generated from '../binding.cjs'

/** The generated classes and functions, and the two raw functions that the generator does not see. */
export type Binding = typeof Generated & {
  /** Steps 1 to 3. Ticket × 8 + flags; -1 when closed; a finished call as JSON; `null` for misuse. */
  begin(gate: number, tool: number, text?: string, callId?: string): number | string | null
  /** Steps 6 and 8. `undefined` when nothing changed; what changed as JSON; `null` for misuse. */
  finish(gate: number, ticket: number, text: string, status?: number, dataBytes?: number): undefined | string | null
}

export type { NativeCredentialStore, NativeMcpClient, NativePermissions, NativePrompts, NativeRegistry, NativeServer, NativeTool } from '../binding.cjs'

function load(): Binding {
  const require = createRequire(import.meta.url)
  try {
    return require('../binding.cjs')
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`
    const missing = cause instanceof Error && /Cannot find (module|native binding)/.test(cause.message)
    throw new Error(
      `toolbolt has no binary for ${platform} here. Reinstall with optional dependencies (npm install --include=optional toolbolt, or both archives), `
      + `on the platform that runs it; prebuilt binaries exist for linux-x64 (glibc), elsewhere build from source with: npm run build`,
      // What the loader says of a binary that is there but cannot be loaded helps; its list of all that is not there does not.
      missing ? {} : { cause },
    )
  }
}

export const binding: Binding = load()
