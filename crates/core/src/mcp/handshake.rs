//! Finding out which revision a server speaks, and opening the session.
//!
//! A server is asked with `server/discover` first. If it answers with anything but a refusal of the newest revisions, or keeps silent, the
//! `initialize` handshake of the older ones follows on the same process; a server that ends over the question is started again without it. Over HTTP both are requests like any other.

use super::connection::{Connection, Failure};
use super::lane::{NoResult, Request, request};
use super::options::Protocol;
use super::revision::{HEADER_MISMATCH, LEGACY, MISSING_CAPABILITY, MODERN, UNSUPPORTED_VERSION};
use super::text::quoted;
use super::transport::{CLIENT_NAME, CLIENT_VERSION, EngineTransport, Handler};
use crate::error::{ErrorCode, ToolError};
use crate::sanitize::{clean_prose, clean_text};
use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerPeerInfo};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, serve_client, serve_directly};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// How long an answer to `server/discover` is waited for before `initialize` is sent as well. An answer that comes later still counts: a
/// server that starts slowly has both requests before it.
const PROBE: Duration = Duration::from_secs(2);
/// The same over HTTP, where silence is rare: a server answers what it does not know.
const REMOTE_PROBE: Duration = Duration::from_secs(10);
/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    /// Runs as long as this is held.
    pub(super) _service: RunningService<RoleClient, Handler>,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    /// The server says when its tools change.
    pub(super) changes: bool,
}

impl Session {
    /// What to speak with the same server another time: what is not pinned was found out.
    pub(super) fn era(&self, asked: Protocol) -> Protocol {
        match asked {
            Protocol::Auto if self.is_modern() => Protocol::Modern,
            Protocol::Auto => Protocol::Legacy,
            pinned => pinned,
        }
    }

    /// Whether it is of a revision without a handshake.
    pub(super) fn is_modern(&self) -> bool {
        self.version == MODERN
    }
}

/// Why there is no session.
pub(super) enum Refusal {
    /// The server ended over the question which revision it speaks.
    Respawn,
    Error(ToolError),
}

impl Refusal {
    /// The error, or another one where it says nothing.
    pub(super) fn error(self, otherwise: ToolError) -> ToolError {
        match self {
            Self::Error(error) => error,
            Self::Respawn => otherwise,
        }
    }
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self::Error(error)
    }
}

enum Verdict {
    Modern(Discovered),
    Legacy,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
    #[serde(default)]
    capabilities: serde_json::Value,
    instructions: Option<String>,
}

/// Opens the session. Has no time limit of its own.
pub(super) async fn open(connection: &Arc<Connection>, protocol: Protocol) -> Result<Session, Refusal> {
    if protocol == Protocol::Legacy {
        return Ok(initialize(connection).await?);
    }
    let mut probe = std::pin::pin!(discover(connection));
    if protocol == Protocol::Modern {
        return match judge(connection, probe.await)? {
            Verdict::Modern(found) => Ok(modern(connection, found)),
            Verdict::Legacy => {
                Err(refused(connection, "does not speak revision 2026-07-28, which was asked for. Use protocol 'auto'").into())
            }
        };
    }
    let patience = if connection.wire.pipe().is_some() { PROBE } else { REMOTE_PROBE };
    match tokio::time::timeout(patience, &mut probe).await {
        Ok(Err(NoResult::Gone(_) | NoResult::NotSent(_))) if connection.wire.pipe().is_some() => Err(Refusal::Respawn),
        Ok(answer) => match judge(connection, answer)? {
            Verdict::Modern(found) => Ok(modern(connection, found)),
            Verdict::Legacy => Ok(initialize(connection).await?),
        },
        Err(_) => {
            let mut legacy = std::pin::pin!(initialize(connection));
            tokio::select! {
                biased;
                answer = &mut probe => match answer {
                    Err(NoResult::Gone(_) | NoResult::NotSent(_)) if connection.wire.pipe().is_some() => Err(Refusal::Respawn),
                    answer => match judge(connection, answer)? {
                        Verdict::Modern(found) => Ok(modern(connection, found)),
                        Verdict::Legacy => Ok(legacy.await?),
                    },
                },
                session = &mut legacy => Ok(session?),
            }
        }
    }
}

/// Asks which revisions the server speaks. One that refuses this one is asked once more: it may have refused the client's first choice,
/// and we have no other that it could answer the question in.
async fn discover(connection: &Connection) -> Result<Box<RawValue>, NoResult> {
    let meta = modern_meta();
    let question = || Request { method: "server/discover", meta: &meta, quiet: true, ..Request::default() };
    match request(connection, question()).await {
        Err(NoResult::Error { code: UNSUPPORTED_VERSION, .. }) => request(connection, question()).await,
        answer => answer,
    }
}

