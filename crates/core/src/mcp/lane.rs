//! Requests that go past rmcp: their ids, who waits for which reply, progress, deadlines and cancellation.
//!
//! Ids start at 2^30, where rmcp's never come. Replies are kept as the text they came in.

use super::connection::{Connection, Failure};
use super::frame::Envelope;
use super::stderr::Redactor;
use super::text::json_string;
use super::wire::{Outgoing, Undelivered};
use crate::http::Headers;
use crate::redact::redact_text;
use crate::sanitize::clean_prose;
use crate::tool::Progress;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The first id of ours.
const FIRST_ID: u64 = 1 << 30;
/// How much longer than its patience a request may take as long as it reports progress.
pub(super) const HARD_LIMIT: u32 = 10;
/// Characters kept of a progress message and of an error's message.
const MESSAGE_CHARS: usize = 2000;

type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// What comes back for a request.
#[derive(Debug)]
pub(super) enum Reply {
    Result(Box<RawValue>),
    Error { code: i64, message: String },
    Gone(Failure),
}

impl Reply {
    pub(super) fn of(message: &Envelope<'_>, redactor: &Redactor) -> Self {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(default)]
            code: f64,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
        }
        if let Some(error) = message.error {
            let parts = serde_json::from_str::<Parts<'_>>(error.get()).ok();
            let text = parts.as_ref().and_then(|parts| parts.message).and_then(json_string);
            #[expect(clippy::cast_possible_truncation, reason = "a code that is no small whole number means nothing")]
            let code = parts.map_or(0, |parts| parts.code as i64);
            let message = redactor.cleaned(text.as_deref().unwrap_or("no reason given"), MESSAGE_CHARS);
            return Self::Error { code, message: redact_text(&message) };
        }
        Self::Result(message.result.map(ToOwned::to_owned).unwrap_or_default())
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum NoResult {
    /// The server answered with an error.
    Error { code: i64, message: String },
    /// The connection ended while the answer was waited for.
    Gone(Failure),
    /// The connection had ended before.
    NotSent(Failure),
    /// As many calls as are allowed were under way for all of the time, which is given.
    NoTurn(Duration),
    /// No answer within the time, which is given.
    TimedOut(Duration),
    /// The caller gave up, before or after the request was sent.
    Cancelled { sent: bool },
    /// The server does not read what it is sent.
    Blocked,
}

/// One request.
#[derive(Default)]
pub(super) struct Request<'a> {
    /// One of the protocol's own: nothing in it needs an escape.
    pub(super) method: &'a str,
    /// The remote name of the tool that is called.
    pub(super) name: Option<&'a str>,
    /// Arguments that travel as headers too.
    pub(super) headers: Headers,
    /// Members of the params object as JSON, without braces.
    pub(super) members: String,
    /// Members of `_meta`, each followed by a comma.
    pub(super) meta: &'a str,
    pub(super) patience: Option<Duration>,
    pub(super) cancelled: CancellationToken,
    pub(super) on_progress: Option<OnProgress>,
    /// Asks for progress, which restarts the patience.
    pub(super) progress: bool,
    /// Nothing is said to the server when the answer is not waited for any more.
    pub(super) quiet: bool,
    /// It stays open: an error without an id is never for it.
    pub(super) standing: bool,
}

/// The table of requests that wait.
#[derive(Default)]
pub(super) struct Lane {
    table: Mutex<Table>,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lane").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Table {
    used: u64,
    calls: HashMap<u64, Call>,
    failure: Option<Failure>,
}

struct Call {
    reply: oneshot::Sender<Reply>,
    on_progress: Option<OnProgress>,
    clock: Arc<Clock>,
    standing: bool,
}

struct Clock {
    patience: Option<Duration>,
    started: Instant,
    deadline: Mutex<Option<Instant>>,
}

impl Clock {
    fn new(patience: Option<Duration>) -> Self {
        let started = Instant::now();
        Self { patience, started, deadline: Mutex::new(patience.and_then(|patience| started.checked_add(patience))) }
    }

    fn restart(&self) {
        if let Some(patience) = self.patience {
            let last = self.started.checked_add(patience.saturating_mul(HARD_LIMIT));
            let next = Instant::now().checked_add(patience);
            *self.deadline.lock() = next.map(|next| last.map_or(next, |last| next.min(last)));
        }
    }

    async fn expired(&self) {
        loop {
            let Some(deadline) = *self.deadline.lock() else { return std::future::pending().await };
            if Instant::now() >= deadline {
                return;
            }
            sleep_until(deadline).await;
        }
    }
}

impl Lane {
    /// Whether an id is one of ours.
    pub(super) fn owns(id: u64) -> bool {
        id >= FIRST_ID
    }

    fn enter(&self, request: &Request<'_>) -> Result<(u64, oneshot::Receiver<Reply>, Arc<Clock>), Failure> {
        let (sender, receiver) = oneshot::channel();
        let clock = Arc::new(Clock::new(request.patience));
        let mut table = self.table.lock();
        if let Some(failure) = &table.failure {
            return Err(failure.clone());
        }
        let id = FIRST_ID + table.used;
        table.used += 1;
        table
            .calls
            .insert(id, Call { reply: sender, on_progress: request.on_progress.clone(), clock: clock.clone(), standing: request.standing });
        Ok((id, receiver, clock))
    }

