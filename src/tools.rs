//! Tools whose body is written in Rust.

use crate::dispatch::{self, Dispatcher};
use crate::threads::Lane;
use crate::values::{duration, finished_json};
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::gate::Finished;
use toolbolt_core::response::ToolResponse;
use toolbolt_core::schema::arguments;
use toolbolt_core::tool::{Arguments, CallContext, NativeTool as Body};

/// A tool's body and how it presents itself.
#[napi]
pub struct NativeTool {
    pub(crate) body: Arc<dyn Body>,
    description: String,
    input_schema: String,
}

impl NativeTool {
    pub(crate) fn new(body: Arc<dyn Body>, description: String, input_schema: String) -> Self {
        Self { body, description, input_schema }
    }
}

#[napi]
impl NativeTool {
    /// What it does, in the words of the prompts at the time it was made.
    #[napi(getter, catch_unwind)]
    pub fn description(&self) -> String {
        self.description.clone()
    }

    /// JSON Schema of its arguments as JSON, with texts as they are now.
    #[napi(getter, catch_unwind)]
    pub fn input_schema(&self) -> String {
        self.body.input_schema().map_or_else(|| self.input_schema.clone(), |schema| schema.to_string())
    }

    /// Whether a call with these arguments needs a person's yes.
    #[napi(catch_unwind)]
    pub fn needs_confirmation(&self, arguments: String) -> bool {
        read(&arguments).is_none_or(|arguments| self.body.needs_confirmation(&arguments))
    }

    /// Whether the result of a call with these arguments is text from outside.
    #[napi(catch_unwind)]
    pub fn is_external_content(&self, arguments: String) -> bool {
        read(&arguments).is_none_or(|arguments| self.body.is_external_content(&arguments))
    }

    /// Runs the body outside any registry, where it does not wait: no permission, no confirmation, no bound.
    #[napi(catch_unwind)]
    pub fn run_now(&self, arguments: String) -> Option<String> {
        let response = match read(&arguments) {
            Some(arguments) => self.body.run_now(&arguments)?,
            None => unreadable(),
        };
        finished_json(&alone(response)).ok()
    }

    /// The same, for a body that waits.
    #[napi(catch_unwind)]
    pub fn run(&self, env: Env, token: u32, arguments: String, call_id: String, timeout_ms: Option<f64>, listens: bool) -> Result<()> {
        let (body, cancelled) = (Arc::clone(&self.body), CancellationToken::new());
        let lane = Lane::of(body.uses_network());
        dispatch::start(&env, token, lane, Some(cancelled.clone()), move |dispatcher| async move {
            let response = match read(&arguments) {
                Some(arguments) => {
                    body.run(arguments, context(&dispatcher, token, &call_id, duration(timeout_ms), cancelled, listens)).await
                }
                None => unreadable(),
            };
            alone_json(response)
        })
    }
}

pub(crate) fn context(
    dispatcher: &Arc<Dispatcher>,
    token: u32,
    call_id: &str,
    timeout: Option<Duration>,
    cancelled: CancellationToken,
    listens: bool,
) -> CallContext {
    let on_progress = listens.then(|| dispatcher.progress(token));
    CallContext { call_id: Arc::from(call_id), cancelled, timeout, on_progress }
}

fn read(text: &str) -> Option<Arguments> {
    let value = arguments::parse(text).ok()?;
    Some(Arguments { text: Arc::from(text), value })
}

/// The same as JSON, for an operation.
pub(crate) fn alone_json(response: ToolResponse) -> std::result::Result<String, ToolError> {
    finished_json(&alone(response)).map_err(|error| ToolError::new(ErrorCode::ExecutionFailed, error.to_string()))
}

/// A response that passed no gate.
fn alone(response: ToolResponse) -> Finished {
    Finished { response, origin: None, external: false }
}

fn unreadable() -> ToolResponse {
    ToolResponse::failed(ErrorCode::InvalidArguments, "the arguments are not a JSON object", false)
}
