//! The one way from other threads into JavaScript: a weak threadsafe function per environment.
//!
//! Messages arrive in the order they were sent, so that progress comes before its result. While an operation is under way
//! the function keeps the event loop alive; without one the process may end.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::environment;
use crate::error;
use futures_util::FutureExt;
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

type Arguments = FnArgs<(u32, u32, String)>;
type Callback = ThreadsafeFunction<Arguments, (), Arguments, Status, false, true>;

pub(crate) struct Dispatcher {
    owner: u64,
    callback: Callback,
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
        // The queue is unbounded, so the only failure is an environment that is ending: nobody is left to hear.
        self.callback.call((message as u32, token, payload).into(), ThreadsafeFunctionCallMode::NonBlocking);
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

    /// Fails every open question.
    pub(crate) fn close(&self) {
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

/// Connects this environment. Called once, when the module is loaded.
#[napi(catch_unwind, ts_args_type = "callback: (message: number, token: number, payload: string) => void")]
pub fn set_dispatcher(env: Env, callback: Function<'_, Arguments, ()>) -> Result<()> {
    let operations = Arc::new(AtomicUsize::new(0));
    environment::open(&env, |owner| {
        let counter = Arc::clone(&operations);
        let callback = callback.build_threadsafe_function::<Arguments>().weak::<true>().build_callback(move |context| {
            let arguments: &Arguments = &context.value;
            let settles = arguments.data.0 == Message::Resolved as u32 || arguments.data.0 == Message::Rejected as u32;
            if settles && counter.fetch_sub(1, Ordering::AcqRel) == 1 {
                keep_alive(&context.env, false);
            }
            Ok(context.value)
        })?;
        Ok(Arc::new(Dispatcher {
            owner,
            callback,
            answers: Mutex::default(),
            clients: Mutex::default(),
            next_question: AtomicU32::new(0),
            operations: Arc::clone(&operations),
            thread: std::thread::current().id(),
        }))
    })
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

/// Starts an operation on the I/O thread. JavaScript holds a promise under `token`; the outcome is sent there.
pub(crate) fn start<F>(env: &Env, token: u32, work: impl FnOnce(Arc<Dispatcher>) -> F) -> Result<()>
where
    F: Future<Output = std::result::Result<String, ToolError>> + Send + 'static,
{
    let dispatcher = environment::dispatcher().ok_or_else(|| error::misuse("the environment has no dispatcher"))?;
    if dispatcher.operations.fetch_add(1, Ordering::AcqRel) == 0 {
        keep_alive(env, true);
    }
    let work = AssertUnwindSafe(work(Arc::clone(&dispatcher))).catch_unwind();
    napi::bindgen_prelude::spawn(async move {
        match work.await {
            Ok(Ok(result)) => dispatcher.send(Message::Resolved, token, result),
            Ok(Err(failure)) => dispatcher.send(Message::Rejected, token, error::to_json(&failure)),
            Err(_) => {
                let failure = ToolError::new(ErrorCode::ExecutionFailed, "an internal error stopped the operation; please report it");
                dispatcher.send(Message::Rejected, token, error::to_json(&failure));
            }
        }
    });
    Ok(())
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
