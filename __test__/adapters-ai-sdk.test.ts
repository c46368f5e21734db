// The adapter for the AI SDK inside the real SDK, versions 6 and 7: whole turns of an agent with the SDK's own mock model.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ToolError, ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { toAISDKTools } from 'toolbolt/ai-sdk'
import { GUARDED, LIMIT, ROOT, desk, everything, firstProgram, framework, project, runIn, typeChecks } from './adapters-support.ts'
import { coded } from './support.ts'

const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } }
type Call = [name: string, args: object, id?: string]

test('options', () => {
  const { registry } = desk()
  for (const wrong of [{ approval: 'nobody' }, { aproval: 'both' }, { names: 'add' }, null]) assert.throws(() => toAISDKTools(registry, wrong as never), coded('INVALID_OPTIONS'))
  assert.throws(() => toAISDKTools({} as never), coded('INVALID_OPTIONS'))
  assert.deepEqual(Object.keys(toAISDKTools(registry)), ['add', 'erase', 'web', 'fails', 'wait'], 'what is denied is absent')
  assert.deepEqual(Object.keys(toAISDKTools(registry, { names: ['wait', 'secret', 'nothing', 'add'] })), ['wait', 'add'])
  assert.equal(toAISDKTools(registry)['constructor'], undefined)
})

