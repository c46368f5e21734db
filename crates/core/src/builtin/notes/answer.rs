//! What a call found or did, as text for a model and data for a program.

use super::fault::Fault;
use super::request::Request;
use super::{NAME, NotesLimits};
use crate::error::ErrorCode;
use crate::prompts::PromptRegistry;
use crate::response::{Status, ToolResponse};
use crate::sanitize::{cut, visible};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::fmt::Display;

/// The most characters that a text of the model's is repeated with.
const MAX_ECHO_CHARS: usize = 400;

/// What became of a request.
#[derive(Debug)]
pub(super) enum Done {
    Read(Reading),
    Appended(Appended),
    Listed(Listing),
    Found(Findings),
}

#[derive(Debug, Serialize)]
pub(super) struct Reading {
    pub(super) path: String,
    pub(super) exists: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) truncated: bool,
    #[serde(skip)]
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Appended {
    pub(super) path: String,
    pub(super) appended_chars: usize,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Listing {
    pub(super) path: String,
    pub(super) exists: bool,
    pub(super) entries: Vec<Entry>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) skipped: usize,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    #[serde(rename = "modifiedMs", skip_serializing_if = "Option::is_none")]
    pub(super) modified_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Note,
    Folder,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Findings {
    pub(super) query: String,
    pub(super) path: String,
    pub(super) exists: bool,
    pub(super) matches: Vec<Match>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) skipped: usize,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) truncated: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Match {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that the derive calls")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that the derive calls")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// The words of one call: the prompts, and what the root is called in them.
pub(super) struct Words<'a> {
    pub(super) prompts: &'a PromptRegistry,
    pub(super) root: &'a str,
}

