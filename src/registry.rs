//! The gate as a class: everything that is not on the hot path.

use crate::dispatch::{self, Dispatcher, Message};
use crate::environment;
use crate::error::{misuse, to_js};
use crate::host::{JsHost, read_answer};
use crate::policy::{NativePermissions, NativePrompts};
use crate::threads::Lane;
use crate::tools::{NativeTool, context};
use crate::values::{duration, ended, finished_json, parse, to_text};
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::event::{Event, Recorder};
use toolbolt_core::execute::{self, Host, Request};
use toolbolt_core::gate::{Begun, Gate, Limits, Outcome, Ticket, ToolRef};
use toolbolt_core::registry::{Body, Definition, Validation};
use toolbolt_core::tool::PerCall;
use toolbolt_core::{export, guard};

/// What holds for a whole registry.
#[napi(object)]
pub struct RegistrySettings {
    /// Limit for one body in milliseconds.
    pub timeout_ms: Option<f64>,
    /// Limit for one text in characters.
    pub max_text_chars: Option<u32>,
    /// Whether events are wanted.
    pub recording: bool,
}

/// One tool as JavaScript describes it.
#[napi(object)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Who vouches for it.
    pub origin: String,
    /// JSON Schema of its arguments, as JSON.
    pub input_schema: String,
    /// Whether JavaScript checks the arguments.
    pub host_validates: bool,
    /// Whether declared defaults are filled in.
    pub fill_defaults: bool,
    /// 0 never, 1 always, 2 ask the tool.
    pub confirmation: u32,
    /// 0 never, 1 always, 2 ask the tool.
    pub external: u32,
    /// Whether calls may overlap within a turn.
    pub parallel: bool,
    /// Whether there is a body at all.
    pub has_body: bool,
    /// Limit for one body in milliseconds.
    pub timeout_ms: Option<f64>,
    /// Limit for one text in characters.
    pub max_text_chars: Option<u32>,
    /// Limit for the data of one result in bytes.
    pub max_data_bytes: Option<u32>,
}

#[derive(Default)]
struct Queue {
    events: Mutex<Vec<Event>>,
    dispatcher: Option<Arc<Dispatcher>>,
    gate: Mutex<Option<u32>>,
}

impl Recorder for Queue {
    fn record(&self, event: Event) {
        let mut events = self.events.lock();
        events.push(event);
        let first = events.len() == 1;
        drop(events);
        // On its own thread JavaScript fetches events after each crossing; from elsewhere it has to be told.
        if let (true, Some(dispatcher), Some(gate)) = (first, &self.dispatcher, *self.gate.lock())
            && !dispatcher.on_own_thread()
        {
            dispatcher.send(Message::Events, gate, String::new());
        }
    }
}

/// A registry and its pipeline.
#[napi]
pub struct NativeRegistry {
    gate: Arc<Gate>,
    index: u32,
    queue: Option<Arc<Queue>>,
    /// Ends every call that runs outside JavaScript.
    closing: CancellationToken,
}

impl NativeRegistry {
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}

impl Drop for NativeRegistry {
    fn drop(&mut self) {
        environment::remove_gate(self.index);
    }
}

#[napi]
impl NativeRegistry {
    /// An empty registry.
    #[napi(constructor, catch_unwind)]
    pub fn new(settings: RegistrySettings, prompts: &NativePrompts, permissions: Option<&NativePermissions>) -> Self {
        let queue = settings.recording.then(|| Arc::new(Queue { dispatcher: environment::dispatcher(), ..Queue::default() }));
        let limits = Limits { timeout: duration(settings.timeout_ms), max_text_chars: settings.max_text_chars.map(|chars| chars as usize) };
        let recorder = queue.clone().map(|queue| queue as Arc<dyn Recorder>);
        let permissions = permissions.map(|permissions| Arc::clone(&permissions.inner));
        let gate = Arc::new(Gate::new(Arc::clone(&prompts.inner), limits, permissions, recorder));
        let index = environment::add_gate(Arc::clone(&gate));
        if let Some(queue) = &queue {
            *queue.gate.lock() = Some(index);
        }
        Self { gate, index, queue, closing: CancellationToken::new() }
    }

