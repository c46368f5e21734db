//! The programs that may be run: bare names, each resolved once to the file that it stands for.

use crate::error::{ErrorCode, ToolError};
use crate::process;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most characters of a program's name.
const MAX_NAME_CHARS: usize = 128;

/// A program that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The file to run; none where the program is not installed.
    pub(super) file: Option<PathBuf>,
    /// The name of the file behind all links.
    pub(super) real_name: String,
}

/// Finds every allowed program in the absolute folders of `path`.
///
/// # Errors
/// `INVALID_OPTIONS` for what is no bare name.
pub(super) fn resolve(names: &[String], path: &str) -> Result<BTreeMap<String, Program>, ToolError> {
    names.iter().map(|name| Ok((checked(name)?.to_owned(), find(name, path)))).collect()
}

fn checked(name: &str) -> Result<&str, ToolError> {
    let is_bare = !name.is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        && !matches!(name, "." | "..")
        && !name.starts_with('-')
        && !name.chars().any(|character| character.is_whitespace() || character.is_control() || "/\\=;|&<>()$`'\"*?~#".contains(character));
    if is_bare {
        return Ok(name);
    }
    let message =
        format!("{name:?} cannot be allowed: give the bare name of a program, such as 'git', without a path, arguments or blanks");
    Err(ToolError::new(ErrorCode::InvalidOptions, message))
}

fn find(name: &str, path: &str) -> Program {
    let file = process::find_program(name, path);
    let real_name = file.as_deref().and_then(process::real_name).unwrap_or_else(|| name.to_owned());
    Program { file, real_name }
}