impl Words<'_> {
    pub(super) fn text(&self, key: &str, variables: &[(&str, &str)]) -> String {
        self.prompts.text(key, variables)
    }

    /// The response to arguments that were refused without a look at the disk.
    pub(super) fn refused(&self, key: &str, variables: &[(&str, &str)]) -> ToolResponse {
        ToolResponse::failed(ErrorCode::InvalidArguments, self.text(key, variables), false)
    }

    pub(super) fn over(&self, key: &str, max: impl Display) -> ToolResponse {
        self.refused(key, &[("max", &max.to_string())])
    }

    /// The response to a request that the disk stopped.
    pub(super) fn stopped(&self, request: &Request, fault: &Fault, limits: &NotesLimits) -> ToolResponse {
        let (key, path) = match request {
            Request::Read(path) => ("tool.msg.notes.read_failed", path),
            Request::Append(path, _) => ("tool.msg.notes.write_failed", path),
            Request::List(path) => ("tool.msg.notes.list_failed", path),
            Request::Search(path, _) => ("tool.msg.notes.search_failed", path),
        };
        let text = match fault {
            Fault::Cancelled => return cancelled(self.prompts),
            Fault::TooLarge => self.text("tool.msg.notes.file_too_large", &[("max", &limits.max_file_bytes.to_string())]),
            Fault::Root(_) => self.text("tool.msg.notes.root_unusable", &[("root", self.root), ("err", &fault.text(self.prompts))]),
            _ => self.text(key, &[("rel", &self.place(&path.to_string())), ("err", &fault.text(self.prompts))]),
        };
        ToolResponse::failed(fault.code(), text, true)
    }

    /// The response to a request that was carried out.
    pub(super) fn done(&self, done: Done, limits: &NotesLimits) -> ToolResponse {
        match done {
            Done::Read(reading) => self.read(reading, limits.max_read_chars),
            Done::Appended(appended) => {
                let n = appended.appended_chars.to_string();
                let text = self.text("tool.msg.notes.appended", &[("rel", &appended.path), ("n", &n)]);
                with_data(ToolResponse::ok(text), &appended)
            }
            Done::Listed(listing) => self.listed(&listing, limits.max_read_chars),
            Done::Found(findings) => self.found(&findings, limits.max_read_chars),
        }
    }

    fn read(&self, mut reading: Reading, max: usize) -> ToolResponse {
        let mut text = std::mem::take(&mut reading.text);
        if !reading.exists {
            text = self.text("tool.msg.notes.empty_note", &[("rel", &reading.path)]);
        }
        if reading.truncated {
            text.push_str(&self.text("tool.msg.notes.truncated", &[("max", &max.to_string())]));
        }
        with_data(complete(text, !reading.truncated), &reading)
    }

    fn listed(&self, listing: &Listing, max: usize) -> ToolResponse {
        if listing.entries.is_empty() && !listing.truncated {
            let mut text = match listing.exists || listing.path.is_empty() {
                true => self.text("tool.msg.notes.no_notes", &[("rel", &self.place(&listing.path))]),
                false => self.text("tool.msg.notes.no_folder", &[("rel", &listing.path)]),
            };
            self.push_skipped(&mut text, listing.skipped);
            return with_data(ToolResponse::ok(text), listing);
        }
        let (mut text, shown) = lines_within(max, listing.entries.iter().map(|entry| self.entry(entry)));
        let whole = shown == listing.entries.len() && !listing.truncated;
        if !whole {
            text.push_str(&self.text("tool.msg.notes.list_cut", &[("n", &shown.to_string())]));
        }
        self.push_skipped(&mut text, listing.skipped);
        with_data(complete(text, whole), listing)
    }

    fn entry(&self, entry: &Entry) -> String {
        match entry.kind {
            Kind::Folder => format!("{}/", entry.path),
            Kind::Note => {
                let bytes = entry.bytes.unwrap_or_default().to_string();
                self.text("tool.msg.notes.entry", &[("rel", &entry.path), ("bytes", &bytes)])
            }
        }
    }

    fn found(&self, findings: &Findings, max: usize) -> ToolResponse {
        let lines = findings.matches.iter().map(|found| format!("{}:{}: {}", found.path, found.line, found.text));
        let (mut text, shown) = lines_within(max, lines);
        let whole = shown == findings.matches.len() && !findings.truncated;
        if findings.matches.is_empty() {
            text = match findings.exists || findings.path.is_empty() {
                true => {
                    self.text("tool.msg.notes.no_match", &[("query", &shortened(&findings.query)), ("rel", &self.place(&findings.path))])
                }
                false => self.text("tool.msg.notes.no_folder", &[("rel", &findings.path)]),
            };
        }
        if !whole {
            text.push_str(&self.text("tool.msg.notes.search_cut", &[("n", &shown.to_string())]));
        }
        self.push_skipped(&mut text, findings.skipped);
        with_data(complete(text, whole), findings)
    }

    fn push_skipped(&self, text: &mut String, skipped: usize) {
        if skipped > 0 {
            text.push_str(&self.text("tool.msg.notes.skipped", &[("n", &skipped.to_string())]));
        }
    }

    /// A path for a sentence, where the root goes by its name.
    fn place(&self, path: &str) -> String {
        if path.is_empty() { self.root.to_owned() } else { path.to_owned() }
    }
}

/// The response to a call that was given up.
pub(super) fn cancelled(prompts: &PromptRegistry) -> ToolResponse {
    ToolResponse::failed(ErrorCode::Cancelled, prompts.text("tool.error.cancelled", &[("name", NAME)]), true)
}

/// A text of the model's for a sentence: short, and nothing in it hides.
pub(super) fn shortened(text: &str) -> String {
    match cut(text, MAX_ECHO_CHARS) {
        Some(start) => format!("{}…", visible(start)),
        None => visible(text),
    }
}

fn complete(text: String, whole: bool) -> ToolResponse {
    ToolResponse { status: if whole { Status::Success } else { Status::Partial }, ..ToolResponse::ok(text) }
}

fn with_data(response: ToolResponse, data: &impl Serialize) -> ToolResponse {
    ToolResponse { data: to_raw_value(data).ok(), ..response }
}

/// As many whole lines as fit, and how many those are.
fn lines_within(max: usize, lines: impl Iterator<Item = String>) -> (String, usize) {
    let (mut text, mut left, mut count) = (String::new(), max, 0);
    for line in lines {
        let needed = line.chars().count() + usize::from(count > 0);
        if needed > left {
            break;
        }
        if count > 0 {
            text.push('\n');
        }
        text.push_str(&line);
        left -= needed;
        count += 1;
    }
    (text, count)
}
