//! Child processes: spawning in a group of their own, waiting, and killing the whole group.
//!
//! This is the only door to spawning. A program is started with the exact arguments given (no shell), with exactly the environment given,
//! and as the leader of a new process group, so that whatever it starts in turn can be killed with it. A descendant that leaves the group
//! (`setsid`) escapes; nothing portable prevents that.
//!
//! Every live group stands in one table of the process, so that a host which is about to end can kill its children without a runtime:
//! see [`kill_all`] and [`kill_everything`].
//!
//! On Linux a child does not outlive its host even where the host is killed and cannot do anything: see `starter`.
//!
//! On systems other than Unix there are no process groups: the direct child is killed, its descendants are not, and the table stays empty.

#![expect(clippy::disallowed_types, reason = "this is the door")]

mod collect;
mod confinement;
mod find;
#[cfg_attr(not(target_os = "linux"), path = "process/sandbox_other.rs")]
mod sandbox;
#[cfg_attr(not(target_os = "linux"), path = "process/starter_other.rs")]
mod starter;
#[cfg_attr(not(unix), path = "process/table_other.rs")]
mod table;

use crate::error::{ErrorCode, ToolError};
use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::task::Poll;
use std::time::Duration;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep, timeout};

pub use confinement::{Confinement, Sandbox};
pub use find::{find_program, is_folder, real_name};
pub use sandbox::is_available as sandbox_is_available;
pub use table::{kill_all, kill_everything};

/// How often an exit is looked for where the system does not tell reliably.
const POLL: Duration = Duration::from_millis(50);
/// For a killed process to be gone. Only one that hangs in the kernel takes longer.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What to start.
#[derive(Clone, Default)]
pub struct SpawnOptions {
    /// A path, or a name that is looked up in `PATH`.
    pub program: String,
    /// What the program is told that its name is; the same as `program` if not given.
    pub name: Option<String>,
    /// The arguments, each passed as it is.
    pub args: Vec<String>,
    /// The whole environment of the child: nothing is inherited.
    pub env: Vec<(String, String)>,
    /// The folder to start in; ours if not given.
    pub cwd: Option<String>,
    /// Whether the child has no standard input, instead of a pipe.
    pub no_stdin: bool,
    /// What the kernel is asked to keep the child from.
    pub sandbox: Option<Sandbox>,
    /// Which host environment starts it, for [`kill_all`].
    pub owner: u64,
}

/// Without arguments and environment, which hold secrets.
impl fmt::Debug for SpawnOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SpawnOptions").field("program", &self.program).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// A handle to the process group of a child. It kills the group as long as any of it may be alive, and does nothing afterwards.
#[derive(Clone, Debug)]
pub struct Group {
    serial: u64,
}

impl Group {
    /// Kills every process of the group at once, without a runtime and without waiting.
    pub fn kill(&self) {
        table::kill(self.serial);
    }

    /// Asks every process of the group to end.
    pub fn terminate(&self) {
        table::terminate(self.serial);
    }

    /// Whether anything of the group may still be alive.
    pub fn is_alive(&self) -> bool {
        table::is_alive(self.serial)
    }
}

/// A running child with piped standard streams. Dropping it kills its group.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    group: Group,
    pid: u32,
    status: Option<ExitStatus>,
    confinement: Confinement,
    /// After the child's end it may go.
    _starter: Option<starter::Starter>,
}

