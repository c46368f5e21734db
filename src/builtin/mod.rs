//! The built-in tools, made from the options that JavaScript gives.

mod calculator;
mod cli;
mod notes;
mod search;
