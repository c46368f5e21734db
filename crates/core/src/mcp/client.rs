//! The client of one server: connecting, calling, closing.

use super::catalog::{self, Listing};
use super::diagnostics::Diagnostics;
use super::lane::{NoResult, Request, request};
use super::link::Link;
use super::options::ConnectOptions;
use super::pins::Admission;
use super::result;
use super::revision::HEADER_MISMATCH;
use super::text::quoted;
use crate::error::{ErrorCode, ToolError};
use crate::response::ToolResponse;
use crate::tool::CallContext;
use parking_lot::RwLock;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Times that a server may want the same call again with a state of its own.
const MAX_ROUNDS: usize = 10;

/// What a client is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// Calls are served.
    Ready,
    /// The server went away by itself. Calls fail, or try to reach it again where it is behind an address.
    Lost,
    /// It was closed. Calls fail.
    Closed,
}

/// A connection to a server that runs as a child process or behind an address. Dropping the last handle kills the server's process group
/// at once; [`McpClient::close`] gives it time to end by itself.
#[derive(Debug)]
pub struct McpClient {
    link: RwLock<Arc<Link>>,
    options: ConnectOptions,
    pub(super) admission: Admission,
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
        let link = Link::open(&options).await?;
        let mut options = options;
        link.remember(&mut options);
        Ok(Arc::new(Self { link: RwLock::new(Arc::new(link)), options, admission: Admission::default() }))
    }

    /// The connection as it is now. Whoever holds it keeps it open.
    pub(super) fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link.read())
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

    /// The process id of the server, which is also the id of its group, if it was started here.
    pub fn process_id(&self) -> Option<u32> {
        self.link().server.process_id
    }

    /// Whether calls are served.
    pub fn state(&self) -> ClientState {
        let link = self.link();
        match link.connection().failure() {
            None if link.connection().wire.remote().is_some_and(|remote| remote.is_troubled()) => ClientState::Lost,
            None => ClientState::Ready,
            Some(failure) if failure.code == ErrorCode::Closed => ClientState::Closed,
            Some(_) => ClientState::Lost,
        }
    }

    /// What was noticed on the connection so far.
    pub fn diagnostics(&self) -> Diagnostics {
        let link = self.link();
        let connection = link.connection();
        connection.collector.report(&connection.namespace, connection.stderr.tail(&connection.redactor))
    }

    /// Whether the server said that its tools changed since this was last asked.
    pub fn take_tools_changed(&self) -> bool {
        self.link().connection().tools_changed.swap(false, Ordering::Relaxed)
    }

    /// Asks the server for its tools, and holds them to the pins of the options.
    ///
    /// # Errors
    ///
    /// Where the server cannot be asked or answers with something else. A bad definition is no error: it is skipped and reported.
    /// `PIN_MISMATCH` where the tools are not those that were approved.
    pub async fn list_tools(self: &Arc<Self>) -> Result<Listing, ToolError> {
        let moment = self.moment();
        let listing = catalog::list(self).await?;
        self.judge(listing, moment).await
    }

    /// Calls a tool by its remote name, past any pins: those are held to by [`super::McpTool`]. `arguments` is the JSON text of an object and is sent as it is. Without a timeout the one of the
    /// options holds. Progress restarts the time, up to ten times the whole, and arrives in order and before the result; the callback runs
    /// on the task that reads, so it has to be quick. A call that is cancelled, runs out of time or is dropped is cancelled at the server.
    pub async fn call(
        self: &Arc<Self>,
        remote_name: &str,
        arguments: &str,
        context: &CallContext,
        timeout: Option<Duration>,
    ) -> ToolResponse {
        let arguments = match serde_json::from_str::<&RawValue>(arguments) {
            // A line feed ends a message, and outside of strings it is a blank.
            Ok(raw) if raw.get().starts_with('{') => raw.get().replace(['\n', '\r'], " "),
            _ => {
                let text = self.words().about("tool.msg.mcp.no_object");
                return ToolResponse::failed(ErrorCode::InvalidArguments, text, false);
            }
        };
        let mut state: Option<Box<RawValue>> = None;
        let mut listed_again = false;
        for _ in 0..=MAX_ROUNDS {
            match self.send(remote_name, &arguments, state.as_deref(), context, timeout).await {
                // The server's tools want other headers than those that were listed; it has not run anything.
                Err(NoResult::Error { code: HEADER_MISMATCH, .. }) if !listed_again && self.mirrors() => {
                    listed_again = true;
                    if let Err(error) = self.list_tools().await {
                        return self.refusal(&error);
                    }
                }
                Err(why) => return result::failure(why, &self.words()),
                Ok(raw) => match result::to_be_continued(&raw) {
                    Some(next) => state = Some(next),
                    None => return result::response(&raw, &self.words()),
                },
            }
        }
        ToolResponse::failed(ErrorCode::ExecutionFailed, self.words().about("tool.msg.mcp.unsupported"), true)
    }

    /// One request for a call. `state` is what the server wants back from an earlier one.
    async fn send(
        &self,
        remote_name: &str,
        arguments: &str,
        state: Option<&RawValue>,
        context: &CallContext,
        timeout: Option<Duration>,
    ) -> Result<Box<RawValue>, NoResult> {
        let link = self.link();
        let connection = link.connection();
        let state = state.map(|state| format!(r#","requestState":{state}"#)).unwrap_or_default();
        let call = Request {
            method: "tools/call",
            name: Some(remote_name),
            headers: connection.wire.remote().map(|remote| remote.mirrored(remote_name, arguments)).unwrap_or_default(),
            members: format!(r#""name":{},"arguments":{arguments}{state}"#, quoted(remote_name)),
            meta: connection.meta.get().map_or("", String::as_str),
            patience: timeout.or(self.options.timeout),
            cancelled: context.cancelled.clone(),
            on_progress: context.on_progress.clone(),
            progress: true,
            quiet: false,
        };
        request(connection, call).await
    }

    fn mirrors(&self) -> bool {
        self.link().connection().wire.remote().is_some_and(|remote| remote.mirrors())
    }

    /// Ends the connection. Calls that wait fail at once. The server's input is closed; it has two seconds to end, two more after SIGTERM,
    /// and is then killed. When this returns nothing of its process group is alive. May be called again, and by several at once.
    pub async fn close(&self) {
        let link = self.link();
        let connection = link.connection();
        connection.fail(ErrorCode::Closed, connection.closed_message());
        connection.closing.cancel();
        connection.finished.cancelled().await;
    }

    pub(super) fn words(&self) -> result::Words<'_> {
        result::Words { server: &self.options.namespace, prompts: &self.options.prompts }
    }
}
