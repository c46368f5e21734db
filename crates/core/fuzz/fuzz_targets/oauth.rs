//! What strangers send to an authorization: no panic, and nothing without the state counts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::connector::oauth::fuzzing;

fuzz_target!(|bytes: &[u8]| fuzzing::heard(bytes));
