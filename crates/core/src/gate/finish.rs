//! Steps 6 and 8: what a body gave back is bounded and recorded.

use super::Gate;
use super::calls::{self, Call, Stage, Ticket};
use crate::error::{ErrorCode, ToolError};
use crate::event::{Event, EventKind};
use crate::exact;
use crate::redact::redact_text;
use crate::registry::Entry;
use crate::response::{Status, ToolResponse};
use crate::sanitize;
use crate::tool::PerCall;
use serde::Serialize;
use std::time::Duration;

/// Levels of nesting that data from Rust or a server may have: more would exhaust the stack of whoever walks it.
const MAX_DATA_DEPTH: usize = 128;
/// Characters of a failure's own words that reach the model.
const MAX_ERROR_CHARS: usize = 2_000;

/// A response that has passed the gate.
#[derive(Clone, Debug, Serialize)]
pub struct Finished {
    /// What the caller gets.
    #[serde(flatten)]
    pub response: ToolResponse,
    /// Who vouches for the tool; absent where there is no tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether the text is from outside and has to be guarded when a model reads it.
    pub external: bool,
}

/// How a body ended that gave no result.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// It threw; the words are the error's own.
    Threw(&'a str),
    /// It gave back something that has no JSON form; the words say what.
    BadResult(&'a str),
    /// Its time was up.
    TimedOut(Duration),
    /// The caller gave up, before or after the body was entered.
    Cancelled,
}

/// What becomes of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stands as it is.
    Unchanged,
    /// It was over a limit.
    Cut {
        /// The text with its mark, where it was cut.
        text: Option<String>,
        /// Whether the data has to go.
        drop_data: bool,
        /// What the status is now.
        status: Status,
    },
}

impl Gate {
    /// Ends a call whose body gave a result. `read` gives the text, or as much of it as shows whether it is longer than the
    /// limit that it is told, in characters.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a running call.
    pub fn finish(
        &self,
        ticket: Ticket,
        status: Status,
        read: impl FnOnce(usize) -> String,
        data_bytes: usize,
    ) -> Result<Verdict, ToolError> {
        let call = self.take_running(ticket)?;
        let limit = call.entry.max_text_chars(self.limits.max_text_chars);
        let verdict = self.bound(limit, status, &read(limit), data_bytes > call.entry.max_data_bytes());
        let status = match verdict {
            Verdict::Unchanged => status,
            Verdict::Cut { status, .. } => status,
        };
        self.record_outcome(&call, true, status, None);
        Ok(verdict)
    }

    /// Ends a call whose body gave no result.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn fail(&self, ticket: Ticket, outcome: Outcome<'_>, entered: bool) -> Result<Box<Finished>, ToolError> {
        let call = if entered { self.take_running(ticket)? } else { self.calls.lock().take(ticket)? };
        let name = call.entry.definition.name.as_str();
        let (code, text) = match outcome {
            Outcome::Threw(words) => {
                let words = redact_text(sanitize::cut(words, MAX_ERROR_CHARS).unwrap_or(words));
                (ErrorCode::ExecutionFailed, self.prompts.text("tool.error.exec_failed", &[("name", name), ("err", &words)]))
            }
            Outcome::BadResult(words) => {
                let key = if entered { "tool.error.bad_result" } else { "tool.error.not_run" };
                (ErrorCode::ExecutionFailed, self.prompts.text(key, &[("name", name), ("err", words)]))
            }
            Outcome::TimedOut(limit) => {
                let limit = limit.as_millis().to_string();
                (ErrorCode::Timeout, self.prompts.text("tool.error.timeout", &[("name", name), ("timeout", &limit)]))
            }
            Outcome::Cancelled => (ErrorCode::Cancelled, self.prompts.text("tool.error.cancelled", &[("name", name)])),
        };
        let finished = self.finished(&call.entry, ToolResponse::failed(code, text, entered));
        self.record_outcome(&call, entered, finished.response.status, finished.response.code);
        Ok(finished)
    }

    /// Ends a call whose body ran in Rust.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a running call.
    pub fn finish_native(&self, ticket: Ticket, mut response: ToolResponse, external: bool) -> Result<Box<Finished>, ToolError> {
        let call = self.take_running(ticket)?;
        let limit = call.entry.max_text_chars(self.limits.max_text_chars);
        // Data that is nested too deep goes like data that is too large.
        let data_bytes = response.data.as_ref().map_or(0, |data| match exact::nests_deeper(data.get(), MAX_DATA_DEPTH) {
            true => usize::MAX,
            false => data.get().len(),
        });
        if let Verdict::Cut { text, drop_data, status } =
            self.bound(limit, response.status, &response.text, data_bytes > call.entry.max_data_bytes())
        {
            response.status = status;
            response.text = text.unwrap_or(response.text);
            if drop_data {
                response.data = serde_json::value::RawValue::from_string(DROPPED.into()).ok();
            }
        }
        self.record_outcome(&call, response.executed, response.status, response.code);
        Ok(Box::new(Finished { response, origin: Some(call.entry.definition.origin.clone()), external }))
    }

    fn take_running(&self, ticket: Ticket) -> Result<Call, ToolError> {
        let mut calls = self.calls.lock();
        if calls.get(ticket)?.stage != Stage::Running {
            return Err(calls::bad_ticket());
        }
        calls.take(ticket)
    }

    fn bound(&self, limit: usize, status: Status, text: &str, drop_data: bool) -> Verdict {
        let cut =
            sanitize::cut(text, limit).map(|kept| format!("{kept}{}", self.prompts.text("tool.truncated", &[("max", &limit.to_string())])));
        if cut.is_none() && !drop_data {
            return Verdict::Unchanged;
        }
        // A failure stays one; only a success becomes incomplete.
        let status = if status == Status::Error { Status::Error } else { Status::Partial };
        Verdict::Cut { text: cut, drop_data, status }
    }

    pub(super) fn finished(&self, entry: &Entry, response: ToolResponse) -> Box<Finished> {
        // The gate's own words are not from outside; a body's words about its failure may be, and which call is external cannot be asked
        // of one that failed, so any possibility counts.
        let own_words = !response.executed || matches!(response.code, Some(ErrorCode::Timeout | ErrorCode::Cancelled));
        let external = !own_words && entry.definition.external != PerCall::Never;
        Box::new(Finished { response, origin: Some(entry.definition.origin.clone()), external })
    }

    /// Records the end of a call that never reached its body.
    pub(super) fn record_end(&self, call: &Call, refused: &Finished) {
        if let Some(recorder) = &self.recorder {
            recorder.record(
                Event::of_call(EventKind::Denied, call.id(), &call.entry.definition, None).ended(Status::Error, refused.response.code),
            );
        }
        self.record_outcome(call, false, Status::Error, refused.response.code);
    }

    fn record_outcome(&self, call: &Call, entered: bool, status: Status, code: Option<ErrorCode>) {
        let Some(recorder) = &self.recorder else { return };
        let kinds = if entered { &[EventKind::Executed, EventKind::Finished][..] } else { &[EventKind::Finished] };
        for &kind in kinds {
            recorder.record(Event::of_call(kind, call.id(), &call.entry.definition, None).ended(status, code));
        }
    }
}

/// What stands in for data that was too large.
const DROPPED: &str = r#"{"truncated":true}"#;
