/** Names of tools. */
import { binding } from './binding.js'
import { checkName } from './options.js'

/** Makes a foreign name legal: other characters become `_`, 64 characters at most, and `tool` where nothing is left. */
export function sanitizeToolName(name: string): string {
  if (name !== null && name !== undefined) checkName(name)
  return binding.sanitizeToolName((name ?? '').toWellFormed())
}
