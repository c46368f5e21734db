//! What it takes to connect to a server, and the environment that its process gets.

use super::bounds::Bounds;
use super::life::Respawn;
use super::pins::Pins;
use super::remote::{self, RemoteOptions, Transport};
use crate::error::{ErrorCode, ToolError};
use crate::name;
use crate::prompts::PromptRegistry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Which revision of the protocol to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Asks the server (`server/discover`), and falls back to the handshake of the older revisions.
    #[default]
    Auto,
    /// The `initialize` handshake, revisions up to 2025-11-25.
    Legacy,
    /// Revision 2026-07-28, without a handshake.
    Modern,
}

/// How to start a server, and the bounds it is held to. Start from [`ConnectOptions::new`] and set what differs.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Prefix of the names of all tools of this server, and its origin: `mcp:{namespace}`. Obeys the rule for tool names.
    pub namespace: String,
    /// A server behind an address, instead of a program.
    pub remote: Option<RemoteOptions>,
    /// The program: a path, or a name that is looked up in `PATH`. No shell is involved.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for the server, beside the few harmless ones it gets from our environment. Their values are taken for secrets and never
    /// appear in an error.
    pub env: Vec<(String, String)>,
    /// The folder to start in; ours if not given.
    pub cwd: Option<String>,
    /// Whether a person is asked before every call. Default: yes.
    pub requires_confirmation: bool,
    /// Code points kept of a description, at every depth. Default: 4096.
    pub max_desc_chars: usize,
    /// Tools taken from a listing; the rest is reported as skipped. Default: 128, which is what models still choose from with some care.
    pub max_tools: usize,
    /// Time for each request unless a call brings its own. Progress of a call restarts its time, up to ten times the whole. Default: 30
    /// seconds; `None` waits for ever.
    pub timeout: Option<Duration>,
    /// Time for a start and its handshake together. Default: that of a request.
    pub connect_timeout: Option<Duration>,
    /// How a server is started anew that went away by itself. Default: as [`Respawn::default`] says; `None` for not at all.
    pub respawn: Option<Respawn>,
    /// Further bounds.
    pub bounds: Bounds,
    /// Bytes of one message from the server; a longer one closes the connection. Default: 10 MiB.
    pub max_frame_bytes: usize,
    /// Which revision of the protocol to speak. Default: found out.
    pub protocol: Protocol,
    /// Which definitions of tools were approved. Default: nobody asked.
    pub pins: Option<Pins>,
    /// The words about calls. Default: English.
    pub prompts: Arc<PromptRegistry>,
    /// The host environment that the process belongs to, for [`crate::process::kill_all`].
    pub owner: u64,
}

/// Without arguments and the values of variables, which hold secrets.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        let mut shown = formatter.debug_struct("ConnectOptions");
        shown.field("namespace", &self.namespace).field("command", &self.command).field("env", &names).field("cwd", &self.cwd);
        shown.field("remote", &self.remote).field("timeout", &self.timeout).field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

impl ConnectOptions {
    /// Options with every default, for a program without arguments.
    pub fn new(namespace: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            remote: None,
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            requires_confirmation: true,
            pins: None,
            prompts: Arc::default(),
            max_desc_chars: 4096,
            max_tools: 128,
            timeout: Some(Duration::from_secs(30)),
            connect_timeout: None,
            respawn: Some(Respawn::default()),
            bounds: Bounds::default(),
            max_frame_bytes: 10 * 1024 * 1024,
            protocol: Protocol::Auto,
            owner: 0,
        }
    }

    /// Options with every default, for a server behind an address.
    pub fn remote(namespace: impl Into<String>, remote: RemoteOptions) -> Self {
        Self { remote: Some(remote), ..Self::new(namespace, "") }
    }

    /// Checks what does not depend on the machine. What the process gets is checked when it is started.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        name::check(&self.namespace)
            .map_err(|error| ToolError { message: error.message.replacen("tool name", "namespace", 1), ..error })?;
        let invalid = |what: &str| Err(ToolError::new(ErrorCode::InvalidOptions, format!("MCP server `{}`: {what}", self.namespace)));
        if let Some(remote) = &self.remote {
            remote::check(remote).or_else(|error| invalid(&error.message))?;
            if remote.transport == Transport::Sse && self.protocol == Protocol::Modern {
                return invalid("HTTP+SSE is older than revision 2026-07-28. Use transport 'http' or protocol 'auto'.");
            }
        } else if self.command.is_empty() {
            return invalid("no command is given. Name the program that is the server.");
        }
        if [self.timeout, self.connect_timeout].iter().flatten().any(Duration::is_zero) {
            return invalid("the timeout is zero. Give a longer one, or none.");
        }
        if self.max_frame_bytes < 1024 {
            return invalid("maxFrameBytes is below 1024, which no handshake fits in. Raise it.");
        }
        if self.max_tools == 0 {
            return invalid("maxTools is zero. Allow at least one tool.");
        }
        match self.bounds.fault() {
            Some(fault) => invalid(&fault),
            None => Ok(()),
        }
    }

    /// The whole environment of the server: a few variables of ours that programs need to run at all, then the given ones. Nothing else is
    /// inherited, whether variables are given or not: our environment holds the keys to other services.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let mut environment: Vec<(String, String)> = Vec::new();
        for name in INHERITED {
            if let Ok(value) = std::env::var(name) {
                // Exported shell functions: code that a shell below would run.
                if !value.starts_with("()") {
                    environment.push(((*name).to_owned(), value));
                }
            }
        }
        if cfg!(windows) {
            // Python there writes in the code page of the console otherwise, and dies of the first character outside it.
            environment.push(("PYTHONUTF8".to_owned(), "1".to_owned()));
            environment.push(("PYTHONIOENCODING".to_owned(), "utf-8".to_owned()));
        }
        for (name, value) in &self.env {
            environment.retain(|(known, _)| !same_variable(known, name));
            environment.push((name.clone(), value.clone()));
        }
        environment
    }
}

fn same_variable(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}

#[cfg(not(windows))]
const INHERITED: &[&str] = &["PATH", "HOME", "LANG", "LOGNAME", "SHELL", "TERM", "USER", "TMPDIR"];

#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];
