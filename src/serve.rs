//! A registry behind an MCP server: its start and end, and the way of its calls through JavaScript.

use crate::dispatch::{self, Dispatcher, Message};
use crate::environment;
use crate::error::misuse;
use crate::registry::NativeRegistry;
use crate::threads::Lane;
use crate::values::parse;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::serve::{Backend, Bound, Call, HttpSettings, Reply, Server, Settings};
use toolbolt_core::tool::Progress;

/// What TypeScript says of a server, as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    name: String,
    version: String,
    instructions: Option<String>,
    names: Option<Vec<String>>,
    max_requests: usize,
    max_message_bytes: usize,
    max_wait_ms: u64,
    /// Absent for standard streams.
    http: Option<GivenHttp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GivenHttp {
    host: String,
    port: u16,
    path: String,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    has_auth: bool,
    max_connections: usize,
    max_sessions: usize,
}

type Asker = Arc<dyn Fn(String) -> BoxFuture<'static, Reply> + Send + Sync>;

/// What JavaScript may tell the client of a call that it runs.
struct Client {
    ask: Asker,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

#[derive(Default)]
struct Clients {
    by_call: Mutex<HashMap<u32, Client>>,
    next: AtomicU32,
}

/// A call that JavaScript knows by a number, until it is over.
struct Numbered {
    clients: Arc<Clients>,
    number: u32,
}

impl Drop for Numbered {
    fn drop(&mut self) {
        self.clients.by_call.lock().remove(&self.number);
    }
}

struct JsBackend {
    dispatcher: Arc<Dispatcher>,
    clients: Arc<Clients>,
    server: u32,
}

impl Backend for JsBackend {
    fn call(&self, call: Call) -> BoxFuture<'static, Option<String>> {
        let dispatcher = Arc::clone(&self.dispatcher);
        let number = self.clients.next.fetch_add(1, Ordering::Relaxed);
        let ask = call.asker();
        let client = Client { ask: Arc::new(move |text| ask(text)), progress: call.context.on_progress.clone() };
        self.clients.by_call.lock().insert(number, client);
        let numbered = Numbered { clients: Arc::clone(&self.clients), number };
        let payload = json!({
            "server": self.server, "call": number, "name": call.name, "arguments": call.arguments, "callId": &*call.context.call_id,
            "canAsk": call.can_ask,
        });
        let cancelled = call.context.cancelled;
        async move {
            let _numbered = numbered;
            dispatcher.ask(Message::Serve, &payload, cancelled).await.filter(|answer| !answer.is_empty())
        }
        .boxed()
    }

    fn admits(&self, token: Option<String>) -> BoxFuture<'static, bool> {
        let dispatcher = Arc::clone(&self.dispatcher);
        let payload = json!({ "server": self.server, "token": token });
        async move { dispatcher.ask(Message::Admit, &payload, CancellationToken::new()).await.as_deref() == Some("yes") }.boxed()
    }
}

enum Ready {
    Http(Bound),
    Stdio(Arc<Server>),
}

/// A registry behind an MCP server.
#[napi]
pub struct NativeServer {
    server: Arc<Server>,
    http: Option<HttpSettings>,
    clients: Arc<Clients>,
    ready: Arc<Mutex<Option<Ready>>>,
    closing: CancellationToken,
}

#[napi]
impl NativeServer {
    /// A server that nobody reaches yet. `number` is what its calls are for, `settings` is JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(registry: &NativeRegistry, number: u32, settings: String) -> Result<Self> {
        let given: Given = parse(&settings)?;
        let dispatcher = environment::dispatcher().ok_or_else(|| misuse("the environment has no dispatcher"))?;
        let (clients, closing) = (Arc::<Clients>::default(), CancellationToken::new());
        let backend = JsBackend { dispatcher, clients: Arc::clone(&clients), server: number };
        let settings = Settings {
            name: given.name,
            version: given.version,
            instructions: given.instructions,
            names: given.names,
            max_calls: given.max_requests,
            max_message_bytes: given.max_message_bytes,
            max_wait: Duration::from_millis(given.max_wait_ms),
        };
        let http = given.http.map(|http| HttpSettings {
            host: http.host,
            port: http.port,
            path: http.path,
            allowed_hosts: http.allowed_hosts,
            allowed_origins: http.allowed_origins,
            has_auth: http.has_auth,
            max_connections: http.max_connections,
            max_sessions: http.max_sessions,
        });
        let server = Server::new(registry.shared_gate(), Arc::new(backend), settings, closing.clone());
        Ok(Self { server, http, clients, ready: Arc::default(), closing })
    }

    /// Listens; the address goes to the promise under `token`, or an empty text for standard streams.
    #[napi(catch_unwind)]
    pub fn start(&self, env: Env, token: u32) -> Result<()> {
        let (server, http, ready) = (Arc::clone(&self.server), self.http.clone(), Arc::clone(&self.ready));
        dispatch::start(&env, token, self.lane(), None, move |_| async move {
            let Some(http) = http else {
                *ready.lock() = Some(Ready::Stdio(server));
                return Ok(String::new());
            };
            let bound = Bound::new(server, http).await?;
            let address = bound.address()?.to_string();
            *ready.lock() = Some(Ready::Http(bound));
            Ok(address)
        })
    }

    /// Serves until it is closed, or the input ends.
    #[napi(catch_unwind)]
    pub fn run(&self, env: Env, token: u32) -> Result<()> {
        let ready = self.ready.lock().take().ok_or_else(|| misuse("a server runs once, when it has started"))?;
        dispatch::start(&env, token, self.lane(), None, move |_| async move {
            match ready {
                Ready::Http(bound) => bound.run().await,
                Ready::Stdio(server) => server.run_stdio().await?,
            }
            Ok(String::new())
        })
    }

    /// Ends it: calls under way are cancelled.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Asks the user of the client that made a call: `yes` or `no`.
    #[napi(catch_unwind)]
    pub fn ask(&self, env: Env, token: u32, call: u32, text: String) -> Result<()> {
        let ask = self.clients.by_call.lock().get(&call).map(|client| Arc::clone(&client.ask));
        let cancelled = CancellationToken::new();
        dispatch::start(&env, token, self.lane(), Some(cancelled.clone()), move |_| async move {
            let ask = ask.ok_or_else(|| ToolError::new(ErrorCode::Cancelled, "the call is over"))?;
            let reply = tokio::select! {
                () = cancelled.cancelled() => Reply::No,
                reply = ask(text) => reply,
            };
            Ok(if reply == Reply::Yes { "yes" } else { "no" }.to_owned())
        })
    }

    /// Tells the client that made a call how far it has come.
    #[napi(catch_unwind)]
    pub fn progress(&self, call: u32, progress: f64, total: Option<f64>, message: Option<String>) {
        let tell = self.clients.by_call.lock().get(&call).and_then(|client| client.progress.clone());
        if let Some(tell) = tell {
            tell(Progress { progress, total, message });
        }
    }

    fn lane(&self) -> Lane {
        Lane::of(self.http.is_some())
    }
}
