/** The shapes of providers, as far as they are made and read here. */

/** A schema of arguments as exports give it: deeply frozen, as it is kept for the next export. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties?: { [name: string]: any }
  readonly required?: string[]
  readonly [keyword: string]: unknown
}

/** A tool for OpenAI's Responses API. Source: https://platform.openai.com/docs/guides/function-calling */
export interface OpenAIResponsesTool {
  type: 'function'
  name: string
  description: string
  parameters: ObjectSchema
  strict: boolean
  defer_loading?: boolean
}

/** A tool for Anthropic's Messages API. Source: https://docs.claude.com/en/api/messages */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ObjectSchema
  defer_loading?: boolean
}

/** Tools for Gemini. Source: https://ai.google.dev/gemini-api/docs/function-calling */
export interface GeminiTool { functionDeclarations: GeminiFunctionDeclaration[] }
/** One tool for Gemini; without a schema where it takes no arguments. */
export interface GeminiFunctionDeclaration {
  name: string
  description: string
  parametersJsonSchema?: ObjectSchema
}

/** A tool as `tools/list` of MCP lists it. Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools */
export interface McpToolDefinition {
  name: string
  description: string
  inputSchema: ObjectSchema
}

/** Whose shape an export has. */
export type ExportFormat = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'mcp'

/** One thing that a tool's schema says and that its export does not. */
export interface ExportWeakening {
  /** The tool's own name. */
  readonly tool: string
  /** Where in the tool's schema, as a JSON pointer; inside alternatives that became one object, where in that. */
  readonly path: string
  /** The keyword that was changed; `name` for the tool's name. */
  readonly keyword: string
  /** What became of it, in a sentence. */
  readonly what: string
}

/** Options of exports for OpenAI. */
export interface StrictOptions {
  /**
   * Has the provider hold models to the schema, where that can be: every key is then required, and null stands for one that is not given.
   * Tools whose schema is more open than strict mode can say go without. Default: false.
   */
  strict?: boolean | undefined
}

/** Options of exports for providers that can search among tools themselves. */
export interface DeferOptions {
  /** Tools that the provider keeps out of the context until a search of its own finds them: the named ones, or with `true` all but `tool_search`. Default: none. */
  deferLoading?: boolean | readonly string[] | undefined
}

/** A result of a call for OpenAI's chat API. */
export interface OpenAIToolMessage {
  role: 'tool'
  tool_call_id: string
  content: string
}

/** A result of a call for OpenAI's Responses API. */
export interface OpenAIFunctionCallOutput {
  type: 'function_call_output'
  call_id: string
  output: string | ({ type: 'input_text'; text: string } | { type: 'input_image'; image_url: string; detail: 'auto' })[]
}

/** A result of a call for Anthropic's Messages API: a block of a user's message. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string | ({ type: 'text'; text: string } | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } })[]
  is_error?: boolean
}
/** Images that Anthropic reads. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/** A result of a call for Gemini: a part of a user's content. */
export interface GeminiFunctionResponse {
  functionResponse: {
    id?: string
    name: string
    response: { output: unknown } | { error: string }
    parts?: { inlineData: { mimeType: string; data: string } }[]
  }
}
