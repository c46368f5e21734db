//! A remote tool as a tool of ours.

use super::bounds::SchemaBounds;
use super::client::McpClient;
use super::output::OutputSchema;
use super::pins::{Subject, parse_fingerprint};
use super::schema;
use crate::error::{ErrorCode, ToolError};
use crate::response::ToolResponse;
use crate::sanitize::clean_prose;
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
    pub(super) output: Option<Arc<OutputSchema>>,
    /// The definition exactly as the server gave it.
    pub definition: Box<RawValue>,
    /// The fingerprint of that; for a tool that is declared by hand the one it has to have, if any. Counts where the client has pins.
    pub fingerprint: Option<String>,
    /// Who vouches for it: `mcp:{namespace}`, whatever the definition says.
    pub origin: String,
    /// Whether a person is asked before every call.
    pub requires_confirmation: bool,
    /// Whether a second call with the same arguments changes nothing more, as the server says: `readOnlyHint` or `idempotentHint`.
    pub repeatable: bool,
}

impl McpTool {
    /// A tool that is declared by hand rather than listed by the server, held to the same bounds: its description is cleaned and cut, and
    /// so is the prose of its schemas at every depth.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a schema out of bounds.
    pub fn declared(client: Arc<McpClient>, declared: Declaration<'_>) -> Result<Self, ToolError> {
        let Declaration { name, remote_name, description, input_schema, output_schema, requires_confirmation, max_desc_chars, repeatable } =
            declared;
        let mut bounds = SchemaBounds::of(client.options());
        bounds.desc_chars = max_desc_chars.unwrap_or(bounds.desc_chars);
        let unusable = |problem| ToolError::new(ErrorCode::InvalidOptions, format!("tool '{name}': {problem}"));
        let schema = schema::prepare(Some(input_schema), bounds).map_err(unusable)?;
        let output = output_schema.map(|raw| OutputSchema::read(raw, bounds)).transpose().map_err(unusable)?.map(Arc::new);
        let origin = format!("mcp:{}", client.options().namespace);
        let description = clean_prose(description, bounds.desc_chars);
        let definition = input_schema.to_owned();
        let fingerprint = None;
        Ok(Self {
            client,
            name,
            remote_name,
            description,
            input_schema: schema,
            output,
            definition,
            fingerprint,
            origin,
            requires_confirmation,
            repeatable,
        })
    }

    /// The same tool, held to a fingerprint where its client has pins.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for what is no fingerprint.
    pub fn with_fingerprint(self, fingerprint: &str) -> Result<Self, ToolError> {
        match parse_fingerprint(fingerprint) {
            Some(fingerprint) => Ok(Self { fingerprint: Some(fingerprint), ..self }),
            None => {
                let message = format!("tool '{}': the fingerprint is not a SHA-256 in 64 hexadecimal digits", self.name);
                Err(ToolError::new(ErrorCode::InvalidOptions, message))
            }
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { name: &self.name, remote_name: &self.remote_name, fingerprint: self.fingerprint.as_deref() }
    }

    /// The schema of what its results hold as structured content, within bounds, if it has one that can be used.
    pub fn output_schema(&self) -> Option<&Value> {
        self.output.as_ref().map(|output| output.schema())
    }
}

/// What is said of a tool that is declared by hand.
#[derive(Clone, Debug)]
pub struct Declaration<'a> {
    /// The name that models see.
    pub name: String,
    /// The name that the server knows.
    pub remote_name: String,
    /// What it does.
    pub description: &'a str,
    /// The schema of its arguments.
    pub input_schema: &'a RawValue,
    /// The schema of its structured content.
    pub output_schema: Option<&'a RawValue>,
    /// Whether a person is asked before every call.
    pub requires_confirmation: bool,
    /// Code points kept of a description; the client's limit if not given.
    pub max_desc_chars: Option<usize>,
    /// Whether a second call with the same arguments changes nothing more.
    pub repeatable: bool,
}

impl NativeTool for McpTool {
    fn needs_confirmation(&self, _arguments: &Arguments) -> bool {
        self.requires_confirmation
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        true
    }

    fn uses_network(&self) -> bool {
        self.client.options().remote.is_some()
    }

    fn check(&self, _arguments: &Arguments) -> Result<(), ToolResponse> {
        self.client.known_refusal(self.subject())
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        Box::pin(async move { self.client.call_tool(self.subject(), &arguments.text, &context, self.output.as_deref()).await })
    }
}
