//! Tokens for MCP servers, which the application gives.

use crate::dispatch::{Dispatcher, Message};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Weak};
use std::time::{Duration, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;
use toolbolt_core::mcp::{GivenToken, NoToken, TokenReason, TokenSource};

/// JavaScript's callback, reached through the dispatcher.
pub(crate) struct JsTokens {
    dispatcher: Weak<Dispatcher>,
    number: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    token: Option<String>,
    /// Milliseconds since 1970.
    expires_at: Option<u64>,
    problem: Option<String>,
    kind: Option<Kind>,
}

/// What a problem is, beside one of the callback.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Unauthorized,
    Passing,
}

impl JsTokens {
    pub(crate) fn new(dispatcher: &Arc<Dispatcher>, number: u32) -> Self {
        Self { dispatcher: Arc::downgrade(dispatcher), number }
    }
}

impl TokenSource for JsTokens {
    fn token(&self, url: &str, reason: TokenReason) -> BoxFuture<'static, Result<GivenToken, NoToken>> {
        let reason = match reason {
            TokenReason::First => "first",
            TokenReason::Rejected => "rejected",
            TokenReason::Expired => "expired",
        };
        let payload = json!({ "auth": self.number, "url": url, "reason": reason });
        let dispatcher = self.dispatcher.upgrade();
        async move {
            let ended = || NoToken::Problem("nobody is left to be asked".to_owned());
            let dispatcher = dispatcher.ok_or_else(ended)?;
            let answer = dispatcher.ask(Message::AuthToken, &payload, CancellationToken::new()).await.ok_or_else(ended)?;
            let answer: Answer = serde_json::from_str(&answer).map_err(|_| ended())?;
            let expires = answer.expires_at.and_then(|expires| UNIX_EPOCH.checked_add(Duration::from_millis(expires)));
            match (answer.token, answer.problem) {
                (Some(text), _) => Ok(GivenToken { text, expires }),
                (None, None) => Err(ended()),
                (None, Some(problem)) => Err(match answer.kind {
                    None => NoToken::Problem(problem),
                    Some(Kind::Unauthorized) => NoToken::Unauthorized(problem),
                    Some(Kind::Passing) => NoToken::Passing(problem),
                }),
            }
        }
        .boxed()
    }
}
