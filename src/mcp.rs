//! The client of an MCP server, and its tools.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch::{self, Dispatcher, Message};
use crate::environment;
use crate::error::{misuse, to_js, to_json};
use crate::policy::NativePrompts;
use crate::surroundings::JsSurroundings;
use crate::threads::Lane;
use crate::tokens::JsTokens;
use crate::tools::{NativeTool, alone_json, context};
use crate::values::duration;
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::mcp::pins::{PinMode, Pins};
use toolbolt_core::mcp::{
    Bounds, ClientState, ConnectOptions, Declaration, McpClient, McpTool, Protocol, RemoteOptions, Respawn, Skipped, TokenSource,
    ToolsEvent, Transport, read_config_file, split_command,
};

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
    /// Limit for each request in milliseconds; none when absent.
    pub timeout_ms: Option<f64>,
    /// Limit for a start in milliseconds; that of a request when absent.
    pub connect_timeout_ms: Option<f64>,
    /// How a server is started anew; not at all when absent.
    pub respawn: Option<McpRespawn>,
    /// What it is held to.
    pub bounds: McpBounds,
    /// The number of who hears of changes.
    pub listener: u32,
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
}

/// How a server is started anew; each default is the core's.
#[napi(object)]
pub struct McpRespawn {
    /// Tries in a row.
    pub attempts: Option<u32>,
    /// The longest first pause in milliseconds.
    pub first_delay_ms: Option<f64>,
    /// The longest pause in milliseconds.
    pub max_delay_ms: Option<f64>,
    /// Milliseconds of life that start the count anew.
    pub healthy_after_ms: Option<f64>,
}

/// Bounds on a server; each default is the core's.
#[napi(object)]
pub struct McpBounds {
    /// Bytes of one message.
    pub max_frame_bytes: Option<u32>,
    /// Tools of a listing.
    pub max_tools: Option<u32>,
    /// Bytes of one schema.
    pub max_schema_bytes: Option<u32>,
    /// Levels of one schema.
    pub max_schema_depth: Option<u32>,
    /// Calls under way at once.
    pub max_in_flight: Option<u32>,
    /// Notifications of one second.
    pub max_notifications_per_second: Option<u32>,
    /// Characters of a result's text.
    pub max_result_chars: Option<u32>,
    /// Bytes of a result's data.
    pub max_result_bytes: Option<u32>,
}

impl McpBounds {
    fn apply(&self, connect: &mut ConnectOptions) {
        let size = |given: Option<u32>, default: usize| given.map_or(default, |given| given as usize);
        let default = Bounds::default();
        connect.max_frame_bytes = size(self.max_frame_bytes, connect.max_frame_bytes);
        connect.max_tools = size(self.max_tools, connect.max_tools);
        connect.bounds = Bounds {
            max_schema_bytes: size(self.max_schema_bytes, default.max_schema_bytes),
            max_schema_depth: size(self.max_schema_depth, default.max_schema_depth),
            max_in_flight: size(self.max_in_flight, default.max_in_flight),
            max_notifications_per_second: self.max_notifications_per_second.unwrap_or(default.max_notifications_per_second),
            max_result_chars: self.max_result_chars.map(|chars| chars as usize),
            max_result_bytes: self.max_result_bytes.map(|bytes| bytes as usize),
        };
    }
}

