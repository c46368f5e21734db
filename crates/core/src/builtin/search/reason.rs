//! Why a source gave no result.

use super::source::Source;
use crate::http::HttpError;
use crate::prompts::PromptRegistry;
use std::time::Duration;

/// Why a source gave no result. What the source itself says about it is never repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It answered that there is nothing.
    Nothing,
    /// It has no key.
    NoKey,
    /// The environment holds something that is no key.
    BadKey,
    /// It answered with a status that is no success.
    Status(u16),
    /// It did not answer in its time.
    TimedOut(Duration),
    /// The time of the whole search is over.
    OutOfTime,
    /// It wants to know whether a person asks.
    Challenge,
    /// What it answered is not what it should be.
    Unreadable,
    /// There was no answer.
    Http(HttpError),
}

impl From<HttpError> for Reason {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}

impl Reason {
    /// A line that names the source.
    pub(super) fn line(self, source: Source, prompts: &PromptRegistry) -> String {
        match self {
            Self::Nothing => prompts.text("tool.msg.search.no_result", &[("source", source.label())]),
            _ => prompts.text("tool.msg.search.source_failed", &[("source", source.label()), ("reason", &self.text(source, prompts))]),
        }
    }

    fn text(self, source: Source, prompts: &PromptRegistry) -> String {
        let plain = |key: &str| prompts.text(key, &[]);
        let variable = source.key_variable().unwrap_or_default();
        match self {
            Self::NoKey => prompts.text("tool.msg.search.no_key", &[("variable", variable)]),
            Self::BadKey => prompts.text("tool.msg.search.bad_key", &[("variable", variable)]),
            Self::Status(status @ (401 | 403)) => prompts.text("tool.msg.search.refused", &[("status", &status.to_string())]),
            Self::Status(status @ 429) => prompts.text("tool.msg.search.limited", &[("status", &status.to_string())]),
            Self::Status(status) => prompts.text("tool.msg.search.status", &[("status", &status.to_string())]),
            Self::TimedOut(limit) => prompts.text("tool.msg.search.timeout", &[("timeout", &limit.as_millis().to_string())]),
            Self::OutOfTime => plain("tool.msg.search.out_of_time"),
            Self::Challenge => plain("tool.msg.search.challenge"),
            Self::Http(HttpError::Untrusted | HttpError::Expired | HttpError::Misnamed | HttpError::NoTls) => {
                plain("tool.msg.search.untrusted")
            }
            Self::Http(HttpError::Redirected) => plain("tool.msg.search.redirected"),
            Self::Http(HttpError::TooLarge) => prompts.text("tool.msg.search.too_large", &[("max", &super::MAX_BODY_BYTES.to_string())]),
            Self::Http(HttpError::Proxy) => plain("tool.msg.search.proxy"),
            Self::Http(HttpError::Unreachable | HttpError::Refused | HttpError::Unresolved | HttpError::Late | HttpError::Invalid) => {
                plain("tool.msg.search.unreachable")
            }
            Self::Nothing | Self::Unreadable | Self::Http(_) => plain("tool.msg.search.unreadable"),
        }
    }
}
