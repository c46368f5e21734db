// A user's program in CommonJS.
const assert = require('node:assert/strict')
const { CalculatorTool, ToolRegistry, ToolResponse } = require('toolbolt')

const registry = new ToolRegistry()
registry.register(new CalculatorTool())
const response = registry.executeSync('calculator', { expression: '2 ** 10' })
assert.ok(response instanceof ToolResponse)
assert.equal(response.text, '1024')
assert.equal(require('toolbolt/package.json').name, 'toolbolt')
assert.deepEqual(Object.keys(require('toolbolt/ai-sdk').toAISDKTools(registry)), ['calculator'])
console.log('cjs ok')
