//! The built-in tools.

pub mod calculator;