impl ChildProcess {
    /// Starts a program. Must be called within a tokio runtime that has I/O and time enabled.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidOptions`] for a NUL byte or an impossible name of a variable, [`ErrorCode::ConnectionFailed`] where the system
    /// refuses: the message names the program and the fix.
    pub fn spawn(options: &SpawnOptions) -> Result<Self, ToolError> {
        check(options)?;
        let mut command = Command::new(find::find(options));
        let name = options.name.as_ref().unwrap_or(&options.program);
        #[cfg(unix)]
        command.arg0(name);
        command.args(&options.args).env_clear().envs(options.env.iter().map(|(key, value)| (key, value)));
        command.stdin(if options.no_stdin { Stdio::null() } else { Stdio::piped() }).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &options.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(not(unix))]
        command.kill_on_drop(true);
        let (child, confinement, starter) = match &options.sandbox {
            Some(sandbox) => sandbox::spawn(command, name, sandbox).map_err(|error| refused(options, &error))?,
            None => (starter::spawn(command, name).map_err(|error| refused(options, &error))?, Confinement::None, None),
        };
        // A child that was just started has not been waited for, so it has an id.
        let pid = child.id().unwrap_or_default();
        let Some(serial) = table::enter(pid, options.owner) else {
            collect::later(Some(pid));
            return Err(ToolError::new(ErrorCode::Closed, "The host environment that starts programs has ended."));
        };
        Ok(Self { child, group: Group { serial }, pid, status: None, confinement, _starter: starter })
    }

    /// How far the kernel keeps the child within its sandbox.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// The process id of the child, which is also the id of its group.
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// A handle that can kill the group from anywhere.
    pub fn group(&self) -> Group {
        self.group.clone()
    }

    /// The pipe to the child's standard input, once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The pipe from the child's standard output, once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The pipe from the child's standard error, once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the child has exited. May be dropped and called again.
    ///
    /// # Errors
    /// When the system cannot say, which does not happen to a child of ours.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = self.exited(table::exits_are_reported()).await?;
        self.status = Some(status);
        Ok(status)
    }

    async fn exited(&mut self, reliable: bool) -> io::Result<ExitStatus> {
        loop {
            let exited = wait_locked(&mut self.child, self.group.serial);
            if reliable {
                return exited.await;
            }
            // A host that shares the process (libuv) may take over SIGCHLD, and then tokio is never told.
            match timeout(POLL, exited).await {
                Ok(status) => return status,
                Err(_) => {
                    if let Some(status) = table::locked(|table| {
                        let status = self.child.try_wait();
                        if matches!(status, Ok(Some(_))) {
                            table.leader_gone(self.group.serial);
                        }
                        status
                    })? {
                        return Ok(status);
                    }
                }
            }
        }
    }

    /// Ends the child and its whole group: waits `patience` for the child to exit by itself, then asks the group to end and waits `grace`,
    /// then kills what is left and sees it gone. Gives the exit status, if it became known.
    pub async fn shutdown(&mut self, patience: Duration, grace: Duration) -> Option<ExitStatus> {
        let mut status = timeout(patience, self.wait()).await.ok().and_then(Result::ok);
        if self.group.is_alive() {
            self.group.terminate();
            let deadline = Instant::now() + grace;
            if status.is_none() {
                status = timeout(grace, self.wait()).await.ok().and_then(Result::ok);
            }
            // The leader may be gone while what it started is still ending.
            self.outlive(deadline).await;
        }
        self.group.kill();
        #[cfg(not(unix))]
        drop(self.child.start_kill());
        if status.is_none() {
            status = timeout(LAST_WAIT, self.wait()).await.ok().and_then(Result::ok);
        }
        // Also after a kill from elsewhere, which does not wait.
        self.outlive(Instant::now() + LAST_WAIT).await;
        status
    }

    /// Waits until no process of the group is alive. A zombie whose parent does not collect it is dead for this purpose.
    async fn outlive(&self, deadline: Instant) {
        let pid = self.pid;
        while Instant::now() < deadline && tokio::task::spawn_blocking(move || table::has_living_member(pid)).await.unwrap_or(false) {
            sleep(POLL / 5).await;
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.group.kill();
        table::forget(self.group.serial);
        collect::later(self.status.is_none().then_some(self.pid));
    }
}

/// Waits for the exit while the table is locked at every look: the moment that frees the process id is then the moment that the table knows
/// of it, and nobody can kill a stranger who got the same id.
async fn wait_locked(child: &mut Child, serial: u64) -> io::Result<ExitStatus> {
    let mut exited = std::pin::pin!(child.wait());
    std::future::poll_fn(|context| {
        table::locked(|table| match exited.as_mut().poll(context) {
            Poll::Ready(status) => {
                table.leader_gone(serial);
                Poll::Ready(status)
            }
            Poll::Pending => Poll::Pending,
        })
    })
    .await
}

fn check(options: &SpawnOptions) -> Result<(), ToolError> {
    let invalid = |message: String| Err(ToolError::new(ErrorCode::InvalidOptions, message));
    if options.program.is_empty() {
        return invalid("The program to start has no name. Give a program.".to_owned());
    }
    if options.program.contains('\0') {
        return invalid("The name of the program holds a NUL byte. Remove it.".to_owned());
    }
    if let Some(place) = options.args.iter().position(|arg| arg.contains('\0')) {
        return invalid(format!("Argument {} of `{}` holds a NUL byte. Remove it.", place + 1, options.program));
    }
    if options.cwd.as_ref().is_some_and(|cwd| cwd.contains('\0')) {
        return invalid(format!("The working folder for `{}` holds a NUL byte. Remove it.", options.program));
    }
    for (key, value) in &options.env {
        if key.is_empty() || key.contains(['=', '\0']) {
            return invalid(format!("{key:?} cannot be the name of an environment variable. Use a name without `=` and NUL."));
        }
        if value.contains('\0') {
            return invalid(format!("The value of the environment variable `{key}` holds a NUL byte. Remove it."));
        }
    }
    Ok(())
}

