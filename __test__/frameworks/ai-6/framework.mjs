export * as ai from 'ai'
export * as mocks from 'ai/test'
