//! Running one program: in a group of its own, without input, bounded in time and output.

use super::capture::Capture;
use crate::error::{ErrorCode, ToolError};
use crate::process::{ChildProcess, Confinement, SpawnOptions};
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// How long output may still come once the program has ended: what it started may hold its pipes for ever.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// Between the request to end and the kill.
const GRACE: Duration = Duration::from_millis(300);
/// For the last output of a group that is being ended. A process that left the group can hold a pipe longer.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// From start to end.
    pub(super) timeout: Duration,
    /// Bytes of each stream.
    pub(super) max_bytes: usize,
}

/// Why a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exited,
    /// Its time was up.
    TimedOut,
    /// It wrote too much.
    Overflowed,
}

/// What became of a program.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    pub(super) status: Option<ExitStatus>,
    pub(super) end: End,
    pub(super) confinement: Confinement,
}

/// Runs a program to its end or to a limit; then nothing of its group is left. Dropping the future kills the group.
///
/// # Errors
/// When it cannot be started.
pub(super) async fn run(options: SpawnOptions, limits: Limits) -> Result<Ran, ToolError> {
    let deadline = Instant::now() + limits.timeout;
    // Starting copies page tables where it needs a thread, and reads the disk; the runtime's own thread has others to serve.
    let started = tokio::task::spawn_blocking(move || ChildProcess::spawn(&options)).await;
    let mut child = started.unwrap_or_else(|_| Err(ToolError::new(ErrorCode::ExecutionFailed, "the start was interrupted")))?;
    let confinement = child.confinement();
    let (Some(mut out), Some(mut err)) = (child.take_stdout(), child.take_stderr()) else {
        return Err(ToolError::new(ErrorCode::ExecutionFailed, "the program has no output"));
    };
    let (mut stdout, mut stderr) = (Capture::default(), Capture::default());
    let (mut out_ended, mut err_ended) = (false, false);
    // Set once the program has ended, while its output may still come.
    let mut last_moment: Option<Instant> = None;
    let end = loop {
        tokio::select! {
            biased;
            () = stdout.fill(&mut out, limits.max_bytes), if !out_ended => out_ended = true,
            () = stderr.fill(&mut err, limits.max_bytes), if !err_ended => err_ended = true,
            _ = child.wait(), if last_moment.is_none() => last_moment = Some(Instant::now() + AFTER_EXIT),
            () = sleep_until(last_moment.map_or(deadline, |moment| moment.min(deadline))) => {
                break if last_moment.is_some() { End::Exited } else { End::TimedOut };
            }
        }
        if stdout.overflowed || stderr.overflowed {
            break End::Overflowed;
        }
        if out_ended && err_ended && last_moment.is_some() {
            break End::Exited;
        }
    };
    if end == End::Overflowed {
        child.group().kill();
    }
    let drain = async { tokio::join!(stdout.fill(&mut out, limits.max_bytes), stderr.fill(&mut err, limits.max_bytes)) };
    let (status, _) = tokio::join!(child.shutdown(Duration::ZERO, GRACE), timeout(GRACE + LAST_OUTPUT, drain));
    Ok(Ran { stdout, stderr, status, end, confinement })
}
