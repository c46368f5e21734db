//! The built-in tools.

mod arguments;
pub mod calculator;
pub mod notes;
