//! One life of a connection: the running server, and the session that was opened on it.

use super::connection::Connection;
use super::handshake::{Refusal, Session, open};
use super::listen::listen;
use super::options::{ConnectOptions, Protocol};
use super::reader::Server;
use crate::error::{ErrorCode, ToolError};
use tokio_util::sync::CancellationToken;

/// A server with an open session. Dropping it kills the server.
#[derive(Debug)]
pub(super) struct Link {
    // Before the server, so that rmcp does not see its transport fail.
    pub(super) session: Session,
    pub(super) server: Server,
}

impl Link {
    /// Starts the server and opens a session, within the time limit of the options. When `closing` fires nothing is left of it.
    pub(super) async fn open(options: &ConnectOptions, protocol: Protocol, closing: &CancellationToken) -> Result<Self, ToolError> {
        let mut server = Server::start(options)?;
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

    pub(super) fn connection(&self) -> &Connection {
        &self.server.connection
    }
}

async fn expired(limit: Option<std::time::Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

async fn open_session(server: &mut Server, options: &ConnectOptions, protocol: Protocol) -> Result<Session, ToolError> {
    match open(&server.connection, protocol).await {
        Ok(session) => Ok(session),
        Err(Refusal::Error(error)) => Err(error),
        Err(Refusal::Respawn) => {
            *server = Server::start(options)?;
            match open(&server.connection, Protocol::Legacy).await {
                Ok(session) => Ok(session),
                Err(Refusal::Error(error)) => Err(error),
                Err(Refusal::Respawn) => Err(server.connection.failed().await.into()),
            }
        }
    }
}

fn not_in_time(connection: &Connection, limit: std::time::Duration) -> ToolError {
    let message = format!(
        "MCP server `{}` ({}) did not answer the handshake within {:.1} s. Check that the command starts an MCP server over standard input and output, or raise the timeout.{}{}",
        connection.namespace,
        connection.program,
        limit.as_secs_f64(),
        connection.collector.hint(),
        connection.stderr_note()
    );
    ToolError::new(ErrorCode::Timeout, message)
}
