/** JSON Schema as a Standard Schema that shows itself as JSON Schema (https://standardschema.dev), for frameworks that take no plain one. */
import type { JsonSchema } from '../types.js'

type Arguments = Record<string, unknown>

export interface StandardJsonSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'toolbolt'
    /** Lets everything pass: the registry checks, and says what is wrong in words that a model can act on. */
    readonly validate: (value: unknown) => { readonly value: Arguments }
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Arguments
      readonly output: (options: { readonly target: string }) => Arguments
    }
    readonly types?: { readonly input: Arguments; readonly output: Arguments } | undefined
  }
}

export function standardSchema(schema: JsonSchema): StandardJsonSchema {
  const show = () => structuredClone(schema) as Arguments
  return { '~standard': { version: 1, vendor: 'toolbolt', validate: value => ({ value: value as Arguments }), jsonSchema: { input: show, output: show } } }
}
