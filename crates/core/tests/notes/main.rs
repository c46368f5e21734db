//! Notes on a real disk: what is kept, what is refused, and what others on the same machine can and cannot do about it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "the tests prepare and inspect the disk")]

mod crash;
mod disk;
mod paths;
mod race;
mod together;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;
use toolbolt_core::builtin::notes::{NotesLimits, NotesTool};
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::{Arguments, CallContext, NativeTool};

/// A folder of its own, removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("toolbolt-notes-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A tool and what runs it.
#[derive(Clone)]
pub(crate) struct Notes {
    tool: Arc<NotesTool>,
    runtime: Arc<tokio::runtime::Runtime>,
}

impl Notes {
    pub(crate) fn new(root: &Path) -> Self {
        Self::with(root, NotesLimits::default())
    }

    pub(crate) fn with(root: &Path, limits: NotesLimits) -> Self {
        let tool = NotesTool::new(root.to_str().unwrap(), limits, Arc::new(PromptRegistry::default())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { tool: Arc::new(tool), runtime: Arc::new(runtime) }
    }

    pub(crate) fn call_with(&self, arguments: Value, cancelled: CancellationToken) -> ToolResponse {
        let arguments = Arguments { text: arguments.to_string().into(), value: arguments };
        let context = CallContext { call_id: "call".into(), cancelled, timeout: None, on_progress: None };
        self.runtime.block_on(Arc::clone(&self.tool).run(arguments, context))
    }

    pub(crate) fn call(&self, arguments: Value) -> ToolResponse {
        self.call_with(arguments, CancellationToken::new())
    }

    pub(crate) fn read(&self, path: &str) -> ToolResponse {
        self.call(json!({"action": "read", "path": path}))
    }

    pub(crate) fn append(&self, path: &str, content: &str) -> ToolResponse {
        self.call(json!({"action": "append", "path": path, "content": content}))
    }

    pub(crate) fn list(&self, path: &str) -> ToolResponse {
        self.call(json!({"action": "list", "path": path}))
    }

    pub(crate) fn search(&self, query: &str, path: &str) -> ToolResponse {
        self.call(json!({"action": "search", "query": query, "path": path}))
    }
}

pub(crate) fn data(response: &ToolResponse) -> Value {
    response.data.as_ref().map_or(Value::Null, |data| serde_json::from_str(data.get()).unwrap())
}

#[track_caller]
pub(crate) fn ok(response: &ToolResponse) {
    assert_eq!(response.status, Status::Success, "{}", response.text);
}

#[track_caller]
pub(crate) fn refused(response: &ToolResponse) {
    assert_eq!(response.status, Status::Error, "{}", response.text);
    assert!(!response.text.contains(std::env::temp_dir().to_str().unwrap()), "{}", response.text);
}
