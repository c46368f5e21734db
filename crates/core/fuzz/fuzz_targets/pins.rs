//! The one spelling of JSON, fingerprints and the lock file: no panic, one spelling for one value, and nothing lost on the way through a file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use toolbolt_core::mcp::pins::{Definition, LockFile, canonical, pretty};

fuzz_target!(|text: &str| {
    if let Ok(lock) = LockFile::read(text) {
        let written = lock.render();
        assert_eq!(LockFile::read(&written).as_ref(), Ok(&lock));
        assert_eq!(LockFile::read(&written).map(|lock| lock.render()), Ok(written));
    }
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    let Ok(spelling) = canonical(raw) else { return };
    let again = serde_json::from_str::<&RawValue>(&spelling).expect("JSON again");
    assert_eq!(canonical(again).as_ref(), Ok(&spelling));
    let shown = pretty(raw).expect("one that can be spelled can be shown");
    assert_eq!(canonical(serde_json::from_str(&shown).expect("JSON again")).as_ref(), Ok(&spelling));
    if let (Ok(before), Ok(after)) = (serde_json::from_str::<serde_json::Value>(text), serde_json::from_str::<serde_json::Value>(&spelling)) {
        assert_eq!(before, after);
    }
    let (one, other) = (Definition::read(raw).expect("one spelling"), Definition::read(again).expect("one spelling"));
    assert_eq!(one.fingerprint(), other.fingerprint());
});
