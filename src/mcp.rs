//! The client of an MCP server, and its tools.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch::{self, Dispatcher};
use crate::environment;
use crate::error::{misuse, to_js};
use crate::policy::NativePrompts;
use crate::surroundings::JsSurroundings;
use crate::tokens::JsTokens;
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
use toolbolt_core::mcp::{ClientState, ConnectOptions, McpClient, McpTool, Protocol, RemoteOptions, TokenSource, Transport, split_command};

/// How to start or reach a server.
#[napi(object)]
pub struct McpOptions {
    /// Prefix of names, and origin.
    pub namespace: String,
    /// The program; empty where there is an address.
    pub command: String,
    /// How to reach a server behind an address.
    pub remote: Option<McpRemote>,
    /// `auto`, `legacy` or the newest revision.
    pub protocol: String,
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

/// How to reach a server behind an address.
#[napi(object)]
pub struct McpRemote {
    /// The address.
    pub url: String,
    /// `auto`, `http` or `sse`.
    pub transport: String,
    /// Headers of every request.
    pub headers: HashMap<String, String>,
    /// The number under which JavaScript knows who gives tokens.
    pub auth: Option<u32>,
    /// Whether `http` may leave this machine.
    pub allow_insecure_http: bool,
    /// Limit for a connection in milliseconds.
    pub connect_timeout_ms: Option<f64>,
    /// Requests under way at the same time.
    pub max_requests_in_flight: Option<u32>,
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
        connect.remote = options.remote.map(|remote| remote_options(remote, &dispatcher));
        connect.protocol = match options.protocol.as_str() {
            "legacy" => Protocol::Legacy,
            "2026-07-28" => Protocol::Modern,
            _ => Protocol::Auto,
        };
        dispatcher.keep_client(token, McpClient::connect(connect).await?);
        Ok(String::new())
    })
}

fn remote_options(given: McpRemote, dispatcher: &Arc<Dispatcher>) -> RemoteOptions {
    let mut remote = RemoteOptions::new(given.url);
    remote.transport = match given.transport.as_str() {
        "http" => Transport::Http,
        "sse" => Transport::Sse,
        _ => Transport::Auto,
    };
    remote.headers = given.headers.into_iter().collect();
    remote.auth = given.auth.map(|number| Arc::new(JsTokens::new(dispatcher, number)) as Arc<dyn TokenSource>);
    remote.allow_insecure_http = given.allow_insecure_http;
    remote.connect_timeout = duration(given.connect_timeout_ms).unwrap_or(remote.connect_timeout);
    remote.max_in_flight = given.max_requests_in_flight.map_or(remote.max_in_flight, |requests| requests as usize);
    remote.surroundings = Arc::new(JsSurroundings::new(Some(dispatcher)));
    remote
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

    /// The server's process id, if it was started here.
    #[napi(getter, catch_unwind)]
    pub fn process_id(&self) -> Option<u32> {
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
