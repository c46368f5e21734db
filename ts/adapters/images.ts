/** The images in what MCP tools give, which models can be shown. Other media stay with the program. */
import type { ToolOutput } from './run.js'

/** What every provider of vision models takes. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/

export interface Image {
  /** Base64. */
  readonly data: string
  readonly mediaType: string
}

/** The images of an output. It may come from a stored conversation, and then be anything. */
export function imagesOf(output: Partial<ToolOutput> | null | undefined): Image[] {
  const content = (output?.data as { content?: unknown } | null | undefined)?.content
  if (!Array.isArray(content)) return []
  return content.flatMap(block => {
    const { type, data, mimeType } = (block ?? {}) as { type?: unknown; data?: unknown; mimeType?: unknown }
    return type === 'image' && typeof data === 'string' && typeof mimeType === 'string' && SHOWN.test(mimeType) ? [{ data, mediaType: mimeType }] : []
  })
}
