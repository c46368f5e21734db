//! What JavaScript says of a server, brought into the shape that the core takes.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch::Dispatcher;
use crate::surroundings::JsSurroundings;
use crate::tokens::JsTokens;
use crate::values::duration;
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::Arc;
use toolbolt_core::error::ToolError;
use toolbolt_core::mcp::pins::{FingerprintFormat, PinMode, Pins};
use toolbolt_core::mcp::{Bounds, ConnectOptions, Protocol, RemoteOptions, Respawn, TokenSource, Transport};
use toolbolt_core::prompts::PromptRegistry;

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
    /// `agentmaker` for its fingerprints instead of ours.
    pub fingerprint_format: Option<String>,
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

impl McpOptions {
    /// Which definitions of tools were approved.
    pub(super) fn pins(&self) -> Result<Option<Pins>, ToolError> {
        let format = match self.fingerprint_format.as_deref() {
            Some("agentmaker") => FingerprintFormat::Agentmaker,
            _ => FingerprintFormat::Toolbolt,
        };
        let given = self.expected_fingerprints.clone().map(|expected| Pins::given(expected, format));
        given.or_else(|| self.pins.as_ref().map(|pins| Pins::file(&pins.file, mode(pins.record)))).transpose()
    }

    /// As the core takes them.
    pub(super) fn read(self, prompts: Arc<PromptRegistry>, pins: Option<Pins>, dispatcher: &Arc<Dispatcher>) -> ConnectOptions {
        let mut connect = ConnectOptions::new(self.namespace, self.command);
        connect.args = self.args;
        connect.env = self.env.into_iter().collect();
        connect.cwd = self.cwd;
        connect.requires_confirmation = self.requires_confirmation;
        connect.max_desc_chars = self.max_desc_chars.map_or(connect.max_desc_chars, |chars| chars as usize);
        connect.timeout = duration(self.timeout_ms);
        connect.connect_timeout = duration(self.connect_timeout_ms);
        connect.respawn = self.respawn.as_ref().map(McpRespawn::read);
        self.bounds.apply(&mut connect);
        connect.prompts = prompts;
        connect.pins = pins;
        connect.owner = dispatcher.owner();
        connect.remote = self.remote.map(|remote| remote_options(remote, dispatcher));
        connect.protocol = match self.protocol.as_str() {
            "legacy" => Protocol::Legacy,
            "2026-07-28" => Protocol::Modern,
            _ => Protocol::Auto,
        };
        connect
    }
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
