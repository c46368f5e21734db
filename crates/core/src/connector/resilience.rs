//! Calls that outlive the faults of a server: a call is tried again where that is safe, and not at all while the breaker is open.
//!
//! Safe is a call that was not sent yet, and one of a tool of which the server says that a repetition changes nothing more.

use super::breaker::{Breaker, BreakerPolicy, BreakerState, Open};
use super::retry::{RetryPolicy, Tries};
use crate::error::ErrorCode;
use crate::mcp::McpClient;
use crate::response::ToolResponse;
use crate::tool::CallContext;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How much is done about faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Tries of a connection, and of a call.
    pub retry: RetryPolicy,
    /// When calls are not even tried.
    pub breaker: BreakerPolicy,
}

/// What a connection's calls share.
#[derive(Debug)]
pub struct Resilience {
    retry: RetryPolicy,
    breaker: Breaker,
}

/// What a response says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is there.
    Answered,
    /// It is not, and a repetition may find it there; with the time that it asked for.
    Failed { asked: Option<Duration> },
    /// It took too long: the time of the call is over.
    Hung,
    /// Nothing, if it was not given the time that it had.
    Cancelled,
    /// Nothing.
    Silent,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    status: Option<u16>,
    retry_after_ms: Option<u64>,
}

/// Whether a status says that the same request will do no better.
pub(super) const fn is_final(status: u16) -> bool {
    matches!(status, 300..=499) && !matches!(status, 408 | 425 | 429)
}

impl Outcome {
    fn of(response: &ToolResponse) -> Self {
        match response.code {
            None | Some(ErrorCode::ExecutionFailed) => Self::Answered,
            Some(ErrorCode::Timeout) if response.executed => Self::Hung,
            Some(ErrorCode::Cancelled) if response.executed => Self::Cancelled,
            Some(ErrorCode::ConnectionFailed) => {
                let facts: Facts = response.data.as_ref().and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
                match facts.status {
                    Some(status) if is_final(status) => Self::Answered,
                    _ => Self::Failed { asked: facts.retry_after_ms.map(Duration::from_millis) },
                }
            }
            Some(_) => Self::Silent,
        }
    }
}

impl Resilience {
    /// A closed breaker.
    pub fn new(policy: Policy) -> Self {
        Self { retry: policy.retry, breaker: Breaker::new(policy.breaker) }
    }

    /// Whether calls are let through.
    pub fn state(&self) -> BreakerState {
        self.breaker.state()
    }

    /// Something else showed that the server is there.
    pub fn recovered(&self) {
        self.breaker.close();
    }

    /// The response of a call that would not be tried now.
    pub fn refusal(&self, client: &McpClient) -> Option<ToolResponse> {
        self.breaker.refusal().map(|open| refused(client, open))
    }

    /// Makes a call by `attempt`, several times where that is safe. `repeatable` says whether one that was sent may be sent again. The
    /// response says that it was executed if any of the tries was.
    pub async fn call<F: Future<Output = ToolResponse>>(
        &self,
        client: &Arc<McpClient>,
        context: &CallContext,
        repeatable: bool,
        attempt: impl Fn(CallContext) -> F,
    ) -> ToolResponse {
        let started = Instant::now();
        let rest = || context.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
        let mut tries = Tries::new(self.retry, context.timeout);
        // The one that may have had its effect says more than a later one that was not sent.
        let mut sent: Option<ToolResponse> = None;
        loop {
            let pass = match self.breaker.enter(rest()) {
                Ok(pass) => pass,
                Err(open) => return sent.unwrap_or_else(|| refused(client, open)),
            };
            if pass.is_trial() {
                recover(client, context, rest().unwrap_or_else(|| tries.rest())).await;
            }
            let response = attempt(CallContext { timeout: rest(), ..context.clone() }).await;
            let outcome = Outcome::of(&response);
            match outcome {
                Outcome::Answered => pass.succeeded(),
                Outcome::Failed { .. } | Outcome::Hung => pass.failed(),
                // As when the call is dropped: what counts is whether its time was over.
                Outcome::Cancelled => drop(pass),
                Outcome::Silent => pass.returned(),
            }
            let Outcome::Failed { asked } = outcome else { return last(sent, response) };
            if response.executed && !repeatable {
                return response;
            }
            let Some(pause) = tries.next(asked) else { return last(sent, response) };
            if response.executed {
                sent = Some(response);
            }
            tokio::select! {
                biased;
                () = context.cancelled.cancelled() => return cancelled(client, sent.is_some()),
                () = sleep(pause) => {}
            }
            recover(client, context, tries.rest()).await;
        }
    }
}

