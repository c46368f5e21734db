/** The calculator. */
import { binding } from './binding.js'
import { unwrap } from './errors.js'
import { backWith, runNow } from './native-tool.js'
import { checkKeys } from './options.js'
import { type PromptRegistry, nativePrompts } from './prompts.js'
import type { ToolResponse } from './response.js'
import { Tool } from './tool.js'
import type { InputSchema } from './types.js'

/**
 * Evaluates arithmetic with Python's meaning: whole numbers of any size, `/ // % **`, functions such as `sqrt` and `log`, `pi`, `e`.
 * `data` of a result is its value: a number, or a BigInt beyond 2^53 - 1. Bounded in length, nodes, depth and size of values.
 * Never asks, never external, named `calculator`.
 */
export class CalculatorTool extends Tool<{ expression: string }, number | bigint> {
  readonly #schema: () => InputSchema

  /** @param options.prompts the words of description, parameters and errors. Default: English. */
  constructor(options: { prompts?: PromptRegistry } = {}) {
    checkKeys(options, ['prompts'], 'the options of CalculatorTool')
    const native = unwrap(() => binding.calculatorTool(nativePrompts(options.prompts)))
    super('calculator', native.description)
    this.#schema = () => JSON.parse(native.inputSchema)
    backWith(this, native, CalculatorTool)
  }

  override getParameters(): InputSchema { return this.#schema() }

  /** Evaluates by itself, outside any registry. */
  override run(args: { expression: string }): ToolResponse<number | bigint> { return runNow(this, args) }
}
