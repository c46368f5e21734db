//! The gate for every tool call of an AI agent: look up, permit, validate, confirm, run, bound, guard, record.
//!
//! This crate holds all logic and knows no host language; the addon beside it only converts.
#![forbid(unsafe_code)]

pub mod builtin;
pub mod confirm;
pub mod connector;
pub mod error;
pub mod event;
pub mod exact;
pub mod execute;
pub mod export;
pub mod files;
pub mod find;
pub mod gate;
pub mod guard;
pub mod http;
pub mod mcp;
pub mod name;
mod pause;
pub mod permission;
pub mod process;
pub mod prompts;
pub mod redact;
pub mod registry;
pub mod response;
pub mod sanitize;
pub mod schedule;
pub mod schema;
pub mod surroundings;
pub mod tool;
