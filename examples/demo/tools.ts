/** The tools of the demo: two functions of its own, a built-in one, and those of two MCP servers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CalculatorTool, MCPClient, ToolResponse, type ToolRegistry, tool } from 'toolbolt'
import { z } from 'zod'

const FORECASTS: Readonly<Record<string, string>> = { Oslo: 'clear, 4 °C', Rome: 'sunny, 19 °C', Lima: 'foggy, 17 °C' }

/** Its schema is a zod schema: zod's own checks decide, and the body gets zod's output. */
export const getWeather = tool({
  name: 'get_weather',
  description: 'Weather forecast of a city',
  origin: 'app',
  inputSchema: z.object({ city: z.string().min(1).describe('name of the city'), days: z.int().min(1).max(7).default(3) }),
  supportsParallel: true,
  run({ city, days }) {
    const forecast = FORECASTS[city]
    if (forecast === undefined) return ToolResponse.error(`No forecast for ${city}. Known cities: ${Object.keys(FORECASTS).join(', ')}.`)
    return ToolResponse.ok(`${city}, next ${days} days: ${forecast}`, { city, days, forecast })
  },
})

/** Its schema is plain JSON Schema, and the types of its arguments still follow from it. */
export const bookTable = tool({
  name: 'book_table',
  description: 'Book a table in a restaurant',
  origin: 'app',
  inputSchema: {
    type: 'object',
    properties: {
      restaurant: { type: 'string', description: 'name of the restaurant' },
      people: { type: 'integer', minimum: 1, maximum: 12 },
      time: { type: 'string', pattern: '^[0-2][0-9]:[0-5][0-9]$', description: 'such as 19:30' },
    },
    required: ['restaurant', 'people', 'time'],
    additionalProperties: false,
  },
  run: ({ restaurant, people, time }) => ({ booked: true, restaurant, people, time }),
})

/** What has to be ended after the demo: it removes the folder and ends the servers. */
export interface Toolbox extends AsyncDisposable {
  /** The folder that the file server may use. */
  readonly folder: string
}

/** Starts the servers and registers everything. */
export async function openTools(registry: ToolRegistry): Promise<Toolbox> {
  const folder = await mkdtemp(join(tmpdir(), 'toolbolt-demo-'))
  const clients: MCPClient[] = []
  const box: Toolbox = {
    folder,
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(clients.map(client => client.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await writeFile(join(folder, 'plan.txt'), 'Dinner in Oslo on Friday, two people, seven in the evening.\n')
    registry.registerAll([getWeather, bookTable, new CalculatorTool()])
    // Tools of a server ask for a yes by default; here only those of the file server do.
    const connecting = [
      MCPClient.connect({ namespace: 'files', command: program('mcp-server-filesystem'), args: [folder] }),
      MCPClient.connect({ namespace: 'everything', command: program('mcp-server-everything'), args: ['stdio'], requiresConfirmation: false }),
    ]
    const settled = await Promise.allSettled(connecting)
    for (const one of settled) if (one.status === 'fulfilled') clients.push(one.value)
    for (const one of settled) if (one.status === 'rejected') throw one.reason
    for (const client of clients) registry.registerAll(await client.loadTools())
    return box
  } catch (error) {
    await box[Symbol.asyncDispose]()
    throw error
  }
}

/** A server that npm has installed beside this package. */
function program(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))
}
