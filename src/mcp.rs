//! The client of an MCP server, and its tools.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

mod options;

use crate::connector::{ConnectorCare, McpRetry};
use crate::dispatch::{self, Message};
use crate::environment;
use crate::error::{misuse, to_js, to_json};
use crate::policy::NativePrompts;
use crate::threads::Lane;
use crate::tools::{NativeTool, alone_json, context};
use crate::values::{duration, to_text};
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use options::McpOptions;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolbolt_core::connector::{self, Health, Resilience, ResilientTool, Thresholds};
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::mcp::{ClientState, Declaration, McpClient, McpTool, Skipped, ToolsEvent, read_config_file, split_command};
use toolbolt_core::tool::NativeTool as Body;

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
    /// Whether a second call with the same arguments changes nothing more.
    pub repeatable: bool,
}

/// A connection to one server.
#[napi]
pub struct NativeMcpClient {
    inner: Arc<McpClient>,
    health: Arc<Health>,
    resilience: Option<Arc<Resilience>>,
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
    let claims = tool.claims();
    json!({
        "name": tool.name, "remoteName": tool.remote_name, "description": tool.description, "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema(), "fingerprint": tool.fingerprint, "repeatable": tool.repeatable,
        "title": claims.title, "annotations": claims.annotations,
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

/// Connects; the client is then taken with `takeMcpClient`. With a retry it is tried several times, and the operation gives what is left of
/// it for the first listing, as JSON. It can be cancelled.
#[napi(catch_unwind)]
pub fn connect_mcp(env: Env, token: u32, options: McpOptions, prompts: &NativePrompts, retry: Option<McpRetry>) -> Result<()> {
    let prompts = Arc::clone(&prompts.inner);
    // Before anything waits: a relative path counts from the working folder of now.
    let pins = options.pins().map_err(to_js)?;
    let (listener, cancelled) = (options.listener, CancellationToken::new());
    let lane = Lane::of(options.remote.is_some());
    dispatch::start(&env, token, lane, Some(cancelled.clone()), move |dispatcher| async move {
        let connect = options.read(prompts, pins, &dispatcher);
        let connecting = connector::connect(connect, retry.as_ref().map(McpRetry::read));
        let (client, left) = unless_cancelled(cancelled, "connecting", connecting).await?;
        let teller = Arc::downgrade(&dispatcher);
        client.on_tools(Some(Arc::new(move |event| {
            if let Some(dispatcher) = teller.upgrade() {
                dispatcher.send(Message::ToolsChanged, listener, event_json(&event));
            }
        })));
        dispatcher.keep_client(token, client);
        Ok(left.map_or_else(String::new, McpRetry::written))
    })
}

async fn unless_cancelled<T>(
    cancelled: CancellationToken,
    what: &'static str,
    work: impl Future<Output = std::result::Result<T, ToolError>>,
) -> std::result::Result<T, ToolError> {
    tokio::select! {
        biased;
        () = cancelled.cancelled() => Err(ToolError::new(ErrorCode::Cancelled, format!("the {what} was cancelled"))),
        done = work => done,
    }
}

/// Takes the client that `connectMcp` made under a token. With `care` its calls are looked after.
#[napi(catch_unwind)]
pub fn take_mcp_client(token: u32, care: Option<ConnectorCare>) -> Result<NativeMcpClient> {
    let client = environment::dispatcher().and_then(|dispatcher| dispatcher.take_client(token));
    Ok(NativeMcpClient {
        inner: client.ok_or_else(|| misuse("there is no client under this token"))?,
        health: Arc::default(),
        resilience: care.map(|care| Arc::new(Resilience::new(care.read()))),
    })
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

    /// Tries once to connect anew, now.
    #[napi(catch_unwind)]
    pub fn reconnect(&self, env: Env, token: u32) -> Result<()> {
        let client = Arc::clone(&self.inner);
        dispatch::start(&env, token, self.lane(), None, move |_dispatcher| async move {
            client.reconnect().await?;
            Ok(String::new())
        })
    }

    /// Asks for the tools; gives `{ tools, skipped, warnings }` as JSON. With a retry several times; the operation can be cancelled.
    #[napi(catch_unwind)]
    pub fn list_tools(&self, env: Env, token: u32, retry: Option<McpRetry>) -> Result<()> {
        let (client, cancelled) = (Arc::clone(&self.inner), CancellationToken::new());
        dispatch::start(&env, token, self.lane(), Some(cancelled.clone()), move |_dispatcher| async move {
            let listed = connector::list(&client, retry.as_ref().map(McpRetry::read));
            let listing = unless_cancelled(cancelled, "listing", listed).await?;
            let tools: Vec<_> = listing.tools.iter().map(|tool| tool_json(tool)).collect();
            Ok(json!({ "tools": tools, "skipped": skipped_json(&listing.skipped), "warnings": listing.warnings }).to_string())
        })
    }

    /// Calls a tool by the server's own name for it, outside any registry; gives the response as JSON.
    #[napi(catch_unwind)]
    pub fn call(&self, env: Env, token: u32, remote_name: String, arguments: String, timeout_ms: Option<f64>, listens: bool) -> Result<()> {
        let (client, cancelled, resilience) = (Arc::clone(&self.inner), CancellationToken::new(), self.resilience.clone());
        dispatch::start(&env, token, self.lane(), Some(cancelled.clone()), move |dispatcher| async move {
            let context = context(&dispatcher, token, "", duration(timeout_ms), cancelled, listens);
            let attempt = |context| {
                let (client, name, arguments) = (&client, &remote_name, &arguments);
                async move { client.call_approved(name, arguments, &context).await }
            };
            // Nothing is known of a tool that is called by its remote name.
            alone_json(match &resilience {
                Some(resilience) => resilience.call(&client, &context, false, attempt).await,
                None => attempt(context).await,
            })
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
            repeatable: tool.repeatable,
        };
        let fingerprint = tool.fingerprint;
        let tool = McpTool::declared(Arc::clone(&self.inner), declared)
            .and_then(|tool| match &fingerprint {
                Some(fingerprint) => tool.with_fingerprint(fingerprint),
                None => Ok(tool),
            })
            .map_err(to_js)?;
        let (description, input_schema) = (tool.description.clone(), tool.input_schema.to_string());
        let tool = Arc::new(tool);
        let body: Arc<dyn Body> = match &self.resilience {
            Some(resilience) => Arc::new(ResilientTool::new(tool, Arc::clone(resilience))),
            None => tool,
        };
        Ok(NativeTool::new(body, description, input_schema))
    }

    /// Asks the server for its tools and remembers how that went, for `health`.
    #[napi(catch_unwind)]
    pub fn check(&self, env: Env, token: u32, limit_ms: f64) -> Result<()> {
        let (client, health, resilience) = (Arc::clone(&self.inner), Arc::clone(&self.health), self.resilience.clone());
        let limit = duration(Some(limit_ms)).unwrap_or(Duration::MAX);
        dispatch::start(&env, token, self.lane(), None, move |_dispatcher| async move {
            if health.check(&client, limit).await
                && let Some(resilience) = resilience
            {
                resilience.recovered();
            }
            Ok(String::new())
        })
    }

    /// What the last `check` showed, as JSON.
    #[napi(catch_unwind)]
    pub fn health(&self, degraded: u32, disconnected: u32) -> Result<String> {
        to_text(&self.health.report(Thresholds { degraded, disconnected }))
    }

    /// Whether its calls are let through: `closed`, `open` or `half-open`; none where they are not looked after.
    #[napi(getter, catch_unwind)]
    pub fn breaker(&self) -> Option<String> {
        self.resilience.as_ref().map(|resilience| resilience.state().as_str().to_owned())
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
