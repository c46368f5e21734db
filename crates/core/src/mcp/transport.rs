//! rmcp's side of the wire: its requests go out beside the calls, and only what belongs to it comes in.

use super::connection::Connection;
use super::frame::Envelope;
use super::outbox::Refused;
use super::remote::{INITIALIZE, INITIALIZED, Remote};
use super::text::json_string;
use super::wire::{Outgoing, Undelivered, Wire};
use crate::http::Headers;
use futures_util::FutureExt;
use parking_lot::Mutex;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientJsonRpcMessage, ClientResult, ErrorCode, ErrorData, Implementation, NumberOrString,
    ProtocolVersion, ServerJsonRpcMessage, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::future::{Future, ready};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Messages that may wait for rmcp.
const INBOX: usize = 256;
/// Of these, how many only replies may take, so that a flood of requests keeps none out.
const RESERVED: usize = 64;

/// The way to rmcp for what comes in.
#[derive(Debug, Default)]
pub(super) struct Engine {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    inbox: Option<mpsc::Sender<ServerJsonRpcMessage>>,
    waiting: HashSet<u64>,
}

impl Engine {
    fn open(&self) -> mpsc::Receiver<ServerJsonRpcMessage> {
        let (sender, receiver) = mpsc::channel(INBOX);
        *self.state.lock() = State { inbox: Some(sender), waiting: HashSet::new() };
        receiver
    }

    /// Ends rmcp's loop.
    pub(super) fn close(&self) {
        self.state.lock().inbox = None;
    }

    /// How many requests of rmcp wait for a reply.
    pub(super) fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    pub(super) fn waits_for(&self, id: u64) -> bool {
        self.state.lock().waiting.contains(&id)
    }

    /// Hands over a reply, if rmcp waits for one with this id: it would take any other one for a breach during the handshake.
    pub(super) fn reply(&self, id: u64, text: &str) -> bool {
        let mut state = self.state.lock();
        if !state.waiting.remove(&id) {
            return false;
        }
        let message = serde_json::from_str(text).unwrap_or_else(|_| {
            // Without this rmcp would wait for ever.
            let number = NumberOrString::Number(i64::try_from(id).unwrap_or_default());
            ServerJsonRpcMessage::error(ErrorData::internal_error("the reply is no valid JSON-RPC 2.0 message", None), Some(number))
        });
        state.inbox.as_ref().is_some_and(|inbox| inbox.try_send(message).is_ok())
    }

    /// Hands over an error without id.
    pub(super) fn anonymous_error(&self, text: &str) -> bool {
        let mut state = self.state.lock();
        state.waiting.clear();
        let Ok(message) = serde_json::from_str(text) else { return false };
        state.inbox.as_ref().is_some_and(|inbox| inbox.try_send(message).is_ok())
    }

    /// Hands over a request or notification, unless too many wait already.
    pub(super) fn forward(&self, text: &str) -> bool {
        let Some(inbox) = self.state.lock().inbox.clone() else { return false };
        if inbox.capacity() <= RESERVED {
            return false;
        }
        serde_json::from_str(text).is_ok_and(|message| inbox.try_send(message).is_ok())
    }
}

/// The transport that rmcp is given. It may be dropped and made anew on the same connection.
pub(super) struct EngineTransport {
    connection: Arc<Connection>,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl EngineTransport {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        let inbox = connection.engine.open();
        Self { connection, inbox }
    }
}

impl Transport<RoleClient> for EngineTransport {
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let id = match &item {
            ClientJsonRpcMessage::Request(request) => match request.id {
                NumberOrString::Number(id) => u64::try_from(id).ok(),
                NumberOrString::String(_) => None,
            },
            _ => None,
        };
        if let Some(id) = id {
            self.connection.engine.state.lock().waiting.insert(id);
        }
        let frame = match serde_json::to_string(&item) {
            Ok(frame) => frame,
            Err(error) => return ready(Err(io::Error::other(error))).boxed(),
        };
        match &self.connection.wire {
            // At once, and not when the future is awaited: messages go out in order.
            Wire::Pipe(outbox) => ready(outbox.push(&frame).map_err(|refused| match refused {
                Refused::Closed => io::Error::from(io::ErrorKind::BrokenPipe),
                Refused::Full => io::Error::other("the server does not read its input"),
            }))
            .boxed(),
            Wire::Remote(remote) => post(self.connection.clone(), remote.clone(), frame, id).boxed(),
        }
    }

    fn receive(&mut self) -> impl Future<Output = Option<ServerJsonRpcMessage>> + Send {
        self.inbox.recv()
    }

    // The process outlives rmcp's interest in it; who connected closes it.
    fn close(&mut self) -> impl Future<Output = Result<(), io::Error>> + Send {
        ready(Ok(()))
    }
}

/// Sends a message of rmcp over HTTP. What opens a session and fails ends the connection, with the reason that rmcp could not pass on.
async fn post(connection: Arc<Connection>, remote: Arc<Remote>, frame: String, id: Option<u64>) -> Result<(), io::Error> {
    let envelope = Envelope::parse(&frame);
    let method = envelope.as_ref().and_then(|envelope| envelope.method).and_then(json_string).unwrap_or_default();
    if method == INITIALIZE
        && let Some(params) = envelope.and_then(|envelope| envelope.params)
    {
        remote.remember_handshake(params.get());
    }
    let outgoing = Outgoing { frame, id, method: &method, name: None, headers: Headers::default() };
    let Err(undelivered) = connection.deliver(outgoing).await else { return Ok(()) };
    let error = io::Error::other("the message was not delivered");
    match undelivered {
        Undelivered::Failed { failure, .. } if matches!(method.as_str(), INITIALIZE | INITIALIZED) => {
            connection.fail_with(failure);
            Err(error)
        }
        _ => {
            if let Some(id) = id {
                // An answer that cannot be read, so that nobody waits for ever.
                connection.engine.reply(id, "");
            }
            Ok(())
        }
    }
}

/// What we say of ourselves, and what a server gets that asks something of us: nothing, as long as nobody is there to be asked.
#[derive(Clone, Debug)]
pub(super) struct Handler;

/// The name and version that servers see.
pub(super) const CLIENT_NAME: &str = "toolbolt";
pub(super) const CLIENT_VERSION: &str = env!("CARGO_PKG_VERSION");

impl Service<RoleClient> for Handler {
    async fn handle_request(&self, request: ServerRequest, _context: RequestContext<RoleClient>) -> Result<ClientResult, ErrorData> {
        match request {
            ServerRequest::PingRequest(_) => Ok(ClientResult::empty(())),
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)),
        }
    }

    async fn handle_notification(&self, _: ServerNotification, _: NotificationContext<RoleClient>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(CLIENT_NAME, CLIENT_VERSION))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
