//! Files of credentials: no panic, one spelling for one file, nothing that was not encrypted opens, and what was encrypted opens unless a
//! byte of it is another one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use toolbolt_core::connector::store::{Credentials, FileKey, Sealed};

static KEY: LazyLock<FileKey> = LazyLock::new(|| FileKey::raw(&"5a".repeat(32)).expect("32 bytes"));

fuzz_target!(|input: (&str, usize, u8)| {
    let (text, at, change) = input;
    if let Ok(file) = Sealed::read(text) {
        assert_eq!(file.render(), text);
        assert!(file.open(&KEY).is_err(), "opened: {text}");
    }
    let Ok(credentials) = Credentials::from_json(text.to_owned()) else { return };
    let json = credentials.expose_json();
    let kept = [("connector".to_owned(), credentials)].into();
    let written = Sealed::seal(&kept, &KEY, None).expect("random numbers").render();
    let opened = Sealed::read(&written).expect("its own file").open(&KEY).expect("its own key");
    assert_eq!(opened["connector"].expose_json(), json);
    let mut bytes = written.into_bytes();
    let place = at % bytes.len();
    bytes[place] ^= change;
    if change != 0 && let Ok(changed) = String::from_utf8(bytes) {
        assert!(Sealed::read(&changed).map_or(true, |file| file.open(&KEY).is_err()), "opened: {changed}");
    }
});
