// An echo server over Streamable HTTP: answers in JSON, no session, no stream of its own. Prints its port.
import { createServer } from 'node:http'
import { answer } from './answers.mjs'

createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end()
    return
  }
  const chunks = []
  request.on('data', chunk => chunks.push(chunk)).on('end', () => {
    const text = answer(Buffer.concat(chunks).toString())
    if (text === undefined) response.writeHead(202).end()
    else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  })
}).listen(0, '127.0.0.1', function listening() { console.log(this.address().port) })
