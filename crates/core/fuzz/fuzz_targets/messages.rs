//! What a server sends: no panic, whatever it is and whatever pieces it comes in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::mcp::fuzzing;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    fuzzing::message(bytes);
    fuzzing::events(bytes, usize::from(piece));
});
