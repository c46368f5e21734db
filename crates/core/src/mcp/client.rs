//! The client of one server: connecting, calling, closing.

use super::catalog::Listing;
use super::diagnostics::Diagnostics;
use super::lane::{HARD_LIMIT, NoResult, Request, request};
use super::life::{Life, Phase, keep};
use super::link::Link;
use super::options::ConnectOptions;
use super::output::OutputSchema;
use super::pins::{Admission, Subject};
use super::refresh::{self, Lists, OnTools};
use super::result;
use super::revision::HEADER_MISMATCH;
use super::text::quoted;
use crate::error::{ErrorCode, ToolError};
use crate::pause::expired;
use crate::response::ToolResponse;
use crate::tool::CallContext;
use parking_lot::RwLock;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Times that a server may want the same call again with a state of its own.
const MAX_ROUNDS: usize = 10;

/// What a client is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// The server went away and is being started anew. Calls wait for it.
    Connecting,
    /// Calls are served.
    Ready,
    /// The server went away by itself. Calls fail until it was started anew, or try to reach it again where it is behind an address.
    Degraded,
    /// It was closed. Calls fail.
    Closed,
}

/// A connection to a server that runs as a child process or behind an address. Dropping the last handle kills the server's process group
/// at once; [`McpClient::close`] gives it time to end by itself.
#[derive(Debug)]
pub struct McpClient {
    link: RwLock<Arc<Link>>,
    pub(super) options: Arc<ConnectOptions>,
    pub(super) life: Arc<Life>,
    pub(super) lists: Lists,
    turns: Semaphore,
    pub(super) admission: Admission,
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.life.closing.cancel();
    }
}

/// The right to make one call, and the connection to make it on.
struct Turn<'a> {
    link: Arc<Link>,
    patience: Option<Duration>,
    _permit: SemaphorePermit<'a>,
}

impl Turn<'_> {
    /// Whether arguments travel as headers too.
    fn mirrors(&self) -> bool {
        self.link.connection().wire.remote().is_some_and(|remote| remote.mirrors())
    }
}

/// JSON without line feeds: one ends a message, and outside of strings it is a blank.
fn on_one_line(json: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', json.as_bytes()) {
        Some(_) => json.replace(['\n', '\r'], " ").into(),
        None => json.into(),
    }
}

impl McpClient {
    /// Starts the server and opens a session, on the tokio runtime of the caller, which needs I/O and time. The tasks that serve the
    /// connection stay on that runtime.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidName`] and [`ErrorCode::InvalidOptions`] for the options. [`ErrorCode::ConnectionFailed`] where the program
    /// cannot be started, ends, breaks the protocol or speaks none of its known versions, and [`ErrorCode::Timeout`] where it does not
    /// answer in time; the message then gives its exit status and the end of its standard error, without the values of given variables.
    pub async fn connect(options: ConnectOptions) -> Result<Arc<Self>, ToolError> {
        options.check()?;
        let life = Arc::new(Life::new());
        let link = Link::open(&options, options.protocol, &life.closing).await?;
        let mut options = options;
        link.remember(&mut options);
        let options = Arc::new(options);
        let client = Arc::new(Self {
            link: RwLock::new(Arc::new(link)),
            turns: Semaphore::new(options.bounds.max_in_flight.min(Semaphore::MAX_PERMITS)),
            options: options.clone(),
            life: life.clone(),
            lists: Lists::default(),
            admission: Admission::default(),
        });
        tokio::spawn(keep(Arc::downgrade(&client), life.clone(), options));
        tokio::spawn(refresh::follow(Arc::downgrade(&client), life));
        Ok(client)
    }

