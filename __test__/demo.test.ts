// The demo as a user runs it, with the prepared calls and with a local fake of a model's endpoint.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LIMIT = { timeout: 120_000 }
const KEY = 'sk-not-a-real-key-0123456789'

interface Line { type: string; name?: string; decision?: string; asked?: string | null; status?: string; code?: string; executed?: boolean; guarded?: boolean; text?: string; origin?: string; ms?: number; permitted?: string[]; forbidden?: string[] }
interface Run { code: number | null; stdout: string; stderr: string; lines: Line[]; calls: Line[]; left: string[]; files: string[] }

/** Living processes that have this folder as TMPDIR: the demo and the servers that it starts get it, and nothing else does. */
function processesWith(folder: string): string[] {
  return readdirSync('/proc').filter(entry => /^\d+$/.test(entry)).filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`TMPDIR=${folder}`) && !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false // gone meanwhile, or a zombie
    }
  })
}

interface How { env?: Record<string, string>; input?: string; command?: string[]; during?: (folder: string, child: ChildProcess) => void }

async function demo(args: readonly string[], { env = {}, input, command, during }: How = {}): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-test-'))
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...clean } = process.env
  const [program, ...first] = command ?? [process.execPath, '--import', 'tsx', 'examples/demo.ts']
  const child = spawn(program!, [...first, ...args], { cwd: ROOT, env: { ...clean, TMPDIR: folder, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', chunk => { stdout += chunk; during?.(folder, child) })
  child.stderr.setEncoding('utf8').on('data', chunk => { stderr += chunk })
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? '')
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT.timeout - 10_000)
  const code = await new Promise<number | null>((done, fail) => { child.on('error', fail); child.on('close', done) })
  clearTimeout(timer)
  const left = processesWith(folder)
  const files = readdirSync(folder).filter(name => name.startsWith('toolbolt-'))
  rmSync(folder, { recursive: true, force: true })
  const lines = args.includes('--json') ? stdout.split('\n').filter(line => line !== '').map(line => JSON.parse(line) as Line) : []
  return { code, stdout, stderr, lines, calls: lines.filter(line => line.type === 'call'), left, files }
}

/** It ended as it should and left nothing behind. */
function endedClean(run: Run, code = 0): void {
  assert.equal(run.code, code, `${run.stderr}\n${run.stdout}`)
  assert.deepEqual(run.left, [], 'a process is left')
  assert.deepEqual(run.files, [], 'a folder is left')
}

const brief = ({ name, decision, asked, code, executed }: Line) => [name, decision, asked, code ?? 'ok', executed]
const PREPARED = (asked: string, decision: string, code: string, executed: boolean) => [
  ['get_weather', 'allowed', null, 'ok', true],
  ['get_weather', 'bad arguments', null, 'INVALID_ARGUMENTS', false],
  ['calculator', 'allowed', null, 'ok', true],
  ['calculator', 'bad arguments', null, 'INVALID_ARGUMENTS', false],
  ['book_table', 'bad arguments', null, 'INVALID_ARGUMENTS', false],
  ['book_table', 'allowed', null, 'ok', true],
  ['get_wether', 'unknown tool', null, 'TOOL_NOT_FOUND', false],
  ['everything_get-sum', 'allowed', null, 'ok', true],
  ['everything_get-env', 'forbidden', null, 'PERMISSION_DENIED', false],
  ['files_read_text_file', decision, asked, code, executed],
  ['files_write_file', decision, asked, code, executed],
  ['everything_echo', 'forbidden', null, 'PERMISSION_DENIED', false],
]