impl McpRespawn {
    fn read(&self) -> Respawn {
        let default = Respawn::default();
        Respawn {
            attempts: self.attempts.unwrap_or(default.attempts),
            first_delay: duration(self.first_delay_ms).unwrap_or(default.first_delay),
            max_delay: duration(self.max_delay_ms).unwrap_or(default.max_delay),
            healthy_after: duration(self.healthy_after_ms).unwrap_or(default.healthy_after),
        }
    }
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
    /// JSON Schema of its structured content, as JSON.
    pub output_schema: Option<String>,
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

/// Reads a configuration file as JSON without comments.
#[napi(catch_unwind)]
pub fn read_mcp_config(env: Env, token: u32, path: String) -> Result<()> {
    dispatch::start(&env, token, Lane::Local, None, move |_dispatcher| async move {
        let reading = tokio::task::spawn_blocking(move || read_config_file(&path)).await;
        let config = reading.map_err(|error| ToolError::new(ErrorCode::InvalidOptions, error.to_string()))??;
        Ok(config.to_string())
    })
}

fn tool_json(tool: &McpTool) -> serde_json::Value {
    json!({
        "name": tool.name, "remoteName": tool.remote_name, "description": tool.description, "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema(), "fingerprint": tool.fingerprint,
    })
}

fn skipped_json(skipped: &[Skipped]) -> Vec<serde_json::Value> {
    skipped.iter().map(|skipped| json!({ "remoteName": skipped.remote_name, "reason": skipped.reason })).collect()
}

fn event_json(event: &ToolsEvent) -> String {
    match event {
        Ok(change) => {
            let tools = |tools: &[Arc<McpTool>]| tools.iter().map(|tool| tool_json(tool)).collect::<Vec<_>>();
            let (added, changed, skipped) = (tools(&change.added), tools(&change.changed), skipped_json(&change.skipped));
            json!({ "added": added, "changed": changed, "removed": change.removed, "skipped": skipped, "warnings": change.warnings })
                .to_string()
        }
        Err(error) => json!({ "error": to_json(error) }).to_string(),
    }
}

/// Connects; the client is then taken with `takeMcpClient`.
#[napi(catch_unwind)]
pub fn connect_mcp(env: Env, token: u32, options: McpOptions, prompts: &NativePrompts) -> Result<()> {
    let prompts = Arc::clone(&prompts.inner);
    // Before anything waits: a relative path counts from the working folder of now.
    let given = options.expected_fingerprints.map(Pins::given);
    let pins = given.or_else(|| options.pins.map(|pins| Pins::file(&pins.file, mode(pins.record)))).transpose().map_err(to_js)?;
    let lane = Lane::of(options.remote.is_some());
    dispatch::start(&env, token, lane, None, move |dispatcher| async move {
        let mut connect = ConnectOptions::new(options.namespace, options.command);
        connect.args = options.args;
        connect.env = options.env.into_iter().collect();
        connect.cwd = options.cwd;
        connect.requires_confirmation = options.requires_confirmation;
        connect.max_desc_chars = options.max_desc_chars.map_or(connect.max_desc_chars, |chars| chars as usize);
        connect.timeout = duration(options.timeout_ms);
        connect.connect_timeout = duration(options.connect_timeout_ms);
        connect.respawn = options.respawn.as_ref().map(McpRespawn::read);
        options.bounds.apply(&mut connect);
        connect.prompts = prompts;
        connect.pins = pins;
        connect.owner = dispatcher.owner();
        connect.remote = options.remote.map(|remote| remote_options(remote, &dispatcher));
        connect.protocol = match options.protocol.as_str() {
            "legacy" => Protocol::Legacy,
            "2026-07-28" => Protocol::Modern,
            _ => Protocol::Auto,
        };
        let client = McpClient::connect(connect).await?;
        let listener = Arc::downgrade(&dispatcher);
        client.on_tools(Some(Arc::new(move |event| {
            if let Some(dispatcher) = listener.upgrade() {
                dispatcher.send(Message::ToolsChanged, options.listener, event_json(&event));
            }
        })));
        dispatcher.keep_client(token, client);
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
    /// `connecting` while it is started anew, `ready`, `degraded` when the server went away, `closed`.
    #[napi(getter, catch_unwind)]
    pub fn state(&self) -> String {
        match self.inner.state() {
            ClientState::Connecting => "connecting",
            ClientState::Ready => "ready",
            ClientState::Degraded => "degraded",
            ClientState::Closed => "closed",
        }
        .to_owned()
    }

    /// What last went wrong, as JSON.
    #[napi(getter, catch_unwind)]
    pub fn last_error(&self) -> Option<String> {
        self.inner.last_error().map(|error| to_json(&error))
    }

    /// What was noticed on the connection, as JSON.
    #[napi(getter, catch_unwind)]
    pub fn diagnostics(&self) -> String {
        let seen = self.inner.diagnostics();
        json!({
            "server": seen.server, "skippedLines": seen.skipped_lines, "recentLines": seen.recent_lines, "unexpectedReplies": seen.unexpected_replies,
            "droppedMessages": seen.dropped_messages, "notes": seen.notes, "stderr": seen.stderr,
        })
        .to_string()
    }

    /// The server's process id, if it was started here and runs.
    #[napi(getter, catch_unwind)]
    pub fn process_id(&self) -> Option<u32> {
        self.inner.process_id().filter(|_| self.inner.state() == ClientState::Ready)
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
        dispatch::start(&env, token, self.lane(), None, move |_dispatcher| async move {
            let listing = client.list_tools().await?;
            let tools: Vec<_> = listing.tools.iter().map(|tool| tool_json(tool)).collect();
            Ok(json!({ "tools": tools, "skipped": skipped_json(&listing.skipped), "warnings": listing.warnings }).to_string())
        })
    }

    /// Calls a tool by the server's own name for it, outside any registry; gives the response as JSON.
    #[napi(catch_unwind)]
    pub fn call(&self, env: Env, token: u32, remote_name: String, arguments: String, timeout_ms: Option<f64>, listens: bool) -> Result<()> {
        let (client, cancelled) = (Arc::clone(&self.inner), CancellationToken::new());
        dispatch::start(&env, token, self.lane(), Some(cancelled.clone()), move |dispatcher| async move {
            let context = context(&dispatcher, token, "", duration(timeout_ms), cancelled, listens);
            alone_json(client.call_approved(&remote_name, &arguments, &context).await)
        })
    }

    fn lane(&self) -> Lane {
        Lane::of(self.inner.options().remote.is_some())
    }

    /// A tool of this server; description and schema come back cleaned.
    #[napi(catch_unwind)]
    pub fn tool(&self, tool: McpToolDefinition) -> Result<NativeTool> {
        let schema = RawValue::from_string(tool.input_schema).map_err(|error| misuse(&error.to_string()))?;
        let output = tool.output_schema.map(RawValue::from_string).transpose().map_err(|error| misuse(&error.to_string()))?;
        let declared = Declaration {
            name: tool.name,
            remote_name: tool.remote_name,
            description: &tool.description,
            input_schema: &schema,
            output_schema: output.as_deref(),
            requires_confirmation: tool.requires_confirmation,
            max_desc_chars: tool.max_desc_chars.map(|chars| chars as usize),
        };
        let fingerprint = tool.fingerprint;
        let tool = McpTool::declared(Arc::clone(&self.inner), declared)
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
        dispatch::start(&env, token, self.lane(), None, move |_dispatcher| async move {
            client.close().await;
            Ok(String::new())
        })
    }
}
