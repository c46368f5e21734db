//! Tokens for MCP servers, which the application gives.

use crate::dispatch::{Dispatcher, Message};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;
use toolbolt_core::mcp::{TokenReason, TokenSource};

/// JavaScript's callback, reached through the dispatcher.
pub(crate) struct JsTokens {
    dispatcher: Weak<Dispatcher>,
    number: u32,
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    problem: Option<String>,
}

impl JsTokens {
    pub(crate) fn new(dispatcher: &Arc<Dispatcher>, number: u32) -> Self {
        Self { dispatcher: Arc::downgrade(dispatcher), number }
    }
}

impl TokenSource for JsTokens {
    fn token(&self, url: &str, reason: TokenReason) -> BoxFuture<'static, Result<String, String>> {
        let reason = match reason {
            TokenReason::First => "first",
            TokenReason::Rejected => "rejected",
            TokenReason::Expired => "expired",
        };
        let payload = json!({ "auth": self.number, "url": url, "reason": reason });
        let dispatcher = self.dispatcher.upgrade();
        async move {
            let ended = || "nobody is left to be asked".to_owned();
            let dispatcher = dispatcher.ok_or_else(ended)?;
            let answer = dispatcher.ask(Message::AuthToken, &payload, CancellationToken::new()).await.ok_or_else(ended)?;
            let Answer { token, problem } = serde_json::from_str(&answer).map_err(|_| ended())?;
            token.ok_or_else(|| problem.unwrap_or_else(ended))
        }
        .boxed()
    }
}
