// The exports and results as the vendors' own SDKs type them; compiled, never run.
import type Anthropic from '@anthropic-ai/sdk'
import type { Content, FunctionDeclaration, GenerateContentResponse, Part, Tool as GoogleTool } from '@google/genai'
import type OpenAI from 'openai'
import type { ToolRegistry } from 'toolbolt'
import type { Tool as McpTool } from '@modelcontextprotocol/client'

// Types of a browser that the declarations of @google/genai name and those of Node.js do not have.
declare global {
  type RequestInfo = string | Request
  type HeadersInit = Headers | Record<string, string> | [string, string][]
  interface ErrorEvent { readonly message: string }
  interface CloseEvent { readonly code: number }
}

declare const registry: ToolRegistry
declare const openai: OpenAI
declare const anthropic: Anthropic

export const chatTools: OpenAI.Chat.ChatCompletionTool[] = registry.toOpenAISchema(undefined, { strict: true })
export const responsesTools: OpenAI.Responses.FunctionTool[] = registry.toOpenAIResponses(['a'], { strict: true, deferLoading: true })
export const anthropicTools: Anthropic.Tool[] = registry.toAnthropic(undefined, { deferLoading: ['a'] })
export const geminiTools: GoogleTool[] = registry.toGemini()
export const declarations: FunctionDeclaration[] = registry.toGemini()[0]!.functionDeclarations
export const mcpTools: McpTool[] = registry.toMcp()

export async function chat(messages: OpenAI.Chat.ChatCompletionMessageParam[]): Promise<string | null> {
  const completion = await openai.chat.completions.create({ model: 'gpt-5', messages, tools: registry.toOpenAISchema() })
  const { message } = completion.choices[0]!
  const results = await registry.runOpenAICalls(message)
  messages.push(message, ...results)
  return message.content
}

export async function responses(input: OpenAI.Responses.ResponseInput): Promise<string> {
  const response = await openai.responses.create({ model: 'gpt-5', input, tools: registry.toOpenAIResponses() })
  input.push(...response.output as OpenAI.Responses.ResponseInput, ...await registry.runOpenAIResponsesCalls(response))
  return response.output_text
}

export async function messages(history: Anthropic.MessageParam[]): Promise<void> {
  const message = await anthropic.messages.create({ model: 'claude-sonnet-5', max_tokens: 1, messages: history, tools: registry.toAnthropic() })
  history.push({ role: 'assistant', content: message.content }, { role: 'user', content: await registry.runAnthropicCalls(message) })
}

export async function gemini(contents: Content[], response: GenerateContentResponse): Promise<void> {
  const parts: Part[] = await registry.runGeminiCalls(response)
  contents.push({ role: 'user', parts })
}
