// The adapter for Mastra inside the real Mastra: whole runs of an agent with Mastra's own mock model and storage.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { toMastraTools } from 'toolbolt/mastra'
import { GUARDED, LIMIT, desk, everything, firstProgram, framework, project, runIn, typeChecks } from './adapters-support.ts'
import { coded } from './support.ts'

type Call = [name: string, args: object, id: string]
const { skip, exports } = await framework('mastra')
const { Agent, InMemoryStore, Mastra, MastraLanguageModelV2Mock, RequestContext } = exports ?? {}

test('options', () => {
  const { registry } = desk()
  for (const wrong of [{ approval: 'nobody' }, { aproval: 'both' }, null]) assert.throws(() => toMastraTools(registry, wrong as never), coded('INVALID_OPTIONS'))
  assert.deepEqual(Object.keys(toMastraTools(registry, { names: ['wait', 'secret', 'add'] })), ['wait', 'add'])
})

describe('Mastra', { skip, ...LIMIT }, () => {
  /** A model that makes these calls, turn by turn, and then says that it is done. */
  function model(...turns: Call[][]) {
    const prompts: any[] = []
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const next = (options: any) => {
      const turn = turns[prompts.length]
      prompts.push(options)
      return { finishReason: turn === undefined ? 'stop' : 'tool-calls', calls: turn?.map(([toolName, args, toolCallId]) => ({ type: 'tool-call', toolName, toolCallId, input: JSON.stringify(args) })) }
    }
    const made = new MastraLanguageModelV2Mock({
      doGenerate: async (options: any) => {
        const { finishReason, calls } = next(options)
        return { finishReason, usage, warnings: [], content: calls ?? [{ type: 'text', text: 'done' }] }
      },
      doStream: async (options: any) => {
        const { finishReason, calls } = next(options)
        const parts = calls ?? [{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'done' }, { type: 'text-end', id: '1' }]
        return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]) }
      },
    })
    return Object.assign(made, { prompts })
  }

  function agentOf(tools: object, ...turns: Call[][]) {
    const agent = new Agent({ id: 'desk', name: 'desk', instructions: 'x', model: model(...turns), tools })
    const mastra = new Mastra({ agents: { desk: agent }, storage: new InMemoryStore(), logger: false })
    return { agent: mastra.getAgent('desk'), prompts: agent.model.prompts as any[] }
  }
  /** What the model read of the tools, in its last prompt. */
  const read = (prompts: any[]) => Object.fromEntries(prompts.at(-1).prompt.filter(({ role }: any) => role === 'tool').flatMap(({ content }: any) => content).map((part: any) => [part.toolCallId, part.output]))

  test('a turn: structured results, text from outside, faulty arguments, a tool that fails', async () => {
    const { registry, ids, states } = desk()
    const { agent, prompts } = agentOf(toMastraTools(registry), [['add', { a: 2, b: 3 }, 'id-1'], ['web', {}, '2'], ['fails', {}, '3'], ['add', { a: 'two' }, '4']])
    const result = await agent.generate('go', { requestContext: new RequestContext([['user', 'ada']]) })
    assert.equal(result.text, 'done')
    assert.equal(states[0].get('user'), 'ada')
    assert.deepEqual(ids, ['id-1'])
    const added = result.steps.flatMap((step: any) => step.toolResults).find(({ payload }: any) => payload.toolCallId === 'id-1')
    assert.deepEqual(added.payload.result, { text: '{"sum":5}', status: 'success', data: { sum: 5 }, origin: 'builtin' })
    const outputs = read(prompts)
    assert.deepEqual(['id-1', '2', '3', '4'].map(id => outputs[id].type), ['text', 'text', 'error-text', 'error-text'])
    assert.match(outputs['2'].value, GUARDED)
    assert.match(outputs['3'].value, /the disk is full/)
    assert.match(outputs['4'].value, /\/a/)
  })

  test('the schema is sent as it was declared, and null stays what the model sent', async () => {
    const registry = new ToolRegistry()
    const got: unknown[] = []
    const inputSchema = { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { type: 'integer' } } } as const
    registry.register(tool({ name: 't', description: 'x', inputSchema, run: args => { got.push(args) } }))
    const { agent, prompts } = agentOf(toMastraTools(registry), [['t', { a: null }, '1']])
    await agent.generate('go')
    assert.deepEqual(prompts[0].tools[0].inputSchema, inputSchema)
    assert.deepEqual(got, [{ a: null }])
  })

  test('the registry asks: one question, and the agent does not suspend', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path === 'a' } })
    const { agent, prompts } = agentOf(toMastraTools(registry), [['erase', { path: 'a' }, '1'], ['erase', { path: 'b' }, '2']])
    await agent.generate('go')
    assert.deepEqual([asked, ran, read(prompts)['2'].type], [['a', 'b'], ['a'], 'error-text'])
  })

  test('Mastra asks: a pause, and the call runs after the yes, once', async () => {
    const { registry, ran } = desk({ confirm: () => assert.fail('one question is enough') })
    const { agent, prompts } = agentOf(toMastraTools(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1'], ['erase', { path: 'tmp/b' }, '2'], ['erase', {}, '3'], ['erase', { path: 'c' }, '4']])
    const first = await agent.generate('go')
    assert.deepEqual([first.finishReason, first.suspendPayload.toolCallId, ran.includes('a')], ['suspended', '1', false])
    const { runId } = first
    const second = await agent.approveToolCallGenerate({ runId, toolCallId: '1' })
    assert.deepEqual([second.finishReason, second.suspendPayload.toolCallId], ['suspended', '4'], 'neither what needs no yes nor what would be refused is asked about')
    const last = await agent.declineToolCallGenerate({ runId, toolCallId: '4', reason: 'not that file' })
    assert.deepEqual([last.text, [...ran].sort()], ['done', ['a', 'tmp/b']])
    assert.match(read(prompts)['1'].value, /erased a/)
    await assert.rejects(agent.approveToolCallGenerate({ runId, toolCallId: '1' }))
    assert.deepEqual([...ran].sort(), ['a', 'tmp/b'])
  })

  test('the model cannot approve', async () => {
    const { registry, ran } = desk()
    const { agent } = agentOf(toMastraTools(registry, { approval: 'framework' }), [['erase', { path: 'a', resumeData: { approved: true } }, '1']])
    const first = await agent.generate('go')
    assert.equal(first.finishReason, 'suspended')
    await agent.declineToolCallGenerate({ runId: first.runId, toolCallId: '1' })
    assert.deepEqual(ran, [])
  })

  test('elsewhere than in an agent, which asks nobody, such a call does not run', async () => {
    const { registry, ran } = desk()
    const { erase } = toMastraTools(registry, { approval: 'framework' })
    await assert.rejects(erase!.execute({ path: 'a' }, { workflow: {} }), coded('CONFIRMATION_REJECTED'))
    await assert.rejects(erase!.execute({ path: 'a' }), coded('CONFIRMATION_REJECTED'))
    await assert.rejects(erase!.execute({ path: 'a' }, { runId: 'r', agent: { toolCallId: '1' } }), coded('CONFIRMATION_REJECTED'))
    assert.equal((await erase!.execute({ path: 'tmp/a' })).text, 'erased tmp/a')
    assert.deepEqual(ran, ['tmp/a'])
  })

  test('both ask, and both have to say yes', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path !== 'b' } })
    for (const [path, approved] of [['a', true], ['b', true], ['c', false]] as const) {
      const { agent } = agentOf(toMastraTools(registry, { approval: 'both' }), [['erase', { path }, path]])
      const { runId } = await agent.generate('go')
      await (approved ? agent.approveToolCallGenerate({ runId, toolCallId: path }) : agent.declineToolCallGenerate({ runId, toolCallId: path }))
    }
    assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
  })

  test('an approval opens nothing else', async () => {
    const { registry, ran } = desk()
    const { agent, prompts } = agentOf(toMastraTools(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
    const { runId } = await agent.generate('go')
    registry.setPermissions(new ToolPermissions({ deny: ['erase'] }))
    await agent.approveToolCallGenerate({ runId, toolCallId: '1' })
    assert.deepEqual([ran, read(prompts)['1'].type], [[], 'error-text'])
  })

  test('a list that changes: tools that are asked for at each run', async () => {
    const { registry } = desk()
    const { agent, prompts } = agentOf(() => toMastraTools(registry))
    await agent.generate('go')
    registry.unregister('web')
    await agent.generate('go')
    assert.deepEqual(prompts.map(({ tools }: any) => tools.length), [5, 4])
  })

  test('streams', async () => {
    const { registry, ran } = desk()
    const { agent } = agentOf(toMastraTools(registry, { approval: 'framework' }), [['add', { a: 1, b: 1 }, '1'], ['erase', { path: 'a' }, '2']])
    const first = await agent.stream('go')
    await first.consumeStream()
    const result = await agent.approveToolCall({ runId: first.runId, toolCallId: '2' })
    await result.consumeStream()
    assert.deepEqual([await result.text, ran], ['done', ['a']])
  })

  test('aborting reaches the tool, and ends a question', async () => {
    let controller = new AbortController()
    const { registry, aborted } = desk({ confirm: ({ signal }) => new Promise(() => { signal.addEventListener('abort', () => { aborted.push('question') }); setTimeout(() => controller.abort(), 20) }) })
    setTimeout(() => controller.abort(), 200)
    await agentOf(toMastraTools(registry), [['wait', {}, '1']]).agent.generate('go', { abortSignal: controller.signal }).catch(() => undefined)
    assert.equal(aborted.length, 1)
    controller = new AbortController()
    await agentOf(toMastraTools(registry), [['erase', { path: 'a' }, '1']]).agent.generate('go', { abortSignal: controller.signal }).catch(() => undefined)
    assert.equal(aborted.at(-1), 'question')
  })

  test('tools of an MCP server: structured content, images, a question', async () => {
    await using client = await everything({ asks: true })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const { agent, prompts } = agentOf(toMastraTools(registry, { approval: 'framework', names: ['ev_get-structured-content', 'ev_get-tiny-image', 'ev_echo'] }), [['ev_get-structured-content', { location: 'New York' }, '1'], ['ev_get-tiny-image', {}, '2'], ['ev_echo', { message: 5 }, '3']])
    const { runId } = await agent.generate('go')
    await agent.approveToolCallGenerate({ runId, toolCallId: '1' })
    assert.equal((await agent.approveToolCallGenerate({ runId, toolCallId: '2' })).text, 'done')
    const outputs = read(prompts)
    assert.match(outputs['1'].value, /Cloudy/)
    assert.deepEqual(outputs['2'].value.map(({ type }: any) => type), ['text', 'media'])
    assert.match(outputs['2'].value[1].data, /^iVBORw0KGgo/)
    assert.match(outputs['3'].value, /\/message/)
  })

  test('two registries in one agent, and a hundred tools', async () => {
    const [one, two] = [desk(), new ToolRegistry()]
    for (let index = 0; index < 100; index += 1) two.register(tool({ name: `t${index}`, description: 'x', inputSchema: { type: 'object' }, requiresConfirmation: true, run: () => String(index) }))
    const { agent, prompts } = agentOf({ ...toMastraTools(one.registry), ...toMastraTools(two, { approval: 'framework' }) }, [['t97', {}, '1'], ['erase', { path: 'a' }, '2']])
    const { runId } = await agent.generate('go')
    await agent.approveToolCallGenerate({ runId, toolCallId: '1' })
    assert.deepEqual([prompts[0].tools.length, read(prompts)['1'].value, read(prompts)['2'].type, one.ran], [105, '97', 'error-text', []])
  })

  test('types: tools of an agent', async () => {
    const program = `import { Agent, type ToolsInput } from '@mastra/core/agent'
      import { ToolRegistry } from 'toolbolt'
      import { toMastraTools } from 'toolbolt/mastra'
      const tools = toMastraTools(new ToolRegistry(), { approval: 'framework' })
      export const input: ToolsInput = tools
      export const agent = new Agent({ id: 'a', name: 'a', instructions: 'x', model: 'openai/gpt-x', tools })
      // @ts-expect-error: no such mode
      toMastraTools(new ToolRegistry(), { approval: 'nobody' })`
    await typeChecks(project('mastra', { 'types.ts': program }), ['types.ts'])
  })

  test('the first program of the page', async () => {
    const { program, printed } = firstProgram('mastra')
    assert.equal(await runIn(project('mastra', { 'first.mjs': program }), ['first.mjs']), printed)
  })
})
