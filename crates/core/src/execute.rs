//! Awaiting calls in Rust: bodies written here, and calls that do not begin in the host.

use crate::error::{ErrorCode, ToolError};
use crate::gate::{Answer, Begun, Finished, Gate, Outcome, Ticket, ToolRef};
use crate::pause::expired;
use crate::registry::{Body, Entry};
use crate::response::ToolResponse;
use crate::tool::{Arguments, CallContext, NativeTool, PerCall};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What a person who decides is shown of a call.
#[derive(Clone, Debug)]
pub struct ConfirmRequest {
    /// The tool's name.
    pub name: String,
    /// Identifies the call.
    pub call_id: Arc<str>,
    /// The snapshot of the arguments as JSON text: what will run.
    pub arguments: Arc<str>,
    /// The same for a person, escaped.
    pub preview: String,
}

/// The host language, where calls from Rust need it.
pub trait Host: Send + Sync {
    /// Asks whoever decides. The host enforces its own limit on the wait.
    fn confirm(&self, request: ConfirmRequest) -> BoxFuture<'static, Answer>;

    /// Runs a tool whose body is in the host through the host's own entry of this gate, and gives back the finished call
    /// as the host wrote it.
    fn execute(&self, name: &str, arguments: &str, context: &CallContext) -> BoxFuture<'static, Result<String, ToolError>>;
}

/// A call that begins in Rust.
#[derive(Clone)]
pub struct Request {
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
    /// Cancellation, limit, progress and the call's id.
    pub context: CallContext,
}

/// Runs a call through the whole pipeline. Gives back the finished call as JSON.
///
/// # Errors
/// `CLOSED` once the gate is closed, and what the host reports of itself.
pub async fn execute(gate: &Arc<Gate>, host: &Arc<dyn Host>, request: Request) -> Result<String, ToolError> {
    let in_host =
        gate.with_registry(|registry| registry.get(&request.name).is_some_and(|entry| matches!(entry.definition.body, Body::Host)));
    if in_host {
        return host.execute(&request.name, &request.arguments, &request.context).await;
    }
    let finished = match gate.begin(ToolRef::Name(&request.name), Some(&request.arguments), Some(&request.context.call_id))? {
        Begun::Refused(refused) => refused,
        Begun::Open(opened) => {
            if opened.ask != PerCall::Never
                && let Some(refused) = ask(gate, host, opened.ticket, &request).await?
            {
                return to_json(&refused);
            }
            run(gate, opened.ticket, request.context).await?
        }
    };
    to_json(&finished)
}

async fn ask(gate: &Arc<Gate>, host: &Arc<dyn Host>, ticket: Ticket, request: &Request) -> Result<Option<Box<Finished>>, ToolError> {
    let shown = ConfirmRequest {
        name: request.name.clone(),
        call_id: Arc::clone(&request.context.call_id),
        arguments: gate.arguments(ticket)?.text,
        preview: gate.preview(ticket, None)?,
    };
    let answer = tokio::select! {
        biased;
        () = request.context.cancelled.cancelled() => Answer::No(crate::confirm::Rejection::Cancelled),
        answer = host.confirm(shown) => answer,
    };
    gate.confirmed(ticket, answer)
}

/// Step 5 of a native tool whose call is confirmed or needs no yes, and everything after it.
///
/// # Errors
/// `INVALID_OPTIONS` for a ticket that does not stand for a running call of a native tool.
pub async fn run(gate: &Arc<Gate>, ticket: Ticket, context: CallContext) -> Result<Box<Finished>, ToolError> {
    let NativeCall { entry, tool, arguments, external } = native_call(gate, ticket)?;
    let limit = context.timeout.or_else(|| gate.timeout(&entry));
    let cancelled = context.cancelled.clone();
    let body = AssertUnwindSafe(tool.run(arguments, context)).catch_unwind();
    let ended = tokio::select! {
        biased;
        () = cancelled.cancelled() => Err(Outcome::Cancelled),
        () = expired(limit) => Err(Outcome::TimedOut(limit.unwrap_or_default())),
        result = body => result.map_err(|_| Outcome::Threw("the tool panicked")),
    };
    match ended {
        Ok(response) => gate.finish_native(ticket, response, external),
        Err(outcome) => {
            // The body's future is gone by now, and with it its work; children and remote calls hear of it too.
            cancelled.cancel();
            gate.fail(ticket, outcome, true)
        }
    }
}

/// Whether the body of a call mostly waits for other hosts.
pub fn uses_network(gate: &Gate, ticket: Ticket) -> bool {
    gate.entry(ticket).is_ok_and(|entry| matches!(&entry.definition.body, Body::Native(tool) if tool.uses_network()))
}

/// Runs a native body that does not wait; `None` where it has to.
///
/// # Errors
/// As [`run`].
pub fn run_now(gate: &Arc<Gate>, ticket: Ticket) -> Result<Option<Box<Finished>>, ToolError> {
    let NativeCall { tool, arguments, external, .. } = native_call(gate, ticket)?;
    let ended: Result<Option<ToolResponse>, _> = std::panic::catch_unwind(AssertUnwindSafe(|| tool.run_now(&arguments)));
    match ended {
        Ok(Some(response)) => gate.finish_native(ticket, response, external).map(Some),
        Ok(None) => Ok(None),
        Err(_) => gate.fail(ticket, Outcome::Threw("the tool panicked"), true).map(Some),
    }
}

/// A call whose body runs here.
struct NativeCall {
    entry: Arc<Entry>,
    tool: Arc<dyn NativeTool>,
    arguments: Arguments,
    /// Whether the result is text from outside: the tool says so, or whoever registered it.
    external: bool,
}

fn native_call(gate: &Gate, ticket: Ticket) -> Result<NativeCall, ToolError> {
    let (entry, arguments) = (gate.entry(ticket)?, gate.arguments(ticket)?);
    match entry.definition.body.clone() {
        Body::Native(tool) => {
            let external = entry.definition.external == PerCall::Always || tool.is_external_content(&arguments);
            Ok(NativeCall { entry, tool, arguments, external })
        }
        Body::Host | Body::Missing => Err(ToolError::new(ErrorCode::InvalidOptions, "only native tools run in Rust")),
    }
}

fn to_json(finished: &Finished) -> Result<String, ToolError> {
    serde_json::to_string(finished)
        .map_err(|error| ToolError::new(ErrorCode::ExecutionFailed, format!("the response has no JSON form: {error}")))
}
