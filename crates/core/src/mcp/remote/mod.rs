//! Servers behind an address: Streamable HTTP, and HTTP+SSE of revision 2024-11-05.
//!
//! rmcp sees nothing of HTTP. What it and the lane send becomes one POST each, and whoever waits for the answer drives the exchange;
//! what comes back is handed to the connection as if it had come over a pipe.

mod address;
mod auth;
mod exchange;
mod health;
mod legacy;
mod listen;
mod options;
mod params;
mod session;
mod stream;
mod trouble;

pub use auth::{GivenToken, NoToken, TokenReason, TokenSource};
pub use options::{RemoteOptions, Transport};
pub(super) use params::{Mirrored, mirrored};
pub(super) use session::{INITIALIZE, INITIALIZED};

use super::connection::Connection;
use super::options::ConnectOptions;
use super::outbox::Refused;
use super::supervise::Finish;
use super::wire::Outgoing;
use crate::error::{ErrorCode, ToolError};
use crate::http::{Bounds, Client, Headers, HttpError, Redirects, Request, Url};
use auth::{Auth, Token};
use health::Health;
use legacy::Endpoint;
use params::Params;
use session::{Seen, Session};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The longest time to reach a server, its name and TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// Redirects that are followed.
const REDIRECTS: usize = 3;
/// Answers and notifications of ours under way at the same time; more are dropped.
const MAX_COURTESIES: usize = 32;
/// For each of them, and for the end of a session.
const COURTESY: Duration = Duration::from_secs(5);
/// For the end of a session when the connection is closed.
const FAREWELL: Duration = Duration::from_secs(2);

/// The way to one server behind an address.
pub(super) struct Remote {
    client: Client,
    url: Url,
    headers: Headers,
    auth: Option<Auth>,
    courtesies: Arc<Semaphore>,
    health: Health,
    mode: Mode,
    runtime: Handle,
    closed: CancellationToken,
}

/// How messages travel.
enum Mode {
    Streamable(Box<Streamable>),
    Events(Endpoint),
}

/// What Streamable HTTP has beside its requests.
#[derive(Default)]
struct Streamable {
    session: Session,
    params: Params,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Remote").field("address", &address::shown(&self.url)).finish_non_exhaustive()
    }
}

/// Checks what does not need the network.
pub(super) fn check(options: &RemoteOptions) -> Result<(), ToolError> {
    address::url(options)?;
    address::headers(options).map(drop)
}

impl Remote {
    /// A way that is not used yet. `transport` is either of the two that are none to be found out.
    pub(super) async fn new(options: &RemoteOptions, transport: Transport, client: &ConnectOptions) -> Result<Arc<Self>, ToolError> {
        let url = address::url(options)?;
        let headers = address::headers(options)?;
        let bounds = Bounds {
            connect_timeout: client.connect_timeout.map_or(CONNECT, |limit| limit.min(CONNECT)),
            redirects: Redirects::Repeating(REDIRECTS),
            body_bytes: client.max_frame_bytes,
        };
        let client = Client::new(bounds, &*options.surroundings).await.map_err(|error| {
            let message = match error {
                HttpError::Proxy => {
                    "A variable of the environment, such as HTTPS_PROXY, names a proxy that is no URL. Correct or remove it."
                }
                _ => "The certificates that say which servers to trust could not be read.",
            };
            ToolError::new(ErrorCode::ConnectionFailed, message)
        })?;
        Ok(Arc::new(Self {
            client,
            headers,
            auth: options.auth.clone().map(|source| Auth::new(source, url.to_string())),
            url,
            courtesies: Arc::new(Semaphore::new(MAX_COURTESIES)),
            health: Health::default(),
            mode: match transport {
                Transport::Sse => Mode::Events(Endpoint::default()),
                Transport::Auto | Transport::Http => Mode::Streamable(Box::default()),
            },
            runtime: Handle::current(),
            closed: CancellationToken::new(),
        }))
    }

    /// Scheme, host, port and path, as far as it may be shown.
    pub(super) fn origin(&self) -> String {
        address::shown(&self.url)
    }

    pub(super) fn transport(&self) -> Transport {
        match self.mode {
            Mode::Streamable(_) => Transport::Http,
            Mode::Events(_) => Transport::Sse,
        }
    }

    fn session(&self) -> Option<&Session> {
        match &self.mode {
            Mode::Streamable(streamable) => Some(&streamable.session),
            Mode::Events(_) => None,
        }
    }

    /// Whether a request is cancelled by ending its exchange, with nothing said.
    pub(super) fn cancels_by_closing(&self) -> bool {
        self.session().is_some_and(Session::is_modern)
    }

    /// Whether the last exchange failed, so that the server may be away.
    pub(super) fn is_troubled(&self) -> bool {
        self.health.is_troubled()
    }

    /// Whether a token is waited for that the application has not given.
    pub(super) fn waits_for_token(&self) -> bool {
        self.auth.as_ref().is_some_and(Auth::is_unanswered)
    }

    /// The server speaks the revision without sessions.
    pub(super) fn set_modern(&self) {
        if let Some(session) = self.session() {
            session.set_modern();
        }
    }

    /// The params of `initialize`, to open a session anew with.
    pub(super) fn remember_handshake(&self, params: &str) {
        if let Some(session) = self.session() {
            session.remember_handshake(params);
        }
    }

