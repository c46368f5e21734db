//! Stands for the disk where the system is not a POSIX one: there is no tool to use it.

use super::NotesLimits;
use super::answer::Done;
use super::fault::Fault;
use super::request::Request;
use crate::error::{ErrorCode, ToolError};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// No folder.
pub(super) enum Root {}

impl Root {
    pub(super) fn new(_path: &Path) -> Result<Self, ToolError> {
        Err(ToolError::new(ErrorCode::UnsupportedPlatform, "notes need a POSIX system: elsewhere links cannot be told from files safely"))
    }

    pub(super) fn name(&self) -> Option<String> {
        match *self {}
    }
}

pub(super) fn carry_out(root: &Root, _request: &Request, _limits: &NotesLimits, _cancelled: &CancellationToken) -> Result<Done, Fault> {
    match *root {}
}
