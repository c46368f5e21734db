/** Types shared by the public face. */
import type { Tool } from './tool.js'
import type { ToolResponse } from './response.js'
import type { ErrorCode } from './errors.js'

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
/** A JSON object. */
export interface JsonObject { [key: string]: JsonValue }
/** A JSON Schema, 2020-12 unless `$schema` names an older draft. Source: https://json-schema.org/draft/2020-12 */
export interface JsonSchema { readonly [keyword: string]: unknown }

/** One parameter of a tool: the short way to declare an input schema. */
export interface ToolParameter {
  /** Its name, as the model writes it. */
  readonly name: string
  /** Its JSON Schema type. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'
  /** What it means; empty by default. */
  readonly description?: string | undefined
  /** Whether a call must give it. Default: true. */
  readonly required?: boolean | undefined
  /** What an optional parameter is when absent. */
  readonly default?: JsonValue | undefined
  /** The parameter's whole schema, used as it is: then `type`, `description` and `default` add nothing to it. */
  readonly schema?: JsonSchema | undefined
}

/** The parts of Standard Schema that are used. Source: https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/**
 * What a tool's arguments must look like: a JSON Schema, a list of parameters, or a Standard Schema that can show itself as
 * JSON Schema (zod 4 and arktype as they are, valibot through `toStandardJsonSchema` of `@valibot/to-json-schema`).
 */
export type InputSchema = StandardSchema<any, any> | readonly ToolParameter[] | JsonSchema

type Simplify<T> = { [K in keyof T]: T[K] } & {}

interface TypeNames { string: string; integer: number; number: number; boolean: boolean; null: null }

type FromJsonSchema<S> =
  S extends { const: infer C } ? C
  : S extends { enum: readonly (infer E)[] } ? E
  : S extends { anyOf: readonly (infer A)[] } ? FromJsonSchema<A>
  : S extends { oneOf: readonly (infer A)[] } ? FromJsonSchema<A>
  : S extends { type: infer T extends keyof TypeNames } ? TypeNames[T]
  : S extends { type: 'array'; items: infer I } ? FromJsonSchema<I>[]
  : S extends { type: 'array' } ? any[]
  : S extends { type: 'object'; properties: infer P } ? FromProperties<P, S extends { required: readonly (infer R)[] } ? R : never>
  : S extends { type: 'object' } ? Record<string, any>
  : S extends { type: readonly (infer T)[] } ? FromTypeList<T>
  : any

type FromTypeList<T> = T extends keyof TypeNames ? TypeNames[T] : T extends 'array' ? any[] : T extends 'object' ? Record<string, any> : any

type FromProperties<P, R> = Simplify<
  { [K in keyof P as K extends R ? K : P[K] extends { default: unknown } ? K : never]: FromJsonSchema<P[K]> }
  & { [K in keyof P as K extends R ? never : P[K] extends { default: unknown } ? never : K]?: FromJsonSchema<P[K]> }>

type FromParameter<P> = P extends { schema: infer S } ? FromJsonSchema<S> : P extends { type: infer T } ? FromTypeList<T> : any
type IsPresent<P> = P extends { required: false } ? (P extends { default: null } ? false : P extends { default: unknown } ? true : false) : true

type FromParameters<L extends readonly unknown[]> = Simplify<
  { [P in L[number] as IsPresent<P> extends true ? NameOf<P> : never]: FromParameter<P> }
  & { [P in L[number] as IsPresent<P> extends true ? never : NameOf<P>]?: FromParameter<P> }>
type NameOf<P> = P extends { name: infer N extends string } ? N : never

/** What a tool's body receives: validated, with declared defaults filled in and a Standard Schema's transforms applied. */
export type InferArgs<S> =
  S extends StandardSchema<any, infer Output> ? Output
  : S extends readonly unknown[] ? (string extends NameOf<S[number]> ? Record<string, any> : FromParameters<S>)
  : FromJsonSchema<S>

/** How far a call has come. */
export interface Progress {
  /** Work done so far, growing. */
  readonly progress: number
  /** All work, if known. */
  readonly total?: number | undefined
  /** What is being done. */
  readonly message?: string | undefined
}

