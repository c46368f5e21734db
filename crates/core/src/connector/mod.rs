//! Connectors: what is kept to reach a service, and whether a message comes from it.

pub mod store;
pub mod webhook;
