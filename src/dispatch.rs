//! The one way from other threads into JavaScript: a weak threadsafe function per environment.
//!
//! Messages arrive in the order they were sent, so that progress comes before its result. While an operation is under way
//! the function keeps the event loop alive; without one the process may end. Both ways cross in batches: what JavaScript starts
//! within one turn wakes a thread once, and so does what comes back while JavaScript is busy.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::delivery::{Batch, Delivery, HEAD};
use crate::environment;
use crate::error;
use crate::threads::Lane;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use napi::bindgen_prelude::{FnArgs, Function, Result};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status, sys};
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::mcp::McpClient;
use toolbolt_core::tool::Progress;

/// What a message is about; TypeScript has the same list.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Message {
    /// An operation that JavaScript began has its result.
    Resolved = 0,
    /// It failed; the payload is the error as JSON.
    Rejected = 1,
    /// How far an operation has come.
    Progress = 2,
    /// A person is to be asked; the token is to be answered.
    Confirm = 3,
    /// A JavaScript tool is to be run; the token is to be answered.
    Execute = 4,
    /// A gate has events to be fetched; the token is the gate's number.
    Events = 5,
    /// The question under the token has become pointless, or its call is cancelled.
    Cancel = 6,
    /// An app is to judge the arguments of a program; the token is to be answered.
    Policy = 9,
    /// Environment variables are to be read; the token is to be answered.
    Variables = 7,
    /// A token for an MCP server is wanted; the token is to be answered.
    AuthToken = 11,
    /// The tools of a server changed; the token is the number of who listens.
    ToolsChanged = 10,
    /// Root certificates are wanted; the token is to be answered.
    RootCertificates = 8,
}

type Arguments = FnArgs<(Vec<u32>, String)>;
type Callback = ThreadsafeFunction<(), (), Arguments, Status, false, true>;

pub(crate) struct Dispatcher {
    owner: u64,
    callback: Callback,
    delivery: Arc<Delivery>,
    /// Operations that start at the end of JavaScript's turn.
    starting: Mutex<Vec<(Lane, BoxFuture<'static, ()>)>>,
    /// What ends an operation, for those that can be cancelled, until JavaScript has heard of their end.
    cancels: Arc<Mutex<HashMap<u32, CancellationToken>>>,
    answers: Mutex<HashMap<u32, oneshot::Sender<String>>>,
    /// Clients that are connected and not yet taken by JavaScript.
    clients: Mutex<HashMap<u32, Arc<McpClient>>>,
    next_question: AtomicU32,
    operations: Arc<AtomicUsize>,
    thread: std::thread::ThreadId,
}

impl Dispatcher {
    /// Tells this environment's child processes from those of others.
    pub(crate) fn owner(&self) -> u64 {
        self.owner
    }

    pub(crate) fn on_own_thread(&self) -> bool {
        std::thread::current().id() == self.thread
    }

    pub(crate) fn send(&self, message: Message, token: u32, payload: String) {
        if self.delivery.push(message as u32, token, payload) {
            // The queue is unbounded, so the only failure is an environment that is ending: nobody is left to hear.
            let told = self.callback.call((), ThreadsafeFunctionCallMode::NonBlocking);
            if told != Status::Ok {
                drop(self.delivery.take());
            }
        }
    }

    /// Asks JavaScript and waits. An environment that ends answers nobody: the question fails. When the token fires, or nobody
    /// waits any more, JavaScript is told; it still answers.
    pub(crate) async fn ask(&self, message: Message, payload: &Value, cancelled: CancellationToken) -> Option<String> {
        let token = self.next_question.fetch_add(1, Ordering::Relaxed);
        let (sender, mut receiver) = oneshot::channel();
        self.answers.lock().insert(token, sender);
        let _question = Question { dispatcher: self, token };
        self.send(message, token, payload.to_string());
        tokio::select! {
            answer = &mut receiver => answer.ok(),
            () = cancelled.cancelled() => {
                self.send(Message::Cancel, token, String::new());
                receiver.await.ok()
            }
        }
    }

    pub(crate) fn keep_client(&self, token: u32, client: Arc<McpClient>) {
        self.clients.lock().insert(token, client);
    }

    pub(crate) fn take_client(&self, token: u32) -> Option<Arc<McpClient>> {
        self.clients.lock().remove(&token)
    }

    /// Fails every open question, and lets go of operations that never began, which hold this.
    pub(crate) fn close(&self) {
        drop(std::mem::take(&mut *self.starting.lock()));
        self.answers.lock().clear();
        self.clients.lock().clear();
    }

    pub(crate) fn progress(self: &Arc<Self>, token: u32) -> Arc<dyn Fn(Progress) + Send + Sync> {
        let dispatcher = Arc::clone(self);
        Arc::new(move |update| {
            let payload = json!({ "progress": update.progress, "total": update.total, "message": update.message });
            dispatcher.send(Message::Progress, token, payload.to_string());
        })
    }
}

/// A question that is open. JavaScript hears of one that is dropped before its answer.
struct Question<'a> {
    dispatcher: &'a Dispatcher,
    token: u32,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if self.dispatcher.answers.lock().remove(&self.token).is_some() {
            self.dispatcher.send(Message::Cancel, self.token, String::new());
        }
    }
}

