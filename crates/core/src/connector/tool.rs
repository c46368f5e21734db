//! A remote tool whose calls are looked after.

use super::resilience::Resilience;
use crate::mcp::McpTool;
use crate::response::ToolResponse;
use crate::tool::{Arguments, CallContext, NativeTool};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// A tool of a connector.
#[derive(Debug)]
pub struct ResilientTool {
    tool: Arc<McpTool>,
    resilience: Arc<Resilience>,
}

impl ResilientTool {
    /// The same tool, with its calls looked after.
    pub fn new(tool: Arc<McpTool>, resilience: Arc<Resilience>) -> Self {
        Self { tool, resilience }
    }
}

impl NativeTool for ResilientTool {
    fn needs_confirmation(&self, arguments: &Arguments) -> bool {
        self.tool.needs_confirmation(arguments)
    }

    fn is_external_content(&self, arguments: &Arguments) -> bool {
        self.tool.is_external_content(arguments)
    }

    fn uses_network(&self) -> bool {
        self.tool.uses_network()
    }

    fn check(&self, arguments: &Arguments) -> Result<(), ToolResponse> {
        match self.resilience.refusal(&self.tool.client) {
            Some(refusal) => Err(refusal),
            None => self.tool.check(arguments),
        }
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        Box::pin(async move {
            let attempt = |context| self.tool.clone().run(arguments.clone(), context);
            self.resilience.call(&self.tool.client, &context, self.tool.repeatable, attempt).await
        })
    }
}
