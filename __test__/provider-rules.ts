// What providers refuse, as their documentation and error messages tell it. Each checker gives the first thing that is wrong with a tool, or nothing.
type Schema = Record<string, any>

const kindsOf = (schema: Schema): string[] => (schema.type === undefined ? [] : [schema.type].flat())
const first = (problems: Iterable<string | undefined>): string | undefined => [...problems].find(problem => problem !== undefined)

function rootProblem(schema: Schema): string | undefined {
  if (schema?.type !== 'object' || schema.properties === null || typeof schema.properties !== 'object') return 'the root is no object with properties'
  const refused = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'].find(keyword => keyword in schema)
  return refused && `${refused} at the root`
}

const STRICT = new Set(['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems'])

function strictProblem(schema: Schema, level = 0): string | undefined {
  const unknown = Object.keys(schema).find(keyword => !STRICT.has(keyword))
  if (unknown !== undefined) return `the keyword ${unknown}`
  const kinds = kindsOf(schema)
  if (kinds.length === 0 && schema.anyOf === undefined) return 'any type'
  if (level > 10) return 'too deep'
  if (kinds.includes('object')) {
    if (schema.additionalProperties !== false) return 'an open object'
    if (Object.keys(schema.properties).some(key => !schema.required.includes(key))) return 'an optional key'
    const problem = first(Object.values<Schema>(schema.properties).map(property => strictProblem(property, level + 1)))
    if (problem !== undefined) return problem
  }
  if (kinds.includes('array')) return schema.items === undefined ? 'a list without items' : strictProblem(schema.items, level + 1)
  return first((schema.anyOf ?? []).map((one: Schema) => strictProblem(one, level)))
}

const GEMINI = new Set(['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'format', 'minimum', 'maximum', 'minItems', 'maxItems'])

function geminiProblem(schema: Schema): string | undefined {
  const unknown = Object.keys(schema).find(keyword => !GEMINI.has(keyword))
  if (unknown !== undefined) return `the keyword ${unknown}`
  if (schema.anyOf !== undefined) return Object.keys(schema).length > 1 ? 'something beside anyOf' : first(schema.anyOf.map(geminiProblem))
  const kinds = kindsOf(schema).filter(kind => kind !== 'null')
  if (kinds.length > 1 || schema.type === undefined) return 'not one type'
  if (schema.enum !== undefined && !schema.enum.every((value: unknown) => typeof value === 'string' && value !== '')) return 'a value that is no text'
  if (kinds[0] === 'array') return schema.items === undefined ? 'a list without items' : geminiProblem(schema.items)
  const properties: Record<string, Schema> = schema.properties ?? {}
  if (!Object.keys(properties).every(key => /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key))) return 'a key that is not allowed'
  if (!(schema.required ?? []).every((key: string) => Object.hasOwn(properties, key))) return 'a required key that is not there'
  return first(Object.values(properties).map(geminiProblem))
}

function keyProblem(value: unknown): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (Array.isArray(value)) return first(value.map(keyProblem))
  const { properties } = value as Schema
  if (properties !== undefined && Object.keys(properties).some(key => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))) return 'a key that is not allowed'
  return first(Object.values(value).map(keyProblem))
}

const named = (name: string, rule: RegExp): string | undefined => (rule.test(name) ? undefined : `the name ${name}`)

export function openaiChatProblem({ type, function: fn }: Schema): string | undefined {
  return first([type === 'function' ? undefined : 'no function', named(fn.name, /^[a-zA-Z0-9_-]{1,64}$/), rootProblem(fn.parameters), fn.strict === true ? strictProblem(fn.parameters) : undefined])
}

export function openaiResponsesProblem({ type, name, parameters, strict }: Schema): string | undefined {
  return first([type === 'function' ? undefined : 'no function', named(name, /^[a-zA-Z0-9_-]{1,64}$/), typeof strict === 'boolean' ? undefined : 'strict is missing', rootProblem(parameters), strict ? strictProblem(parameters) : undefined])
}

export function anthropicProblem({ name, input_schema: schema }: Schema): string | undefined {
  return first([named(name, /^[a-zA-Z0-9_-]{1,64}$/), rootProblem(schema), keyProblem(schema)])
}

export function geminiToolProblem({ name, parametersJsonSchema: schema }: Schema): string | undefined {
  if (schema === undefined) return named(name, /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/)
  const empty = Object.keys(schema.properties ?? {}).length === 0 && !schema.additionalProperties
  return first([named(name, /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/), schema.type === 'object' ? undefined : 'the root is no object', empty ? 'no properties' : undefined, geminiProblem(schema)])
}
