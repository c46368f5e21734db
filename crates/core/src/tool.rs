//! What the registry needs to know of a tool, and the trait of tools whose body is written in Rust.

use crate::response::ToolResponse;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Whether something holds for every call, for none, or is asked per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PerCall {
    /// For no call.
    #[default]
    Never,
    /// For every call.
    Always,
    /// The tool is asked with the arguments.
    Ask,
}

/// Arguments after validation: the JSON text that was validated and shown, and its value.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// JSON text of an object; numbers as they were written.
    pub text: Arc<str>,
    /// The same, parsed.
    pub value: Value,
}

/// How far a long call has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Work done so far, growing.
    pub progress: f64,
    /// All work, if known.
    pub total: Option<f64>,
    /// What is being done, if the source says.
    pub message: Option<String>,
}

/// What a body gets beside its arguments.
#[derive(Clone)]
pub struct CallContext {
    /// Identifies the call in events and logs.
    pub call_id: Arc<str>,
    /// Fires on a deadline or when the caller cancels; the body must stop its work.
    pub cancelled: CancellationToken,
    /// The limit that the caller asked for, if any. The gate enforces it; a body that waits for others passes it on.
    pub timeout: Option<Duration>,
    /// Receives progress, in order.
    pub on_progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// A tool whose body is written in Rust.
pub trait NativeTool: Send + Sync {
    /// Whether this call needs a person's yes. Asked with validated arguments.
    fn needs_confirmation(&self, arguments: &Arguments) -> bool;

    /// Whether the result of this call is text from outside.
    fn is_external_content(&self, arguments: &Arguments) -> bool;

    /// Whether its work is mostly waiting for other hosts. A program may have a thread for that.
    fn uses_network(&self) -> bool {
        false
    }

    /// Refuses a call that no yes could make run, so that nobody is asked in vain. Asked with validated arguments, before the question.
    ///
    /// # Errors
    /// The response that the call gets instead.
    fn check(&self, _arguments: &Arguments) -> Result<(), ToolResponse> {
        Ok(())
    }

    /// Whether this call changes something outside; the person who is asked reads so.
    fn writes(&self, _arguments: &Arguments) -> bool {
        false
    }

    /// The input schema with texts as they are now, where they can change; `None` where what was registered holds.
    fn input_schema(&self) -> Option<Value> {
        None
    }

    /// Grows whenever [`NativeTool::input_schema`] may give something else.
    fn schema_revision(&self) -> u64 {
        0
    }

    /// Runs the body to its end without waiting for anything, or `None` where it has to wait.
    fn run_now(&self, _arguments: &Arguments) -> Option<ToolResponse> {
        None
    }

    /// Runs the body. It watches `context.cancelled`; dropping the future must stop the work too.
    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse>;
}
