//! The state of one connection that its tasks, rmcp and the calls share, and what becomes of each message that comes in.

use super::diagnostics::Collector;
use super::frame::{Envelope, line_text};
use super::lane::{Lane, Reply};
use super::rate::Rate;
use super::stderr::{Redactor, StderrRing};
use super::text::json_string;
use super::transport::Engine;
use super::wire::Wire;
use crate::error::{ErrorCode, ToolError};
use crate::process::Group;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Bytes of the id of a server's request.
const MAX_ID: usize = 256;
/// Messages in one array. We never send several requests in one, so nobody has reason to answer many at once.
const MAX_BATCH: usize = 1000;

/// Why a connection is over.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    /// The same for a model: without addresses, and without advice for whoever runs the program.
    pub(super) brief: Option<String>,
    /// The end of the server's standard error, if it matters: for a person or program. No model reads it, as it may hold paths and
    /// stack traces of the machine.
    pub(super) stderr: Option<String>,
    /// What the server said as an answer over HTTP.
    pub(super) http: Option<HttpFacts>,
}

/// Why an exchange over HTTP failed, for a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpFacts {
    pub(super) status: u16,
    /// How long the server wants to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl HttpFacts {
    pub(super) fn to_json(self) -> serde_json::Value {
        match self.retry_after {
            Some(wait) => {
                serde_json::json!({ "status": self.status, "retryAfterMs": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) })
            }
            None => serde_json::json!({ "status": self.status }),
        }
    }
}

impl Failure {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), brief: None, stderr: None, http: None }
    }

    /// The same, with what a model is told of it.
    pub(super) fn told(self, brief: String) -> Self {
        Self { brief: Some(brief), ..self }
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let note = failure.stderr.map(|tail| stderr_note(&tail)).unwrap_or_default();
        let data = failure.http.map(HttpFacts::to_json);
        Self { data, ..Self::new(failure.code, failure.message + &note) }
    }
}

/// The end of a standard error as part of a sentence.
fn stderr_note(tail: &str) -> String {
    if tail.is_empty() { " It wrote nothing to its standard error.".to_owned() } else { format!(" Its standard error ended with:\n{tail}") }
}

/// One running server.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) namespace: String,
    pub(super) program: String,
    /// The processes of a server that runs on this machine.
    pub(super) group: Option<Group>,
    pub(super) wire: Wire,
    pub(super) lane: Lane,
    pub(super) engine: Engine,
    pub(super) stderr: StderrRing,
    pub(super) redactor: Redactor,
    pub(super) collector: Collector,
    /// What every request carries in `_meta`, in the revisions without a handshake. JSON members, each followed by a comma.
    pub(super) meta: OnceLock<String>,
    /// The server said that its tools changed.
    pub(super) tools_changed: Notify,
    /// How often it said so.
    pub(super) changes: AtomicU64,
    rate: Rate,
    failure: Mutex<Option<Failure>>,
    failed: CancellationToken,
    /// We want it to end.
    pub(super) closing: CancellationToken,
    /// We want it to end at once.
    pub(super) hurry: AtomicBool,
    /// Nothing of it is left.
    pub(super) finished: CancellationToken,
}

impl Connection {
    pub(super) fn new(namespace: String, program: String, wire: Wire, group: Option<Group>, redactor: Redactor, rate: Rate) -> Self {
        Self {
            namespace,
            program,
            group,
            redactor,
            wire,
            lane: Lane::default(),
            engine: Engine::default(),
            stderr: StderrRing::default(),
            collector: Collector::default(),
            meta: OnceLock::new(),
            tools_changed: Notify::new(),
            changes: AtomicU64::new(0),
            rate,
            failure: Mutex::new(None),
            failed: CancellationToken::new(),
            closing: CancellationToken::new(),
            hurry: AtomicBool::new(false),
            finished: CancellationToken::new(),
        }
    }

    /// Ends the connection for everybody who waits, with one reason: the first one given.
    pub(super) fn fail(&self, code: ErrorCode, message: String) {
        self.fail_with(Failure::new(code, message));
    }

    /// The same, with the server's last words.
    pub(super) fn fail_with(&self, given: Failure) {
        let failure = {
            let mut failure = self.failure.lock();
            failure.get_or_insert(given).clone()
        };
        self.wire.close();
        self.lane.fail(&failure);
        self.engine.close();
        self.failed.cancel();
    }

