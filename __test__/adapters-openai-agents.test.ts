// The adapter for the OpenAI Agents SDK inside the real SDK: whole runs of an agent with a model that is played here.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { toOpenAIAgentsTools } from 'toolbolt/openai-agents'
import { GUARDED, LIMIT, desk, everything, firstProgram, framework, project, runIn, typeChecks } from './adapters-support.ts'
import { coded } from './support.ts'

type Call = [name: string, args: object | string, id?: string]
const { skip, exports } = await framework('openai-agents')
const { Agent, RunState, Usage, run, setTracingDisabled, tool: sdkTool } = exports?.agents ?? {}
setTracingDisabled?.(true)

test('options', () => {
  const { registry } = desk()
  for (const wrong of [{ approval: 'nobody' }, { tool: 'x' }, { tols: 1 }, null]) assert.throws(() => toOpenAIAgentsTools(registry, wrong as never), coded('INVALID_OPTIONS'))
  assert.deepEqual(toOpenAIAgentsTools(registry, { names: ['wait', 'secret', 'add'] }).map(({ name }) => name), ['wait', 'add'])
})

/** A model that makes these calls, turn by turn, and then says that it is done. */
function model(...turns: Call[][]) {
  const prompts: any[] = []
  let made = 0
  const next = (request: any) => {
    const turn = turns[prompts.length]
    prompts.push(request)
    const output = turn === undefined
      ? [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }]
      : turn.map(([name, args, callId = `call-${++made}`]) => ({ type: 'function_call', callId, name, arguments: typeof args === 'string' ? args : JSON.stringify(args), status: 'completed' }))
    return { usage: new Usage(), output, responseId: `r${prompts.length}` }
  }
  return {
    prompts,
    getResponse: async (request: any) => next(request),
    async *getStreamedResponse(request: any) {
      const { responseId: id, output, usage: { inputTokens, outputTokens, totalTokens } } = next(request)
      yield { type: 'response_done', response: { id, output, usage: { inputTokens, outputTokens, totalTokens } } }
    },
  }
}

const agentOf = (tools: unknown[], ...turns: Call[][]) => new Agent({ name: 'Desk', model: model(...turns), tools })
const outputs = (result: any) => result.newItems.filter((item: any) => item.type === 'tool_call_output_item')
const codes = (result: any) => outputs(result).map((item: any) => item.customData?.code)
/** Goes on with a stored run, as often as one likes. */
async function resume(agent: any, stored: string, approve = true) {
  const state = await RunState.fromString(agent, stored)
  for (const item of state.getInterruptions()) approve ? state.approve(item) : state.reject(item)
  agent.model = model()
  return run(agent, state)
}

