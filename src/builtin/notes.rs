//! Notes.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::error::to_js;
use crate::policy::NativePrompts;
use crate::tools::NativeTool;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::sync::Arc;
use toolbolt_core::builtin::notes::{NotesLimits, NotesTool};
use toolbolt_core::tool::NativeTool as _;

/// How much one call may read and write.
#[napi(object)]
pub struct NotesSettings {
    /// Characters that a call gives at most.
    pub max_read_chars: Option<u32>,
    /// Characters that a call may add at most.
    pub max_append_chars: Option<u32>,
    /// Bytes that a note may grow to.
    pub max_file_bytes: Option<u32>,
}

/// The notes below a folder.
#[napi(catch_unwind)]
pub fn notes_tool(root: String, settings: NotesSettings, prompts: &NativePrompts) -> Result<NativeTool> {
    let default = NotesLimits::default();
    let limits = NotesLimits {
        max_read_chars: settings.max_read_chars.map_or(default.max_read_chars, |chars| chars as usize),
        max_append_chars: settings.max_append_chars.map_or(default.max_append_chars, |chars| chars as usize),
        max_file_bytes: settings.max_file_bytes.map_or(default.max_file_bytes, u64::from),
    };
    let tool = NotesTool::new(&root, limits, Arc::clone(&prompts.inner)).map_err(to_js)?;
    let (description, schema) = (tool.description(), tool.input_schema().unwrap_or_default().to_string());
    Ok(NativeTool::new(Arc::new(tool), description, schema))
}