    /// The connection as it is now. Whoever holds it keeps it open.
    pub(super) fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link.read())
    }

    pub(super) fn replace_link(&self, link: Arc<Link>) {
        *self.link.write() = link;
    }

    /// The options it was connected with.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// The version of the protocol that both sides speak.
    pub fn protocol_version(&self) -> String {
        self.link().session.version.clone()
    }

    /// What the server says about its own use, as it came: text from outside.
    pub fn instructions(&self) -> Option<String> {
        self.link().session.instructions.clone()
    }

    /// The process id of the server, which is also the id of its group; of the last one while there is none. A server behind an address
    /// has none.
    pub fn process_id(&self) -> Option<u32> {
        self.link().server.process_id
    }

    /// Whether calls are served.
    pub fn state(&self) -> ClientState {
        let failure = self.link().connection().failure();
        if self.life.closing.is_cancelled() || failure.as_ref().is_some_and(|failure| failure.code == ErrorCode::Closed) {
            return ClientState::Closed;
        }
        match self.life.phase() {
            Phase::Starting => ClientState::Connecting,
            Phase::Up if self.link().connection().wire.remote().is_some_and(|remote| remote.is_troubled()) => ClientState::Degraded,
            Phase::Up if failure.is_none() => ClientState::Ready,
            // It may have ended without a word; whoever looks after it is told soon.
            Phase::Over if failure.is_none() => ClientState::Ready,
            _ => ClientState::Degraded,
        }
    }

    /// What last went wrong with the connection: how the server ended, why it could not be started anew, why a listing that it called for
    /// was refused. Stays after a recovery.
    pub fn last_error(&self) -> Option<ToolError> {
        self.life.last_error()
    }

    /// What was noticed on the connection so far.
    pub fn diagnostics(&self) -> Diagnostics {
        let link = self.link();
        let connection = link.connection();
        connection.collector.report(&connection.namespace, connection.stderr.tail(&connection.redactor))
    }

    /// Who hears when a listing differs from the one before: one that the server called for, one after it was started anew, and one that
    /// somebody asked for. One listener at a time.
    pub fn on_tools(&self, listener: Option<OnTools>) {
        self.lists.set_listener(listener);
    }

    /// Asks the server for its tools, and holds them to the pins of the options.
    ///
    /// # Errors
    ///
    /// Where the server cannot be asked or answers with something else. A bad definition is no error: it is skipped and reported.
    /// `PIN_MISMATCH` where the tools are not those that were approved.
    pub async fn list_tools(self: &Arc<Self>) -> Result<Listing, ToolError> {
        refresh::list(self).await
    }

    /// Calls a tool by its remote name, past any pins. `arguments` is the JSON text of an object and is sent as it is. Without a timeout in
    /// the context the one of the options holds. Progress restarts the time, up to ten times the whole, and arrives in order and before the
    /// result; the callback runs on the task that reads, so it has to be quick. A call that is cancelled, runs out of time or is dropped is
    /// cancelled at the server.
    pub async fn call(self: &Arc<Self>, remote_name: &str, arguments: &str, context: &CallContext) -> ToolResponse {
        self.call_listed(remote_name, arguments, context, context.timeout, None).await
    }

    /// The same, but where the options have pins a tool that is not approved is refused.
    pub async fn call_approved(self: &Arc<Self>, remote_name: &str, arguments: &str, context: &CallContext) -> ToolResponse {
        let subject = Subject { name: remote_name, remote_name, fingerprint: None };
        self.call_tool(subject, arguments, context, None).await
    }

    /// The same for a tool that was loaded: `output` is what the structured content of its results is like.
    pub(super) async fn call_tool(
        self: &Arc<Self>,
        subject: Subject<'_>,
        arguments: &str,
        context: &CallContext,
        output: Option<&OutputSchema>,
    ) -> ToolResponse {
        let started = Instant::now();
        if let Err(refused) = self.admit(subject, context).await {
            return refused;
        }
        let rest = context.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
        self.call_listed(subject.remote_name, arguments, context, rest, output).await
    }

    async fn call_listed(
        self: &Arc<Self>,
        remote_name: &str,
        arguments: &str,
        context: &CallContext,
        timeout: Option<Duration>,
        output: Option<&OutputSchema>,
    ) -> ToolResponse {
        let arguments = match serde_json::from_str::<&RawValue>(arguments) {
            Ok(raw) if raw.get().starts_with('{') => on_one_line(raw.get()),
            _ => {
                let text = self.words().about("tool.msg.mcp.no_object");
                return ToolResponse::failed(ErrorCode::InvalidArguments, text, false);
            }
        };
        let turn = match self.turn(timeout.or(self.options.timeout), context).await {
            Ok(turn) => turn,
            Err(why) => return result::failure(why, &self.words()),
        };
        let mut state: Option<Box<RawValue>> = None;
        let mut listed_again = false;
        let started = Instant::now();
        for _ in 0..=MAX_ROUNDS {
            let sending = self.send(&turn, remote_name, &arguments, state.as_deref(), context);
            // The first request has a limit of its own, and no number of further ones makes it longer.
            let rest = turn.patience.map(|patience| patience.saturating_mul(HARD_LIMIT).saturating_sub(started.elapsed()));
            let answer = tokio::select! {
                biased;
                answer = sending => answer,
                () = expired(rest), if state.is_some() || listed_again => Err(NoResult::TimedOut(started.elapsed())),
            };
            match answer {
                // The server's tools want other headers than those that were listed; it has not run anything.
                Err(NoResult::Error { code: HEADER_MISMATCH, .. }) if !listed_again && turn.mirrors() => {
                    listed_again = true;
                    let listed = self.within(turn.patience, context, self.list_tools()).await;
                    if let Err(refused) = listed.and_then(|listed| listed.map_err(|error| self.refusal(&error))) {
                        return refused;
                    }
                }
                Err(why) => {
                    self.note(&turn, &why);
                    // What was sent before may have had its effect.
                    let why = match why {
                        NoResult::NotSent(failure) if state.is_some() => NoResult::Gone(failure),
                        NoResult::Cancelled { sent } => NoResult::Cancelled { sent: sent || state.is_some() },
                        why => why,
                    };
                    return result::failure(why, &self.words());
                }
                Ok(raw) => match result::to_be_continued(&raw) {
                    Some(next) => state = Some(next),
                    None => {
                        let collector = &turn.link.connection().collector;
                        let promise = output.map(|schema| result::Promise { schema, tool: remote_name, collector });
                        return self.options.bounds.apply(result::response(&raw, &self.words(), promise.as_ref()), &self.options.prompts);
                    }
                },
            }
        }
        ToolResponse::failed(ErrorCode::ExecutionFailed, self.words().about("tool.msg.mcp.unsupported"), true)
    }

    /// Finds something out for a call that was not made yet, within its own time.
    pub(super) async fn within<T>(
        &self,
        patience: Option<Duration>,
        context: &CallContext,
        work: impl Future<Output = T>,
    ) -> Result<T, ToolResponse> {
        tokio::select! {
            biased;
            () = context.cancelled.cancelled() => Err(result::failure(NoResult::Cancelled { sent: false }, &self.words())),
            done = work => Ok(done),
            () = expired(patience) => Err(self.refusal(&ToolError::new(ErrorCode::Timeout, "The tools were not listed in time."))),
        }
    }

    /// One request for a call. `state` is what the server wants back from an earlier one.
    async fn send(
        &self,
        turn: &Turn<'_>,
        remote_name: &str,
        arguments: &str,
        state: Option<&RawValue>,
        context: &CallContext,
    ) -> Result<Box<RawValue>, NoResult> {
        let connection = turn.link.connection();
        let state = state.map(|state| format!(r#","requestState":{state}"#)).unwrap_or_default();
        let call = Request {
            method: "tools/call",
            name: Some(remote_name),
            headers: connection.wire.remote().map(|remote| remote.mirrored(remote_name, arguments)).unwrap_or_default(),
            members: [r#""name":"#, &quoted(remote_name), r#","arguments":"#, arguments, &state].concat(),
            meta: connection.meta.get().map_or("", String::as_str),
            patience: turn.patience,
            cancelled: context.cancelled.clone(),
            on_progress: context.on_progress.clone(),
            progress: true,
            ..Request::default()
        };
        request(connection, call).await
    }

    /// Over HTTP a failed exchange is no end of the connection, which somebody else would note.
    fn note(&self, turn: &Turn<'_>, why: &NoResult) {
        if let NoResult::Gone(failure) | NoResult::NotSent(failure) = why
            && turn.link.connection().wire.remote().is_some()
            && failure.code != ErrorCode::Closed
        {
            self.life.note(failure.clone().into());
        }
    }

    /// Waits until fewer calls are under way than are allowed, and while the server is being started anew.
    async fn turn(&self, patience: Option<Duration>, context: &CallContext) -> Result<Turn<'_>, NoResult> {
        if let Ok(permit) = self.turns.try_acquire()
            && self.life.phase() != Phase::Starting
        {
            return Ok(Turn { link: self.link(), patience, _permit: permit });
        }
        let started = Instant::now();
        let late = async {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let waited = async {
            let permit = self.turns.acquire().await;
            self.life.settled().await;
            permit
        };
        tokio::select! {
            biased;
            () = context.cancelled.cancelled() => Err(NoResult::Cancelled { sent: false }),
            permit = waited => {
                let link = self.link();
                match permit {
                    Ok(permit) => {
                        let patience = patience.map(|patience| patience.saturating_sub(started.elapsed()));
                        Ok(Turn { link, patience, _permit: permit })
                    }
                    Err(_) => Err(NoResult::NotSent(link.connection().failed().await)),
                }
            }
            () = late => match self.link().connection().failure() {
                Some(failure) => Err(NoResult::NotSent(failure)),
                None => Err(NoResult::NoTurn(started.elapsed())),
            },
        }
    }

    /// Waits while the server is being started anew, as long as a request may take.
    pub(super) async fn settled(&self) {
        let settled = self.life.settled();
        match self.options.timeout {
            Some(limit) => drop(tokio::time::timeout(limit, settled).await),
            None => settled.await,
        }
    }

    /// Ends the connection. Calls that wait fail at once. The server's input is closed; it has two seconds to end, two more after SIGTERM,
    /// and is then killed. When this returns nothing of its process group is alive. May be called again, and by several at once.
    pub async fn close(&self) {
        self.life.closing.cancel();
        let link = self.link();
        let connection = link.connection();
        connection.fail(ErrorCode::Closed, connection.closed_message());
        connection.closing.cancel();
        connection.finished.cancelled().await;
        // A server that was being started is gone with the task that started it.
        self.life.ended().await;
    }

    pub(super) fn words(&self) -> result::Words<'_> {
        let is_over = self.link().connection().failure().is_some();
        let restarting = is_over && self.options.respawn.is_some() && !matches!(self.life.phase(), Phase::Over);
        result::Words { server: &self.options.namespace, prompts: &self.options.prompts, restarting }
    }
}
