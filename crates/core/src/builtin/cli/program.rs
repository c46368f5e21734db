//! The programs that may be run: bare names, each resolved once to the file that it stands for.

use super::policy::{Policy, Ruling};
use crate::error::{ErrorCode, ToolError};
use crate::process;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The most characters of a program's name.
const MAX_NAME_CHARS: usize = 128;

/// Why an allowed program never runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// It is in no absolute folder of `PATH`, or its path is no text.
    NotFound,
    /// Its rule refuses it, whatever the arguments.
    Refused,
    /// It has no rule, and needs one.
    NoRule,
}

impl Unavailable {
    /// The reason as a word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::NoRule => "no-rule",
        }
    }
}

/// A program that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The file to run; none where the program is not installed.
    pub(super) file: Option<PathBuf>,
    /// The name of the file behind all links.
    pub(super) real_name: String,
    /// Why it never runs, if so. The model is then not told of it.
    pub(super) unavailable: Option<Unavailable>,
}

/// Finds every allowed program in the absolute folders of `path`.
///
/// # Errors
/// `INVALID_OPTIONS` for what is no bare name.
pub(super) fn resolve(names: &[String], path: &str, policy: &Policy) -> Result<BTreeMap<String, Program>, ToolError> {
    names.iter().map(|name| Ok((checked(name)?.to_owned(), find(name, path, policy)))).collect()
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

fn find(name: &str, path: &str, policy: &Policy) -> Program {
    let file = process::find_program(name, path);
    let real_name = file.as_deref().and_then(process::real_name).unwrap_or_else(|| name.to_owned());
    // A refusal of the program does not look at the arguments.
    let unavailable = match policy.judge(name, &real_name, &[]) {
        Ruling::RefusedProgram if policy.has_rule(name, &real_name) => Some(Unavailable::Refused),
        Ruling::RefusedProgram => Some(Unavailable::NoRule),
        _ => file.as_deref().is_none_or(|file| file.to_str().is_none()).then_some(Unavailable::NotFound),
    };
    Program { file, real_name, unavailable }
}
