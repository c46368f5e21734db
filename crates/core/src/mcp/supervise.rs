//! The task that watches a server's process and ends the connection when either side does.

use super::connection::{Connection, Failure};
use super::frame::End;
use crate::error::ErrorCode;
use crate::process::ChildProcess;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// For the server to end by itself after its input was closed, and again after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);
/// For the exit status after the output was closed, or the rest of the output after the exit. Calls in flight fail after it at the latest.
const LAST_WORDS: Duration = Duration::from_millis(400);
/// For the rest of the standard error, which something that left the group may hold open.
const LAST_ERRORS: Duration = Duration::from_millis(100);

/// Nobody waits for ever, also when the runtime ends and drops the task that would have told.
pub(super) struct Finish(pub(super) Arc<Connection>);

impl Drop for Finish {
    fn drop(&mut self) {
        let message = format!("The connection to MCP server `{}` ended with the runtime that served it. Connect again.", self.0.namespace);
        self.0.fail(ErrorCode::ConnectionFailed, message);
        self.0.finished.cancel();
    }
}

enum Event {
    Closing,
    Output(End),
    Input,
    Exit(Option<ExitStatus>),
}

/// Runs as long as anything of the server does.
pub(super) async fn supervise(
    mut child: ChildProcess,
    connection: Arc<Connection>,
    mut reader: JoinHandle<End>,
    mut errors: JoinHandle<()>,
    cap: usize,
) {
    let _finish = Finish(connection.clone());
    let event = tokio::select! {
        biased;
        () = connection.closing.cancelled() => Event::Closing,
        end = &mut reader => Event::Output(end.unwrap_or(End::Closed)),
        status = child.wait() => Event::Exit(status.ok()),
        () = broken(&connection) => Event::Input,
    };
    let mut patience = PATIENCE;
    match event {
        Event::Closing if connection.hurry.load(Ordering::Relaxed) => patience = Duration::ZERO,
        Event::Closing => {}
        Event::Output(End::TooLarge) => {
            fail_too_large(&connection, cap);
            patience = Duration::ZERO;
        }
        Event::Output(End::Closed) | Event::Input => {
            let what = if matches!(event, Event::Input) { "closed its input" } else { "closed its output" };
            let status = tokio::select! {
                status = child.wait() => status.ok(),
                () = tokio::time::sleep(LAST_WORDS) => None,
                () = connection.closing.cancelled() => None,
            };
            drop(timeout(LAST_ERRORS, &mut errors).await);
            fail_gone(&connection, &status.map_or_else(|| format!("{what} and still runs"), describe));
        }
        Event::Exit(status) => {
            // What it wrote before it ended may still be in the pipe. Something it started may hold the pipe open for ever.
            let end = timeout(LAST_WORDS, &mut reader).await;
            drop(timeout(LAST_ERRORS, &mut errors).await);
            if let Ok(Ok(End::TooLarge)) = end {
                fail_too_large(&connection, cap);
            }
            fail_gone(&connection, &status.map_or_else(|| "ended".to_owned(), describe));
        }
    }
    child.shutdown(patience, PATIENCE).await;
    reader.abort();
    errors.abort();
}

async fn broken(connection: &Connection) {
    match connection.wire.pipe() {
        Some(outbox) => outbox.broken().await,
        None => std::future::pending().await,
    }
}

fn fail_too_large(connection: &Connection, cap: usize) {
    let message = format!(
        "The connection to MCP server `{}` was closed: frame too large. One message was longer than {cap} bytes.",
        connection.namespace
    );
    connection.fail(ErrorCode::ConnectionFailed, message);
}

fn fail_gone(connection: &Connection, what: &str) {
    let message = format!("MCP server `{}` ({}) {what}.{}", connection.namespace, connection.program, connection.collector.hint());
    let stderr = Some(connection.stderr.tail(&connection.redactor));
    let brief = format!("MCP server `{}` {what}.", connection.namespace);
    connection.fail_with(Failure { stderr, ..Failure::new(ErrorCode::ConnectionFailed, message).told(brief) });
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    status.code().map_or_else(|| "exited".to_owned(), |code| format!("exited with status {code}"))
}