/// Connects this environment. Called once, when the module is loaded. `heads` holds what each message is about, its token and the length
/// of its text; `texts` are the texts in a row.
#[napi(catch_unwind, ts_args_type = "callback: (heads: Array<number>, texts: string) => void")]
pub fn set_dispatcher(env: Env, callback: Function<'_, Arguments, ()>) -> Result<()> {
    environment::open(&env, |owner| {
        let (delivery, operations, cancels) = (Arc::<Delivery>::default(), Arc::<AtomicUsize>::default(), Arc::<Mutex<_>>::default());
        let end = Ends { delivery: Arc::clone(&delivery), operations: Arc::clone(&operations), cancels: Arc::clone(&cancels) };
        let callback = callback.build_threadsafe_function::<()>().weak::<true>().build_callback(move |context| {
            let Batch { heads, texts } = end.next(&context.env);
            Ok((heads, texts).into())
        })?;
        Ok(Arc::new(Dispatcher {
            owner,
            callback,
            delivery,
            starting: Mutex::default(),
            cancels,
            answers: Mutex::default(),
            clients: Mutex::default(),
            next_question: AtomicU32::new(0),
            operations,
            thread: std::thread::current().id(),
        }))
    })
}

/// What is kept of operations until JavaScript hears of their end.
struct Ends {
    delivery: Arc<Delivery>,
    operations: Arc<AtomicUsize>,
    cancels: Arc<Mutex<HashMap<u32, CancellationToken>>>,
}

impl Ends {
    /// The next messages for JavaScript, whose thread this runs on.
    fn next(&self, env: &Env) -> Batch {
        let batch = self.delivery.take();
        let mut settled = 0;
        let mut cancels = self.cancels.lock();
        for head in batch.heads.chunks_exact(HEAD) {
            if let [message, token, _] = head
                && (*message == Message::Resolved as u32 || *message == Message::Rejected as u32)
            {
                settled += 1;
                cancels.remove(token);
            }
        }
        drop(cancels);
        if settled > 0 && self.operations.fetch_sub(settled, Ordering::AcqRel) == settled {
            keep_alive(env, false);
        }
        batch
    }
}

/// JavaScript's answer to a question. Answers to questions that nobody waits for have no effect.
#[napi(catch_unwind)]
pub fn answer(token: u32, payload: String) {
    if let Some(sender) = environment::dispatcher().and_then(|dispatcher| dispatcher.answers.lock().remove(&token)) {
        let _ = sender.send(payload);
    }
}

/// Kills the children of this environment; for the `exit` event, where nothing can be awaited.
#[napi(catch_unwind)]
pub fn kill_children() {
    environment::kill_children();
}

/// Takes on an operation; JavaScript lets it begin with [`begin_operations`]. It holds a promise under `token`; the outcome is sent there.
/// `cancelled` is what ends it early, where something does: `cancel_operation` fires it.
pub(crate) fn start<F>(
    env: &Env,
    token: u32,
    lane: Lane,
    cancelled: Option<CancellationToken>,
    work: impl FnOnce(Arc<Dispatcher>) -> F,
) -> Result<()>
where
    F: Future<Output = std::result::Result<String, ToolError>> + Send + 'static,
{
    let dispatcher = environment::dispatcher().ok_or_else(|| error::misuse("the environment has no dispatcher"))?;
    lane.runtime()?;
    if dispatcher.operations.fetch_add(1, Ordering::AcqRel) == 0 {
        keep_alive(env, true);
    }
    if let Some(cancelled) = cancelled {
        dispatcher.cancels.lock().insert(token, cancelled);
    }
    let work = AssertUnwindSafe(work(Arc::clone(&dispatcher))).catch_unwind();
    let teller = Arc::clone(&dispatcher);
    let operation = async move {
        match work.await {
            Ok(Ok(result)) => teller.send(Message::Resolved, token, result),
            Ok(Err(failure)) => teller.send(Message::Rejected, token, error::to_json(&failure)),
            Err(_) => {
                let failure = ToolError::new(ErrorCode::ExecutionFailed, "an internal error stopped the operation; please report it");
                teller.send(Message::Rejected, token, error::to_json(&failure));
            }
        }
    };
    dispatcher.starting.lock().push((lane, operation.boxed()));
    Ok(())
}

/// Lets the operations begin that JavaScript asked for in this turn.
#[napi(catch_unwind)]
pub fn begin_operations() {
    let Some(dispatcher) = environment::dispatcher() else { return };
    let starting = std::mem::take(&mut *dispatcher.starting.lock());
    let (local, mut network): (Vec<_>, Vec<_>) = starting.into_iter().partition(|(lane, _)| *lane == Lane::Local);
    if network.len() == 1
        && let Some((_, alone)) = network.pop()
    {
        Lane::Network.begin_here(alone);
    }
    for (lane, operations) in [(Lane::Local, local), (Lane::Network, network)] {
        // From another thread each would wake the one that it is for.
        if !operations.is_empty() {
            lane.spawn(async move { operations.into_iter().for_each(|(_, operation)| drop(tokio::spawn(operation))) });
        }
    }
}

/// Ends an operation early, if it can be and still runs.
#[napi(catch_unwind)]
pub fn cancel_operation(token: u32) {
    let cancelled = environment::dispatcher().and_then(|dispatcher| dispatcher.cancels.lock().get(&token).cloned());
    if let Some(cancelled) = cancelled {
        cancelled.cancel();
    }
}

/// Whether the event loop waits for the threadsafe function. Must run on the JavaScript thread, as both callers do.
fn keep_alive(env: &Env, alive: bool) {
    let Some(dispatcher) = environment::dispatcher() else { return };
    let function = dispatcher.callback.raw();
    // SAFETY: `env` is this thread's live environment, and the dispatcher holds the threadsafe function, so it is not
    // released. A failing status means that the environment is ending: there is no loop left to keep alive.
    unsafe {
        if alive {
            sys::napi_ref_threadsafe_function(env.raw(), function);
        } else {
            sys::napi_unref_threadsafe_function(env.raw(), function);
        }
    }
}