/** What a tool's body gets beside its arguments. */
export interface ToolContext {
  /** Identifies the call in events and responses. */
  readonly callId: string
  /** Aborts on the time limit, when the caller cancels and when the registry closes. Made when first read. */
  readonly signal: AbortSignal
  /** The origin of the tool that runs. */
  readonly origin: string
  /** What the caller passed as `state`. */
  readonly state?: unknown
  /** Reports progress to the caller's `onProgress`. Has no effect once the call is over. */
  progress(update: Progress): void
}

/**
 * What a tool's body may give back. `undefined` and `null` become empty text; a string its text; any other JSON value its JSON
 * as text, and a copy of itself as data. Everything else (functions, symbols, BigInts, cycles, maps, iterators) ends the call with `EXECUTION_FAILED`.
 */
export type ToolResult = string | number | boolean | null | void | ToolResponse<any> | readonly unknown[] | ResultObject

/** An object of any type, but for functions, maps, sets and iterators, which have no JSON form. */
export type ResultObject = object & { readonly bind?: never; readonly [Symbol.iterator]?: never }

/** What is asked before a call that needs a yes. */
export interface ConfirmRequest {
  readonly tool: Tool
  readonly name: string
  /** Who vouches for the tool. */
  readonly origin: string
  /**
   * The arguments that will run, as the model sent them and with defaults filled in: a deeply frozen copy. What a Standard Schema
   * makes of them comes after.
   */
  readonly args: Readonly<Record<string, any>>
  /** The call for a person's eyes: line feeds, tabs and carriage returns are shown as `\n`, `\t` and `\r`, other control and invisible characters as `\u{...}`, backslashes doubled, and a cut says what it hides. */
  readonly preview: string
  readonly callId: string
  /** Aborts when the question has become pointless. */
  readonly signal: AbortSignal
}

/** Decides about a call. Only strict `true` lets it run; anything else, a throw or a rejection refuses it. */
export type ConfirmCallback = (request: ConfirmRequest) => boolean | Promise<boolean>

/** One recorded step of a call. */
export interface ToolEvent {
  /** `call` came in; `denied` before its body; `confirmed` by a yes; `executed`: the body was entered and is over; `finished`. */
  readonly type: 'call' | 'denied' | 'confirmed' | 'executed' | 'finished'
  readonly callId: string
  /** The tool's name, or what the model called it. */
  readonly name: string
  /** Who vouches for the tool; absent where there is none of that name. */
  readonly origin?: string
  /** When, in milliseconds since 1970-01-01 UTC, with fractions. */
  readonly timeMs: number
  /** For `call`: the arguments as they were sent, secrets replaced by `***`; absent where they are no JSON object. */
  readonly args?: JsonObject
  readonly status?: ToolStatus
  readonly code?: ErrorCode
}

/** How a call ended. `partial` is a success of which something is missing. */
export type ToolStatus = 'success' | 'partial' | 'error'

/** Options of one call. */
export interface ExecuteOptions {
  /** Identifies the call in events and the response. Default: a number that is unique in this process. */
  callId?: string | undefined
  /** Asked instead of the registry's callback. */
  confirm?: ConfirmCallback | undefined
  /** Cancels the call: the response has the code `CANCELLED`; while somebody is asked, `CONFIRMATION_REJECTED`. */
  signal?: AbortSignal | undefined
  /** Limit for the body in milliseconds, instead of the tool's and the registry's; `null` for none. Confirmation does not count. */
  timeoutMs?: number | null | undefined
  /** Limit for the answer of `confirm` in milliseconds, instead of the registry's; `null` for none. */
  confirmTimeoutMs?: number | null | undefined
  /** Handed to the body as `context.state`. */
  state?: unknown | undefined
  /** Receives the body's progress, in order and before the result. What it throws is ignored. */
  onProgress?(update: Progress): void
}

/** Options of a call that may not wait. */
export type ExecuteSyncOptions = Omit<ExecuteOptions, 'signal' | 'timeoutMs' | 'confirmTimeoutMs'>

/** One call of a turn. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text or an object. */
  readonly arguments: string | object
}

/** One call of a turn, as OpenAI's chat API sends it. Source: https://platform.openai.com/docs/guides/function-calling */
export interface OpenAIToolCall {
  readonly id: string
  readonly function: Omit<ToolCall, 'id'>
}

/** A tool in OpenAI's chat format. Source: https://platform.openai.com/docs/guides/function-calling */
export interface OpenAITool {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema; strict?: boolean }
}
