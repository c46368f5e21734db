//! A remote tool as a tool of ours.

use super::client::McpClient;
use crate::response::ToolResponse;
use crate::tool::{Arguments, CallContext, NativeTool};
use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One tool of a server. It keeps the connection open as long as it lives.
#[derive(Clone, Debug)]
pub struct McpTool {
    /// The connection that runs it.
    pub client: Arc<McpClient>,
    /// The name that models see: `{namespace}_{remote name}`, made legal and unique.
    pub name: String,
    /// The name that the server knows.
    pub remote_name: String,
    /// What it does, cleaned and cut.
    pub description: String,
    /// The schema of its arguments, within bounds and with its prose cleaned.
    pub input_schema: Value,
    /// The definition exactly as the server gave it.
    pub definition: Box<RawValue>,
    /// Who vouches for it: `mcp:{namespace}`, whatever the definition says.
    pub origin: String,
    /// Whether a person is asked before every call.
    pub requires_confirmation: bool,
}

impl NativeTool for McpTool {
    fn needs_confirmation(&self, _arguments: &Arguments) -> bool {
        self.requires_confirmation
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        true
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        Box::pin(async move { self.client.call(&self.remote_name, &arguments.text, &context, context.timeout).await })
    }
}
