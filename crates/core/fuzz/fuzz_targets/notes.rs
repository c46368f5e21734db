//! Paths of notes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::builtin::notes::{MAX_NAME_BYTES, NotePath};

fuzz_target!(|text: &str| {
    if let Ok(path) = NotePath::parse(text) {
        assert!(path.names().iter().all(|name| name != "." && name != ".." && name.len() <= MAX_NAME_BYTES && !name.contains(['/', '\\', ':', '\0'])));
        assert_eq!(NotePath::parse(&path.to_string()).map(|again| again.names().to_vec()).as_deref(), Ok(path.names()));
    }
});
