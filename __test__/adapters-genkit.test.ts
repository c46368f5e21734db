// The adapter for Genkit inside the real Genkit: whole generations with a model that is played here.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ToolPermissions, ToolRegistry, tool } from 'toolbolt'
import { type AdapterOptions, toGenkitTools } from 'toolbolt/genkit'
import { GUARDED, LIMIT, desk, everything, firstProgram, framework, project, runIn, typeChecks } from './adapters-support.ts'
import { coded } from './support.ts'

type Call = [name: string, args: object]
const { skip, exports } = await framework('genkit')

test('options', () => {
  const { registry } = desk()
  const fake = ({ name }: { name: string }) => ({ __action: { name } })
  for (const wrong of [undefined, null, {}, { tool: 'x' }, { tool: () => ({}) }, { tool: fake, approval: 'nobody' }, { tool: fake, nams: [] }]) assert.throws(() => toGenkitTools(registry, wrong as never), coded('INVALID_OPTIONS'))
  assert.deepEqual(toGenkitTools(registry, { tool: fake, names: ['wait', 'secret', 'add'] }).map(({ __action }) => __action.name), ['wait', 'add'])
})

describe('Genkit', { skip, ...LIMIT }, () => {
  const { genkit, tool: genkitTool } = exports?.genkit ?? {}

  /** A generation in whose first turn the model makes these calls, with what the model was sent. */
  function generator(...turns: Call[][]) {
    const ai = genkit({})
    const prompts: any[] = []
    ai.defineModel({ name: 'fake', supports: { tools: true } }, async (request: any) => {
      const turn = turns[prompts.length]
      prompts.push(request)
      const content = turn?.map(([name, input], index) => ({ toolRequest: { name, input, ref: String(index) } })) ?? [{ text: 'done' }]
      return { message: { role: 'model', content }, finishReason: 'stop' }
    })
    const generate = (tools: unknown[], options: object = {}) => ai.generate({ model: 'fake', tools, ...('messages' in options ? {} : { prompt: 'go' }), ...options })
    return { generate, prompts }
  }
  const toolsOf = (registry: ToolRegistry, options: AdapterOptions = {}): any[] => toGenkitTools(registry, { tool: genkitTool, ...options })
  /** What the model read of the tools, in its last prompt. */
  const parts = (prompts: any[]) => prompts.at(-1).messages.filter(({ role }: any) => role === 'tool').flatMap(({ content }: any) => content)
  const read = (prompts: any[]) => parts(prompts).map(({ toolResponse }: any) => toolResponse.output)
  const codes = (prompts: any[]) => parts(prompts).map(({ metadata }: any) => metadata?.toolbolt?.code)
  /** Goes on after a pause, each question answered: `true`, or what a tool is restarted with. */
  const resume = ({ generate }: ReturnType<typeof generator>, tools: any[], paused: any, ...answers: unknown[]) => generate(tools, {
    messages: structuredClone(paused.messages),
    resume: { restart: paused.interrupts.map((interrupt: any, index: number) => tools[0].restart(interrupt, answers[index])) },
  })

  test('a turn: structured results, text from outside, faulty arguments, a tool that fails', async () => {
    const { registry, states } = desk()
    const { generate, prompts } = generator([['add', { a: 2, b: 3 }], ['web', {}], ['fails', {}], ['add', { a: 'two' }]])
    assert.equal((await generate(toolsOf(registry), { context: { user: 'ada' } })).text, 'done')
    assert.equal(states[0].user, 'ada')
    const byRef = Object.fromEntries(parts(prompts).map((part: any) => [part.toolResponse.ref, part]))
    assert.deepEqual([byRef[0].toolResponse.output, byRef[0].metadata.toolbolt], ['{"sum":5}', { text: '{"sum":5}', status: 'success', data: { sum: 5 }, origin: 'builtin' }])
    assert.match(byRef[1].toolResponse.output, GUARDED)
    assert.match(byRef[2].toolResponse.output, /the disk is full/)
    assert.match(byRef[3].toolResponse.output, /\/a/)
    assert.deepEqual([0, 1, 2, 3].map(ref => byRef[ref].metadata.toolbolt.code), [undefined, undefined, 'EXECUTION_FAILED', 'INVALID_ARGUMENTS'])
  })

  test('the schema is sent as it was declared', async () => {
    const { registry } = desk()
    const { generate, prompts } = generator()
    await generate(toolsOf(registry, { names: ['erase'] }))
    const [{ name, description, inputSchema, outputSchema }] = prompts[0].tools
    assert.deepEqual({ name, description, inputSchema, outputSchema }, { name: 'erase', description: 'Erases a file', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }, outputSchema: { type: 'string' } })
  })

  test('the registry asks: one question, and the generation is not interrupted; in the stable Genkit too', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path === 'a' } })
    const { generate, prompts } = generator([['erase', { path: 'a' }], ['erase', { path: 'b' }]])
    await generate(toolsOf(registry))
    assert.deepEqual([asked, ran, codes(prompts).filter(Boolean)], [['a', 'b'], ['a'], ['CONFIRMATION_REJECTED']])
    const ai = exports.stableGenkit({})
    ai.defineModel({ name: 'fake', supports: { tools: true } }, async ({ messages }: any) => ({ message: { role: 'model', content: messages.length === 1 ? [{ toolRequest: { name: 'erase', input: { path: 'a' } } }] : [{ text: 'done' }] }, finishReason: 'stop' }))
    await ai.generate({ model: 'fake', prompt: 'go', tools: toGenkitTools(registry, { tool: exports.stableTool }) })
    assert.deepEqual(ran, ['a', 'a'])
    await assert.rejects(ai.generate({ model: 'fake', prompt: 'go', tools: toGenkitTools(registry, { tool: exports.stableTool, approval: 'framework' }) }), /beta/)
    assert.deepEqual(ran, ['a', 'a'])
  })

  test('Genkit asks: a pause, and the call runs after the yes', async () => {
    const { registry, ran } = desk({ confirm: () => assert.fail('one question is enough') })
    const made = generator([['erase', { path: 'a' }], ['erase', { path: 'tmp/b' }], ['erase', {}], ['erase', { path: 'c' }]])
    const paused = await made.generate(toolsOf(registry, { approval: 'framework' }))
    assert.deepEqual(paused.interrupts.map(({ toolRequest }: any) => toolRequest.input.path), ['a', 'c'], 'neither what needs no yes nor what would be refused is asked about')
    assert.deepEqual(ran, ['tmp/b'])
    const result = await resume(made, toolsOf(registry, { approval: 'framework' }), paused, undefined, { approved: false })
    assert.deepEqual([result.text, ran], ['done', ['tmp/b', 'a']])
    assert.equal(codes(made.prompts).filter((code: unknown) => code === 'CONFIRMATION_REJECTED').length, 1)
  })

  test('an approval counts once, and only for what was asked about', async () => {
    const { registry, ran } = desk()
    const made = generator([['erase', { path: 'a' }]])
    const tools = toolsOf(registry, { approval: 'framework' })
    const paused = await made.generate(tools)
    const altered = (from: string, to: string) => JSON.parse(JSON.stringify({ messages: paused.messages, interrupts: paused.interrupts }).replaceAll(from, to))
    const refused = async (attempt: Promise<unknown>) => {
      await attempt
      assert.deepEqual(codes(made.prompts), ['CONFIRMATION_REJECTED'])
    }
    await refused(resume(made, tools, altered(paused.interrupts[0].metadata.interrupt.question, 'a-guess')))
    await refused(resume(made, tools, altered('"path":"a"', '"path":"b"')))
    await refused(made.generate(tools, { messages: structuredClone(paused.messages), resume: { restart: [{ ...tools[0].restart(paused.interrupts[0]), toolRequest: { name: 'erase', ref: '0', input: { path: 'c' } } }] } }))
    assert.deepEqual(ran, [])
    await Promise.all([resume(made, tools, paused), resume(made, tools, paused)])
    assert.deepEqual(ran, ['a'])
    await refused(resume(made, tools, paused))
    assert.deepEqual(ran, ['a'])
  })

  test('what is no yes runs nothing', async () => {
    const { registry, ran } = desk()
    for (const answer of [{}, { approved: 'yes' }, { approved: 1 }, 'yes', 1]) {
      const made = generator([['erase', { path: 'a' }]])
      const tools = toolsOf(registry, { approval: 'framework' })
      await resume(made, tools, await made.generate(tools), answer)
    }
    assert.deepEqual(ran, [])
  })

  test('both ask, and both have to say yes', async () => {
    const asked: string[] = []
    const { registry, ran } = desk({ confirm: ({ args }) => { asked.push(args.path); return args.path !== 'b' } })
    for (const [path, approved] of [['a', true], ['b', true], ['c', false]] as const) {
      const made = generator([['erase', { path }]])
      const tools = toolsOf(registry, { approval: 'both' })
      await resume(made, tools, await made.generate(tools), { approved })
    }
    assert.deepEqual([asked, ran], [['a', 'b'], ['a']])
  })

  test('an approval opens nothing else', async () => {
    const { registry, ran } = desk()
    const made = generator([['erase', { path: 'a' }]])
    const tools = toolsOf(registry, { approval: 'framework' })
    const paused = await made.generate(tools)
    registry.setPermissions(new ToolPermissions({ deny: ['erase'] }))
    await resume(made, tools, paused)
    assert.deepEqual([ran, codes(made.prompts)], [[], ['PERMISSION_DENIED']])
  })

  test('a signal in the context reaches the tool, and ends a question', async () => {
    let controller = new AbortController()
    const { registry, aborted } = desk({ confirm: ({ signal }) => new Promise(() => { signal.addEventListener('abort', () => { aborted.push('question') }); setTimeout(() => controller.abort(), 20) }) })
    setTimeout(() => controller.abort(), 50)
    const options = () => ({ abortSignal: controller.signal, context: { abortSignal: controller.signal } })
    await generator([['wait', {}]]).generate(toolsOf(registry), options()).catch(() => undefined)
    assert.equal(aborted.length, 1)
    controller = new AbortController()
    await generator([['erase', { path: 'a' }]]).generate(toolsOf(registry), options()).catch(() => undefined)
    assert.equal(aborted.at(-1), 'question')
  })

  test('tools of an MCP server: structured content, images, a question', async () => {
    await using client = await everything({ asks: true })
    const registry = new ToolRegistry()
    registry.registerAll(await client.loadTools())
    const made = generator([['ev_get-structured-content', { location: 'New York' }], ['ev_get-tiny-image', {}], ['ev_echo', { message: 5 }]])
    const tools = toolsOf(registry, { approval: 'framework', names: ['ev_get-structured-content', 'ev_get-tiny-image', 'ev_echo'] })
    const paused = await made.generate(tools)
    assert.equal(paused.interrupts.length, 2)
    assert.equal((await resume(made, tools, paused)).text, 'done')
    const byName = Object.fromEntries(parts(made.prompts).map((part: any) => [part.toolResponse.name, part]))
    assert.equal(byName['ev_get-structured-content'].metadata.toolbolt.data.structuredContent.conditions, 'Cloudy')
    assert.match(byName['ev_get-tiny-image'].toolResponse.content[0].media.url, /^data:image\/png;base64,iVBOR/)
    assert.match(byName['ev_echo'].toolResponse.output, /\/message/)
  })

  test('two registries in one generation, and a hundred tools', async () => {
    const [one, two] = [desk(), new ToolRegistry()]
    for (let index = 0; index < 100; index += 1) two.register(tool({ name: `t${index}`, description: 'x', inputSchema: { type: 'object' }, requiresConfirmation: true, run: () => String(index) }))
    const made = generator([['t97', {}], ['erase', { path: 'a' }]])
    const tools = [...toolsOf(one.registry), ...toolsOf(two, { approval: 'framework' })]
    const paused = await made.generate(tools)
    await resume(made, tools, paused)
    assert.deepEqual([made.prompts[0].tools.length, read(made.prompts).includes('97'), one.ran], [105, true, []])
  })

  test('types: tools of a generation', async () => {
    const program = `import { genkit, tool } from 'genkit/beta'
      import { ToolRegistry } from 'toolbolt'
      import { toGenkitTools } from 'toolbolt/genkit'
      const tools = toGenkitTools(new ToolRegistry(), { tool, approval: 'framework' })
      const ai = genkit({})
      export const { interrupts, messages } = await ai.generate({ prompt: 'x', tools })
      export const next = ai.generate({ messages, tools, resume: { restart: interrupts.map(interrupt => tools[0].restart(interrupt)) } })
      // @ts-expect-error: no such mode
      toGenkitTools(new ToolRegistry(), { tool, approval: 'nobody' })`
    await typeChecks(project('genkit', { 'types.ts': program }), ['types.ts'])
  })

  test('the first program of the page', async () => {
    const { program, printed } = firstProgram('genkit')
    assert.equal(await runIn(project('genkit', { 'first.mjs': program }), ['first.mjs']), printed)
  })
})
