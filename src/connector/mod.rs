//! Connectors.

mod store;
mod webhook;
