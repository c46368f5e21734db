// An echo server over standard streams.
import { answer } from './answers.mjs'

let rest = ''
process.stdin.setEncoding('utf8').on('data', text => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  const answers = lines.map(answer).filter(line => line !== undefined)
  if (answers.length > 0) process.stdout.write(`${answers.join('\n')}\n`)
})
