//! What a server did that is no error but helps to understand one.

use super::stderr::Redactor;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// Lines kept, the newest ones.
const KEPT_LINES: usize = 16;
/// Bytes of a line that are looked at.
const KEPT_BYTES: usize = 200;

/// What was noticed on a connection so far.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// The server's namespace.
    pub server: String,
    /// Lines on standard output that were no MCP message, and were skipped.
    pub skipped_lines: u64,
    /// The newest of them, escaped and cut.
    pub recent_lines: Vec<String>,
    /// Replies to requests that nobody waits for: late ones, repeated ones, invented ones.
    pub unexpected_replies: u64,
    /// Notifications and requests that were dropped because too many came at once, or because nobody asked for them.
    pub dropped_messages: u64,
    /// What else was noticed, in sentences about the server, the newest last.
    pub notes: Vec<String>,
    /// The end of the server's standard error, without the secrets it was given.
    pub stderr: String,
}

/// Collects them.
#[derive(Debug, Default)]
pub(super) struct Collector {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    skipped: u64,
    lines: VecDeque<String>,
    unexpected: u64,
    dropped: u64,
    notes: VecDeque<String>,
}

impl Collector {
    pub(super) fn skipped(&self, line: &[u8], redactor: &Redactor) {
        let mut counts = self.counts.lock();
        counts.skipped += 1;
        // Redacted before the cut, which could fall within a secret; but a line may have megabytes.
        let text = redactor.redact(&String::from_utf8_lossy(line.get(..KEPT_BYTES * 8).unwrap_or(line)));
        let end = text.char_indices().nth(KEPT_BYTES).map_or(text.len(), |(place, _)| place);
        let shown = text.get(..end).unwrap_or_default().escape_debug().to_string();
        let mark = if end < text.len() { "…" } else { "" };
        if counts.lines.len() == KEPT_LINES {
            counts.lines.pop_front();
        }
        counts.lines.push_back(shown + mark);
    }

    pub(super) fn unexpected_reply(&self) {
        self.counts.lock().unexpected += 1;
    }

    pub(super) fn dropped(&self) {
        self.counts.lock().dropped += 1;
    }

    /// Keeps a sentence about the server, which must hold no text of its own that was not cleaned.
    pub(super) fn note(&self, what: impl Into<String>) {
        let mut counts = self.counts.lock();
        if counts.notes.len() == KEPT_LINES {
            counts.notes.pop_front();
        }
        counts.notes.push_back(what.into());
    }

    pub(super) fn report(&self, server: &str, stderr: String) -> Diagnostics {
        let counts = self.counts.lock();
        Diagnostics {
            server: server.to_owned(),
            skipped_lines: counts.skipped,
            recent_lines: counts.lines.iter().cloned().collect(),
            unexpected_replies: counts.unexpected,
            dropped_messages: counts.dropped,
            notes: counts.notes.iter().cloned().collect(),
            stderr,
        }
    }

    /// A hint for an error about a server that never answered.
    pub(super) fn hint(&self) -> String {
        let counts = self.counts.lock();
        match counts.lines.back() {
            Some(line) => format!(" {} lines on its standard output were no MCP messages, the last one: {line}", counts.skipped),
            None => String::new(),
        }
    }
}
