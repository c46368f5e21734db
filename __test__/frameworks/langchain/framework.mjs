export * as langchain from 'langchain'
export * as langgraph from '@langchain/langgraph'
export { ToolNode } from '@langchain/langgraph/prebuilt'