describe('the prepared calls', { concurrency: 2 }, () => {
  test('--yes --json: what needs a yes runs', LIMIT, async () => {
    let most = 0
    const run = await demo(['--yes', '--json'], { during: folder => { most = Math.max(most, processesWith(folder).length) } })
    endedClean(run)
    assert.ok(most >= 3, `the demo and two servers are processes of their own, but ${most} were seen`)
    assert.deepEqual(run.calls.map(brief), PREPARED('--yes', 'confirmed', 'ok', true))
    assert.match(run.calls[9]!.text!, /Dinner in Oslo/)
    assert.ok(run.calls[7]!.guarded && !run.calls[0]!.guarded, 'what comes from a server is guarded')
    for (const fault of [/people/, /time/, /tonight/]) assert.match(run.calls[4]!.text!, fault)
    assert.match(run.calls[6]!.text!, /get_weather/)
    for (const call of run.calls) assert.ok(typeof call.ms === 'number' && call.ms >= 0 && call.ms < 30_000)
    const catalog = run.lines.filter(line => line.type === 'catalog')
    assert.deepEqual(catalog.map(line => line.origin), ['app', 'builtin', 'mcp:files', 'mcp:everything'])
    assert.deepEqual(catalog.map(line => line.forbidden), [[], [], [], ['everything_get-env']])
    assert.deepEqual(run.lines.at(-1), { type: 'end', calls: 12, ran: 6, refused: 6 })
  })

  test('--no --json: what needs a yes does not run', LIMIT, async () => {
    const run = await demo(['--no', '--json'])
    endedClean(run)
    assert.deepEqual(run.calls.map(brief), PREPARED('--no', 'refused', 'CONFIRMATION_REJECTED', false))
  })

  test('without a terminal nothing is confirmed, whatever is piped in', LIMIT, async () => {
    const run = await demo(['--json'], { input: 'y\ny\nyes\n' })
    endedClean(run)
    assert.deepEqual(run.calls.map(brief), PREPARED('nobody', 'refused', 'CONFIRMATION_REJECTED', false))
    assert.match(run.calls[9]!.text!, /no terminal/)
  })

  test('the timeline tells the same, without colours where there is no terminal', LIMIT, async () => {
    const run = await demo(['--yes'])
    endedClean(run)
    for (const [name, decision, , code] of PREPARED('--yes', 'confirmed', 'ok', true)) {
      const entry = run.stdout.split(/\n\n+/).find(part => part.includes(` ${name} `) && part.includes(`· ${decision} ·`))
      assert.ok(entry?.includes(code === 'ok' ? 'success' : String(code)), `${name} ${decision}\n${run.stdout}`)
    }
    assert.match(run.stdout, /mcp:files \(14\)/)
    assert.match(run.stdout, /12 calls, 6 ran, 6 stopped/)
    assert.ok(!run.stdout.includes('\u001b'))
  })
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal}, twice, stops it and leaves nothing`, LIMIT, async () => {
    await using model = await fakeModel(() => new Promise(() => {}))
    const run = await demo(['--yes', '--json'], { ...withModel(model.url), during: (_folder, child) => { child.kill(signal); child.kill(signal) } })
    endedClean(run, 130)
    assert.equal(run.stderr, 'stopped\n')
  })
}

/** Runs the demo in a terminal and types each answer at its question. */
const PTY = `
import os, pty, select, sys
answers = sys.argv[1].split(',')
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
out, seen = b'', 0
while select.select([fd], [], [], 60)[0]:
    try: chunk = os.read(fd, 65536)
    except OSError: break
    if not chunk: break
    out += chunk
    if out.count(b'(y/N) ') > seen:
        seen = out.count(b'(y/N) ')
        answer = answers.pop(0)
        os.write(fd, {'^C': b'\\x03', '^D': b'\\x04'}.get(answer) or (answer + '\\r').encode())
sys.stdout.buffer.write(out)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
`

describe('in a terminal', { concurrency: 2 }, () => {
  const inTerminal = (answers: string, env = {}) => demo([], { command: ['python3', '-c', PTY, answers, process.execPath, '--import', 'tsx', 'examples/demo.ts'], env })

  test('a person is shown the call and answers each', LIMIT, async () => {
    const run = await inTerminal('y,n')
    endedClean(run)
    assert.match(run.stdout, /files_write_file \(from mcp:files\)\s+path: ".*booked\.txt"\s+content: "Maaemo, 19:00, two people\\n"/)
    assert.match(run.stdout, /files_read_text_file[^│]*confirmed[^│]*asked you/)
    assert.match(run.stdout, /files_write_file[^│]*refused[^│]*asked you/)
    assert.ok(run.stdout.includes('\u001b[1m'), 'with colours')
  })

  test('only y and yes are a yes; the end of the input is a no; NO_COLOR is honoured', LIMIT, async () => {
    const run = await inTerminal('^D,', { NO_COLOR: '1' })
    endedClean(run)
    assert.equal(run.stdout.match(/refused/g)?.length, 2)
    assert.ok(!/\u001b\[\d+m/.test(run.stdout))
  })

  test('Ctrl-C at a question stops the demo and leaves nothing', LIMIT, async () => {
    const run = await inTerminal('^C')
    endedClean(run, 130)
    assert.ok(!run.stdout.includes('booked.txt"'), 'nothing more was asked')
  })
})

describe('options', { concurrency: 2 }, () => {
  test('--help', LIMIT, async () => {
    const run = await demo(['--help'])
    endedClean(run)
    for (const word of ['--yes', '--no', '--json', 'OPENAI_API_KEY']) assert.ok(run.stdout.includes(word), word)
  })
  test('a wrong option is named', LIMIT, async () => {
    const run = await demo(['--maybe'])
    endedClean(run, 1)
    assert.match(run.stderr, /--maybe/)
    assert.ok(!run.stderr.includes('    at '), 'no stack')
  })
  test('--yes and --no together', LIMIT, async () => endedClean(await demo(['--yes', '--no']), 1))
})

type Answer = { status?: number; body: string } | { message: object }
interface Asked { authorization: string | undefined; body: any }

/** A chat completions endpoint on this machine that gives prepared answers and keeps what it was asked. */
async function fakeModel(answer: (turn: number, asked: Asked) => Answer | Promise<Answer>): Promise<{ url: string; asked: Asked[]; [Symbol.asyncDispose](): Promise<void> }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', chunk => { text += chunk }).on('end', async () => {
      assert.equal(request.url, '/v1/chat/completions')
      asked.push({ authorization: request.headers.authorization, body: JSON.parse(text) })
      const given = await answer(asked.length - 1, asked.at(-1)!)
      const { status, body } = 'message' in given ? { status: 200, body: JSON.stringify({ choices: [{ index: 0, message: given.message, finish_reason: 'stop' }] }) } : given
      response.writeHead(status ?? 200, { 'content-type': 'application/json' }).end(body)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    async [Symbol.asyncDispose]() { server.closeAllConnections(); await new Promise(done => server.close(done)) },
  }
}

const toolCall = (id: string, name: string, args: unknown) => ({ id, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } })
const withModel = (url: string, more = {}): How => ({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url, OPENAI_MODEL: 'fake', ...more } })

describe('a model chooses the calls', { concurrency: 2 }, () => {
  test('it sees the permitted tools, its calls run in turns, and it gets an answer to each', LIMIT, async () => {
    await using model = await fakeModel((turn, { body }) => {
      const folder = /Files are in (\S+)\./.exec(body.messages[0].content)![1]!
      if (turn === 0) return { message: { role: 'assistant', content: 'Let me look.', tool_calls: [
        toolCall('a', 'files_read_text_file', { path: join(folder, 'plan.txt') }), toolCall('b', 'get_weather', '{"city":"Oslo"'), toolCall('c', 'everything_get-env', {}),
      ] } }
      if (turn === 1) return { message: { role: 'assistant', content: null, tool_calls: [toolCall('d', 'get_weather', { city: 'Oslo', days: 1 })] } }
      return { message: { role: 'assistant', content: 'It will be clear in Oslo.' } }
    })
    const run = await demo(['--yes', '--json', '--task', 'How is Oslo?'], withModel(model.url))
    endedClean(run)
    assert.deepEqual(run.calls.map(brief), [
      ['files_read_text_file', 'confirmed', '--yes', 'ok', true],
      ['get_weather', 'bad arguments', null, 'INVALID_ARGUMENTS', false],
      ['everything_get-env', 'forbidden', null, 'PERMISSION_DENIED', false],
      ['get_weather', 'allowed', null, 'ok', true],
    ])
    assert.deepEqual(run.lines.filter(line => line.type === 'note').map(line => line.text), ['Let me look.', 'It will be clear in Oslo.'])
    assert.equal(model.asked.length, 3)
    const [first, second, third] = model.asked as [Asked, Asked, Asked]
    assert.equal(first.authorization, `Bearer ${KEY}`)
    assert.equal(first.body.model, 'fake')
    assert.equal(first.body.messages[1].content, 'How is Oslo?')
    const names: string[] = first.body.tools.map((tool: any) => tool.function.name)
    assert.ok(names.includes('files_write_file') && !names.includes('everything_get-env'))
    assert.deepEqual(second.body.messages.slice(2).map((message: any) => [message.role, message.tool_call_id]), [['assistant', undefined], ['tool', 'a'], ['tool', 'b'], ['tool', 'c']])
    assert.match(second.body.messages[3].content, /<external-content id="[0-9a-f]{16}"[\s\S]*Dinner in Oslo/)
    assert.match(third.body.messages.at(-1).content, /^Oslo, next 1 days/)
    assert.ok(!run.stdout.includes(KEY) && !run.stderr.includes(KEY))
  })

  test('odd calls are answered like any other', LIMIT, async () => {
    await using model = await fakeModel(turn => turn > 0 ? { message: { role: 'assistant', content: 'done' } } : { message: { role: 'assistant', content: null, tool_calls: [
      {}, { id: 'x', function: { name: 7, arguments: 'null' } }, { id: 'x', function: { name: 'calculator', arguments: { expression: '1+1' } } },
    ] } })
    const run = await demo(['--no', '--json'], withModel(model.url))
    endedClean(run)
    assert.deepEqual(run.calls.map(call => call.code ?? call.text), ['TOOL_NOT_FOUND', 'TOOL_NOT_FOUND', '2'])
    const ids: string[] = model.asked[1]!.body.messages.filter((message: any) => message.role === 'tool').map((message: any) => message.tool_call_id)
    assert.equal(new Set(ids).size, 3)
  })

  const failures: [string, Answer, RegExp][] = [
    ['status 500', { status: 500, body: '{"error":{"message":"the cluster is on fire"}}' }, /status 500: the cluster is on fire/],
    ['a refused key is not printed', { status: 401, body: `{"error":{"message":"Incorrect API key provided: ${KEY}"}}` }, /status 401: Incorrect API key provided: \*\*\*/],
    ['no JSON', { body: '<html>nginx</html>' }, /no chat completion: <html>/],
    ['no choices', { body: '{"choices":[]}' }, /no chat completion/],
    ['tool_calls that are no list', { message: { role: 'assistant', content: null, tool_calls: 'all of them' } }, /tool_calls that are no list/],
    ['a model without an end', { message: { role: 'assistant', content: null, tool_calls: [toolCall('a', 'calculator', { expression: '1+1' })] } }, /within 12 steps/],
  ]
  for (const [what, answer, says] of failures) {
    test(what, LIMIT, async () => {
      await using model = await fakeModel(() => answer)
      const run = await demo(['--yes', '--json'], withModel(model.url))
      endedClean(run, 1)
      assert.match(run.stderr, says)
      assert.ok(!run.stderr.includes(KEY) && !run.stdout.includes(KEY))
      assert.ok(!run.stderr.includes('    at '), 'no stack')
    })
  }

  test('an endpoint that is not there', LIMIT, async () => {
    const run = await demo(['--yes', '--json'], withModel('http://127.0.0.1:9/v1'))
    endedClean(run, 1)
    assert.match(run.stderr, /cannot be reached at http:\/\/127\.0\.0\.1:9\/v1\/chat\/completions: .*Check OPENAI_BASE_URL/)
  })
})