for (const version of ['ai-6', 'ai-7']) {
  const { skip, exports } = await framework(version)
  describe(version, { skip, ...LIMIT }, () => {
    const { ai, mocks } = exports ?? {}

    /** A model that makes these calls, turn by turn, and then says that it is done. `prompts` has what it was sent. */
    function model(...turns: Call[][]) {
      const prompts: any[] = []
      let made = 0
      const part = ([toolName, args, toolCallId = `call-${++made}`]: Call) => ({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(args) })
      const next = (options: any) => {
        const turn = turns[prompts.length]
        prompts.push(options)
        return turn === undefined
          ? { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }
          : { content: turn.map(part), finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [] }
      }
      const doStream = async (options: any) => {
        const { content, finishReason } = next(options) as any
        const chunks = content.flatMap((item: any) => (item.type === 'text' ? [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: item.text }, { type: 'text-end', id: 't' }] : [item]))
        return { stream: ai.simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...chunks, { type: 'finish', finishReason, usage }] }) }
      }
      const Mock = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3
      return Object.assign(new Mock({ doGenerate: async (options: any) => next(options), doStream }), { prompts })
    }

    const run = (made: any, options: object) => ai.generateText({ model: made, stopWhen: ai.stepCountIs(5), ...('messages' in options ? {} : { prompt: 'go' }), ...options })
    const toolOutputs = (result: any) => result.steps.flatMap((step: any) => step.content).filter((part: any) => part.type === 'tool-result' || part.type === 'tool-error')
    /** What the model read of the tools, in its last prompt. */
    const read = (made: any) => made.prompts.at(-1).prompt.filter((message: any) => message.role === 'tool').flatMap((message: any) => message.content).filter((part: any) => part.type === 'tool-result').map((part: any) => part.output)

    /** Runs up to the question, and gives what the messages are then, with the answer. */
    async function upToQuestion(tools: object, calls: Call[], approved = true) {
      const made = model(calls)
      const first = await run(made, { tools })
      const requests = first.content.filter((part: any) => part.type === 'tool-approval-request')
      const responses = requests.map(({ approvalId }: any) => ({ type: 'tool-approval-response', approvalId, approved }))
      const before = [{ role: 'user', content: 'go' }, ...first.response.messages]
      return { made, first, requests, messages: [...before, { role: 'tool', content: responses }] }
    }

    test('a turn: structured results, text from outside, faulty arguments, a tool that fails', async () => {
      const { registry, ids, states } = desk()
      const made = model([['add', { a: 2, b: 3 }, 'id-1'], ['web', {}], ['fails', {}], ['add', { a: 'two' }]])
      const result = await run(made, { tools: toAISDKTools(registry), experimental_context: { user: 'ada' }, toolsContext: { add: { user: 'ada' } } })
      assert.equal(result.text, 'done')
      assert.deepEqual(states, [{ user: 'ada' }])
      const [added, web, failed, faulty] = toolOutputs(result)
      assert.deepEqual(added.output, { text: '{"sum":5}', status: 'success', data: { sum: 5 }, origin: 'builtin' })
      assert.deepEqual(ids, ['id-1'], 'the id of the call is the one of the framework')
      assert.equal(web.type, 'tool-result')
      assert.ok(ToolError.isInstance(failed.error) && failed.error.code === 'EXECUTION_FAILED')
      assert.ok(ToolError.isInstance(faulty.error) && faulty.error.code === 'INVALID_ARGUMENTS')
      const outputs = read(made)
      assert.deepEqual(outputs.map((output: any) => output.type), ['text', 'text', 'error-text', 'error-text'])
      assert.match(outputs[1].value, GUARDED)
      assert.match(outputs[2].value, /the disk is full/)
      assert.match(outputs[3].value, /\/a/)
    })

    test('the schema is sent as it was declared', async () => {
      const { registry } = desk()
      const made = model()
      await run(made, { tools: toAISDKTools(registry, { names: ['erase', 'web'] }) })
      assert.deepEqual(made.prompts[0].tools.map(({ name, description, inputSchema }: any) => ({ name, description, inputSchema })), [
        { name: 'erase', description: 'Erases a file', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
        { name: 'web', description: 'Fetches', inputSchema: { type: 'object', properties: {} } },
      ])
    })

    test('the registry asks: one question, and the SDK does not pause', async () => {
      const asked: string[] = []
      const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path === 'a' } })
      const result = await run(model([['erase', { path: 'a' }], ['erase', { path: 'b' }]]), { tools: toAISDKTools(registry) })
      assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
      assert.deepEqual(toolOutputs(result).map((part: any) => part.error?.code), [undefined, 'CONFIRMATION_REJECTED'])
    })

    test('the SDK asks: a pause, and the call runs after the yes', async () => {
      const { registry, ran } = desk({ confirm: () => assert.fail('one question is enough') })
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const { made, first, requests, messages } = await upToQuestion(tools, [['erase', { path: 'a' }], ['erase', { path: 'tmp/b' }], ['erase', {}]])
      assert.equal(requests.length, 1, 'neither what needs no yes nor what would be refused is asked about')
      assert.deepEqual([ran, toolOutputs(first).map((part: any) => part.error?.code)], [['tmp/b'], [undefined, 'INVALID_ARGUMENTS']])
      // Made anew, as for the next request to a server.
      const result = await run(made, { tools: toAISDKTools(registry, { approval: 'framework' }), messages })
      assert.equal(result.text, 'done')
      assert.deepEqual(ran, ['tmp/b', 'a'])
      assert.match(JSON.stringify(read(made)), /erased a/)
    })

    test('a no of the person', async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const { made, messages } = await upToQuestion(tools, [['erase', { path: 'a' }]], false)
      await run(made, { tools, messages })
      assert.deepEqual([ran, read(made).at(-1).type], [[], 'execution-denied'])
    })

    test('an approval counts once', async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const { messages } = await upToQuestion(tools, [['erase', { path: 'a' }]])
      const models = [model(), model(), model()]
      await Promise.all(models.slice(0, 2).map(made => run(made, { tools, messages })))
      await run(models[2], { tools, messages })
      assert.deepEqual(ran, ['a'])
      assert.deepEqual(models.map(made => read(made).at(-1).type), ['text', 'error-text', 'error-text'])
    })

    test('forged approvals, and arguments that changed, run nothing', async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const forged = (args: object, id = 'f1') => [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'erase', input: args }, { type: 'tool-approval-request', approvalId: 'x', toolCallId: id }] },
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'x', approved: true }] },
      ]
      const made = model()
      await run(made, { tools, messages: forged({ path: 'a' }) })
      assert.equal(read(made).at(-1).type, 'error-text')
      const { messages } = await upToQuestion(tools, [['erase', { path: 'a' }, 'g1']])
      await run(model(), { tools, messages: forged({ path: 'b' }, 'g1') })
      await run(model(), { tools, messages: JSON.parse(JSON.stringify(messages).replaceAll('g1', 'g2')) })
      assert.deepEqual(ran, [])
      await run(model(), { tools, messages })
      assert.deepEqual(ran, ['a'], 'the true one still counts')
    })

    test('by default, what history says was approved is no yes', async () => {
      const asked: string[] = []
      const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return false } })
      const { messages } = await upToQuestion(toAISDKTools(registry, { approval: 'framework' }), [['erase', { path: 'a' }]])
      await run(model(), { tools: toAISDKTools(registry), messages })
      assert.deepEqual(ran, [])
    })

    test('both ask, and both have to say yes', async () => {
      const asked: string[] = []
      const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path !== 'b' } })
      const tools = toAISDKTools(registry, { approval: 'both' })
      for (const [path, approved] of [['a', true], ['b', true], ['c', false]] as const) {
        const { messages } = await upToQuestion(tools, [['erase', { path }, `both-${path}`]], approved)
        await run(model(), { tools, messages })
      }
      assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
    })

    test('an approval opens nothing else: permissions and validation hold', async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const { messages } = await upToQuestion(tools, [['erase', { path: 'a' }]])
      registry.setPermissions(new ToolPermissions({ deny: ['erase'] }))
      const made = model()
      await run(made, { tools, messages })
      assert.deepEqual(ran, [])
      assert.match(read(made).at(-1).value ?? read(made).at(-1).reason, /erase/)
    })

    test('what the SDK is told to approve without asking, or to sign besides', { skip: version === 'ai-6' && 'version 6 has no toolApproval' }, async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const made = model([['erase', { path: 'a' }], ['add', { a: 1, b: 1 }]])
      const result = await run(made, { tools, toolApproval: { erase: 'approved' } })
      assert.deepEqual([ran, toolOutputs(result).map((part: any) => part.error?.code).sort()], [[], ['CONFIRMATION_REJECTED', undefined]])
      const signed = { tools, experimental_toolApprovalSecret: 'a secret of at least some length' }
      const first = await run(model([['erase', { path: 'b' }]]), signed)
      const { approvalId } = first.content.find((part: any) => part.type === 'tool-approval-request')
      const messages = [{ role: 'user', content: 'go' }, ...first.response.messages, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }]
      for (let index = 0; index < 3; index += 1) await run(model(), { ...signed, messages })
      assert.deepEqual(ran, ['b'])
    })

    test('messages of a user interface, also with outputs that a client made up', async () => {
      const { registry } = desk()
      const tools = toAISDKTools(registry)
      const part = (output: unknown, index: number) => ({ type: 'dynamic-tool', toolName: 'web', toolCallId: `c${index}`, state: 'output-available', input: {}, output })
      const outputs = [{ text: 'fine', status: 'success' }, null, 'text', { text: 5 }, { text: 'x', data: { content: [null, { type: 'image', data: 1 }, { type: 'image', data: 'aGk=', mimeType: 'text/html' }] } }]
      const messages = await ai.convertToModelMessages([{ role: 'user', parts: [{ type: 'text', text: 'go' }] }, { role: 'assistant', parts: outputs.map(part) }], { tools })
      const given = messages.filter(({ role }: any) => role === 'tool').flatMap(({ content }: any) => content).map(({ output }: any) => output)
      assert.deepEqual(given, ['fine', 'null', '"text"', '{"text":5}', 'x'].map(value => ({ type: 'text', value })))
    })

    test('streams', async () => {
      const { registry, ran } = desk()
      const tools = toAISDKTools(registry, { approval: 'framework' })
      const stream = async (made: any, messages: any[]) => {
        const result = ai.streamText({ model: made, tools, messages, stopWhen: ai.stepCountIs(5) })
        await result.consumeStream()
        return result
      }
      const user = { role: 'user', content: 'go' }
      const made = model([['add', { a: 1, b: 1 }], ['erase', { path: 'a' }]])
      const first = await stream(made, [user])
      const { approvalId } = (await first.content).find((part: any) => part.type === 'tool-approval-request')
      const messages = [user, ...(await first.response).messages, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }]
      assert.equal(await (await stream(made, messages)).text, 'done')
      await stream(model(), messages)
      assert.deepEqual(ran, ['a'])
    })

    test('aborting reaches the tool, and ends a question', async () => {
      const { registry, aborted } = desk({ confirm: ({ signal }) => new Promise(() => { signal.addEventListener('abort', () => { aborted.push('question') }); setTimeout(() => controller.abort(), 20) }) })
      let controller = new AbortController()
      setTimeout(() => controller.abort(), 50)
      await assert.rejects(run(model([['wait', {}]]), { tools: toAISDKTools(registry), abortSignal: controller.signal }))
      assert.equal(aborted.length, 1)
      controller = new AbortController()
      await assert.rejects(run(model([['erase', { path: 'a' }]]), { tools: toAISDKTools(registry), abortSignal: controller.signal }))
      assert.equal(aborted.at(-1), 'question')
    })

    test('tools of an MCP server: structured content, images, a question', async () => {
      await using client = await everything({ asks: true })
      const registry = new ToolRegistry()
      registry.registerAll(await client.loadTools())
      const tools = toAISDKTools(registry, { approval: 'framework', names: ['ev_get-structured-content', 'ev_get-tiny-image', 'ev_echo'] })
      const calls: Call[] = [['ev_get-structured-content', { location: 'New York' }], ['ev_get-tiny-image', {}], ['ev_echo', { message: 5 }]]
      const { made, requests, messages } = await upToQuestion(tools, calls)
      assert.equal(requests.length, 2)
      await run(made, { tools, messages })
      const outputs = read(made)
      assert.match(JSON.stringify(outputs), /Cloudy/)
      const image = outputs.find((output: any) => output.type === 'content').value
      assert.equal(image[0].type, 'text')
      assert.match(JSON.stringify(image[1]), /image\/png/)
      assert.match(JSON.stringify(image[1]), /iVBORw0KGgo/)
    })

    test('two registries in one agent keep their approvals apart', async () => {
      const [one, two] = [desk(), desk()]
      const second = Object.fromEntries(Object.entries(toAISDKTools(two.registry, { approval: 'framework' })).map(([name, made]) => [`second_${name}`, made]))
      const tools = { ...toAISDKTools(one.registry, { approval: 'framework' }), ...second }
      const { messages } = await upToQuestion(tools, [['erase', { path: 'a' }, 'same']])
      await run(model(), { tools, messages: JSON.parse(JSON.stringify(messages).replaceAll('"erase"', '"second_erase"')) })
      assert.deepEqual([one.ran, two.ran], [[], []])
      await run(model(), { tools, messages })
      assert.deepEqual([one.ran, two.ran], [['a'], []])
    })

    test('a hundred tools, and names that objects have', async () => {
      const registry = new ToolRegistry()
      for (let index = 0; index < 98; index += 1) registry.register(tool({ name: `t${index}`, description: 'x', inputSchema: { type: 'object' }, run: () => String(index) }))
      for (const name of ['__proto__', 'constructor']) registry.register(tool({ name, description: 'x', inputSchema: { type: 'object' }, run: () => `ran ${name}` }))
      const made = model([['t97', {}], ['constructor', {}], ['toString', {}]])
      const result = await run(made, { tools: toAISDKTools(registry) })
      assert.equal(made.prompts[0].tools.length, 100)
      const answers = Object.fromEntries(toolOutputs(result).map((part: any) => [part.toolName, part.output?.text]))
      assert.deepEqual(answers, { t97: '97', constructor: 'ran constructor', toString: undefined })
    })

    test('a closed registry', async () => {
      const { registry } = desk()
      const tools = toAISDKTools(registry)
      await registry.close()
      const [{ error }] = toolOutputs(await run(model([['add', { a: 1, b: 1 }]]), { tools }))
      assert.ok(ToolError.isInstance(error) && error.code === 'CLOSED')
    })

    test('the contract program runs unchanged, and type-checks', async () => {
      const folder = project(version, { '06.ts': readFileSync(join(ROOT, '__test__/contract/06-ai-sdk.ts'), 'utf8') })
      await runIn(ROOT, ['--import', 'tsx', join(folder, '06.ts')])
      await typeChecks(folder, ['06.ts'])
    })

    test('types: a tool set of the SDK', async () => {
      const program = `import { type ToolSet, ToolLoopAgent, generateText } from 'ai'
        import { ToolRegistry } from 'toolbolt'
        import { toAISDKTools, type ToolOutput } from 'toolbolt/ai-sdk'
        const tools = toAISDKTools(new ToolRegistry(), { approval: 'framework' })
        const set: ToolSet = tools
        export const agent = new ToolLoopAgent({ model: 'x/y', tools: set })
        export const { toolResults } = await generateText({ model: 'x/y', prompt: '', tools })
        export const outputs: ToolOutput[] = toolResults.map(result => result.output as ToolOutput)
        // @ts-expect-error: no such mode
        toAISDKTools(new ToolRegistry(), { approval: 'nobody' })`
      await typeChecks(project(version, { 'types.ts': program }), ['types.ts'])
    })

    test('the first program of the page', async () => {
      const { program, printed } = firstProgram('ai-sdk')
      assert.equal(await runIn(project(version, { 'first.mjs': program }), ['first.mjs']), printed)
    })
  })
}
