//! The bounds that a server is held to, beside those of its messages and its listing.

use super::options::ConnectOptions;
use crate::prompts::PromptRegistry;
use crate::response::{Status, ToolResponse};
use crate::sanitize;
use serde_json::value::RawValue;

/// Deepest schema that can be allowed: deeper ones exhaust whoever reads them.
const MOST_LEVELS: usize = 100;

/// Bounds on what a server sends and on what is under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one input or output schema. Default: 128 KiB.
    pub max_schema_bytes: usize,
    /// Levels of nesting of one schema, at most 100. Default: 32.
    pub max_schema_depth: usize,
    /// Calls that are sent and not answered; more wait in the order of their coming, within their own time. Default: 64.
    pub max_in_flight: usize,
    /// Notifications taken within one second; more are counted and dropped, progress too. Default: 5,000.
    pub max_notifications_per_second: u32,
    /// Characters of a result's text; a longer one is cut and marked. Default: none here, as the gate has its own.
    pub max_result_chars: Option<usize>,
    /// Bytes of a result's data; larger data is left out. Default: none here, as the gate has its own.
    pub max_result_bytes: Option<usize>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_schema_bytes: 128 * 1024,
            max_schema_depth: 32,
            max_in_flight: 64,
            max_notifications_per_second: 5_000,
            max_result_chars: None,
            max_result_bytes: None,
        }
    }
}

impl Bounds {
    /// Cuts what is longer than a result may be. Only a success becomes incomplete by that.
    pub(super) fn apply(&self, mut response: ToolResponse, prompts: &PromptRegistry) -> ToolResponse {
        let mut cut = false;
        if let Some(limit) = self.max_result_chars
            && let Some(kept) = sanitize::cut(&response.text, limit)
        {
            response.text = format!("{kept}{}", prompts.text("tool.truncated", &[("max", &limit.to_string())]));
            cut = true;
        }
        if self.max_result_bytes.is_some_and(|limit| response.data.as_ref().is_some_and(|data| data.get().len() > limit)) {
            response.data = RawValue::from_string(r#"{"truncated":true}"#.to_owned()).ok();
            cut = true;
        }
        if cut && response.status == Status::Success {
            response.status = Status::Partial;
        }
        response
    }

    /// What is wrong with them, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let zero = [
            ("maxSchemaBytes", self.max_schema_bytes),
            ("maxSchemaDepth", self.max_schema_depth),
            ("maxInFlight", self.max_in_flight),
            ("maxNotificationsPerSecond", self.max_notifications_per_second as usize),
            ("maxResultChars", self.max_result_chars.unwrap_or(1)),
            ("maxResultBytes", self.max_result_bytes.unwrap_or(1)),
        ]
        .into_iter()
        .find(|(_, value)| *value == 0);
        if let Some((name, _)) = zero {
            return Some(format!("{name} is zero. Give a positive number."));
        }
        (self.max_schema_depth > MOST_LEVELS).then(|| format!("maxSchemaDepth is above {MOST_LEVELS}. Lower it."))
    }
}

/// The bounds on schemas alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaBounds {
    pub(super) bytes: usize,
    pub(super) depth: usize,
    pub(super) desc_chars: usize,
}

impl SchemaBounds {
    pub(super) fn of(options: &ConnectOptions) -> Self {
        Self { bytes: options.bounds.max_schema_bytes, depth: options.bounds.max_schema_depth, desc_chars: options.max_desc_chars }
    }
}
