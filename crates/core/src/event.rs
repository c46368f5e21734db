//! What the gate records of a call, for logs and OpenTelemetry.

use crate::error::ErrorCode;
use crate::redact::redact;
use crate::registry::Definition;
use crate::response::Status;
use serde::Serialize;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// The steps that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A call came in.
    Call,
    /// It was refused before its body.
    Denied,
    /// A person said yes.
    Confirmed,
    /// The body was entered and is over.
    Executed,
    /// The call is over.
    Finished,
}

/// One recorded step.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Which step.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The call it belongs to.
    pub call_id: String,
    /// The tool's name, or what the model called it.
    pub name: String,
    /// Who vouches for the tool, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// When, in milliseconds since 1970-01-01 UTC, with fractions.
    pub time_ms: f64,
    /// The arguments without secrets, for `call` once they are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// How the call ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

impl Event {
    pub(crate) fn new(kind: EventKind, call_id: &str, name: &str, origin: Option<&str>) -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            kind,
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            origin: origin.map(str::to_owned),
            time_ms: time.as_secs_f64() * 1000.0,
            args: None,
            status: None,
            code: None,
        }
    }

    pub(crate) fn of_call(kind: EventKind, call_id: &str, definition: &Definition, arguments: Option<&Value>) -> Self {
        Self::new(kind, call_id, &definition.name, Some(&definition.origin)).with_arguments(arguments)
    }

    /// Adds the arguments, without secrets, if they are an object.
    pub(crate) fn with_arguments(self, arguments: Option<&Value>) -> Self {
        Self { args: arguments.filter(|arguments| arguments.is_object()).map(redact), ..self }
    }

    pub(crate) fn ended(self, status: Status, code: Option<ErrorCode>) -> Self {
        Self { status: Some(status), code: code.map(ErrorCode::as_str), ..self }
    }
}

/// Takes events as they happen. Must not call back into the gate.
pub trait Recorder: Send + Sync {
    /// Takes one event.
    fn record(&self, event: Event);
}