    /// The number of this gate for the raw functions.
    #[napi(getter, catch_unwind)]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Adds a tool and gives its number. `replaced` is the number of the tool whose place it takes, if there is one.
    #[napi(catch_unwind)]
    pub fn register(&self, tool: ToolDefinition, native: Option<&NativeTool>, overwrite: bool, replaced: Option<u32>) -> Result<u32> {
        let body = match native {
            Some(native) => Body::Native(Arc::clone(&native.body)),
            None if tool.has_body => Body::Host,
            None => Body::Missing,
        };
        let definition = Definition {
            input_schema: parse(&tool.input_schema)?,
            validation: if tool.host_validates { Validation::Host } else { Validation::Schema },
            fill_defaults: tool.fill_defaults,
            confirmation: per_call(tool.confirmation)?,
            external: per_call(tool.external)?,
            parallel: tool.parallel,
            timeout: duration(tool.timeout_ms),
            max_text_chars: tool.max_text_chars.map(|chars| chars as usize),
            max_data_bytes: tool.max_data_bytes.map(|bytes| bytes as usize),
            name: tool.name,
            description: tool.description,
            origin: tool.origin,
            body,
        };
        let entry = self.gate.register(definition, overwrite).map_err(to_js)?;
        if let Some(replaced) = replaced {
            environment::remove_tool(self.index, replaced);
        }
        environment::add_tool(self.index, entry).ok_or_else(|| misuse("the registry has no place in this environment"))
    }

    /// Removes a tool by its name and number.
    #[napi(catch_unwind)]
    pub fn unregister(&self, name: String, tool: u32) -> bool {
        environment::remove_tool(self.index, tool);
        self.gate.unregister(&name)
    }

    /// The limit for the body of a tool in milliseconds, where there is one.
    #[napi(catch_unwind)]
    pub fn timeout_ms(&self, tool: u32) -> Option<f64> {
        let timeout = environment::current().with_tool(self.index.into(), tool.into(), |gate, entry| gate.timeout(entry));
        timeout.flatten().map(|timeout| timeout.as_secs_f64() * 1000.0)
    }

    /// Replaces the permissions.
    #[napi(catch_unwind)]
    pub fn set_permissions(&self, permissions: Option<&NativePermissions>) {
        self.gate.set_permissions(permissions.map(|permissions| Arc::clone(&permissions.inner)));
    }

