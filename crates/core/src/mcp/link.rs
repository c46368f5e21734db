//! One life of a connection: the running server, and the session that was opened on it.

use super::connection::Connection;
use super::handshake::{Refusal, Session, open};
use super::listen::listen;
use super::options::{ConnectOptions, Protocol};
use super::reader::Server;
use super::remote::Transport;
use crate::error::{ErrorCode, ToolError};
use crate::pause::expired;
use tokio_util::sync::CancellationToken;

/// A server with an open session. Dropping it kills the server.
#[derive(Debug)]
pub(super) struct Link {
    // Before the server, so that rmcp does not see its transport fail.
    pub(super) session: Session,
    pub(super) server: Server,
}

impl Link {
    /// Starts or reaches the server and opens a session, within the time limit of the options. When `closing` fires nothing is left of it.
    pub(super) async fn open(options: &ConnectOptions, protocol: Protocol, closing: &CancellationToken) -> Result<Self, ToolError> {
        let transport = options.remote.as_ref().map_or(Transport::Auto, |remote| remote.transport);
        let mut server = Server::new(options, transport).await?;
        let opening = open_session(&mut server, options, protocol);
        let limit = options.connect_timeout.or(options.timeout);
        let opened = tokio::select! {
            opened = opening => Some(opened),
            () = expired(limit) => None,
            () = closing.cancelled() => None,
        };
        if opened.is_none() && closing.is_cancelled() {
            server.connection.kill();
            server.connection.finished.cancelled().await;
            return Err(ToolError::new(ErrorCode::Closed, server.connection.closed_message()));
        }
        let session = opened.unwrap_or_else(|| Err(not_in_time(&server.connection, limit.unwrap_or_default())))?;
        if session.changes && session.is_modern() {
            tokio::spawn(listen(server.connection.clone()));
        }
        Ok(Self { session, server })
    }

    /// What was found out about the server, for the next connection to it.
    pub(super) fn remember(&self, options: &mut ConnectOptions) {
        let (Some(found), Some(remote)) = (self.server.connection.wire.remote(), &mut options.remote) else { return };
        remote.transport = found.transport();
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.server.connection
    }
}

/// Waits for the end of a time; for ever where there is none.
async fn open_session(server: &mut Server, options: &ConnectOptions, protocol: Protocol) -> Result<Session, ToolError> {
    let protocol = begin(server, protocol).await?;
    match open(&server.connection, protocol).await {
        Ok(session) => Ok(session),
        Err(Refusal::Error(error)) if may_be_older(server, options) => {
            *server = Server::new(options, Transport::Sse).await?;
            // What the address said first is what matters, if there is no stream of events either.
            let Ok(protocol) = begin(server, Protocol::Legacy).await else { return Err(error) };
            open(&server.connection, protocol).await.map_err(|refusal| refusal.error(error))
        }
        Err(Refusal::Error(error)) => Err(with_other_transport(error, server, options)),
        Err(Refusal::Respawn) => {
            *server = Server::new(options, Transport::Auto).await?;
            match open(&server.connection, Protocol::Legacy).await {
                Ok(session) => Ok(session),
                Err(Refusal::Error(error)) => Err(error),
                Err(Refusal::Respawn) => Err(server.connection.failed().await.into()),
            }
        }
    }
}

/// Makes a server behind an address ready for messages, and says which revision to try.
async fn begin(server: &Server, protocol: Protocol) -> Result<Protocol, ToolError> {
    let Some(remote) = server.connection.wire.remote() else { return Ok(protocol) };
    remote.begin(&server.connection).await?;
    Ok(if remote.transport() == Transport::Sse { Protocol::Legacy } else { protocol })
}

/// Whether the server may know only HTTP+SSE: the address took no message, for no reason that lies elsewhere.
fn may_be_older(server: &Server, options: &ConnectOptions) -> bool {
    let open = options.remote.as_ref().is_some_and(|remote| remote.transport == Transport::Auto) && options.protocol != Protocol::Modern;
    open && takes_no_message(server)
}

fn takes_no_message(server: &Server) -> bool {
    let status = server.connection.failure().and_then(|failure| failure.http).map(|http| http.status);
    matches!(status, Some(400 | 404 | 405))
}

/// Where Streamable HTTP alone was wanted, the other transport may be what the server knows.
fn with_other_transport(mut error: ToolError, server: &Server, options: &ConnectOptions) -> ToolError {
    if options.remote.as_ref().is_some_and(|remote| remote.transport == Transport::Http) && takes_no_message(server) {
        error.message.push_str(" If it serves HTTP+SSE, which older servers do, use transport 'sse' or connectSse.");
    }
    error
}

fn not_in_time(connection: &Connection, limit: std::time::Duration) -> ToolError {
    let seconds = limit.as_secs_f64();
    let (namespace, program) = (&connection.namespace, &connection.program);
    if connection.wire.remote().is_some_and(|remote| remote.waits_for_token()) {
        let message = format!(
            "The auth callback for MCP server `{namespace}` ({program}) did not answer within {seconds:.1} s, so the server was not asked. Make it resolve or throw, or raise connectTimeoutMs."
        );
        return ToolError::new(ErrorCode::Timeout, message);
    }
    let check = match connection.wire.pipe() {
        Some(_) => "the command starts an MCP server over standard input and output",
        None => "the url is that of an MCP server",
    };
    let message = format!(
        "MCP server `{namespace}` ({program}) did not answer the handshake within {seconds:.1} s. Check that {check}, or raise connectTimeoutMs.{}{}",
        connection.collector.hint(),
        connection.stderr_note()
    );
    ToolError::new(ErrorCode::Timeout, message)
}
