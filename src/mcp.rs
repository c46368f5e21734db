//! The client of an MCP server, and its tools.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch;
use crate::environment;
use crate::error::{misuse, to_js};
use crate::policy::NativePrompts;
use crate::tools::NativeTool;
use crate::values::duration;
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use toolbolt_core::mcp::pins::{PinMode, Pins};
use toolbolt_core::mcp::{ClientState, ConnectOptions, McpClient, McpTool, split_command};

/// How to start a server.
#[napi(object)]
pub struct McpOptions {
    /// Prefix of names, and origin.
    pub namespace: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its own variables.
    pub env: HashMap<String, String>,
    /// Its folder.
    pub cwd: Option<String>,
    /// Whether calls ask.
    pub requires_confirmation: bool,
    /// Code points kept of a description.
    pub max_desc_chars: Option<u32>,
    /// Limit for a start and for each request in milliseconds; none when absent.
    pub timeout_ms: Option<f64>,
    /// Approved fingerprints by name.
    pub expected_fingerprints: Option<HashMap<String, String>>,
    /// The lock file of approved definitions.
    pub pins: Option<McpPins>,
}

/// A lock file.
#[napi(object)]
pub struct McpPins {
    /// Its path.
    pub file: String,
    /// Whether new tools are added to it.
    pub record: bool,
}

/// A tool of a server.
#[napi(object)]
pub struct McpToolDefinition {
    /// The name that models see.
    pub name: String,
    /// The server's own name for it.
    pub remote_name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments, as JSON.
    pub input_schema: String,
    /// Whether calls ask.
    pub requires_confirmation: bool,
    /// Code points kept of a description; the client's limit when absent.
    pub max_desc_chars: Option<u32>,
    /// The fingerprint of its definition, if known.
    pub fingerprint: Option<String>,
}

/// A connection to one server.
#[napi]
pub struct NativeMcpClient {
    inner: Arc<McpClient>,
}

/// Splits a command line as a shell would, without running one.
#[napi(catch_unwind)]
pub fn split_command_line(command: String) -> Result<Vec<String>> {
    split_command(&command).map_err(to_js)
}

/// Connects; the client is then taken with `takeMcpClient`.
#[napi(catch_unwind)]
pub fn connect_mcp(env: Env, token: u32, options: McpOptions, prompts: &NativePrompts) -> Result<()> {
    let prompts = Arc::clone(&prompts.inner);
    // Before anything waits: a relative path counts from the working folder of now.
    let given = options.expected_fingerprints.map(Pins::given);
    let pins = given.or_else(|| options.pins.map(|pins| Pins::file(&pins.file, mode(pins.record)))).transpose().map_err(to_js)?;
    dispatch::start(&env, token, move |dispatcher| async move {
        let mut connect = ConnectOptions::new(options.namespace, options.command);
        connect.args = options.args;
        connect.env = options.env.into_iter().collect();
        connect.cwd = options.cwd;
        connect.requires_confirmation = options.requires_confirmation;
        connect.max_desc_chars = options.max_desc_chars.map_or(connect.max_desc_chars, |chars| chars as usize);
        connect.timeout = duration(options.timeout_ms);
        connect.prompts = prompts;
        connect.pins = pins;
        connect.owner = dispatcher.owner();
        dispatcher.keep_client(token, McpClient::connect(connect).await?);
        Ok(String::new())
    })
}

fn mode(record: bool) -> PinMode {
    if record { PinMode::Record } else { PinMode::Enforce }
}

/// Takes the client that `connectMcp` made under a token.
#[napi(catch_unwind)]
pub fn take_mcp_client(token: u32) -> Result<NativeMcpClient> {
    let client = environment::dispatcher().and_then(|dispatcher| dispatcher.take_client(token));
    Ok(NativeMcpClient { inner: client.ok_or_else(|| misuse("there is no client under this token"))? })
}

#[napi]
impl NativeMcpClient {
    /// `ready`, `degraded` when the server went away, `closed`.
    #[napi(getter, catch_unwind)]
    pub fn state(&self) -> String {
        match self.inner.state() {
            ClientState::Ready => "ready",
            ClientState::Lost => "degraded",
            ClientState::Closed => "closed",
        }
        .to_owned()
    }

    /// The server's process id.
    #[napi(getter, catch_unwind)]
    pub fn process_id(&self) -> u32 {
        self.inner.process_id()
    }

    /// The revision of the protocol in use.
    #[napi(getter, catch_unwind)]
    pub fn protocol_version(&self) -> String {
        self.inner.protocol_version().to_owned()
    }

    /// Asks for the tools; gives `{ tools, skipped, warnings }` as JSON.
    #[napi(catch_unwind)]
    pub fn list_tools(&self, env: Env, token: u32) -> Result<()> {
        let client = Arc::clone(&self.inner);
        dispatch::start(&env, token, move |_dispatcher| async move {
            let listing = client.list_tools().await?;
            let tools: Vec<_> = listing
                .tools
                .iter()
                .map(|tool| {
                    json!({
                        "name": tool.name, "remoteName": tool.remote_name, "description": tool.description, "inputSchema": tool.input_schema,
                        "fingerprint": tool.fingerprint,
                    })
                })
                .collect();
            let skipped: Vec<_> =
                listing.skipped.iter().map(|skipped| json!({ "remoteName": skipped.remote_name, "reason": skipped.reason })).collect();
            Ok(json!({ "tools": tools, "skipped": skipped, "warnings": listing.warnings }).to_string())
        })
    }

    /// A tool of this server; description and schema come back cleaned.
    #[napi(catch_unwind)]
    pub fn tool(&self, tool: McpToolDefinition) -> Result<NativeTool> {
        let schema = RawValue::from_string(tool.input_schema).map_err(|error| misuse(&error.to_string()))?;
        let client = Arc::clone(&self.inner);
        let limit = tool.max_desc_chars.map_or(client.options().max_desc_chars, |chars| chars as usize);
        let fingerprint = tool.fingerprint;
        let tool = McpTool::declared(client, tool.name, tool.remote_name, &tool.description, &schema, tool.requires_confirmation, limit)
            .and_then(|tool| match &fingerprint {
                Some(fingerprint) => tool.with_fingerprint(fingerprint),
                None => Ok(tool),
            })
            .map_err(to_js)?;
        let (description, input_schema) = (tool.description.clone(), tool.input_schema.to_string());
        Ok(NativeTool::new(Arc::new(tool), description, input_schema))
    }

    /// Ends the server.
    #[napi(catch_unwind)]
    pub fn close(&self, env: Env, token: u32) -> Result<()> {
        let client = Arc::clone(&self.inner);
        dispatch::start(&env, token, move |_dispatcher| async move {
            client.close().await;
            Ok(String::new())
        })
    }
}
