// What the package exports, from ESM and CommonJS, and the facts of its package.json that users rely on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endedWell, readJson, runFixture } from './support.ts'

const EXPORTS = [
  'AuthType', 'CLITool', 'CalculatorTool', 'ConnectorConnection', 'ConnectorRegistry', 'ConnectorSpec', 'EnvironmentCredentialStore',
  'FileCredentialStore', 'HealthMonitor', 'KeyringCredentialStore', 'MCPClient', 'MCPTool', 'MemoryCredentialStore', 'NotesTool', 'PromptError',
  'PromptRegistry', 'SearchTool', 'Tool', 'ToolError', 'ToolPermissions', 'ToolRegistrationError', 'ToolRegistry', 'ToolResponse',
  'builtinConnectors', 'sanitizeToolName', 'tool', 'toolsOf', 'verifyWebhook',
]

interface Manifest {
  name: string; type: string; engines: { node: string }; files: string[]; dependencies?: object; peerDependencies?: object; peerDependenciesMeta?: Record<string, { optional?: boolean }>
  exports: Record<string, unknown>; license: string; scripts: Record<string, string>; optionalDependencies?: Record<string, string>
}
const manifest = readJson<Manifest>('../package.json')

test('the names of the ES module', async () => {
  assert.deepEqual(Object.keys(await import('toolbolt')).sort(), EXPORTS)
})

test('require gives the same classes as import, in a plain node process', { timeout: 60_000 }, async () => {
  const result = await runFixture('require.cjs')
  endedWell(result)
  assert.deepEqual(JSON.parse(result.stdout), { keys: EXPORTS, same: true, text: 'Oslo sunny', isResponse: true })
})

test('package.json', () => {
  assert.equal(manifest.name, 'toolbolt')
  assert.equal(manifest.type, 'module')
  assert.deepEqual(Object.keys(manifest.dependencies ?? {}), [], 'nothing comes along at run time')
  assert.match(manifest.engines.node, /^\^20\.19(\.0)? \|\| >=22\.12(\.0)?$/)
  for (const name of Object.keys(manifest.peerDependencies ?? {})) assert.equal(manifest.peerDependenciesMeta?.[name]?.optional, true, name)
  for (const name of Object.keys(manifest.optionalDependencies ?? {})) assert.match(name, /^(@toolbolt\/|toolbolt-)/, 'only our own binaries')
  assert.deepEqual(Object.keys(manifest.exports), ['.', './ai-sdk', './langchain', './openai-agents', './mastra', './genkit', './package.json'])
  for (const script of ['build', 'test', 'demo']) assert.equal(typeof manifest.scripts[script], 'string', script)
  assert.ok(Array.isArray(manifest.files) && manifest.files.some(entry => entry.startsWith('dist')))
  for (const entry of manifest.files) assert.ok(!/^(\.?\/)?(src|crates|__test__|target|node_modules|\*\*?)(\/|$)/.test(entry) && !entry.endsWith('.node'), entry)
})
