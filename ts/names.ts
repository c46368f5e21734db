/** Names of tools. */
import { binding } from './binding.js'

/** Makes a foreign name legal: other characters become `_`, 64 characters at most, and `tool` where nothing is left. */
export function sanitizeToolName(name: string): string {
  return binding.sanitizeToolName(name ?? '')
}