    /// Why the connection is over, if it is.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.lock().clone()
    }

    /// Waits until it is over.
    pub(super) async fn failed(&self) -> Failure {
        self.failed.cancelled().await;
        self.failure().unwrap_or(Failure::new(ErrorCode::Closed, self.closed_message()))
    }

    pub(super) fn closed_message(&self) -> String {
        format!("The connection to MCP server `{}` is closed. Connect again.", self.namespace)
    }

    /// Ends the server at once, from any thread and without a runtime.
    pub(super) fn kill(&self) {
        self.fail(ErrorCode::Closed, self.closed_message());
        if let Some(group) = &self.group {
            group.kill();
        }
        self.hurry.store(true, Ordering::Relaxed);
        self.closing.cancel();
    }

    /// The end of the server's standard error as part of a sentence.
    pub(super) fn stderr_note(&self) -> String {
        if self.group.is_some() { stderr_note(&self.stderr.tail(&self.redactor)) } else { String::new() }
    }

    /// Whether somebody waits for the reply to a request.
    pub(super) fn waits_for(&self, id: u64) -> bool {
        if Lane::owns(id) { self.lane.waits_for(id) } else { self.engine.waits_for(id) }
    }

    /// Takes one message, or several in an array: a line of a pipe, a body, or an event. `carried` is the request that it answers, where
    /// that is known without its words.
    pub(super) fn accept(&self, line: &[u8], carried: Option<u64>) {
        let Some(text) = line_text(line) else { return self.collector.skipped(line, &self.redactor) };
        if text.is_empty() {
            return;
        }
        // Revision 2025-03-26 allows several messages in one array.
        if text.starts_with('[') {
            match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(messages) if messages.len() <= MAX_BATCH => {
                    messages.iter().for_each(|message| self.accept_message(message.get(), carried))
                }
                _ => self.collector.skipped(line, &self.redactor),
            }
        } else {
            self.accept_message(text, carried);
        }
    }

    fn accept_message(&self, text: &str, carried: Option<u64>) {
        let Some(message) = Envelope::parse(text) else { return self.collector.skipped(text.as_bytes(), &self.redactor) };
        match message.method {
            Some(method) => {
                let method = json_string(method).unwrap_or_default();
                match message.id() {
                    Some(id) => self.accept_request(&method, id, text),
                    None => self.accept_notification(&method, message.params, text),
                }
            }
            None => self.accept_reply(&message, text, carried),
        }
    }

    fn accept_reply(&self, message: &Envelope<'_>, text: &str, carried: Option<u64>) {
        let reply = || Reply::of(message, &self.redactor);
        let taken = match message.number() {
            Some(id) if Lane::owns(id) => self.lane.complete(id, reply()),
            Some(id) => self.engine.reply(id, text),
            // A server that could not read a request cannot name it. With one request under way there is no doubt which one it was.
            None if message.id().is_none() && message.error.is_some() => {
                match (carried.or_else(|| self.lane.only_call()), self.engine.waiting()) {
                    (Some(id), _) if carried.is_some() && !Lane::owns(id) => self.engine.anonymous_error(text),
                    (Some(id), waiting) if carried.is_some() || waiting == 0 => self.lane.complete(id, reply()),
                    (None, 1) if self.lane.is_idle() => self.engine.anonymous_error(text),
                    _ => false,
                }
            }
            None => false,
        };
        if !taken {
            self.collector.unexpected_reply();
        }
    }

    fn accept_request(&self, method: &str, id: &RawValue, text: &str) {
        // It goes back as it came; a longer one is no id but an attempt at something.
        if id.get().len() > MAX_ID {
            return self.collector.dropped();
        }
        let answer = if method == "ping" {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        } else if self.engine.forward(text) {
            return;
        } else {
            self.collector.dropped();
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"not ready for requests"}}}}"#)
        };
        if self.wire.courtesy(&answer).is_err() {
            self.collector.dropped();
        }
    }

    /// The server's tools are others now, or may be.
    pub(super) fn tell_of_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        self.tools_changed.notify_one();
    }

    fn accept_notification(&self, method: &str, params: Option<&RawValue>, text: &str) {
        // This one is never dropped: it costs nothing, and pins are checked again because of it.
        if method == "notifications/tools/list_changed" {
            self.tell_of_change();
        }
        if !self.rate.admit() {
            return self.collector.dropped();
        }
        match method {
            "notifications/progress" => {
                if !params.is_some_and(|params| self.lane.progress(params)) {
                    self.collector.dropped();
                }
            }
            "notifications/tools/list_changed" => {}
            // What rmcp keeps books of. Anything else nobody listens to, and a flood of it would cost a task each.
            "notifications/cancelled" | "notifications/subscriptions/acknowledged" => {
                if !self.engine.forward(text) {
                    self.collector.dropped();
                }
            }
            _ => self.collector.dropped(),
        }
    }
}