    /// Whether arguments are mirrored in headers.
    pub(super) fn mirrors(&self) -> bool {
        self.cancels_by_closing()
    }

    /// Which arguments are mirrored from now on.
    pub(super) fn set_mirrored(&self, tools: HashMap<String, Vec<Mirrored>>) {
        if let Mode::Streamable(streamable) = &self.mode {
            streamable.params.replace(tools);
        }
    }

    /// The headers of a call.
    pub(super) fn mirrored(&self, remote_name: &str, arguments: &str) -> Headers {
        match &self.mode {
            Mode::Streamable(streamable) if self.mirrors() => streamable.params.of(remote_name, arguments),
            _ => Headers::default(),
        }
    }

    /// Serves the connection from now on, until it is closed or has failed.
    pub(super) fn start(self: Arc<Self>, connection: Arc<Connection>) {
        tokio::spawn(async move {
            let _finish = Finish(connection.clone());
            tokio::select! {
                () = connection.closing.cancelled() => {}
                _ = connection.failed() => {}
                () = self.serve(&connection) => {}
            }
            // A server forgets a session that nobody ends, some day.
            drop(timeout(FAREWELL, self.end_session()).await);
            self.client.rest();
        });
    }

    /// Waits until messages can be sent.
    pub(super) async fn begin(&self, connection: &Connection) -> Result<(), ToolError> {
        match &self.mode {
            Mode::Streamable(_) => Ok(()),
            Mode::Events(endpoint) => endpoint.open(self, connection).await,
        }
    }

    /// Reads what belongs to no exchange, as long as there is anything to read.
    async fn serve(&self, connection: &Connection) {
        match &self.mode {
            Mode::Streamable(streamable) => listen::listen(self, &streamable.session, connection).await,
            Mode::Events(endpoint) => endpoint.read(self, connection).await,
        }
    }

    async fn end_session(&self) {
        let Some(seen) = self.session().map(Session::seen).filter(|seen| seen.id.is_some()) else { return };
        let Ok(token) = self.token().await else { return };
        let request = self.dress(self.client.delete(self.url.clone()), &seen, token.as_ref());
        // Some servers do not allow it, which is their right.
        drop(request.send().await);
    }

    /// Nothing is sent any more.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Sends an answer or a notification, whose fate nobody waits for.
    pub(super) fn courtesy(self: &Arc<Self>, frame: &str) -> Result<(), Refused> {
        if self.closed.is_cancelled() {
            return Err(Refused::Closed);
        }
        let Ok(permit) = Arc::clone(&self.courtesies).try_acquire_owned() else { return Err(Refused::Full) };
        let (remote, frame) = (self.clone(), frame.to_owned());
        self.runtime.spawn(async move {
            let _permit = permit;
            let sending = async {
                let Ok(token) = remote.token().await else { return };
                let outgoing = Outgoing { frame, id: None, method: "notifications/cancelled", name: None, headers: Headers::default() };
                if let Some(request) = remote.post(&outgoing, &remote.seen(), token.as_ref())
                    && let Ok(reply) = request.send().await
                {
                    // To its end, so that the connection can be used again.
                    drop(reply.text().await);
                }
            };
            drop(timeout(COURTESY, sending).await);
        });
        Ok(())
    }

    async fn token(&self) -> Result<Option<Token>, Arc<NoToken>> {
        match &self.auth {
            None => Ok(None),
            Some(auth) => auth.token().await.map(Some),
        }
    }

    fn seen(&self) -> Seen {
        self.session().map(Session::seen).unwrap_or_default()
    }

    /// A POST with its headers. `None` as long as there is nowhere to send it to.
    fn post(&self, outgoing: &Outgoing<'_>, seen: &Seen, token: Option<&Token>) -> Option<Request<'_>> {
        let url = match &self.mode {
            Mode::Streamable(_) => self.url.clone(),
            Mode::Events(endpoint) => endpoint.url()?,
        };
        let mut request = self.dress(self.client.post(url), &seen.of(outgoing.method), token);
        request = request.header("accept", "application/json, text/event-stream").json_text(outgoing.frame.clone());
        if seen.of(outgoing.method).is_modern() {
            request = request.header("mcp-method", outgoing.method);
            if let Some(name) = outgoing.name {
                request = request.header("mcp-name", &params::encoded(name));
            }
            request = request.headers(&outgoing.headers);
        }
        Some(request)
    }

    /// A GET for a stream of events.
    fn get(&self, seen: &Seen, token: Option<&Token>, last_event: Option<&str>) -> Request<'_> {
        let request = self.dress(self.client.get(self.url.clone()), seen, token).header("accept", "text/event-stream");
        match last_event {
            Some(id) => request.header("last-event-id", id),
            None => request,
        }
    }

    /// The headers of every request.
    fn dress<'a>(&self, request: Request<'a>, seen: &Seen, token: Option<&Token>) -> Request<'a> {
        let mut request = request.headers(&self.headers);
        if let Some(version) = &seen.version {
            request = request.header("mcp-protocol-version", version);
        }
        if let Some(id) = &seen.id {
            request = request.secret_header("mcp-session-id", id);
        }
        match token {
            Some(token) => request.headers(&token.header),
            None => request,
        }
    }
}
