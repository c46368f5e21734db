/** What happened to each call: times from the registry's events, and who was asked. */
import type { ConfirmRequest, ToolEvent, ToolRegistry, ToolResponse } from 'toolbolt'
import type { Asker } from './ask.ts'

/** One call as the timeline and the JSON lines show it. */
export interface CallRecord {
  readonly number: number
  readonly name: string
  /** As the model sent them. */
  readonly arguments: string
  /** Who vouches for the tool; absent when there is none of that name. */
  readonly origin?: string
  readonly decision: 'allowed' | 'confirmed' | 'refused' | 'forbidden' | 'bad arguments' | 'unknown tool' | 'cancelled'
  /** Who was asked for a yes; `null` when the call needed none. */
  readonly asked: string | null
  /** Without the time that an answer took. */
  readonly ms: number
  readonly status: string
  readonly code?: string
  /** Whether the tool's body was entered. */
  readonly executed: boolean
  /** Whether the model gets the text between delimiters, because it comes from outside. */
  readonly guarded: boolean
  readonly text: string
}

interface Notes { from?: number; to?: number; origin?: string; asked?: string; askMs: number }

export class Recorder {
  readonly #notes = new Map<string, Notes>()
  readonly #asker: Asker
  #count = 0

  constructor(asker: Asker) { this.#asker = asker }

  /** For the registry's `onEvent`. */
  readonly onEvent = (event: ToolEvent): void => {
    const notes = this.#notesOf(event.callId)
    if (event.origin !== undefined) notes.origin = event.origin
    if (event.type === 'call') notes.from = event.timeMs
    if (event.type === 'finished') notes.to = event.timeMs
  }

  /** For the registry's `confirm`. */
  readonly confirm = async (request: ConfirmRequest): Promise<boolean> => {
    const started = performance.now()
    const notes = this.#notesOf(request.callId)
    notes.asked = this.#asker.who
    try {
      return await this.#asker.ask(request)
    } finally {
      notes.askMs = performance.now() - started
    }
  }

  /** The record of a finished call. */
  record(registry: ToolRegistry, name: string, args: string, response: ToolResponse): CallRecord {
    const { from = 0, to = from, origin, asked, askMs } = this.#notesOf(response.callId ?? '')
    this.#notes.delete(response.callId ?? '')
    this.#count += 1
    return {
      number: this.#count,
      name,
      arguments: args,
      ...(origin === undefined ? {} : { origin }),
      decision: decisionOf(response, asked !== undefined),
      asked: asked ?? null,
      ms: Math.max(0, Math.round((to - from - askMs) * 100) / 100),
      status: response.status,
      ...(response.code === undefined ? {} : { code: response.code }),
      executed: response.executed === true,
      guarded: registry.render(response) !== response.text,
      text: response.text,
    }
  }

  #notesOf(callId: string): Notes {
    const known = this.#notes.get(callId)
    if (known !== undefined) return known
    const fresh: Notes = { askMs: 0 }
    this.#notes.set(callId, fresh)
    return fresh
  }
}

function decisionOf(response: ToolResponse, wasAsked: boolean): CallRecord['decision'] {
  switch (response.code) {
    case 'TOOL_NOT_FOUND': return 'unknown tool'
    case 'PERMISSION_DENIED': return 'forbidden'
    case 'INVALID_ARGUMENTS': return 'bad arguments'
    case 'CONFIRMATION_REQUIRED':
    case 'CONFIRMATION_REJECTED': return 'refused'
  }
  if (response.code === 'CANCELLED' && response.executed !== true) return 'cancelled'
  return wasAsked ? 'confirmed' : 'allowed'
}
