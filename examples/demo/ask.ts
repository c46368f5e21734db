/** Asking a person before a call, or answering in their place. */
import { createInterface } from 'node:readline'
import type { ConfirmRequest } from 'toolbolt'
import type { DemoOptions } from './options.ts'

export interface Asker {
  /** Who is asked, for the timeline. */
  readonly who: string
  ask(request: ConfirmRequest): Promise<boolean>
}

/** `output` is where questions are written; `interrupt` is called on Ctrl-C. */
export function makeAsker(answer: DemoOptions['answer'], output: NodeJS.WritableStream, interrupt: () => void): Asker {
  switch (answer) {
    case 'yes': return { who: '--yes', ask: async () => true }
    case 'no': return { who: '--no', ask: async () => false }
    // A callback that throws is a no, with its reason in the answer to the model.
    case 'nobody': return { who: 'nobody', ask: async () => { throw new Error('there is no terminal to ask in') } }
    case 'terminal': return { who: 'you', ask: request => askInTerminal(request, output, interrupt) }
  }
}

/** Only `y` and `yes` are a yes; the end of the input, Ctrl-C and an abort are a no. */
function askInTerminal(request: ConfirmRequest, output: NodeJS.WritableStream, interrupt: () => void): Promise<boolean> {
  return new Promise(resolve => {
    const lines = createInterface({ input: process.stdin, output, terminal: true })
    const end = (yes: boolean) => {
      resolve(yes)
      request.signal.removeEventListener('abort', refuse)
      lines.close()
    }
    const refuse = () => { end(false) }
    request.signal.addEventListener('abort', refuse)
    lines.on('close', refuse)
    lines.on('SIGINT', () => { end(false); interrupt() })
    // The preview is made for a person: nothing in it is invisible, and a cut says what it hides.
    lines.question(`\n    ${request.preview.replaceAll('\n', '\n    ')}\n    Run this? (y/N) `, reply => { end(/^\s*y(es)?\s*$/i.test(reply)) })
  })
}
