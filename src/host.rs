//! JavaScript as the core sees it, when a call begins in Rust.

use crate::dispatch::{Dispatcher, Message};
use crate::error::misuse;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use napi::bindgen_prelude::Result;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolbolt_core::confirm::Rejection;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::execute::{ConfirmRequest, Host};
use toolbolt_core::gate::Answer;
use toolbolt_core::tool::CallContext;

/// JavaScript, as the core sees it.
pub(crate) struct JsHost {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) gate: u32,
}

impl Host for JsHost {
    fn confirm(&self, request: ConfirmRequest) -> BoxFuture<'static, Answer> {
        let dispatcher = Arc::clone(&self.dispatcher);
        let payload = json!({
            "gate": self.gate, "name": request.name, "callId": &*request.call_id, "arguments": &*request.arguments, "preview": request.preview,
        });
        async move {
            // One or two words, as `confirmed` takes them.
            let Some(answer) = dispatcher.ask(Message::Confirm, &payload, CancellationToken::new()).await else {
                return Answer::No(Rejection::Cancelled);
            };
            let mut words = serde_json::from_str::<Vec<String>>(&answer).unwrap_or_default().into_iter();
            let answer = words.next().unwrap_or_default();
            read_answer(&answer, words.next()).unwrap_or(Answer::No(Rejection::NotABoolean))
        }
        .boxed()
    }

    fn execute(&self, name: &str, arguments: &str, context: &CallContext) -> BoxFuture<'static, std::result::Result<String, ToolError>> {
        let dispatcher = Arc::clone(&self.dispatcher);
        let cancelled = context.cancelled.clone();
        let payload = json!({ "gate": self.gate, "name": name, "arguments": arguments, "callId": &*context.call_id });
        async move {
            let answer = dispatcher.ask(Message::Execute, &payload, cancelled).await;
            answer.ok_or_else(|| ToolError::new(ErrorCode::Cancelled, "the environment of the tool has ended"))
        }
        .boxed()
    }
}

/// An answer in the words of TypeScript.
pub(crate) fn read_answer(answer: &str, detail: Option<String>) -> Result<Answer> {
    Ok(match answer {
        "yes" => Answer::Yes,
        "notNeeded" => Answer::NotNeeded,
        "nobody" => Answer::NobodyToAsk,
        "declined" => Answer::No(Rejection::Declined),
        "notABoolean" => Answer::No(Rejection::NotABoolean),
        "promise" => Answer::No(Rejection::Promise),
        "threw" => Answer::No(Rejection::Threw(detail.unwrap_or_default())),
        "timedOut" => Answer::No(Rejection::TimedOut(detail.and_then(|limit| limit.parse().ok()).unwrap_or_default())),
        "cancelled" => Answer::No(Rejection::Cancelled),
        _ => return Err(misuse("unknown answer")),
    })
}
