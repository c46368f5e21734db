//! What a call asks for, read and checked as far as that is possible without looking at the disk.

use super::NotesLimits;
use super::answer::{Words, shortened};
use super::path::{NotePath, PathFault};
use crate::error::ErrorCode;
use crate::response::ToolResponse;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use unicode_normalization::UnicodeNormalization;

/// The most characters of a query.
pub const MAX_QUERY_CHARS: usize = 200;

/// The actions in the order in which they are offered.
const ACTIONS: [&str; 4] = ["read", "append", "list", "search"];

/// Whether an action only looks. Anything that is not exactly one of these counts as writing.
pub(super) fn only_looks(action: Option<&str>) -> bool {
    matches!(action, Some("read" | "list" | "search"))
}

#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct NotesArguments {
    #[schemars(with = "String", extend("enum" = ACTIONS))]
    action: Option<String>,
    #[serde(default, deserialize_with = "nothing_for_null", skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(default, deserialize_with = "nothing_for_null", skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(default, deserialize_with = "nothing_for_null", skip_serializing_if = "String::is_empty")]
    query: String,
}

/// Called by itself, outside any registry, the tool meets arguments that no schema has checked.
fn nothing_for_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// What to do.
#[derive(Debug)]
pub(super) enum Request {
    Read(NotePath),
    /// The chunk ends in a line feed.
    Append(NotePath, String),
    List(NotePath),
    Search(NotePath, Query),
}

/// What to look for.
#[derive(Debug)]
pub(super) struct Query {
    /// As it was given.
    pub(super) text: String,
    /// The same, whatever the case of its letters.
    pub(super) pattern: Regex,
}

impl Request {
    /// Reads arguments.
    ///
    /// # Errors
    /// The response that refuses them.
    pub(super) fn read(given: NotesArguments, limits: &NotesLimits, words: &Words<'_>) -> Result<Self, ToolResponse> {
        match given.action.as_deref().unwrap_or_default() {
            "read" => Ok(Self::Read(note(&given.path, "tool.msg.notes.read_failed", words)?)),
            "append" => {
                let path = note(&given.path, "tool.msg.notes.write_failed", words)?;
                if path.names_folder() {
                    let reason = words.text("tool.msg.notes.is_folder", &[]);
                    return Err(words.refused("tool.msg.notes.write_failed", &[("rel", &path.to_string()), ("err", &reason)]));
                }
                Ok(Self::Append(path, chunk(given.content, limits, words)?))
            }
            "list" => Ok(Self::List(folder(&given.path, "tool.msg.notes.list_failed", words)?)),
            "search" => {
                let path = folder(&given.path, "tool.msg.notes.search_failed", words)?;
                Ok(Self::Search(path, query(&given.query, words)?))
            }
            other => Err(words.refused("tool.msg.notes.bad_action", &[("actions", &ACTIONS.join(" / ")), ("got", &shortened(other))])),
        }
    }
}

fn note(text: &str, failed: &str, words: &Words<'_>) -> Result<NotePath, ToolResponse> {
    NotePath::parse(text).map_err(|fault| refused(&fault, text, failed, words))
}

fn folder(text: &str, failed: &str, words: &Words<'_>) -> Result<NotePath, ToolResponse> {
    NotePath::parse_folder(text).map_err(|fault| refused(&fault, text, failed, words))
}

fn refused(fault: &PathFault, text: &str, failed: &str, words: &Words<'_>) -> ToolResponse {
    match fault.text(words.prompts) {
        Some(reason) => words.refused(failed, &[("rel", &shortened(text.trim())), ("err", &reason)]),
        None if *fault == PathFault::Empty => words.refused("tool.msg.notes.empty_path", &[]),
        None => {
            let text = words.text("tool.msg.notes.path_escape", &[("root", words.root)]);
            ToolResponse::failed(ErrorCode::PermissionDenied, text, false)
        }
    }
}

fn chunk(content: String, limits: &NotesLimits, words: &Words<'_>) -> Result<String, ToolResponse> {
    if content.trim().is_empty() {
        return Err(words.refused("tool.msg.notes.append_empty", &[]));
    }
    if content.chars().count() > limits.max_append_chars {
        return Err(words.over("tool.msg.notes.append_too_large", limits.max_append_chars));
    }
    let mut chunk = content;
    if !chunk.ends_with('\n') {
        chunk.push('\n');
    }
    if chunk.len() as u64 > limits.max_file_bytes {
        return Err(words.over("tool.msg.notes.file_too_large", limits.max_file_bytes));
    }
    Ok(chunk)
}

fn query(given: &str, words: &Words<'_>) -> Result<Query, ToolResponse> {
    let text: String = given.trim().nfc().collect();
    if text.is_empty() {
        return Err(words.refused("tool.msg.notes.query_empty", &[]));
    }
    let bad = || words.over("tool.msg.notes.bad_query", MAX_QUERY_CHARS);
    if text.contains(['\n', '\r']) || text.chars().count() > MAX_QUERY_CHARS {
        return Err(bad());
    }
    let pattern = RegexBuilder::new(&regex::escape(&text)).case_insensitive(true).build().map_err(|_| bad())?;
    Ok(Query { text, pattern })
}