/// Waits for the server as long as a call may wait.
async fn recover(client: &Arc<McpClient>, context: &CallContext, limit: Duration) {
    tokio::select! {
        biased;
        () = context.cancelled.cancelled() => {}
        _ = timeout(limit, client.recover()) => {}
    }
}

fn last(sent: Option<ToolResponse>, response: ToolResponse) -> ToolResponse {
    match sent {
        Some(sent) if !response.executed => ToolResponse { executed: true, ..sent },
        _ => response,
    }
}

fn refused(client: &McpClient, open: Open) -> ToolResponse {
    let options = client.options();
    let seconds = open.retry_after.as_secs_f64().ceil().to_string();
    let variables = [("server", options.namespace.as_str()), ("failures", &open.failures.to_string()), ("seconds", &seconds)];
    let response = ToolResponse::failed(ErrorCode::ConnectionFailed, options.prompts.text("tool.msg.connector.open", &variables), false);
    let milliseconds = u64::try_from(open.retry_after.as_millis()).unwrap_or(u64::MAX);
    let facts = json!({ "breaker": BreakerState::Open.as_str(), "failures": open.failures, "retryAfterMs": milliseconds });
    ToolResponse { data: RawValue::from_string(facts.to_string()).ok(), ..response }
}

fn cancelled(client: &McpClient, sent: bool) -> ToolResponse {
    let options = client.options();
    let text = options.prompts.text("tool.msg.mcp.cancelled", &[("server", options.namespace.as_str())]);
    ToolResponse::failed(ErrorCode::Cancelled, text, sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: ErrorCode, executed: bool, data: &str) -> Outcome {
        let data = RawValue::from_string(data.to_owned()).ok();
        Outcome::of(&ToolResponse { data, ..ToolResponse::failed(code, "", executed) })
    }

    #[test]
    fn tells_a_server_that_is_away_from_one_that_refuses() {
        let failed = |asked| Outcome::Failed { asked };
        for (code, executed, data, expected) in [
            (ErrorCode::ExecutionFailed, true, "{}", Outcome::Answered),
            (ErrorCode::ConnectionFailed, true, "{}", failed(None)),
            (ErrorCode::ConnectionFailed, false, r#"{"stderr":"x"}"#, failed(None)),
            (ErrorCode::ConnectionFailed, false, r#"{"status":401}"#, Outcome::Answered),
            (ErrorCode::ConnectionFailed, true, r#"{"status":503,"retryAfterMs":1500}"#, failed(Some(Duration::from_millis(1500)))),
            (ErrorCode::ConnectionFailed, false, r#"{"status":429}"#, failed(None)),
            (ErrorCode::Timeout, true, "{}", Outcome::Hung),
            (ErrorCode::Timeout, false, "{}", Outcome::Silent),
            (ErrorCode::Cancelled, true, "{}", Outcome::Cancelled),
            (ErrorCode::Cancelled, false, "{}", Outcome::Silent),
            (ErrorCode::Closed, false, "{}", Outcome::Silent),
            (ErrorCode::PinMismatch, false, "{}", Outcome::Silent),
        ] {
            assert_eq!(outcome(code, executed, data), expected, "{code} {data}");
        }
        assert_eq!(Outcome::of(&ToolResponse::error("said so")), Outcome::Answered);
    }
}
