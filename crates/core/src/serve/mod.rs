//! A registry behind an MCP server: what clients of other programs list and call, through the same gate as everybody else.

mod call;
mod door;
mod handler;
mod http;
mod question;
mod stdio;

pub use call::{Call, Reply};
pub use http::{Bound, HttpSettings};

use crate::gate::Gate;
use call::Waiting;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What runs the calls of a server and knows who may come in.
pub trait Backend: Send + Sync + 'static {
    /// Runs a call through the gate. Gives the result of `tools/call` as JSON; `None` where nobody is left who could.
    fn call(&self, call: Call) -> BoxFuture<'static, Option<String>>;

    /// Whether a request with this bearer token, or none, is let in.
    fn admits(&self, token: Option<String>) -> BoxFuture<'static, bool>;
}

/// How a server presents itself, and its bounds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model may be told about it.
    pub instructions: Option<String>,
    /// The tools that it serves; all when absent.
    pub names: Option<Vec<String>>,
    /// Calls under way, those included that wait for an answer.
    pub max_calls: usize,
    /// Bytes of one message.
    pub max_message_bytes: usize,
    /// How long a call waits for a client that was asked and has to call again.
    pub max_wait: Duration,
}

/// One server, for all its clients.
pub struct Server {
    gate: Arc<Gate>,
    backend: Arc<dyn Backend>,
    settings: Settings,
    slots: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    closing: CancellationToken,
}

impl Server {
    /// A server that nobody reaches yet.
    pub fn new(gate: Arc<Gate>, backend: Arc<dyn Backend>, settings: Settings, closing: CancellationToken) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(settings.max_calls));
        Arc::new(Self { gate, backend, settings, slots, waiting: Mutex::default(), closing })
    }
}
