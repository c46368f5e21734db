//! The built-in tools.

mod arguments;
pub mod calculator;
pub mod cli;
pub mod notes;
pub mod search;
