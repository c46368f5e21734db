export { Agent } from '@mastra/core/agent'
export { Mastra } from '@mastra/core/mastra'
export { InMemoryStore } from '@mastra/core/storage'
export { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'