describe('OpenAI Agents', { skip, ...LIMIT }, () => {
  test('a turn: structured results, text from outside, faulty arguments, a tool that fails', async () => {
    const { registry, ids, states } = desk()
    const agent = agentOf(toOpenAIAgentsTools(registry), [['add', { a: 2, b: 3 }, 'id-1'], ['web', {}], ['fails', {}], ['add', { a: 'two' }]])
    const result = await run(agent, 'go', { context: { user: 'ada' } })
    assert.equal(result.finalOutput, 'done')
    assert.deepEqual(states, [{ user: 'ada' }])
    const [added, web, failed, faulty] = outputs(result)
    assert.deepEqual([added.output, added.customData], ['{"sum":5}', { text: '{"sum":5}', status: 'success', data: { sum: 5 }, origin: 'builtin' }])
    assert.deepEqual(ids, ['id-1'])
    assert.match(web.rawItem.output.text, GUARDED)
    assert.match(failed.output, /the disk is full/)
    assert.match(faulty.output, /\/a/)
    assert.deepEqual(codes(result), [undefined, undefined, 'EXECUTION_FAILED', 'INVALID_ARGUMENTS'])
  })

  test('the schema is sent as it was declared', async () => {
    const { registry } = desk()
    const agent = agentOf(toOpenAIAgentsTools(registry, { names: ['erase'] }))
    await run(agent, 'go')
    const [{ type, name, description, parameters, strict }] = agent.model.prompts[0].tools
    assert.deepEqual({ type, name, description, parameters, strict }, { type: 'function', name: 'erase', description: 'Erases a file', parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }, strict: false })
  })

  test('arguments that are no JSON: answered by what `tool` makes, while plain tools pause without running', async () => {
    const { registry } = desk()
    const made = await run(agentOf(toOpenAIAgentsTools(registry, { tool: sdkTool }), [['add', '{"a":'], ['add', '[1]']]), 'go')
    assert.deepEqual([made.finalOutput, made.interruptions.length, codes(made)], ['done', 0, [undefined, 'INVALID_ARGUMENTS']])
    const agent = agentOf(toOpenAIAgentsTools(registry), [['add', '{"a":'], ['add', '[1]']])
    const plain = await run(agent, 'go')
    assert.equal(plain.interruptions.length, 2)
    assert.equal((await resume(agent, plain.state.toString())).finalOutput, 'done')
  })

  test('the registry asks: one question, and the SDK does not pause', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path === 'a' } })
    const result = await run(agentOf(toOpenAIAgentsTools(registry), [['erase', { path: 'a' }], ['erase', { path: 'b' }]]), 'go')
    assert.deepEqual([asked, ran, codes(result)], [['a', 'b'], ['a'], [undefined, 'CONFIRMATION_REJECTED']])
  })

  for (const [how, more] of [['plain', {}], ['made by `tool`', { tool: sdkTool }]] as const) {
    const approving = (registry: ToolRegistry, approval: 'framework' | 'both' = 'framework') => toOpenAIAgentsTools(registry, { approval, ...more } as object)

    test(`the SDK asks: a pause, and the call runs after the yes, once (${how})`, async () => {
      const { registry, ran } = desk({ confirm: () => assert.fail('one question is enough') })
      const agent = agentOf(approving(registry), [['erase', { path: 'a' }], ['erase', { path: 'tmp/b' }], ['erase', {}]])
      const first = await run(agent, 'go')
      assert.equal(first.interruptions.length, 1, 'neither what needs no yes nor what would be refused is asked about')
      assert.deepEqual(ran, ['tmp/b'])
      const stored = first.state.toString()
      const result = await resume(agent, stored)
      assert.equal(result.finalOutput, 'done')
      assert.deepEqual(ran, ['tmp/b', 'a'])
      assert.deepEqual(codes(await resume(agent, stored)).at(-1), 'CONFIRMATION_REJECTED')
      assert.deepEqual(ran, ['tmp/b', 'a'])
    })

    test(`a no of the person (${how})`, async () => {
      const { registry, ran } = desk()
      const agent = agentOf(approving(registry), [['erase', { path: 'a' }]])
      const result = await resume(agent, (await run(agent, 'go')).state.toString(), false)
      assert.deepEqual([ran, result.finalOutput], [[], 'done'])
    })

    test(`a stored run goes on in another process (${how})`, async () => {
      const [here, there] = [desk(), desk()]
      const first = await run(agentOf(approving(here.registry), [['erase', { path: 'a' }]]), 'go')
      const stored = first.state.toString()
      await resume(agentOf(approving(there.registry)), stored)
      await resume(agentOf(approving(there.registry)), stored)
      assert.deepEqual([here.ran, there.ran], [[], ['a']])
    })

    test(`arguments that changed run nothing (${how})`, async () => {
      const { registry, ran } = desk()
      const agent = agentOf(approving(registry), [['erase', { path: 'a' }, 'c1']])
      const first = await run(agent, 'go')
      first.state.approve(first.interruptions[0])
      const stored = first.state.toString()
      agent.model = model()
      const other = await run(agent, await RunState.fromString(agent, stored.replaceAll('\\"a\\"', '\\"b\\"')))
      assert.deepEqual([ran, codes(other)], [[], ['CONFIRMATION_REJECTED']])
      await run(agent, await RunState.fromString(agent, stored))
      assert.deepEqual(ran, ['a'], 'the true one still counts')
    })

    test(`both ask, and both have to say yes (${how})`, async () => {
      const asked: string[] = []
      const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path !== 'b' } })
      for (const [path, approved] of [['a', true], ['b', true], ['c', false]] as const) {
        const agent = agentOf(approving(registry, 'both'), [['erase', { path }, `both-${path}`]])
        await resume(agent, (await run(agent, 'go')).state.toString(), approved)
      }
      assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
    })
  }

  test('an approval of all calls of a tool counts for each of them, once', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toOpenAIAgentsTools(registry, { approval: 'framework' }), [['erase', { path: 'a' }, 'c1']])
    const first = await run(agent, 'go')
    first.state.approve(first.interruptions[0], { alwaysApprove: true })
    agent.model = model([['erase', { path: 'b' }, 'c2']])
    const result = await run(agent, first.state)
    assert.deepEqual([ran, result.finalOutput], [['a', 'b'], 'done'])
  })

  test('an approval opens nothing else', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toOpenAIAgentsTools(registry, { approval: 'framework' }), [['erase', { path: 'a' }]])
    const first = await run(agent, 'go')
    first.state.approve(first.interruptions[0])
    registry.setPermissions(new ToolPermissions({ deny: ['erase'] }))
    agent.model = model()
    const result = await run(agent, first.state).catch((error: unknown) => error)
    assert.deepEqual(ran, [])
    assert.equal(agent.model.prompts[0]?.tools.some(({ name }: any) => name === 'erase') ?? false, false, 'nor is it offered any more')
    assert.ok(result !== undefined)
  })

  test('streams', async () => {
    const { registry, ran } = desk()
    const agent = agentOf(toOpenAIAgentsTools(registry, { approval: 'framework' }), [['add', { a: 1, b: 1 }], ['erase', { path: 'a' }]])
    const first = await run(agent, 'go', { stream: true })
    await first.completed
    first.state.approve(first.interruptions[0])
    agent.model = model()
    const result = await run(agent, first.state, { stream: true })
    await result.completed
    assert.deepEqual([ran, result.finalOutput], [['a'], 'done'])
  })

  test('aborting reaches the tool, and ends a question', async () => {
    let controller = new AbortController()
    const { registry, aborted } = desk({ confirm: ({ signal }) => new Promise(() => { signal.addEventListener('abort', () => { aborted.push('question') }); setTimeout(() => controller.abort(), 20) }) })
    setTimeout(() => controller.abort(), 50)
    await assert.rejects(run(agentOf(toOpenAIAgentsTools(registry), [['wait', {}]]), 'go', { signal: controller.signal }))
    assert.equal(aborted.length, 1)
    controller = new AbortController()
    await assert.rejects(run(agentOf(toOpenAIAgentsTools(registry), [['erase', { path: 'a' }]]), 'go', { signal: controller.signal }))
    assert.equal(aborted.at(-1), 'question')
  })

  test('tools of an MCP server: structured content, images, a question', async () => {
    await using client = await everything({ asks: true })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const agent = agentOf(toOpenAIAgentsTools(registry, { approval: 'framework', names: ['ev_get-structured-content', 'ev_get-tiny-image', 'ev_echo'] }), [['ev_get-structured-content', { location: 'New York' }], ['ev_get-tiny-image', {}], ['ev_echo', { message: 5 }]])
    const first = await run(agent, 'go')
    assert.equal(first.interruptions.length, 2)
    for (const item of first.interruptions) first.state.approve(item)
    agent.model = model()
    const result = await run(agent, first.state)
    const weather = outputs(result).find((item: any) => item.rawItem.name === 'ev_get-structured-content')
    assert.equal(weather.customData.data.structuredContent.conditions, 'Cloudy')
    const image = outputs(result).find((item: any) => item.rawItem.name === 'ev_get-tiny-image')
    assert.deepEqual(image.rawItem.output.map(({ type }: any) => type), ['input_text', 'input_image'])
    assert.match(JSON.stringify(image.rawItem.output[1]), /image\/png;base64,iVBOR/)
  })

  test('two registries in one agent keep their approvals apart', async () => {
    const [one, two] = [desk(), desk()]
    const second = toOpenAIAgentsTools(two.registry, { approval: 'framework', names: ['erase'] }).map(made => ({ ...made, name: 'second_erase' }))
    const agent = agentOf([...toOpenAIAgentsTools(one.registry, { approval: 'framework' }), ...second], [['erase', { path: 'a' }, 'c1'], ['second_erase', { path: 'b' }, 'c2']])
    const first = await run(agent, 'go')
    assert.equal(first.interruptions.length, 2)
    first.state.approve(first.interruptions[0])
    first.state.reject(first.interruptions[1])
    agent.model = model()
    await run(agent, first.state)
    assert.deepEqual([one.ran, two.ran], [['a'], []])
  })

  test('a hundred tools; one that goes during the run', async () => {
    const registry = new ToolRegistry()
    for (let index = 0; index < 100; index += 1) registry.register(tool({ name: `t${index}`, description: 'x', inputSchema: { type: 'object' }, run: () => { registry.unregister('t5'); return String(index) } }))
    const agent = agentOf(toOpenAIAgentsTools(registry), [['t97', {}]])
    const result = await run(agent, 'go')
    assert.deepEqual([outputs(result)[0].output, agent.model.prompts.map(({ tools }: any) => tools.length)], ['97', [100, 99]])
  })

  test('types: tools of an agent', async () => {
    const program = `import { Agent, type Tool, tool } from '@openai/agents'
      import { ToolRegistry } from 'toolbolt'
      import { toOpenAIAgentsTools } from 'toolbolt/openai-agents'
      const tools = toOpenAIAgentsTools(new ToolRegistry(), { approval: 'framework' })
      export const all: Tool[] = [...tools, ...toOpenAIAgentsTools(new ToolRegistry(), { tool })]
      export const agent = new Agent({ name: 'A', tools })
      export const other = new Agent<{ user: string }>({ name: 'B', tools: toOpenAIAgentsTools(new ToolRegistry(), { tool }) })
      // @ts-expect-error: no such mode
      toOpenAIAgentsTools(new ToolRegistry(), { approval: 'nobody' })`
    await typeChecks(project('openai-agents', { 'types.ts': program }), ['types.ts'])
  })

  test('the first program of the page', async () => {
    const { program, printed } = firstProgram('openai-agents')
    assert.equal(await runIn(project('openai-agents', { 'first.mjs': program }), ['first.mjs']), printed)
  })
})
