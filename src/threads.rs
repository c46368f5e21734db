//! The two threads that wait for input and output, for all environments of the process.
//!
//! A thread of its own for what comes over the network keeps a peer that sends without end from stopping the clocks and pipes of all
//! others. On each thread tasks run one after the other: nothing is taken to another processor, which would cost more than most tasks do.

use crate::error::misuse;
use futures_util::future::BoxFuture;
use napi::bindgen_prelude::Result;
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::time::sleep;

/// How often a thread that has nothing to do looks at its clock: within the deadlines of most calls.
const TICK: Duration = Duration::from_secs(10);

/// Where an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Beside child processes, files and timers.
    Local,
    /// Beside connections to other hosts.
    Network,
}

impl Lane {
    pub(crate) fn of(network: bool) -> Self {
        if network { Self::Network } else { Self::Local }
    }

    /// The thread's runtime, which is started when it is first wanted.
    pub(crate) fn runtime(self) -> Result<&'static Handle> {
        static LOCAL: LazyLock<std::io::Result<Handle>> = LazyLock::new(|| start("toolbolt-io"));
        static NETWORK: LazyLock<std::io::Result<Handle>> = LazyLock::new(|| start("toolbolt-net"));
        let runtime = match self {
            Self::Local => &LOCAL,
            Self::Network => &NETWORK,
        };
        runtime.as_ref().map_err(|error| misuse(&format!("no thread for input and output could be started: {error}")))
    }

    /// Takes the first steps on the thread of the caller, up to where something is waited for; the rest runs where it belongs. What is to
    /// be sent is then sent without waking another thread for it. `work` must not block.
    pub(crate) fn begin_here(self, mut work: BoxFuture<'static, ()>) {
        let Ok(runtime) = self.runtime() else { return };
        let begun = Arc::new(Begun { runtime, state: Mutex::new(State::Running { woken: false }) });
        let waker = Waker::from(Arc::clone(&begun));
        // This way a peer that sends without end is left after as many reads as in a task, not read for as long as it sends.
        let first = runtime.block_on(poll_fn(|_| Poll::Ready(work.as_mut().poll(&mut Context::from_waker(&waker)))));
        if first.is_pending() {
            begun.wait(work);
        }
    }

    pub(crate) fn spawn(self, work: impl Future<Output = ()> + Send + 'static) {
        // It was there when the work was taken on.
        if let Ok(runtime) = self.runtime() {
            runtime.spawn(work);
        }
    }
}

/// Work that was begun on another thread and waits. The first wake-up, which mostly comes from the thread that it belongs to, moves it there.
struct Begun {
    runtime: &'static Handle,
    state: Mutex<State>,
}

enum State {
    Running { woken: bool },
    Waiting(BoxFuture<'static, ()>),
    Moved,
}

impl Begun {
    fn wait(&self, work: BoxFuture<'static, ()>) {
        let mut state = self.state.lock();
        if let State::Running { woken: true } = *state {
            *state = State::Moved;
            self.runtime.spawn(work);
        } else {
            *state = State::Waiting(work);
        }
    }
}

impl Wake for Begun {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, State::Moved) {
            State::Running { .. } => *state = State::Running { woken: true },
            // As a task it is polled at once, and then known to all that can wake it.
            State::Waiting(work) => drop(self.runtime.spawn(work)),
            State::Moved => {}
        }
    }
}

fn start(name: &str) -> std::io::Result<Handle> {
    // Clocks are looked at after a few tasks: one that is given too much to read may keep the thread for milliseconds.
    let runtime = Builder::new_current_thread().thread_name(name).event_interval(1).enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // With something to wait for already, a deadline that another thread sets further off wakes nobody.
        runtime.block_on(async {
            loop {
                sleep(TICK).await;
            }
        });
    })?;
    Ok(handle)
}
