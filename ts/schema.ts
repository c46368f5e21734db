/** Input schemas of every kind, brought to one: JSON Schema as text, and a validator where the schema brings its own. */
import { binding } from './binding.js'
import { ToolRegistrationError, unwrap } from './errors.js'
import type { InputSchema, JsonSchema } from './types.js'

/** What Standard Schema's `validate` gives. */
export interface StandardResult {
  readonly value?: unknown
  readonly issues?: readonly { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }[] | undefined
}

export type Validate = (value: unknown) => StandardResult | Promise<StandardResult>

export interface ReadSchema {
  /** JSON Schema, as JSON. */
  readonly json: string
  /** A Standard Schema's own check, which then decides. */
  readonly validate: Validate | undefined
}

interface Standard {
  readonly version: unknown
  readonly vendor: unknown
  readonly validate: Validate
  readonly jsonSchema?: { input?(options: { target: string }): unknown }
}

/**
 * Reads an input schema.
 * @throws ToolRegistrationError `INVALID_OPTIONS` for what is none, or cannot show itself as JSON Schema.
 */
export function readSchema(schema: InputSchema): ReadSchema {
  if (Array.isArray(schema)) return { json: fromParameters(schema), validate: undefined }
  // arktype's types are functions.
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) throw invalid('an input schema must be a JSON Schema, a list of parameters or a Standard Schema')
  const standard = (schema as { '~standard'?: Standard })['~standard']
  if (standard === undefined) {
    if (!isPlain(schema)) throw invalid('this input schema is an object of a library that cannot show itself as JSON Schema; use zod 4.2 or later, arktype 2.1.28 or later, valibot through toStandardJsonSchema, or a plain JSON Schema')
    return { json: stringify(schema as JsonSchema), validate: undefined }
  }
  if (standard.version !== 1 || typeof standard.validate !== 'function') throw invalid('this Standard Schema is not of version 1')
  return { json: stringify(shown(standard)), validate: standard.validate }
}

/** A schema as JSON Schema. */
export function toJsonSchema(schema: InputSchema): JsonSchema {
  return JSON.parse(readSchema(schema).json)
}

/** A JSON Schema is plain data: an object of a class would lose what it means, and check nothing. */
function isPlain(schema: object): boolean {
  if (typeof schema === 'function') return false
  const prototype: unknown = Object.getPrototypeOf(schema)
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null
  return plain && !Object.values(schema).some(value => typeof value === 'function') && !('_def' in schema)
}

function fromParameters(parameters: readonly unknown[]): string {
  return unwrap(() => binding.parametersToSchema(stringify(parameters)), ToolRegistrationError)
}

function shown(standard: Standard): object {
  const convert = standard.jsonSchema?.input
  if (typeof convert !== 'function') {
    throw invalid(
      `the ${String(standard.vendor)} schema cannot show itself as JSON Schema; use zod 4.2 or later, arktype 2.1.28 or later, `
      + 'or for valibot toStandardJsonSchema of @valibot/to-json-schema',
    )
  }
  let schema: unknown
  try {
    schema = convert({ target: 'draft-2020-12' })
  } catch (cause) {
    throw new ToolRegistrationError('INVALID_OPTIONS', `the ${String(standard.vendor)} schema has no JSON Schema form: ${messageOf(cause)}`, { cause })
  }
  if (schema === null || typeof schema !== 'object') throw invalid(`the ${String(standard.vendor)} schema gave no JSON Schema`)
  // The default dialect need not be named, and some providers refuse the keyword.
  const { $schema: _dialect, ...rest } = schema as { $schema?: unknown }
  return rest
}

function stringify(value: object): string {
  try {
    const json = JSON.stringify(value)
    if (json !== undefined) return json
  } catch (cause) {
    throw new ToolRegistrationError('INVALID_OPTIONS', `the input schema has no JSON form: ${messageOf(cause)}`, { cause })
  }
  throw invalid('the input schema has no JSON form')
}

function invalid(message: string): ToolRegistrationError {
  return new ToolRegistrationError('INVALID_OPTIONS', message)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The names of the properties, in order. */
export function propertyNames(json: string): string[] {
  return Object.keys(JSON.parse(json).properties ?? {})
}