    /// No call begins any more, and those that run outside JavaScript are cancelled.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.gate.close();
        self.closing.cancel();
    }

    /// Throws once the gate is closed.
    #[napi(catch_unwind)]
    pub fn check_open(&self) -> Result<()> {
        self.gate.check_open().map_err(to_js)
    }

    /// Begins a call by name, for names that JavaScript does not know.
    #[napi(catch_unwind)]
    pub fn begin_by_name(&self, name: String, text: Option<String>, call_id: String) -> Result<String> {
        match self.gate.begin(ToolRef::Name(&name), text.as_deref(), Some(&call_id)).map_err(to_js)? {
            Begun::Refused(finished) => ended(&finished),
            Begun::Open(_) => Err(misuse("a registered tool is called by its id")),
        }
    }

    /// Whether a call would ask a person: `no`, `yes`, `refused` where it would not get that far, or `ask` where the tool decides by
    /// the arguments, which come with it as JSON.
    #[napi(catch_unwind)]
    pub fn would_ask(&self, tool: u32, text: String) -> Result<Vec<String>> {
        let asks =
            environment::current().with_tool(self.index.into(), tool.into(), |gate, entry| gate.would_ask(ToolRef::Entry(entry), &text));
        let (word, arguments) = match asks.ok_or_else(|| misuse("there is no tool of that number"))? {
            Ok((PerCall::Never, _)) => ("no", String::new()),
            Ok((PerCall::Always, _)) => ("yes", String::new()),
            Ok((PerCall::Ask, arguments)) => ("ask", arguments),
            Err(_) => ("refused", String::new()),
        };
        Ok(vec![word.to_owned(), arguments])
    }

    /// The validated arguments of a call, as JSON.
    #[napi(catch_unwind)]
    pub fn arguments(&self, ticket: f64) -> Result<String> {
        self.gate.arguments(self.ticket(ticket)).map(|arguments| arguments.text.to_string()).map_err(to_js)
    }

    /// What a person is shown of a call.
    #[napi(catch_unwind)]
    pub fn preview(&self, ticket: f64, snapshot: Option<String>) -> Result<String> {
        self.gate.preview(self.ticket(ticket), snapshot.as_deref()).map_err(to_js)
    }

    /// Ends a call whose arguments JavaScript's validator refused; `violations` is JSON.
    #[napi(catch_unwind)]
    pub fn invalid(&self, ticket: f64, violations: String) -> Result<String> {
        let finished = self.gate.invalid(self.ticket(ticket), parse(&violations)?).map_err(to_js)?;
        ended(&finished)
    }

    /// The answer to a confirmation: `yes`, `notNeeded`, `nobody`, or why not, with a word or a number of milliseconds.
    /// Gives the finished call unless the body may run.
    #[napi(catch_unwind)]
    pub fn confirmed(&self, ticket: f64, answer: String, detail: Option<String>) -> Result<Option<String>> {
        let answer = read_answer(&answer, detail)?;
        self.gate.confirmed(self.ticket(ticket), answer).map_err(to_js)?.as_deref().map(ended).transpose()
    }

    /// Ends a call whose body gave no result: `threw`, `badResult`, `timedOut` or `cancelled`.
    #[napi(catch_unwind)]
    pub fn fail(&self, ticket: f64, outcome: String, detail: String, entered: bool) -> Result<String> {
        let outcome = match outcome.as_str() {
            "threw" => Outcome::Threw(&detail),
            "badResult" => Outcome::BadResult(&detail),
            "timedOut" => Outcome::TimedOut(duration(detail.parse().ok()).unwrap_or_default()),
            "cancelled" => Outcome::Cancelled,
            _ => return Err(misuse("unknown outcome")),
        };
        let finished = self.gate.fail(self.ticket(ticket), outcome, entered).map_err(to_js)?;
        ended(&finished)
    }

    /// Runs a native tool to its end without waiting; nothing where it has to wait.
    #[napi(catch_unwind)]
    pub fn run_now(&self, ticket: f64) -> Result<Option<String>> {
        execute::run_now(&self.gate, self.ticket(ticket)).map_err(to_js)?.as_deref().map(ended).transpose()
    }

    /// Runs a native tool; the finished call goes to the promise under `token`.
    #[napi(catch_unwind)]
    pub fn run(&self, env: Env, token: u32, ticket: f64, call_id: String, timeout_ms: Option<f64>, listens: bool) -> Result<()> {
        let (gate, ticket, cancelled) = (Arc::clone(&self.gate), self.ticket(ticket), self.closing.child_token());
        let lane = Lane::of(execute::uses_network(&gate, ticket));
        dispatch::start(&env, token, lane, Some(cancelled.clone()), move |dispatcher| async move {
            let context = context(&dispatcher, token, &call_id, duration(timeout_ms), cancelled, listens);
            let finished = execute::run(&gate, ticket, context).await?;
            finished_json(&finished).map_err(|error| ToolError::new(ErrorCode::ExecutionFailed, error.to_string()))
        })
    }

    /// Runs a whole call from another thread, as a call that does not come from JavaScript would.
    #[napi(catch_unwind)]
    pub fn execute(&self, env: Env, token: u32, name: String, arguments: String, call_id: String) -> Result<()> {
        let (gate, index, cancelled) = (Arc::clone(&self.gate), self.index, self.closing.child_token());
        dispatch::start(&env, token, Lane::Local, Some(cancelled.clone()), move |dispatcher| async move {
            let host: Arc<dyn Host> = Arc::new(JsHost { dispatcher: Arc::clone(&dispatcher), gate: index });
            let request = Request { name, arguments, context: context(&dispatcher, token, &call_id, None, cancelled, true) };
            execute::execute(&gate, &host, request).await
        })
    }

    /// The events since the last time, as JSON.
    #[napi(catch_unwind)]
    pub fn take_events(&self) -> Result<String> {
        let events = self.queue.as_ref().map(|queue| std::mem::take(&mut *queue.events.lock())).unwrap_or_default();
        to_text(&events)
    }

    /// One line a tool.
    #[napi(catch_unwind)]
    pub fn catalog(&self) -> String {
        export::catalog(&self.gate)
    }

    /// A block a tool, with parameters.
    #[napi(catch_unwind)]
    pub fn description(&self, names: Option<Vec<String>>) -> String {
        export::description(&self.gate, names.as_deref())
    }

    /// Text from outside between delimiters.
    #[napi(catch_unwind)]
    pub fn guard(&self, text: String, origin: String, tool: Option<String>) -> String {
        guard::wrap(&text, guard::Source { tool: tool.as_deref(), origin: &origin }, &guard::nonce(), self.gate.prompts())
    }

    fn ticket(&self, ticket: f64) -> Ticket {
        // A number that is no ticket becomes one that works for no call.
        Ticket::from_bits(if ticket >= 0.0 && ticket.fract() == 0.0 { ticket as u64 } else { u64::MAX })
    }
}

fn per_call(number: u32) -> Result<PerCall> {
    match number {
        0 => Ok(PerCall::Never),
        1 => Ok(PerCall::Always),
        2 => Ok(PerCall::Ask),
        _ => Err(misuse("unknown per-call mode")),
    }
}
