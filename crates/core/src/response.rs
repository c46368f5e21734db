//! What a call gives back: text for the model, a status, and data for the program.

use crate::error::ErrorCode;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It worked.
    Success,
    /// It worked, but something is missing: output was cut, some sources failed.
    Partial,
    /// It failed, or was refused.
    Error,
}

/// The result of a tool, before and after the gate.
#[derive(Clone, Debug, Serialize)]
pub struct ToolResponse {
    /// The text a model reads.
    pub text: String,
    /// How the call ended.
    pub status: Status,
    /// JSON for the program, exactly as written by its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// Why it failed, for failures that the gate or a native tool names.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "code_text")]
    pub code: Option<ErrorCode>,
    /// Whether the tool's body was entered.
    pub executed: bool,
}

fn code_text<S: Serializer>(code: &Option<ErrorCode>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.map_or("", ErrorCode::as_str))
}

impl ToolResponse {
    /// A success of a body that ran.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), status: Status::Success, data: None, code: None, executed: true }
    }

    /// A success of which something is missing.
    pub fn partial(text: impl Into<String>) -> Self {
        Self { status: Status::Partial, ..Self::ok(text) }
    }

    /// A failure of a body that ran, in the tool's own words.
    pub fn error(text: impl Into<String>) -> Self {
        Self { status: Status::Error, ..Self::ok(text) }
    }

    /// A failure with a code. `executed` says whether the body was entered.
    pub fn failed(code: ErrorCode, text: impl Into<String>, executed: bool) -> Self {
        Self { code: Some(code), executed, ..Self::error(text) }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: Box<RawValue>) -> Self {
        self.data = Some(data);
        self
    }
}
