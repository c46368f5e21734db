/** What a client of a server of ours is answered: a response in the words of MCP. */
import type { ToolRegistry } from './registry.js'
import { type ToolResponse, isExternal } from './response.js'
import type { JsonObject } from './types.js'

/** Where the code of a refusal stands, for programs. */
const CODE = 'toolbolt/code'

type Block = Record<string, unknown>

const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is Block => value !== null && typeof value === 'object' && !Array.isArray(value)

/** A block with the members that MCP gives it, or nothing for what is none. */
function toBlock(value: unknown): Block | undefined {
  if (!isObject(value)) return undefined
  const { type, text, data, mimeType, resource, uri, name, title, description } = value
  switch (type) {
    case 'text': return isText(text) ? { type, text } : undefined
    case 'image':
    case 'audio': return isText(data) && isText(mimeType) ? { type, data, mimeType } : undefined
    case 'resource_link': return isText(uri) && isText(name) ? { type, uri, name, ...texts({ title, description, mimeType }) } : undefined
    case 'resource': return isObject(resource) && isText(resource.uri) && (isText(resource.text) || isText(resource.blob))
      ? { type, resource: { uri: resource.uri, ...texts({ mimeType: resource.mimeType }), ...(isText(resource.text) ? { text: resource.text } : { blob: resource.blob }) } } : undefined
    default: return undefined
  }
}

function texts(members: Block): Block {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isText(value)))
}

/** The blocks of data in the shape of MCP results; nothing where one of them is none. */
function blocksOf(data: unknown): Block[] | undefined {
  if (!isObject(data) || !Array.isArray(data.content) || data.content.length === 0) return undefined
  const blocks = data.content.map(toBlock)
  return blocks.every(block => block !== undefined) ? blocks : undefined
}

/**
 * The result of `tools/call`. Text from outside goes between the delimiters of the guard, and nothing goes past it: of such a result there
 * are images and audio beside the text, and no structured content.
 */
export function toCallToolResult(registry: ToolRegistry, response: ToolResponse): JsonObject {
  const { data, code } = response.toJSON() as { data?: unknown; code?: string }
  const blocks = blocksOf(data)
  const text = { type: 'text', text: registry.render(response) }
  const isOutside = isExternal(response)
  const content = blocks === undefined ? [text] : isOutside ? [text, ...blocks.filter(({ type }) => type === 'image' || type === 'audio')] : blocks
  const structured = isOutside ? undefined : blocks === undefined ? data : (data as Block).structuredContent
  return {
    content,
    ...(isObject(structured) ? { structuredContent: structured } : {}),
    ...(response.status === 'error' ? { isError: true } : {}),
    ...(code === undefined ? {} : { _meta: { [CODE]: code } }),
  } as JsonObject
}
