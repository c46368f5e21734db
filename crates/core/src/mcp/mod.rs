//! Tools of MCP servers: a client for servers that run as a child process and speak over its standard streams, and for those behind an
//! address.
//!
//! rmcp is the protocol engine: it does the handshake and answers what a server asks of us. Listing and calling tools go past it, over a
//! lane of their own on the same wire, because rmcp drops a whole list or result for one part that it does not know, loses digits and
//! fields, and delivers progress out of order.

mod bounds;
mod catalog;
mod claims;
mod client;
mod command;
mod config;
mod connection;
mod diagnostics;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod handshake;
mod lane;
mod life;
mod link;
mod listen;
mod options;
mod outbox;
mod output;
pub mod pins;
mod rate;
mod reader;
mod refresh;
mod remote;
mod result;
mod revision;
mod schema;
mod stderr;
mod supervise;
mod text;
mod tool;
mod transport;
mod unlisted;
mod wire;

pub use bounds::Bounds;
pub use catalog::{Listing, Skipped};
pub use claims::Claims;
pub use client::{ClientState, McpClient};
pub use command::split_command;
pub use config::{read_config, read_config_file};
pub use diagnostics::Diagnostics;
pub use life::Respawn;
pub use options::{ConnectOptions, Protocol};
pub use refresh::{OnTools, ToolsChange, ToolsEvent};
pub use remote::{GivenToken, NoToken, RemoteOptions, TokenReason, TokenSource, Transport};
pub use tool::{Declaration, McpTool};