fn refused(options: &SpawnOptions, error: &io::Error) -> ToolError {
    let program = options.name.as_ref().unwrap_or(&options.program).escape_debug();
    if error.kind() == io::ErrorKind::Unsupported {
        return ToolError::new(ErrorCode::UnsupportedPlatform, format!("The program `{program}` cannot be confined: {error}."));
    }
    // The system's answer does not tell a missing folder from a missing program.
    let message = match &options.cwd {
        Some(cwd) if !Path::new(cwd).is_dir() => {
            format!("`{program}` cannot be started: the working folder {cwd:?} is no folder. Create it or correct it.")
        }
        _ => match error.kind() {
            io::ErrorKind::NotFound => {
                format!(
                    "The program `{program}` was not found. Install it (or the interpreter that its first line names), put its folder on PATH, or give its full path."
                )
            }
            io::ErrorKind::PermissionDenied => {
                format!("The program `{program}` may not be executed. Make it executable (chmod +x), or start it through its interpreter.")
            }
            _ => format!("The program `{program}` could not be started: {error}."),
        },
    };
    ToolError::new(ErrorCode::ConnectionFailed, message).with_data(serde_json::json!({ "started": false }))
}

#[cfg(all(test, unix))]
#[expect(clippy::expect_used, reason = "helpers of tests may give up")]
mod tests {
    use super::*;

    fn shell(script: &str, owner: u64) -> ChildProcess {
        let options = SpawnOptions {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            owner,
            ..SpawnOptions::default()
        };
        ChildProcess::spawn(&options).expect("starts")
    }

    #[tokio::test]
    async fn an_exit_is_seen_whether_the_system_reports_it_or_not() {
        for reliable in [true, false] {
            let mut child = shell("exit 7", 0);
            assert!(child.group().is_alive());
            assert_eq!(child.exited(reliable).await.expect("status").code(), Some(7));
            assert!(!child.group().is_alive(), "an empty group is not in the table");
        }
    }

    #[tokio::test]
    async fn a_group_is_in_the_table_until_its_last_process_is_gone() {
        let mut child = shell("sleep 600 & exit 0", 0);
        child.wait().await.expect("status");
        assert!(child.group().is_alive() && table::has_living_member(child.id()));
        child.shutdown(Duration::ZERO, Duration::from_secs(5)).await;
        assert!(!child.group().is_alive() && !table::has_living_member(child.id()));
    }

    #[tokio::test]
    async fn a_group_that_ignores_the_request_to_end_is_killed() {
        let mut child = shell("trap '' TERM; sleep 600 & while :; do sleep 600; done", 0);
        sleep(Duration::from_millis(300)).await;
        let status = child.shutdown(Duration::from_millis(10), Duration::from_millis(100)).await.expect("status");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
        assert!(!table::has_living_member(child.id()));
    }

    #[tokio::test]
    async fn an_owner_that_ended_starts_nothing_more() {
        kill_all(u64::MAX - 2);
        let options = SpawnOptions { program: "/bin/sh".to_owned(), owner: u64::MAX - 2, ..SpawnOptions::default() };
        assert_eq!(ChildProcess::spawn(&options).expect_err("refused").code, ErrorCode::Closed);
    }

    #[tokio::test]
    async fn a_child_outlives_the_thread_that_asked_for_it() {
        let runtime = tokio::runtime::Handle::current();
        let sandboxes = [None, Some(Sandbox { writable: Vec::new(), network: true, required: false })];
        for sandbox in sandboxes {
            let options = SpawnOptions {
                program: "/bin/sh".to_owned(),
                args: vec!["-c".to_owned(), "sleep 0.5; exit 7".to_owned()],
                env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                sandbox,
                ..SpawnOptions::default()
            };
            let runtime = runtime.clone();
            let starting = std::thread::spawn(move || {
                let _entered = runtime.enter();
                ChildProcess::spawn(&options)
            });
            let mut child = starting.join().expect("joins").expect("starts");
            assert_eq!(child.wait().await.expect("status").code(), Some(7));
        }
    }

    #[tokio::test]
    async fn killing_by_owner_leaves_the_others() {
        let (mut one, other) = (shell("sleep 600", u64::MAX), shell("sleep 600", u64::MAX - 1));
        kill_all(u64::MAX);
        one.wait().await.expect("status");
        assert!(table::has_living_member(other.id()));
        drop(other);
    }
}