    /// Delivers a reply. False if nobody waits for it.
    pub(super) fn complete(&self, id: u64, reply: Reply) -> bool {
        let call = self.table.lock().calls.remove(&id);
        call.is_some_and(|call| call.reply.send(reply).is_ok())
    }

    pub(super) fn waits_for(&self, id: u64) -> bool {
        self.table.lock().calls.contains_key(&id)
    }

    /// The request that waits, if it is only one.
    pub(super) fn only_call(&self) -> Option<u64> {
        let table = self.table.lock();
        let mut waiting = table.calls.iter().filter(|(_, call)| !call.standing);
        waiting.next().map(|(id, _)| *id).filter(|_| waiting.next().is_none())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.table.lock().calls.values().all(|call| call.standing)
    }

    /// Fails every request, and those to come.
    pub(super) fn fail(&self, failure: &Failure) {
        let calls = {
            let mut table = self.table.lock();
            table.failure.get_or_insert_with(|| failure.clone());
            std::mem::take(&mut table.calls)
        };
        for call in calls.into_values() {
            drop(call.reply.send(Reply::Gone(failure.clone())));
        }
    }

    /// Delivers progress: called by the one task that reads, so it arrives in order and before the result. False if it is nobody's.
    pub(super) fn progress(&self, params: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(rename = "progressToken")]
            token: u64,
            progress: f64,
            total: Option<f64>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
        }
        let Ok(parts) = serde_json::from_str::<Parts<'_>>(params.get()) else { return false };
        let on_progress = {
            let table = self.table.lock();
            let Some(call) = table.calls.get(&parts.token) else { return false };
            call.clock.restart();
            call.on_progress.clone()
        };
        if let Some(on_progress) = on_progress {
            let message = parts.message.and_then(json_string).map(|message| clean_prose(&message, MESSAGE_CHARS));
            let progress = Progress { progress: parts.progress, total: parts.total, message };
            // A panic of the callback must not end the connection.
            drop(catch_unwind(AssertUnwindSafe(|| on_progress(progress))));
        }
        true
    }
}

/// Takes the request out of the table if its future is dropped, and tells the server that nobody waits any more.
struct Waiting<'a> {
    connection: &'a Connection,
    id: u64,
    reason: &'static str,
    quiet: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let unanswered = self.connection.lane.table.lock().calls.remove(&self.id).is_some();
        let by_closing = self.connection.wire.remote().is_some_and(|remote| remote.cancels_by_closing());
        if unanswered && !self.quiet && !by_closing {
            let Self { id, reason, .. } = self;
            let notice =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"{reason}"}}}}"#);
            // Whoever cannot be told is gone or stuck; there is nobody to report it to.
            drop(self.connection.wire.courtesy(&notice));
        }
    }
}

/// The message, in one piece: this runs for each call.
fn frame_of(request: &Request<'_>, id: u64) -> String {
    let Request { method, members, meta, .. } = request;
    let mut frame = String::with_capacity(members.len() + meta.len() + method.len() + 128);
    // Writing to a string cannot fail.
    let _ = write!(frame, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}"#);
    let meta = if request.progress { *meta } else { meta.trim_end_matches(',') };
    if request.progress || !meta.is_empty() {
        frame.push_str(if members.is_empty() { r#""_meta":{"# } else { r#","_meta":{"# });
        frame.push_str(meta);
        if request.progress {
            let _ = write!(frame, r#""progressToken":{id}"#);
        }
        frame.push('}');
    }
    frame.push_str("}}");
    frame
}

/// Sends a request and waits for what comes back.
pub(super) async fn request(connection: &Connection, request: Request<'_>) -> Result<Box<RawValue>, NoResult> {
    if request.cancelled.is_cancelled() {
        return Err(NoResult::Cancelled { sent: false });
    }
    let (id, mut reply, clock) = connection.lane.enter(&request).map_err(NoResult::NotSent)?;
    let mut waiting = Waiting { connection, id, reason: "the caller does not wait any more", quiet: request.quiet };
    let method = request.method;
    let frame = frame_of(&request, id);
    let outgoing = Outgoing { frame, id: Some(id), method, name: request.name, headers: request.headers.clone() };
    let mut delivery = std::pin::pin!(connection.deliver(outgoing));
    let mut delivered = false;
    loop {
        tokio::select! {
            biased;
            reply = &mut reply => return match reply {
                Ok(Reply::Result(result)) => Ok(result),
                Ok(Reply::Error { code, message }) => Err(NoResult::Error { code, message }),
                Ok(Reply::Gone(failure)) => Err(NoResult::Gone(failure)),
                Err(_) => Err(NoResult::Gone(connection.failed().await)),
            },
            outcome = &mut delivery, if !delivered => match outcome {
                Ok(()) => delivered = true,
                Err(undelivered) => {
                    waiting.quiet = true;
                    return Err(match undelivered {
                        Undelivered::Blocked => NoResult::Blocked,
                        Undelivered::Failed { failure, sent: true } => NoResult::Gone(failure),
                        Undelivered::Failed { failure, sent: false } => NoResult::NotSent(failure),
                    });
                }
            },
            () = request.cancelled.cancelled() => {
                waiting.reason = "cancelled by the caller";
                return Err(NoResult::Cancelled { sent: true });
            }
            () = clock.expired() => {
                waiting.reason = "timeout";
                return Err(NoResult::TimedOut(clock.started.elapsed()));
            }
        }
    }
}
