//! Connecting, several times where that can help.

use super::resilience::is_final;
use super::retry::{RetryPolicy, Tries};
use crate::error::{ErrorCode, ToolError};
use crate::mcp::{ConnectOptions, McpClient};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Connects, within the budget of a policy; once without one.
///
/// # Errors
/// As [`McpClient::connect`]. After tries the error says how many there were, and its `data` has the last one as `reason`.
pub async fn connect(options: ConnectOptions, policy: Option<RetryPolicy>) -> Result<Arc<McpClient>, ToolError> {
    let Some(policy) = policy else { return McpClient::connect(options).await };
    let started = Instant::now();
    let mut tries = Tries::new(policy, None);
    loop {
        let error = match McpClient::connect(options.clone()).await {
            Ok(client) => return Ok(client),
            Err(error) if !may_pass(&error) => return Err(error),
            Err(error) => error,
        };
        let made = tries.made() + 1;
        match tries.next(asked(&error)) {
            Some(pause) => sleep(pause).await,
            None => return Err(given_up(&options.namespace, error, made, started.elapsed())),
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

fn given_up(name: &str, last: ToolError, tries: u32, elapsed: Duration) -> ToolError {
    let times = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
    let message = format!("connector '{name}' could not be connected: tried {times} in {:.1} s. {}", elapsed.as_secs_f64(), last.message);
    let reason = json!({ "code": last.code.as_str(), "message": last.message, "data": last.data });
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    ToolError::new(last.code, message).with_data(json!({ "tries": tries, "elapsedMs": milliseconds, "reason": reason }))
}
