//! A call under way: it may outlive the request that began it, where a client answers a question by calling again.

use super::Server;
use crate::tool::{CallContext, Progress};
use indexmap::IndexMap;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, JsonObject};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

/// Progress that waits for its client; beyond that it is left out.
const MAX_EVENTS: usize = 64;
/// Calls that wait for clients to call again; beyond that the oldest is given up.
const MAX_WAITING: usize = 32;

/// What a client said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Run it.
    Yes,
    /// Anything else.
    No,
}

pub(super) enum Event {
    Progress(Progress),
    Question(Question),
}

pub(super) struct Question {
    pub(super) text: String,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// A call for the gate.
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON.
    pub arguments: String,
    /// Whether the client can ask its user.
    pub can_ask: bool,
    /// Cancellation, progress and the call's id.
    pub context: CallContext,
    events: mpsc::Sender<Event>,
}

impl Call {
    /// What asks the client's user, apart from the call.
    pub fn asker(&self) -> impl Fn(String) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync + 'static {
        let events = self.events.clone();
        move |text| {
            let events = events.clone();
            Box::pin(async move {
                let (reply, answer) = oneshot::channel();
                match events.send(Event::Question(Question { text, reply })).await {
                    Ok(()) => answer.await.unwrap_or(Reply::No),
                    Err(_) => Reply::No,
                }
            })
        }
    }
}

/// A call and what it says. Dropped, it is cancelled.
pub(super) struct Running {
    pub(super) name: String,
    pub(super) arguments: JsonObject,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) result: oneshot::Receiver<Option<String>>,
    _cancelled: DropGuard,
}

/// A call whose question the client has to answer by calling again.
pub(super) struct Suspended {
    pub(super) running: Running,
    pub(super) question: Question,
}

/// Those calls, by a secret that only the client that was asked knows.
pub(super) type Waiting = IndexMap<String, Suspended>;

impl Server {
    /// Begins a call.
    pub(super) fn begin(self: &Arc<Self>, request: CallToolRequestParams, can_ask: bool) -> Result<Running, ErrorData> {
        static CALLS: AtomicU64 = AtomicU64::new(1);
        let name = request.name.into_owned();
        let is_served = self.settings.names.as_ref().is_none_or(|names| names.contains(&name));
        if !is_served || self.gate.with_registry(|registry| registry.get(&name).is_none()) {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        }
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let slot = slot.map_err(|_| ErrorData::internal_error("too many calls at once: try again when others have ended", None))?;
        let arguments = request.arguments.unwrap_or_default();
        let text = serde_json::to_string(&arguments).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let (done, result) = oneshot::channel();
        let cancelled = self.closing.child_token();
        let progress = sender.clone();
        let context = CallContext {
            call_id: Arc::from(format!("served_{}", CALLS.fetch_add(1, Ordering::Relaxed))),
            cancelled: cancelled.clone(),
            timeout: None,
            on_progress: Some(Arc::new(move |update| drop(progress.try_send(Event::Progress(update))))),
        };
        let call = Call { name: name.clone(), arguments: text, can_ask, context, events: sender };
        let ending = self.backend.call(call);
        tokio::spawn(async move {
            // Nobody may be waiting any more.
            let _ = done.send(ending.await);
            drop(slot);
        });
        Ok(Running { name, arguments, events, result, _cancelled: cancelled.drop_guard() })
    }

    /// Keeps a call until its client calls again, and gives the secret that it has to bring.
    pub(super) fn suspend(self: &Arc<Self>, suspended: Suspended) -> Result<String, ErrorData> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| ErrorData::internal_error("the system gives no random numbers", None))?;
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MAX_WAITING {
            waiting.shift_remove_index(0);
        }
        waiting.insert(secret.clone(), suspended);
        drop(waiting);
        let (server, key) = (Arc::downgrade(self), secret.clone());
        let (limit, closing) = (self.settings.max_wait, self.closing.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(limit) => {}
                () = closing.cancelled() => {}
            }
            if let Some(server) = server.upgrade() {
                server.waiting.lock().shift_remove(&key);
            }
        });
        Ok(secret)
    }

    /// The call that a client comes back to: once, and with the arguments that its user was shown.
    pub(super) fn resume(&self, secret: &str, request: &CallToolRequestParams) -> Result<Suspended, ErrorData> {
        let mut waiting = self.waiting.lock();
        let is_same = waiting.get(secret).is_some_and(|suspended| {
            suspended.running.name == request.name
                && Some(&suspended.running.arguments) == request.arguments.as_ref().or(Some(&JsonObject::new()))
        });
        let suspended = if is_same { waiting.shift_remove(secret) } else { None };
        suspended.ok_or_else(|| {
            ErrorData::invalid_params("no call with these arguments waits under this requestState: call again without it", None)
        })
    }
}
