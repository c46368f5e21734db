//! Starting a server, or reaching one that runs elsewhere, and the tasks that serve its pipes.

use super::command::split_hint;
use super::connection::Connection;
use super::frame::{End, Lines};
use super::options::ConnectOptions;
use super::outbox::Outbox;
use super::rate::Rate;
use super::remote::{Remote, RemoteOptions, Transport};
use super::stderr::Redactor;
use super::supervise::supervise;
use super::wire::Wire;
use crate::error::{ErrorCode, ToolError};
use crate::process::{ChildProcess, SpawnOptions};
use std::path::Path;
use std::sync::Arc;

/// Owns the way to a server: dropping it kills the server's process group, or ends the session.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) connection: Arc<Connection>,
    /// Of a server that was started here.
    pub(super) process_id: Option<u32>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.connection.kill();
    }
}

impl Server {
    /// The server of the options, over one of the two transports where it is behind an address.
    pub(super) async fn new(options: &ConnectOptions, transport: Transport) -> Result<Self, ToolError> {
        match &options.remote {
            Some(remote) => Self::reach(options, remote, transport).await,
            None => Self::start(options),
        }
    }

    async fn reach(options: &ConnectOptions, remote: &RemoteOptions, transport: Transport) -> Result<Self, ToolError> {
        let named = |error: ToolError| ToolError { message: format!("MCP server `{}`: {}", options.namespace, error.message), ..error };
        let remote_wire = Remote::new(remote, transport, options).await.map_err(named)?;
        let values = remote.headers.iter().flat_map(|(_, value)| std::iter::once(value.as_str()).chain(value.split(' ')));
        let redactor = Redactor::new(values);
        let rate = Rate::new(options.bounds.max_notifications_per_second);
        let (origin, wire) = (remote_wire.origin(), Wire::Remote(remote_wire.clone()));
        let connection = Arc::new(Connection::new(options.namespace.clone(), origin, wire, None, redactor, rate));
        remote_wire.start(connection.clone());
        Ok(Self { connection, process_id: None })
    }

    /// Starts the process and its tasks on the runtime of the caller.
    fn start(options: &ConnectOptions) -> Result<Self, ToolError> {
        let mut child = ChildProcess::spawn(&SpawnOptions {
            program: options.command.clone(),
            args: options.args.clone(),
            env: options.environment(),
            cwd: options.cwd.clone(),
            owner: options.owner,
            ..SpawnOptions::default()
        })
        .map_err(|error| {
            let is_missing = error.code == ErrorCode::ConnectionFailed && !Path::new(&options.command).exists();
            let hint = split_hint(&options.command).filter(|_| is_missing).unwrap_or_default();
            ToolError { message: format!("MCP server `{}`: {}{hint}", options.namespace, error.message), ..error }
        })?;
        let process_id = child.id();
        let redactor = Redactor::new(options.env.iter().map(|(_, value)| value.as_str()));
        // Where it lies on this machine is nothing that a model should read.
        let program = Path::new(&options.command).file_name().unwrap_or_default().to_string_lossy().escape_debug().to_string();
        let rate = Rate::new(options.bounds.max_notifications_per_second);
        let (wire, group) = (Wire::Pipe(Outbox::default()), Some(child.group()));
        let connection = Arc::new(Connection::new(options.namespace.clone(), program, wire, group, redactor, rate));
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.take_stdin(), child.take_stdout(), child.take_stderr()) else {
            return Err(ToolError::new(ErrorCode::ConnectionFailed, "The pipes to the server are missing."));
        };

        let shared = connection.clone();
        tokio::spawn(async move {
            if let Some(outbox) = shared.wire.pipe() {
                outbox.drain(stdin).await;
            }
        });
        let shared = connection.clone();
        let errors = tokio::spawn(async move { shared.stderr.fill(stderr).await });
        let shared = connection.clone();
        let mut lines = Lines::new(stdout, options.max_frame_bytes);
        let reader = tokio::spawn(async move { read(&mut lines, &shared).await });
        tokio::spawn(supervise(child, connection.clone(), reader, errors, options.max_frame_bytes));
        Ok(Self { connection, process_id: Some(process_id) })
    }
}

async fn read(lines: &mut Lines<impl tokio::io::AsyncRead + Unpin>, connection: &Connection) -> End {
    loop {
        match lines.next().await {
            Ok(line) => connection.accept(line, None),
            Err(end) => return end,
        }
    }
}
