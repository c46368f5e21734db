//! The client for MCP servers over standard streams, against real processes: `fixtures/hostile_server.py` misbehaves on command.
//!
//! A test named after a field case (`std_05…`) covers it. STD-11, Python's code page on Windows, needs Windows: there the client sets
//! PYTHONUTF8 and PYTHONIOENCODING, see `ConnectOptions::environment`.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "helpers of tests may give up, read the process table and start programs"
)]

use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::mcp::{Bounds, ClientState, ConnectOptions, Declaration, McpClient, McpTool, Protocol, Respawn, ToolsEvent};
use toolbolt_core::process::{kill_all, kill_everything};
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::{Arguments, CallContext, NativeTool};

#[path = "mcp_stdio/bounds.rs"]
mod bounds;
#[path = "mcp_stdio/calls.rs"]
mod calls;
#[path = "mcp_stdio/changes.rs"]
mod changes;
#[path = "mcp_stdio/field_cases.rs"]
mod field_cases;
#[path = "mcp_stdio/life.rs"]
mod life;
#[path = "mcp_stdio/lifecycle.rs"]
mod lifecycle;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hostile_server.py");
/// More than any of this takes on a busy machine.
const GENEROUS: Duration = Duration::from_secs(60);

/// The interpreter itself, where `python3` is a script that looks for one and adds to the environment.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let asked =
            std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3 is installed");
        String::from_utf8(asked.stdout).expect("a path").trim().to_owned()
    })
}

fn options(words: &[&str]) -> ConnectOptions {
    let args = std::iter::once(SERVER).chain(words.iter().copied()).map(str::to_owned).collect();
    ConnectOptions { args, timeout: Some(GENEROUS), owner: 1, respawn: None, ..ConnectOptions::new("ns", python()) }
}

/// The same server below a shell that waits for it.
fn wrapped(words: &[&str]) -> ConnectOptions {
    let script = format!("exec 3<&0; '{}' '{SERVER}' {} <&3 3<&- & wait", python(), words.join(" "));
    ConnectOptions { command: "sh".to_owned(), args: vec!["-c".to_owned(), script], ..options(&[]) }
}

async fn connect(words: &[&str]) -> Arc<McpClient> {
    McpClient::connect(options(words)).await.expect("connects")
}

async fn refusal(options: ConnectOptions) -> ToolError {
    McpClient::connect(options).await.expect_err("does not connect")
}

fn within(timeout: Duration) -> CallContext {
    CallContext { timeout: Some(timeout), ..context() }
}

fn context() -> CallContext {
    CallContext { call_id: "call".into(), cancelled: CancellationToken::new(), timeout: None, on_progress: None }
}

async fn call(client: &Arc<McpClient>, name: &str, arguments: Value) -> ToolResponse {
    timeout(GENEROUS, client.call(name, &arguments.to_string(), &context())).await.expect("ends")
}

/// The text of a call that works.
async fn text(client: &Arc<McpClient>, name: &str, arguments: Value) -> String {
    let response = call(client, name, arguments).await;
    assert_eq!(response.status, Status::Success, "{}", response.text);
    response.text
}

fn data(response: &ToolResponse) -> &str {
    response.data.as_ref().expect("data").get()
}

/// Living processes of a group. A zombie is dead.
fn members(group: impl Into<Option<u32>>) -> Vec<u32> {
    let group = group.into().expect("a process");
    let mut members = Vec::new();
    for process in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        if fields.get(2) == Some(&group.to_string().as_str()) && !matches!(fields.first(), Some(&("Z" | "X"))) {
            members.extend(stat.split(' ').next().and_then(|pid| pid.parse::<u32>().ok()));
        }
    }
    members
}

async fn gone(group: impl Into<Option<u32>>) -> bool {
    let group = group.into();
    for _ in 0..200 {
        if members(group).is_empty() {
            return true;
        }
        sleep(Duration::from_millis(20)).await;
    }
    false
}