/// What the answer to `server/discover` says about the server.
fn judge(connection: &Arc<Connection>, answer: Result<Box<RawValue>, NoResult>) -> Result<Verdict, ToolError> {
    match answer {
        Ok(result) => {
            // Anything else comes from a server that answers every method with something.
            let Ok(found) = serde_json::from_str::<Discovered>(result.get()) else { return Ok(Verdict::Legacy) };
            if found.supported_versions.iter().any(|version| version == MODERN) {
                Ok(Verdict::Modern(found))
            } else if found.supported_versions.iter().any(|version| LEGACY.contains(&version.as_str())) {
                Ok(Verdict::Legacy)
            } else {
                Err(unknown_version(connection, &found.supported_versions.join(", ")))
            }
        }
        // Without the newest revision it may still have one with a handshake; if not, `initialize` gives the same refusal.
        Err(NoResult::Error { code: UNSUPPORTED_VERSION, .. }) => Ok(Verdict::Legacy),
        Err(NoResult::Error { code: code @ (HEADER_MISMATCH | MISSING_CAPABILITY), message }) => {
            Err(refused(connection, &format!("refuses this client: {message} (code {code})")))
        }
        Err(NoResult::Error { .. }) => Ok(Verdict::Legacy),
        // Over HTTP this was one exchange, and the next one may go better.
        Err(NoResult::Gone(failure) | NoResult::NotSent(failure)) if is_about_the_question(&failure) => Ok(Verdict::Legacy),
        Err(NoResult::Gone(failure) | NoResult::NotSent(failure)) => Err(failure.into()),
        Err(NoResult::TimedOut(_) | NoResult::NoTurn(_) | NoResult::Cancelled { .. } | NoResult::Blocked) => Ok(Verdict::Legacy),
    }
}

/// Whether a server that knows only the older revisions might answer a question of the newest one like this.
fn is_about_the_question(failure: &Failure) -> bool {
    failure.http.is_some_and(|http| matches!(http.status, 200 | 400 | 404 | 405 | 406 | 415 | 422 | 500 | 501))
}

fn modern(connection: &Arc<Connection>, found: Discovered) -> Session {
    if let Some(remote) = connection.wire.remote() {
        remote.set_modern();
    }
    // Set once per connection; a second session on it is not opened.
    drop(connection.meta.set(modern_meta()));
    let changes = found.capabilities.pointer("/tools/listChanged").and_then(serde_json::Value::as_bool).unwrap_or_default();
    let capabilities = serde_json::from_value::<ServerCapabilities>(found.capabilities).unwrap_or_default();
    let info = ServerPeerInfo::new(ProtocolVersion::V_2026_07_28, capabilities);
    Session {
        _service: serve_directly(Handler, EngineTransport::new(connection.clone()), Some(info)),
        version: MODERN.to_owned(),
        instructions: found.instructions,
        changes,
    }
}

async fn initialize(connection: &Arc<Connection>) -> Result<Session, ToolError> {
    let service = match serve_client(Handler, EngineTransport::new(connection.clone())).await {
        Ok(service) => service,
        Err(ClientInitializeError::JsonRpcError(error)) => {
            let message = clean_prose(&error.message, 500);
            return Err(refused(connection, &format!("refused the handshake: {message} (code {})", error.code.0)));
        }
        Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }) => {
            return Err(connection.failed().await.into());
        }
        Err(_) => return Err(refused(connection, "answered the handshake with something that is no result of `initialize`")),
    };
    let Some(info) = service.peer().peer_info() else { return Err(refused(connection, "did not say who it is")) };
    let version = info.protocol_version.as_str();
    if version == MODERN {
        drop(connection.meta.set(modern_meta()));
        if let Some(remote) = connection.wire.remote() {
            remote.set_modern();
        }
    } else if !LEGACY.contains(&version) {
        return Err(unknown_version(connection, version));
    }
    let changes = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed).unwrap_or_default();
    Ok(Session { version: version.to_owned(), instructions: info.instructions.clone(), changes, _service: service })
}

/// Members of `_meta` that each request of the newest revision carries.
fn modern_meta() -> String {
    format!(
        r#""io.modelcontextprotocol/protocolVersion":{},"io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":{},"version":{}}},"#,
        quoted(MODERN),
        quoted(CLIENT_NAME),
        quoted(CLIENT_VERSION)
    )
}

fn unknown_version(connection: &Connection, version: &str) -> ToolError {
    let version = clean_text(version, 200);
    let known = LEGACY.join(", ");
    let message = format!(
        "MCP server `{}` speaks protocol version {version}, which this client does not know. It knows {MODERN}, {known}. Use another version of the server or of this package.",
        connection.namespace
    );
    ToolError::new(ErrorCode::ConnectionFailed, connection.redactor.redact(&message))
}

fn refused(connection: &Connection, what: &str) -> ToolError {
    let message = format!(
        "MCP server `{}` ({}) {what}.{}{}",
        connection.namespace,
        connection.program,
        connection.collector.hint(),
        connection.stderr_note()
    );
    ToolError::new(ErrorCode::ConnectionFailed, connection.redactor.redact(&message))
}
