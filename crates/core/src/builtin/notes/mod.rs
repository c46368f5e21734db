//! Notes: text files below one folder, to be read, added to, listed and searched, and no way to anything outside of it.
#![cfg_attr(not(unix), expect(dead_code, reason = "without a disk to use, nothing is read or found"))]

mod answer;
#[cfg(unix)]
mod disk;
#[cfg(not(unix))]
#[path = "disk_other.rs"]
mod disk;
mod fault;
mod path;
mod request;

pub use path::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, NotePath, PathFault};
pub use request::MAX_QUERY_CHARS;

use crate::builtin::arguments;
use crate::error::{ErrorCode, ToolError};
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::sanitize::visible;
use crate::tool::{Arguments, CallContext, NativeTool};
use answer::{Words, cancelled};
use disk::Root;
use fault::Fault;
use futures_util::future::{BoxFuture, FutureExt};
use request::{NotesArguments, Request, only_looks};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The tool's name.
pub const NAME: &str = "notes";

/// How much one call may read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotesLimits {
    /// Characters that a call gives to the model at most. 8,000 by default.
    pub max_read_chars: usize,
    /// Characters that a call may add at most, as they were given. 50,000 by default.
    pub max_append_chars: usize,
    /// Bytes that a note may grow to. 2,000,000 by default.
    pub max_file_bytes: u64,
}

impl Default for NotesLimits {
    fn default() -> Self {
        Self { max_read_chars: 8_000, max_append_chars: 50_000, max_file_bytes: 2_000_000 }
    }
}

/// The notes below one folder as a tool.
pub struct NotesTool {
    prompts: Arc<PromptRegistry>,
    limits: NotesLimits,
    root: Arc<Root>,
    /// What the root is called in texts: its last name, never where it is.
    root_name: String,
}

impl NotesTool {
    /// A tool for the notes below `root`, a path of the host. Nothing is looked at or made until the first call.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a root that is no path, or a limit of zero; `UNSUPPORTED_PLATFORM` where the system is not a POSIX one.
    pub fn new(root: &str, limits: NotesLimits, prompts: Arc<PromptRegistry>) -> Result<Self, ToolError> {
        let invalid = |message: &str| Err(ToolError::new(ErrorCode::InvalidOptions, message));
        if root.trim().is_empty() || root.contains('\0') {
            return invalid("the root of notes must be the path of a folder");
        }
        if limits.max_read_chars == 0 || limits.max_append_chars == 0 || limits.max_file_bytes == 0 {
            return invalid("the limits of notes must be positive");
        }
        let root = Root::new(Path::new(root))?;
        let root_name = root.name().map_or_else(|| NAME.to_owned(), |name| visible(&name));
        Ok(Self { prompts, limits, root: Arc::new(root), root_name })
    }

    /// What the model is told of the tool.
    pub fn description(&self) -> String {
        self.prompts.text("tool.desc.notes", &[("root", &self.root_name)])
    }

    fn words(&self) -> Words<'_> {
        Words { prompts: &self.prompts, root: &self.root_name }
    }

    fn request(&self, arguments: &Arguments) -> Result<Request, ToolResponse> {
        Request::read(arguments::read::<NotesArguments>(arguments)?, &self.limits, &self.words())
    }
}

impl NativeTool for NotesTool {
    fn needs_confirmation(&self, arguments: &Arguments) -> bool {
        !only_looks(arguments.value.get("action").and_then(Value::as_str))
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        false
    }

    fn check(&self, arguments: &Arguments) -> Result<(), ToolResponse> {
        self.request(arguments).map(drop)
    }

    fn writes(&self, arguments: &Arguments) -> bool {
        self.needs_confirmation(arguments)
    }

    fn input_schema(&self) -> Option<Value> {
        let texts = ["action", "path", "content", "query"].map(|name| (name, format!("tool.param.notes.{name}")));
        Some(arguments::schema::<NotesArguments>(&self.prompts, &texts.each_ref().map(|(name, key)| (*name, key.as_str()))))
    }

    fn schema_revision(&self) -> u64 {
        self.prompts.revision()
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        async move {
            let request = match self.request(&arguments) {
                Ok(request) => request,
                Err(refused) => return refused,
            };
            let given_up = context.cancelled.child_token();
            // Dropping this future stops the work as far as it has not begun to write.
            let _stop = given_up.clone().drop_guard();
            let tool = Arc::clone(&self);
            let work = tokio::task::spawn_blocking(move || {
                let done = disk::carry_out(&tool.root, &request, &tool.limits, &given_up);
                match done {
                    Ok(done) => tool.words().done(done, &tool.limits),
                    Err(fault) => tool.words().stopped(&request, &fault, &tool.limits),
                }
            });
            tokio::select! {
                biased;
                () = context.cancelled.cancelled() => cancelled(&self.prompts),
                ended = work => ended.unwrap_or_else(|_| {
                    let reason = Fault::System("the work panicked".to_owned()).text(&self.prompts);
                    ToolResponse::failed(ErrorCode::ExecutionFailed, reason, true)
                }),
            }
        }
        .boxed()
    }
}
