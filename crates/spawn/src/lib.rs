//! Programs that end with the thread that started them. The core forbids unsafe code, and this needs one line of it.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "the core's door to programs hands its command over")]

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Asks the kernel to send SIGKILL to the program when the **thread** that starts it ends, which a thread does at the latest when its
/// process is killed. The program alone is meant: what it starts in turn does not inherit the wish, and a program that changes its user
/// or gains rights when it starts (setuid) loses it.
///
/// From then on the command is started with `fork` and `exec` in place of `posix_spawn`.
pub fn end_with_thread(command: &mut Command) {
    let parent = getpid();
    let in_child = move || {
        // Async-signal-safe: prctl(PR_SET_PDEATHSIG) as a bare system call, with no lock, no memory and no library below it.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Async-signal-safe: getppid, a bare system call as well. A parent that ended before the first line was carried out sends no
        // signal any more; the child then belongs to somebody else.
        if getppid() != Some(parent) {
            // A number alone: nothing is allocated, and nothing is freed when it is dropped.
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()));
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child between fork and exec, where only what is async-signal-safe is sound, as locks of other
    // threads stay locked there for ever. It makes the two system calls above and compares two numbers; it owns one number, allocates
    // nothing, frees nothing, takes no lock and cannot panic. The conversion of an error number into `io::Error` keeps the number.
    unsafe {
        command.pre_exec(in_child);
    }
}
