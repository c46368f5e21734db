// The adapter for LangChain inside the real LangChain and LangGraph: whole runs of an agent with LangChain's own fake model.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { type LangChainOptions, toLangChainTools } from 'toolbolt/langchain'
import { GUARDED, LIMIT, desk, everything, firstProgram, framework, project, runIn, typeChecks } from './adapters-support.ts'
import { coded } from './support.ts'

type Call = [name: string, args: object, id?: string]
const { skip, exports } = await framework('langchain')
const { AIMessage, ToolMessage, createAgent, fakeModel } = exports?.langchain ?? {}
const { Command, MemorySaver, interrupt } = exports?.langgraph ?? {}
const ToolNode = exports?.ToolNode

test('options', () => {
  const { registry } = desk()
  for (const wrong of [{ approval: 'nobody' }, { approval: 'framework' }, { interrupt: 'x' }, { ToolMessage: {} }, { names: 1 }, null]) assert.throws(() => toLangChainTools(registry, wrong as never), coded('INVALID_OPTIONS'))
  assert.deepEqual(toLangChainTools(registry, { names: ['wait', 'secret', 'add'] }).map(({ name }) => name), ['wait', 'add'])
})

describe('LangChain', { skip, ...LIMIT }, () => {
  const model = (...turns: Call[][]) => {
    const made = fakeModel()
    for (const turn of turns) made.respondWithTools(turn.map(([name, args, id]) => ({ name, args, id })))
    return made.respond(new AIMessage('done')).respond(new AIMessage('done')).respond(new AIMessage('done'))
  }
  const toolsOf = (registry: ToolRegistry, options: LangChainOptions = {}) => toLangChainTools(registry, { ToolMessage, interrupt, ...options })
  const agentOf = (tools: unknown[], ...turns: Call[][]) => createAgent({ model: model(...turns), tools, checkpointer: new MemorySaver() })
  const go = { messages: [{ role: 'user', content: 'go' }] }
  const thread = { configurable: { thread_id: 't' } }
  const outputs = (result: any) => result.messages.filter((message: any) => message.type === 'tool')
  const codes = (result: any) => outputs(result).map((message: any) => message.artifact?.code)
  const questions = (result: any) => result.__interrupt__ ?? []
  /** Answers every open question. */
  const answer = (agent: any, result: any, ...decisions: object[]) =>
    agent.invoke(new Command({ resume: Object.fromEntries(questions(result).map(({ id }: any, index: number) => [id, { decisions: [decisions[index]] }])) }), thread)

  test('a turn: structured results, text from outside, faulty arguments, a tool that fails', async () => {
    const { registry, ids, states } = desk()
    const result = await agentOf(toolsOf(registry), [['add', { a: 2, b: 3 }, 'id-1'], ['web', {}, '2'], ['fails', {}, '3'], ['add', { a: 'two' }, '4']]).invoke(go, { ...thread, context: { user: 'ada' } })
    assert.deepEqual(states, [{ user: 'ada' }])
    assert.equal(result.messages.at(-1).content, 'done')
    const [added, web, failed, faulty] = outputs(result)
    assert.deepEqual([added.content, added.artifact], ['{"sum":5}', { text: '{"sum":5}', status: 'success', data: { sum: 5 }, origin: 'builtin' }])
    assert.deepEqual(ids, ['id-1'])
    assert.match(web.content, GUARDED)
    assert.match(failed.content, /the disk is full/)
    assert.match(faulty.content, /\/a/)
    assert.deepEqual(outputs(result).map((message: any) => message.status), ['success', 'success', 'error', 'error'])
    assert.deepEqual(codes(result), [undefined, undefined, 'EXECUTION_FAILED', 'INVALID_ARGUMENTS'])
  })

  test('without ToolMessage: text, and what fails is thrown, which LangChain tells the model', async () => {
    const { registry } = desk()
    const result = await agentOf(toLangChainTools(registry), [['add', { a: 2, b: 3 }, '1'], ['fails', {}, '2']]).invoke(go, thread)
    assert.deepEqual(outputs(result).map((message: any) => [message.status ?? 'success', /sum|the disk is full/.exec(message.content)?.[0]]), [['success', 'sum'], ['error', 'the disk is full']])
    const [add, , , fails] = toLangChainTools(registry)
    assert.equal(await add!.invoke({ a: 1, b: 1 }), '{"sum":2}')
    await assert.rejects(fails!.invoke({}), coded('EXECUTION_FAILED'))
  })

  test('the schema is bound as it was declared', async () => {
    const { registry } = desk()
    const bound: any[] = []
    const made = model()
    const { bindTools } = made
    made.bindTools = function (tools: any[]) { bound.push(...tools); return bindTools.call(this, tools) }
    await createAgent({ model: made, tools: toolsOf(registry, { names: ['erase'] }) }).invoke(go)
    assert.deepEqual(bound[0].schema, { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] })
  })

  test('the registry asks: one question, and the run is not interrupted', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path === 'a' } })
    const result = await agentOf(toolsOf(registry), [['erase', { path: 'a' }, '1'], ['erase', { path: 'b' }, '2']]).invoke(go, thread)
    assert.deepEqual([asked, ran, codes(result)], [['a', 'b'], ['a'], [undefined, 'CONFIRMATION_REJECTED']])
  })

  test('LangChain asks: a pause, each call is answered by itself, and nothing runs twice', async () => {
    const { registry, ran } = desk({ confirm: () => assert.fail('one question is enough') })
    const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1'], ['erase', { path: 'tmp/b' }, '2'], ['erase', {}, '3'], ['erase', { path: 'c' }, '4']])
    const first = await agent.invoke(go, thread)
    assert.deepEqual(questions(first).map(({ value }: any) => value.actionRequests[0].args.path), ['a', 'c'], 'neither what needs no yes nor what would be refused is asked about')
    assert.deepEqual(ran, ['tmp/b'])
    const result = await answer(agent, first, { type: 'reject', message: 'not that file' }, { type: 'approve' })
    assert.deepEqual([ran, result.messages.at(-1).content], [['tmp/b', 'c'], 'done'])
    assert.deepEqual(codes(result), ['CONFIRMATION_REJECTED', undefined, 'INVALID_ARGUMENTS', undefined])
    assert.match(outputs(result)[0].content, /\nnot that file$/)
  })

  test('what is no approval runs nothing', async () => {
    const { registry, ran } = desk()
    for (const decision of [{}, { type: 'edit', editedAction: { name: 'erase', args: { path: 'b' } } }, { type: true }, null]) {
      const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
      const result = await answer(agent, await agent.invoke(go, thread), decision as object)
      assert.deepEqual([ran, codes(result)], [[], ['CONFIRMATION_REJECTED']])
    }
    const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
    await agent.invoke(go, thread)
    await agent.invoke(new Command({ resume: true }), thread)
    assert.deepEqual(ran, [])
  })

  test('an approval counts once: going back to the question asks again', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
    const first = await agent.invoke(go, thread)
    const { config } = await agent.graph.getState(thread)
    await answer(agent, first, { type: 'approve' })
    assert.deepEqual(ran, ['a'])
    await agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), thread)
    const again = await agent.invoke(null, config)
    assert.deepEqual([ran, questions(again).length], [['a'], 1])
  })

  test('arguments that changed are asked about again', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
    const first = await agent.invoke(go, thread)
    const message = (await agent.graph.getState(thread)).values.messages.at(-1)
    message.tool_calls[0].args = { path: 'b' }
    await agent.graph.updateState(thread, { messages: [message] }, 'model_request')
    const second = await answer(agent, first, { type: 'approve' }).catch(() => agent.invoke(null, thread))
    assert.deepEqual(ran, [])
    assert.deepEqual(questions(second).map(({ value }: any) => value.actionRequests[0].args), [{ path: 'b' }])
  })

  test('a ToolNode, which runs all calls in one step: none runs twice', async () => {
    const { registry, ran } = desk()
    const { MessagesAnnotation, StateGraph } = exports.langgraph
    const turn = new AIMessage({ content: '', tool_calls: [{ name: 'erase', args: { path: 'a' }, id: '1' }, { name: 'erase', args: { path: 'b' }, id: '2' }] })
    const graph = new StateGraph(MessagesAnnotation).addNode('model', () => ({ messages: [turn] })).addNode('tools', new ToolNode(toolsOf(registry, { approval: 'framework' })))
      .addEdge('__start__', 'model').addEdge('model', 'tools').addEdge('tools', '__end__').compile({ checkpointer: new MemorySaver() })
    await graph.invoke(go, thread)
    for (let index = 0; index < 3; index += 1) await graph.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), thread).catch(() => undefined)
    assert.equal(new Set(ran).size, ran.length)
  })

  test('both ask, and both have to say yes', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path !== 'b' } })
    for (const [path, type] of [['a', 'approve'], ['b', 'approve'], ['c', 'reject']] as const) {
      const agent = agentOf(toolsOf(registry, { approval: 'both' }), [['erase', { path }, path]])
      await answer(agent, await agent.invoke(go, thread), { type })
    }
    assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
  })

  test('an approval opens nothing else', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toolsOf(registry, { approval: 'framework' }), [['erase', { path: 'a' }, '1']])
    const first = await agent.invoke(go, thread)
    registry.setPermissions(new ToolPermissions({ deny: ['erase'] }))
    const result = await answer(agent, first, { type: 'approve' })
    assert.deepEqual([ran, codes(result)], [[], ['PERMISSION_DENIED']])
  })

  test('without a checkpointer nothing can pause, and nothing runs', async () => {
    const { registry, ran } = desk()
    const agent = createAgent({ model: model([['erase', { path: 'a' }, '1']]), tools: toolsOf(registry, { approval: 'framework' }) })
    await agent.invoke(go).catch(() => undefined)
    assert.deepEqual(ran, [])
  })

  test('aborting reaches the tool, and ends a question', async () => {
    let controller = new AbortController()
    const { registry, aborted } = desk({ confirm: ({ signal }) => new Promise(() => { signal.addEventListener('abort', () => { aborted.push('question') }); setTimeout(() => controller.abort(), 20) }) })
    setTimeout(() => controller.abort(), 100)
    await assert.rejects(agentOf(toolsOf(registry), [['wait', {}, '1']]).invoke(go, { ...thread, signal: controller.signal }))
    assert.equal(aborted.length, 1)
    controller = new AbortController()
    await assert.rejects(agentOf(toolsOf(registry), [['erase', { path: 'a' }, '1']]).invoke(go, { ...thread, signal: controller.signal }))
    assert.equal(aborted.at(-1), 'question')
  })

  test('tools of an MCP server: structured content, images, a question', async () => {
    await using client = await everything({ asks: true })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const agent = agentOf(toolsOf(registry, { approval: 'framework', names: ['ev_get-structured-content', 'ev_get-tiny-image', 'ev_echo'] }), [['ev_get-structured-content', { location: 'New York' }, '1'], ['ev_get-tiny-image', {}, '2'], ['ev_echo', { message: 5 }, '3']])
    const first = await agent.invoke(go, thread)
    assert.equal(questions(first).length, 2)
    const [weather, image] = outputs(await answer(agent, first, { type: 'approve' }, { type: 'approve' }))
    assert.equal(weather.artifact.data.structuredContent.conditions, 'Cloudy')
    assert.deepEqual(image.content.map(({ type }: any) => type), ['text', 'image_url'])
    assert.match(image.content[1].image_url.url, /^data:image\/png;base64,iVBOR/)
  })

  test('two registries in one agent, and a hundred tools', async () => {
    const [one, two] = [desk(), new ToolRegistry()]
    for (let index = 0; index < 100; index += 1) two.register(tool({ name: `t${index}`, description: 'x', inputSchema: { type: 'object' }, requiresConfirmation: true, run: () => String(index) }))
    const agent = agentOf([...toolsOf(one.registry), ...toolsOf(two, { approval: 'framework' })], [['t97', {}, '1'], ['erase', { path: 'a' }, '2']])
    const first = await agent.invoke(go, thread)
    assert.equal(questions(first).length, 1)
    const result = await answer(agent, first, { type: 'approve' })
    assert.deepEqual([outputs(result)[0].content, codes(result), one.ran], ['97', [undefined, 'CONFIRMATION_REQUIRED'], []])
  })

  test('types: tools of an agent and of a model', async () => {
    const program = `import { ToolMessage, createAgent, fakeModel } from 'langchain'
      import { MemorySaver, interrupt } from '@langchain/langgraph'
      import { ToolRegistry } from 'toolbolt'
      import { toLangChainTools } from 'toolbolt/langchain'
      const tools = toLangChainTools(new ToolRegistry(), { approval: 'framework', interrupt, ToolMessage })
      export const agent = createAgent({ model: fakeModel(), tools, checkpointer: new MemorySaver() })
      export const bound = fakeModel().bindTools(tools)
      // @ts-expect-error: no such mode
      toLangChainTools(new ToolRegistry(), { approval: 'nobody' })`
    await typeChecks(project('langchain', { 'types.ts': program }), ['types.ts'])
  })

  test('the first program of the page', async () => {
    const { program, printed } = firstProgram('langchain')
    assert.equal(await runIn(project('langchain', { 'first.mjs': program }), ['first.mjs']), printed)
  })
})
