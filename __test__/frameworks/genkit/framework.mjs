export * as genkit from 'genkit/beta'
export { genkit as stableGenkit, tool as stableTool } from 'genkit'
