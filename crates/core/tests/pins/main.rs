//! Pins of MCP tools and the door to small files, on a real disk and with real processes.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may give up, look at the disk and start themselves a second time"
)]

mod files;
mod lockfile;
mod mutations;
