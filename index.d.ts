export { CalculatorTool } from './dist/calculator.js'
export { CLITool, type CLIData, type CLIOptions, type UnavailableProgram } from './dist/cli.js'
export type { AllowRule, ArgPolicy, DenyRule, ProgramRule } from './dist/cli-rules.js'
export { type ConnectorClientOptions, type ConnectorConnectOptions, ConnectorConnection, type ResilienceOptions } from './dist/connector-connection.js'
export type { CredentialStore } from './dist/connector-credentials.js'
export { type HealthChange, HealthMonitor, type HealthMonitorOptions, type HealthOptions, type HealthStatus } from './dist/connector-health.js'
export { type AuthField, AuthType, type ConnectorDefinition, ConnectorSpec, type OAuthSettings, builtinConnectors } from './dist/connector-spec.js'
export { type ConnectorCatalogEntry, ConnectorRegistry } from './dist/connectors.js'
export {
  type Credentials, EnvironmentCredentialStore, type EnvironmentCredentialStoreOptions, FileCredentialStore, type FileCredentialStoreOptions,
  KeyringCredentialStore, type KeyringCredentialStoreOptions, MemoryCredentialStore,
} from './dist/credential-stores.js'
export { type ErrorCode, PromptError, ToolError, ToolRegistrationError } from './dist/errors.js'
export { sanitizeToolName } from './dist/names.js'
export { MCPClient, MCPTool } from './dist/mcp.js'
export type { ConfirmationRule, MCPAnnotations, MCPToolClaims } from './dist/mcp-decision.js'
export type { MCPContentBlock, MCPResultData } from './dist/mcp-results.js'
export type { MCPDiagnostics, MCPToolOptions, PinMismatch, ToolsChange } from './dist/mcp-types.js'
export { type SkippedTool } from './dist/skipped-tools.js'
export { type AuthCallback, type AuthContext } from './dist/mcp-auth.js'
export { type MCPBounds, type MCPClientOptions, type MCPCommandOptions, type MCPCommonOptions, type MCPRespawn, type MCPUrlOptions } from './dist/mcp-options.js'
export { type McpServersOptions, type McpServersSource } from './dist/mcp-servers.js'
export {
  type NoteAppended, type NoteEntry, type NoteMatch, type NoteRead, type NotesAction, type NotesArgs, type NotesData, type NotesDataOf, type NotesFound, type NotesListed, type NotesOptions,
  NotesTool,
} from './dist/notes.js'
export type { AuthorizeOptions, DeviceCode } from './dist/oauth.js'
export type { Authorization } from './dist/oauth-tokens.js'
export { type PermissionOptions, ToolPermissions } from './dist/permissions.js'
export { PromptRegistry } from './dist/prompts.js'
export type { ProviderTurnOptions } from './dist/provider-calls.js'
export type {
  AnthropicImageType, AnthropicTool, AnthropicToolResult, DeferOptions, ExportFormat, ExportWeakening, GeminiFunctionDeclaration, GeminiFunctionResponse, GeminiTool,
  McpToolDefinition, ObjectSchema, OpenAIFunctionCallOutput, OpenAIResponsesTool, OpenAIToolMessage, StrictOptions,
} from './dist/provider-types.js'
export { type Registrable, type RegistryOptions, ToolRegistry, type TurnOptions } from './dist/registry.js'
export { ToolResponse } from './dist/response.js'
export { type SearchData, type SearchOptions, type SearchResult, type SearchSource, SearchTool } from './dist/search.js'
export { type McpServer, serveMcp } from './dist/serve.js'
export { type ServeAuthCallback, type ServeHttpOptions, type ServeOptions, type ServeStdioOptions } from './dist/serve-options.js'
export { type CallableOptions, type MethodToolOptions, Tool, type ToolDefinition, type ToolFlags, type ToolSpec, tool, toolsOf } from './dist/tool.js'
export { type Searchable, type ToolMatch, type ToolSearchOptions, ToolSearchTool } from './dist/tool-search.js'
export type {
  ConfirmCallback, ConfirmRequest, ExecuteOptions, ExecuteSyncOptions, InferArgs, InputSchema, JsonObject, JsonSchema, JsonValue, OpenAITool, OpenAIToolCall,
  Progress, ResultObject, StandardSchema, ToolCall, ToolContext, ToolEvent, ToolParameter, ToolResult, ToolStatus,
} from './dist/types.js'
export { verifyWebhook, type WebhookHeaders, type WebhookOptions, type WebhookRefusal } from './dist/webhooks.js'
