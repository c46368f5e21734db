//! The responses of calls that end before their body: each sentence is made here, from the prompts.

use super::{Finished, Gate, ToolRef};
use crate::confirm::Rejection;
use crate::error::ErrorCode;
use crate::event::{Event, EventKind};
use crate::permission::Denial;
use crate::registry::{Entry, Registry};
use crate::response::{Status, ToolResponse};
use crate::sanitize;
use crate::schema::violation::{MAX_LISTED, Violation};
use serde_json::Value;
use serde_json::value::RawValue;

/// Characters of tool names that a refusal lists.
const MAX_NAMES_CHARS: usize = 4_000;
/// Characters of an unknown name that are repeated.
const MAX_UNKNOWN_CHARS: usize = 100;

impl Gate {
    pub(super) fn not_found(&self, registry: &Registry, name: &str) -> Box<Finished> {
        let name = unknown_name(name);
        let shown = registry.entries().filter(|entry| entry.is_admitted()).map(|entry| &entry.definition);
        let mut available = String::new();
        for definition in shown {
            if available.len() + definition.name.len() > MAX_NAMES_CHARS {
                available.push_str(", …");
                break;
            }
            if !available.is_empty() {
                available.push_str(", ");
            }
            available.push_str(&definition.name);
        }
        if available.is_empty() {
            available = self.prompts.text("tool.none", &[]);
        }
        let text = self.prompts.text("tool.error.not_found", &[("name", &name), ("available", &available)]);
        Box::new(Finished { response: ToolResponse::failed(ErrorCode::ToolNotFound, text, false), origin: None, external: false })
    }

    /// Records a call that was refused before its arguments were looked at.
    pub(super) fn record_refused(
        &self,
        tool: ToolRef<'_>,
        entry: Option<&Entry>,
        call_id: Option<&str>,
        sent: Option<&Value>,
        refused: &Finished,
    ) {
        let Some(recorder) = &self.recorder else { return };
        let name = match tool {
            ToolRef::Name(name) => unknown_name(name),
            ToolRef::Entry(entry) => entry.definition.name.clone(),
        };
        let origin = entry.map(|entry| entry.definition.origin.as_str());
        for kind in [EventKind::Call, EventKind::Denied, EventKind::Finished] {
            let event = Event::new(kind, call_id.unwrap_or_default(), &name, origin);
            recorder.record(if kind == EventKind::Call {
                event.with_arguments(sent)
            } else {
                event.ended(Status::Error, refused.response.code)
            });
        }
    }

    pub(super) fn denied(&self, entry: &Entry, denial: &Denial) -> Box<Finished> {
        let reason = self.prompts.text(denial.key(), &denial.variables());
        let text = self.prompts.text("tool.error.denied", &[("reason", &reason)]);
        self.finished(entry, ToolResponse::failed(ErrorCode::PermissionDenied, text, false))
    }

    pub(super) fn no_handler(&self, entry: &Entry) -> Box<Finished> {
        let text = self.prompts.text("tool.error.no_handler", &[("name", &entry.definition.name)]);
        self.finished(entry, ToolResponse::failed(ErrorCode::NoHandler, text, false))
    }

    pub(super) fn invalid_arguments(&self, entry: &Entry, violations: Vec<Violation>) -> Box<Finished> {
        let hidden = violations.len().saturating_sub(MAX_LISTED);
        let listed = &violations[..violations.len() - hidden];
        let mut sentences: Vec<String> = listed.iter().map(|violation| self.sentence(violation)).collect();
        if hidden > 0 {
            sentences.push(format!("(+{hidden})"));
        }
        let separator = self.prompts.text("tool.validation_sep", &[]);
        let text = self.prompts.text("tool.error.validation", &[("name", &entry.definition.name), ("err", &sentences.join(&separator))]);
        let data = serde_json::json!({ "violations": listed, "total": violations.len() });
        let mut response = ToolResponse::failed(ErrorCode::InvalidArguments, text, false);
        response.data = RawValue::from_string(data.to_string()).ok();
        self.finished(entry, response)
    }

    fn sentence(&self, violation: &Violation) -> String {
        if violation.path.is_empty() {
            return violation.message.clone();
        }
        self.prompts.text("tool.validation_field", &[("path", &violation.path), ("message", &violation.message)])
    }

    pub(super) fn unconfirmed(&self, entry: &Entry) -> Box<Finished> {
        let text = self.prompts.text("tool.error.needs_confirmation", &[("name", &entry.definition.name)]);
        self.finished(entry, ToolResponse::failed(ErrorCode::ConfirmationRequired, text, false))
    }

    pub(super) fn rejected(&self, entry: &Entry, rejection: &Rejection) -> Box<Finished> {
        let reason = rejection.sentence(&self.prompts);
        let text = self.prompts.text("tool.error.rejected", &[("name", &entry.definition.name), ("reason", &reason)]);
        self.finished(entry, ToolResponse::failed(ErrorCode::ConfirmationRejected, text, false))
    }
}

/// A name that nobody registered may be anything: it is shortened and shown with its invisible characters.
fn unknown_name(name: &str) -> String {
    sanitize::visible(sanitize::cut(name, MAX_UNKNOWN_CHARS).unwrap_or(name))
}
