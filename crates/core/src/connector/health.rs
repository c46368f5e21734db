//! How a connection is: what the last looks at it showed.

use crate::error::{ErrorCode, ToolError};
use crate::mcp::McpClient;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, timeout};

/// Failures in a row that change the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From this many on it is degraded. Default: 1.
    pub degraded: u32,
    /// From this many on it counts as disconnected. Default: 3.
    pub disconnected: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { degraded: 1, disconnected: 3 }
    }
}

/// How a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody looked yet.
    Unknown,
    /// The server answers.
    Healthy,
    /// It failed to answer lately.
    Degraded,
    /// It has failed to answer for some time, or the connection is closed.
    Disconnected,
}

impl Thresholds {
    /// The status after so many failures in a row.
    pub const fn status(self, failures: u32) -> Status {
        if failures >= self.disconnected {
            Status::Disconnected
        } else if failures >= self.degraded {
            Status::Degraded
        } else {
            Status::Healthy
        }
    }
}

/// What is known of a connection.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// How it is.
    pub status: Status,
    /// How long the last answer took, in milliseconds.
    pub latency_ms: Option<f64>,
    /// How many tools the server had then.
    pub tool_count: Option<usize>,
    /// Why the last look failed, if it did.
    pub error: Option<Value>,
    /// When somebody looked last, in milliseconds of the Unix epoch.
    pub last_check: Option<u64>,
    /// Failures in a row.
    pub consecutive_failures: u32,
}

#[derive(Debug, Default)]
struct Seen {
    latency: Option<Duration>,
    tools: Option<usize>,
    error: Option<ToolError>,
    at: Option<SystemTime>,
    failures: u32,
}

/// The health of one connection.
#[derive(Debug, Default)]
pub struct Health {
    seen: Mutex<Seen>,
}

impl Health {
    /// Asks the server for its tools, within a limit. One that was given up is started once more. Gives whether it answered.
    pub async fn check(&self, client: &Arc<McpClient>, limit: Duration) -> bool {
        let looking = async {
            client.recover().await;
            let asked = Instant::now();
            client.list_tools().await.map(|listing| (asked.elapsed(), listing.tools.len()))
        };
        let looked = timeout(limit, looking).await.unwrap_or_else(|_| {
            let message = format!("The server did not list its tools within {:.1} s.", limit.as_secs_f64());
            Err(ToolError::new(ErrorCode::Timeout, message))
        });
        self.note(looked)
    }

    fn note(&self, looked: Result<(Duration, usize), ToolError>) -> bool {
        let mut seen = self.seen.lock();
        seen.at = Some(SystemTime::now());
        match looked {
            Ok((latency, tools)) => {
                *seen = Seen { latency: Some(latency), tools: Some(tools), error: None, failures: 0, at: seen.at };
                true
            }
            Err(error) => {
                seen.failures = seen.failures.saturating_add(1);
                seen.error = Some(error);
                false
            }
        }
    }

    /// What is known now.
    pub fn report(&self, thresholds: Thresholds) -> Report {
        let seen = self.seen.lock();
        let is_closed = seen.error.as_ref().is_some_and(|error| error.code == ErrorCode::Closed);
        let milliseconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_millis()).ok());
        Report {
            status: match seen.at {
                None => Status::Unknown,
                Some(_) if is_closed => Status::Disconnected,
                Some(_) => thresholds.status(seen.failures),
            },
            latency_ms: seen.latency.map(|latency| latency.as_secs_f64() * 1000.0),
            tool_count: seen.tools,
            error: seen.error.as_ref().map(|error| json!({ "code": error.code.as_str(), "message": error.message })),
            last_check: seen.at.and_then(milliseconds),
            consecutive_failures: seen.failures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_make_it_worse_and_a_success_makes_it_well() {
        let health = Health::default();
        let status = || health.report(Thresholds::default()).status;
        assert_eq!(status(), Status::Unknown);
        let fail = || health.note(Err(ToolError::new(ErrorCode::Timeout, "late")));
        for expected in [Status::Degraded, Status::Degraded, Status::Disconnected, Status::Disconnected] {
            assert!(!fail());
            assert_eq!(status(), expected);
        }
        assert!(health.note(Ok((Duration::from_millis(5), 7))));
        let report = health.report(Thresholds::default());
        assert_eq!((report.status, report.tool_count, report.consecutive_failures), (Status::Healthy, Some(7), 0));
        assert!(report.error.is_none() && report.last_check.is_some());
        health.note(Err(ToolError::new(ErrorCode::Closed, "closed")));
        assert_eq!(status(), Status::Disconnected);
    }
}
