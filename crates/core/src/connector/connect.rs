//! Connecting, several times where that can help.

use super::resilience::is_final;
use super::retry::{RetryPolicy, Tries};
use crate::error::{ErrorCode, ToolError};
use crate::mcp::{ConnectOptions, Listing, McpClient};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Connects, within the budget of a policy; once without one. Gives what is left of the policy, for [`list`].
///
/// # Errors
/// As [`McpClient::connect`]. After tries the error says how many there were, and its `data` has the last one as `reason`.
pub async fn connect(options: ConnectOptions, policy: Option<RetryPolicy>) -> Result<(Arc<McpClient>, Option<RetryPolicy>), ToolError> {
    let Some(policy) = policy else { return Ok((McpClient::connect(options).await?, None)) };
    let what = format!("connector '{}' could not be connected", options.namespace);
    let mut tries = Tries::new(policy, None);
    let client = persist(&mut tries, &what, |_| McpClient::connect(options.clone())).await?;
    Ok((client, Some(tries.left())))
}

/// Lists the tools of a connection for the first time, within what is left of its policy; once without one. A server that dies of it is
/// waited for while it is started anew.
///
/// # Errors
/// As [`McpClient::list_tools`]. After tries as for [`connect`].
pub async fn list(client: &Arc<McpClient>, policy: Option<RetryPolicy>) -> Result<Listing, ToolError> {
    let Some(policy) = policy else { return client.list_tools().await };
    let what = format!("the tools of connector '{}' could not be listed", client.options().namespace);
    let mut tries = Tries::new(policy, None);
    let rest = tries.rest();
    let attempt = |tried: u32| async move {
        if tried > 0 {
            drop(timeout(rest, client.recover()).await);
        }
        client.list_tools().await
    };
    persist(&mut tries, &what, attempt).await
}

/// Tries something until it succeeds, fails for good, or `tries` has no more. `attempt` is told how often it was tried before.
async fn persist<T, F: Future<Output = Result<T, ToolError>>>(
    tries: &mut Tries,
    what: &str,
    attempt: impl Fn(u32) -> F,
) -> Result<T, ToolError> {
    let started = Instant::now();
    loop {
        let error = match attempt(tries.made()).await {
            Err(error) if may_pass(&error) => error,
            done => return done,
        };
        let made = tries.made() + 1;
        match tries.next(asked(&error)) {
            Some(pause) => sleep(pause).await,
            None => return Err(given_up(what, error, made, started.elapsed())),
        }
    }
}

/// Whether the fault is one that may be gone a moment later.
fn may_pass(error: &ToolError) -> bool {
    let fact = |name: &str| error.data.as_ref().and_then(|data| data.get(name));
    let status = fact("status").and_then(serde_json::Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let started = fact("started").and_then(serde_json::Value::as_bool).unwrap_or(true);
    matches!(error.code, ErrorCode::ConnectionFailed | ErrorCode::Timeout) && started && !status.is_some_and(is_final)
}

fn asked(error: &ToolError) -> Option<Duration> {
    error.data.as_ref().and_then(|data| data.get("retryAfterMs")).and_then(serde_json::Value::as_u64).map(Duration::from_millis)
}

fn given_up(what: &str, last: ToolError, tries: u32, elapsed: Duration) -> ToolError {
    let times = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
    let message = format!("{what}: tried {times} in {:.1} s. {}", elapsed.as_secs_f64(), last.message);
    let reason = json!({ "code": last.code.as_str(), "message": last.message, "data": last.data });
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    ToolError::new(last.code, message).with_data(json!({ "tries": tries, "elapsedMs": milliseconds, "reason": reason }))
}
