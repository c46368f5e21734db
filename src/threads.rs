//! The two threads that wait for input and output, for all environments of the process.
//!
//! A thread of its own for what comes over the network keeps a peer that sends without end from stopping the clocks and pipes of all
//! others. On each thread tasks run one after the other: nothing is taken to another processor, which would cost more than most tasks do.

use crate::error::misuse;
use napi::bindgen_prelude::Result;
use std::future::{Future, pending};
use std::sync::LazyLock;
use tokio::runtime::{Builder, Handle};

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

    pub(crate) fn spawn(self, work: impl Future<Output = ()> + Send + 'static) {
        // It was there when the work was taken on.
        if let Ok(runtime) = self.runtime() {
            runtime.spawn(work);
        }
    }
}

fn start(name: &str) -> std::io::Result<Handle> {
    // Clocks are looked at after a few tasks: one that is given too much to read may keep the thread for milliseconds.
    let runtime = Builder::new_current_thread().thread_name(name).event_interval(1).enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || runtime.block_on(pending::<()>()))?;
    Ok(handle)
}
