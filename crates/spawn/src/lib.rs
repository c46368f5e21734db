//! Programs that end with the thread that started them. The core forbids unsafe code, and this needs some: what a child does between fork and
//! exec.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_types, reason = "the core's door to programs hands its command over")]

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use std::ffi::{CString, OsStr, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

/// Asks the kernel to send SIGKILL to the program when the **thread** that starts it ends, which a thread does at the latest when its
/// process is killed. The program alone is meant: what it starts in turn does not inherit the wish, and a program that changes its user
/// or gains rights when it starts (setuid) loses it.
///
/// The command is then started with `fork` and `execve` in place of `posix_spawn`: the program is the file that the command names, never
/// looked up in `PATH`, and never handed to a shell if the kernel does not know its format. `name` is what it is told that its name is.
/// Its environment is what was set on the command, and nothing else.
///
/// # Errors
/// `InvalidInput` for a NUL byte, `NotFound` for a name without a folder.
pub fn end_with_thread(command: &mut Command, name: &OsStr) -> io::Result<()> {
    let image = Image::of(command, name)?;
    let parent = getpid();
    // SAFETY: the closure runs in the child between fork and exec, where only what is async-signal-safe is sound, as locks of other
    // threads stay locked there for ever. `Image::enter` says of each line why it is.
    unsafe {
        command.pre_exec(move || image.enter(parent));
    }
    Ok(())
}

/// What to become, in the form that the kernel takes: made before the fork, as nothing may be allocated after it.
struct Image {
    program: CString,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    /// What the pointers point to.
    _texts: Vec<CString>,
}

// SAFETY: the pointers lead to the bytes of `_texts`, which are on the heap, belong to this value, and are never changed or freed before it.
unsafe impl Send for Image {}
// SAFETY: as above; nothing here can be changed through a shared reference.
unsafe impl Sync for Image {}

impl Image {
    fn of(command: &Command, name: &OsStr) -> io::Result<Self> {
        let program = command.get_program().as_bytes();
        if !program.contains(&b'/') {
            return Err(io::ErrorKind::NotFound.into());
        }
        let args = std::iter::once(name).chain(command.get_args()).map(|arg| CString::new(arg.as_bytes()));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let env = command.get_envs().filter_map(|(key, value)| Some(CString::new([key.as_bytes(), b"=", value?.as_bytes()].concat())));
        let env = env.collect::<Result<Vec<_>, _>>()?;
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        let (argv, envp) = (pointers(&args), pointers(&env));
        Ok(Self { program: CString::new(program)?, argv, envp, _texts: args.into_iter().chain(env).collect() })
    }

    /// Becomes the program. Comes back with the reason if it cannot.
    fn enter(&self, parent: Pid) -> io::Result<()> {
        // prctl(PR_SET_PDEATHSIG) as a bare system call: no lock, no memory, no library below it. An error is a number, and stays one.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // getppid, a bare system call as well. A parent that ended before the line above was carried out sends no signal any more; the child
        // then belongs to somebody else. The error is a number: nothing is allocated, and nothing freed when it is dropped.
        if getppid() != Some(parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        // execve is on POSIX's list of what is async-signal-safe. What the library does otherwise, execvp, hands a file of an unknown format to
        // a shell.
        // SAFETY: the path is a C string, and both lists are of C strings and end in a null pointer; all of them belong to `self`, which the
        // child has a copy of.
        unsafe {
            libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
        }
        // Reads errno, a variable of the thread; the error is a number again.
        Err(io::Error::last_os_error())
    }
}
