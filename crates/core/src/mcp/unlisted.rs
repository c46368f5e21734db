//! What of a listing did not come: tools past the limit, or the whole of it.

use super::catalog::Skipped;
use super::client::McpClient;
use super::connection::Failure;
use super::lane::NoResult;
use super::text::json_string;
use crate::error::{ErrorCode, ToolError};
use crate::sanitize::clean_text;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Names of tools past the limit that are told.
const NAMES: usize = 20;
/// Characters of each.
const NAME_CHARS: usize = 100;

/// Tools that were left out because there were enough already.
#[derive(Default)]
pub(super) struct PastLimit {
    count: usize,
    names: Vec<String>,
    /// The server has pages that were not asked for.
    pub(super) more_pages: bool,
}

impl PastLimit {
    pub(super) fn add(&mut self, definition: &RawValue) {
        #[derive(Deserialize)]
        struct Named<'a> {
            #[serde(borrow)]
            name: &'a RawValue,
        }
        self.count += 1;
        if self.names.len() < NAMES
            && let Ok(named) = serde_json::from_str::<Named<'_>>(definition.get())
            && let Some(name) = json_string(named.name)
        {
            self.names.push(clean_text(&name, NAME_CHARS));
        }
    }

    /// One entry for all of them.
    pub(super) fn told(self, limit: usize) -> Option<Skipped> {
        let Self { count, names, more_pages } = self;
        let more = if more_pages { "at least " } else { "" };
        let (what, are) = if count == 1 { ("tool", "is") } else { ("tools", "are") };
        let listed = match (names.is_empty(), names.len() < count) {
            (true, _) => String::new(),
            (false, true) => format!(": {} and others", names.join(", ")),
            (false, false) => format!(": {}", names.join(", ")),
        };
        let reason = match count {
            0 if !more_pages => return None,
            0 => format!("the server has more tools than the limit of {limit}; raise maxTools to have them"),
            _ => format!("{more}{count} {what} {are} past the limit of {limit}; raise maxTools to have them{listed}"),
        };
        Some(Skipped { remote_name: None, reason })
    }
}

/// Why there is no listing, for the program that asked for it: no model reads this.
pub(super) fn failed(client: &McpClient, why: NoResult) -> ToolError {
    let link = client.link();
    let connection = link.connection();
    let server = format!("MCP server `{}` ({})", connection.namespace, connection.program);
    let lost = |failure: Failure| {
        let error = ToolError::from(failure);
        ToolError { message: format!("The tools could not be listed. {}", error.message), ..error }
    };
    let seconds = |time: std::time::Duration| format!("{:.1} s", time.as_secs_f64());
    let (code, message) = match why {
        NoResult::Gone(failure) | NoResult::NotSent(failure) => return lost(failure),
        NoResult::Error { code, message } => {
            (ErrorCode::ConnectionFailed, format!("{server} did not list its tools, but answered: {message} (code {code})"))
        }
        NoResult::TimedOut(_) if connection.wire.remote().is_some_and(|remote| remote.waits_for_token()) => {
            let namespace = &connection.namespace;
            (
                ErrorCode::Timeout,
                format!("The auth callback for MCP server `{namespace}` did not answer in time. Make it resolve or throw."),
            )
        }
        NoResult::TimedOut(after) | NoResult::NoTurn(after) => (
            ErrorCode::Timeout,
            format!("{server} did not list its tools within {}. Raise timeoutMs, or look at what it waits for.", seconds(after)),
        ),
        NoResult::Cancelled { .. } => (ErrorCode::Cancelled, format!("Listing the tools of {server} was cancelled.")),
        NoResult::Blocked => (
            ErrorCode::ConnectionFailed,
            format!("The tools could not be listed. {server} does not take in what it is sent. Look at what it waits for."),
        ),
    };
    ToolError::new(code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_past_the_limit_are_one_entry() {
        let raw = |name: &str| RawValue::from_string(format!(r#"{{"name":"{name}"}}"#)).expect("valid");
        assert_eq!(PastLimit::default().told(3), None);
        let mut past = PastLimit::default();
        past.add(&raw("a"));
        past.add(&RawValue::from_string("1".to_owned()).expect("valid"));
        let told = past.told(3).expect("told");
        assert_eq!(told.remote_name, None);
        assert!(
            told.reason.contains("2 tools") && told.reason.contains("limit of 3") && told.reason.contains("maxTools"),
            "{}",
            told.reason
        );
        assert!(told.reason.ends_with(": a and others"));
        let more = PastLimit { more_pages: true, ..PastLimit::default() }.told(3).expect("told");
        assert!(more.reason.contains("maxTools"));
    }
}
