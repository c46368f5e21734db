export * as agents from '@openai/agents'
