//! Threads that start programs, and live as long as what they started.
//!
//! Linux can kill a program when its parent is killed, but takes the thread for the parent: a program ends with the thread that started
//! it. Threads of a runtime come and go, so programs are started by a thread that stays.
//!
//! Starting this way costs `fork` in place of `posix_spawn`, and with it a copy of the host's page tables: docs/design.md has figures.

use super::{Child, Command, io};
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use tokio::runtime::Handle;

type Job = Box<dyn FnOnce() + Send>;

/// The thread for programs that are not confined. It is no state in the sense of the rules of design: it decides nothing and remembers
/// nothing, and there is one because the kernel ties programs to threads. It waits without cost and ends with the process.
static STARTER: LazyLock<io::Result<Mutex<Sender<Job>>>> = LazyLock::new(|| {
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new().name("toolbolt-spawn".to_owned()).spawn(move || work(&jobs))?;
    Ok(Mutex::new(sender))
});

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        // Were the thread to end, every program would end with it.
        drop(catch_unwind(AssertUnwindSafe(job)));
    }
}

/// Starts a program on the thread that lives as long as the process. Must be called within a tokio runtime; waits for the start.
pub(super) fn spawn(mut command: Command, name: &str) -> io::Result<Child> {
    toolbolt_spawn::end_with_thread(command.as_std_mut(), OsStr::new(name))?;
    let runtime = Handle::current();
    let (sender, started) = channel();
    let job = move || {
        let _entered = runtime.enter();
        // Whoever asked waits for it.
        drop(sender.send(command.spawn()));
    };
    let starter = STARTER.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let given = starter.lock().unwrap_or_else(PoisonError::into_inner).send(Box::new(job));
    given.map_err(|_| failed())?;
    started.recv().map_err(|_| failed())?
}

fn failed() -> io::Error {
    io::Error::other("the thread that starts programs failed")
}

/// A thread of its own for one program. It ends when this is dropped, and the program with it if it still runs.
#[derive(Debug)]
pub(super) struct Starter {
    _alive: Sender<()>,
}

impl Starter {
    /// Starts a program on a new thread that was prepared. Must be called within a tokio runtime; waits for the start.
    pub(super) fn spawn<T: Send + 'static>(
        mut command: Command,
        name: &str,
        prepare: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<(Child, T, Self)> {
        toolbolt_spawn::end_with_thread(command.as_std_mut(), OsStr::new(name))?;
        let runtime = Handle::current();
        let (sender, started) = channel();
        let (alive, end) = channel::<()>();
        let work = move || {
            let outcome = {
                let _entered = runtime.enter();
                prepare().and_then(|prepared| Ok((command.spawn()?, prepared)))
            };
            // The pipes of the command, and the runtime's handle, are not kept for as long as the program runs.
            drop((command, runtime));
            let runs = outcome.is_ok();
            drop(sender.send(outcome));
            if runs {
                // Nothing is ever sent: this is the end of the other side.
                let _ = end.recv();
            }
        };
        std::thread::Builder::new().name("toolbolt-spawn".to_owned()).spawn(work)?;
        let (child, prepared) = started.recv().map_err(|_| failed())??;
        Ok((child, prepared, Self { _alive: alive }))
    }
}
