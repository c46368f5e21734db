//! Streamable HTTP: the door, bounds, and what speaks the protocol behind them. This is the one place that listens.

use super::door::{self, Door};
use super::handler::Handler;
use super::{Server, Settings};
use crate::error::{ErrorCode, ToolError};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::WWW_AUTHENTICATE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use std::borrow::Cow;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

/// How long a client may take for the head of a request, and for its body.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// Bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long answers under way are waited for at the end.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// What a second waits when no connection can be taken, as where the process has too many files open.
const PAUSE: Duration = Duration::from_millis(100);

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// Where a server listens, and whom it lets in.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The address to listen at: a name or a number.
    pub host: String,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The one path.
    pub path: String,
    /// Host names that are let in; those of this machine when empty.
    pub allowed_hosts: Vec<String>,
    /// Origins of browsers that are let in; those of this machine when empty.
    pub allowed_origins: Vec<String>,
    /// Whether requests have to bring a token.
    pub has_auth: bool,
    /// Connections at once.
    pub max_connections: usize,
    /// Sessions at once, of clients of revisions before 2026-07-28.
    pub max_sessions: usize,
}

/// A server that listens.
pub struct Bound {
    listener: TcpListener,
    front: Arc<Front>,
    connections: Arc<Semaphore>,
}

struct Front {
    server: Arc<Server>,
    service: Service,
    sessions: Arc<LocalSessionManager>,
    settings: HttpSettings,
    door: Door,
}

impl Bound {
    /// Listens.
    ///
    /// # Errors
    /// `CONNECTION_FAILED` where the address is taken or not this machine's.
    pub async fn new(server: Arc<Server>, settings: HttpSettings) -> Result<Self, ToolError> {
        let failed = |error: std::io::Error| {
            ToolError::new(ErrorCode::ConnectionFailed, format!("cannot listen at {}:{}: {error}", settings.host, settings.port))
        };
        let listener = TcpListener::bind((settings.host.as_str(), settings.port)).await.map_err(failed)?;
        let sessions = Arc::new(LocalSessionManager::default());
        // The door of this file is the one that counts: it stands before the body is read.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(server.settings.max_message_bytes)
            .with_cancellation_token(server.closing.clone());
        let handler = Handler { server: Arc::clone(&server) };
        let service = Service::new(move || Ok(handler.clone()), Arc::clone(&sessions), config);
        let door = Door { hosts: settings.allowed_hosts.clone(), origins: settings.allowed_origins.clone() };
        let connections = Arc::new(Semaphore::new(settings.max_connections));
        Ok(Self { listener, front: Arc::new(Front { server, service, sessions, settings, door }), connections })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// `CONNECTION_FAILED` where the system does not say.
    pub fn address(&self) -> Result<SocketAddr, ToolError> {
        self.listener.local_addr().map_err(|error| ToolError::new(ErrorCode::ConnectionFailed, error.to_string()))
    }

    /// Serves until the server closes.
    pub async fn run(self) {
        let tasks = TaskTracker::new();
        let closing = self.front.server.closing.clone();
        loop {
            // Further clients wait in the system's queue.
            let accepting = async {
                let slot = Arc::clone(&self.connections).acquire_owned().await;
                (slot, self.listener.accept().await)
            };
            let (slot, accepted) = tokio::select! {
                () = closing.cancelled() => break,
                accepted = accepting => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let front = Arc::clone(&self.front);
                    tasks.spawn(async move {
                        serve(front, stream).await;
                        drop(slot);
                    });
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        drop(self.listener);
        tasks.close();
        let _ = tokio::time::timeout(CLOSE_LIMIT, tasks.wait()).await;
    }
}

async fn serve(front: Arc<Front>, stream: TcpStream) {
    // Small answers at once; where that cannot be had, they come a little later.
    let _ = stream.set_nodelay(true);
    let closing = front.server.closing.clone();
    let service = service_fn(move |request| {
        let front = Arc::clone(&front);
        async move { Ok::<_, Infallible>(front.answer(request).await.unwrap_or_else(|refused| refused)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_LIMIT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // How a connection ends is the client's business.
    tokio::select! {
        _ = &mut connection => return,
        () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = tokio::time::timeout(CLOSE_LIMIT, connection).await;
}

impl Front {
    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Answer> {
        if !self.door.admits(request.headers()) {
            return Err(refusal(StatusCode::FORBIDDEN, "this host or origin is not let in"));
        }
        if request.uri().path() != self.settings.path {
            return Err(refusal(StatusCode::NOT_FOUND, "there is nothing here"));
        }
        if self.settings.has_auth && !self.server.backend.admits(door::token(request.headers())).await {
            let mut answer = refusal(StatusCode::UNAUTHORIZED, "a valid bearer token is needed");
            answer.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
            return Err(answer);
        }
        let (parts, body) = request.into_parts();
        let body = read(body, &self.server.settings).await?;
        if parts.method == Method::POST && !parts.headers.contains_key("mcp-session-id") && opens_session(&body) {
            let open = self.sessions.sessions.read().await.len();
            if open >= self.settings.max_sessions {
                return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions"));
            }
        }
        Ok(self.service.handle(Request::from_parts(parts, Full::new(body))).await)
    }
}

async fn read(body: Incoming, settings: &Settings) -> Result<Bytes, Answer> {
    let body = Limited::new(body, settings.max_message_bytes).collect();
    match tokio::time::timeout(READ_LIMIT, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or broke off")),
        Err(_) => Err(refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}

fn opens_session(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Option<Cow<'a, str>>,
    }
    serde_json::from_slice::<Message<'_>>(body).is_ok_and(|message| message.method.as_deref() == Some("initialize"))
}

fn refusal(status: StatusCode, words: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *answer.status_mut() = status;
    // What is left of a body that was not read would be taken for the next request.
    answer.headers_mut().insert(hyper::header::CONNECTION, hyper::header::HeaderValue::from_static("close"));
    answer
}
