//! What a model and a program are told of a run.

use super::CliTool;
use super::capture::Capture;
use super::run::{End, Ran};
use crate::error::ErrorCode;
use crate::process::Confinement;
use crate::response::{Status, ToolResponse};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::process::ExitStatus;
use std::time::Duration;

impl CliTool {
    /// `limit` is the time that the program had.
    pub(super) fn report(&self, ran: &Ran, limit: Duration) -> ToolResponse {
        let code = ran.status.map(exit_code);
        let mut text = match ran.end {
            End::TimedOut => self.prompts.text("tool.msg.shell.timeout", &[("timeout", &limit.as_secs_f64().to_string())]),
            // Where it was stopped for its output, a mark in the output says so.
            End::Exited | End::Overflowed => {
                self.prompts.text("tool.msg.shell.exit_code", &[("code", &code.map_or("?".to_owned(), |code| code.to_string()))])
            }
        };
        let mut cut = ran.end == End::Overflowed;
        let mut empty = true;
        for (label, stream) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            if let Some((shown, stream_cut)) = self.stream(stream) {
                text.push_str(&format!("\n{label}:\n{shown}"));
                cut |= stream_cut;
                empty = false;
            }
        }
        if empty {
            text.push('\n');
            text.push_str(&self.prompts.text("tool.msg.shell.no_output", &[]));
        }
        let status = match ran.end {
            End::TimedOut if empty => Status::Error,
            End::TimedOut | End::Overflowed => Status::Partial,
            End::Exited if cut => Status::Partial,
            End::Exited => Status::Success,
        };
        ToolResponse {
            status,
            data: RawValue::from_string(Value::Object(self.data(ran, code, cut)).to_string()).ok(),
            code: (status == Status::Error).then_some(ErrorCode::Timeout),
            ..ToolResponse::ok(text)
        }
    }

    fn stream(&self, stream: &Capture) -> Option<(String, bool)> {
        let text = stream.text(self.options.max_output_chars);
        // A flood of blanks is no text, but it is no silence either.
        let (mut shown, cut) = if stream.overflowed { text.unwrap_or_default() } else { text? };
        let cut = cut || stream.overflowed;
        if cut {
            let max = shown.chars().count().to_string();
            shown.push_str(&self.prompts.text("tool.msg.shell.truncated", &[("max", &max)]));
        }
        Some((shown, cut))
    }

    fn data(&self, ran: &Ran, code: Option<i32>, cut: bool) -> Map<String, Value> {
        let mut data = Map::new();
        data.insert("returncode".to_owned(), json!(code));
        if let Some(signal) = ran.status.and_then(signal_name) {
            data.insert("signal".to_owned(), json!(signal));
        }
        if cut {
            data.insert("truncated".to_owned(), json!(true));
        }
        match ran.end {
            End::Exited => {}
            End::TimedOut => drop(data.insert("killed".to_owned(), json!("timeout"))),
            End::Overflowed => drop(data.insert("killed".to_owned(), json!("overflow"))),
        }
        if self.options.sandbox.is_some() {
            let held = match ran.confinement {
                Confinement::Full => "enforced",
                Confinement::Partial => "partial",
                Confinement::None => "unavailable",
            };
            data.insert("sandbox".to_owned(), json!(held));
        }
        data
    }
}

/// The exit code, or the negative number of the signal that ended the program.
fn exit_code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return -signal;
    }
    status.code().unwrap_or(-1)
}

#[cfg(unix)]
fn signal_name(status: ExitStatus) -> Option<String> {
    let number = std::os::unix::process::ExitStatusExt::signal(&status)?;
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return Some(format!("signal {number}")),
    };
    Some(name.to_owned())
}

#[cfg(not(unix))]
fn signal_name(_status: ExitStatus) -> Option<String> {
    None
}
