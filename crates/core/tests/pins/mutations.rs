//! Damaged files and definitions: no panic, and what can still be read goes through a file unharmed.

use proptest::prelude::*;
use serde_json::value::RawValue;
use toolbolt_core::mcp::pins::{Definition, LockFile, canonical, pretty};

const LOCK: &str = concat!(
    r#"{"format":"toolbolt-pins-1","servers":{"s":{"s_a":{"definition":{"annotations":{"x":[1.0,-1e5,null,true,""]},"#,
    r#""name":"a\ud83d\ude00\ud800"},"fingerprint":"00000000000000000000000000000000000000000000000000000000000000ff","#,
    r#""omitted":{"title":"00000000000000000000000000000000000000000000000000000000000000ff"}},"#,
    r#""s_b":{"fingerprint":"00000000000000000000000000000000000000000000000000000000000000FF"}}}}"#
);
const PIECES: [&str; 16] =
    ["\"", "\\", "\\u", "\\ud83d", "\\ude00", "{", "}", "[", "]", ",", ":", "0", "e9", "\u{200b}", "\n", "\"title\":\"\","];

fn holds(text: &str) {
    if let Ok(lock) = LockFile::read(text) {
        let written = lock.render();
        assert_eq!(LockFile::read(&written).as_ref(), Ok(&lock));
        assert_eq!(LockFile::read(&written).map(|lock| lock.render()), Ok(written));
    }
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return };
    let Ok(spelling) = canonical(raw) else { return };
    let again: &RawValue = serde_json::from_str(&spelling).unwrap();
    let shown = pretty(raw).unwrap();
    assert_eq!(canonical(again).as_ref(), Ok(&spelling));
    assert_eq!(canonical(serde_json::from_str(&shown).unwrap()).as_ref(), Ok(&spelling));
    assert_eq!(Definition::read(raw).unwrap().fingerprint(), Definition::read(again).unwrap().fingerprint());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn damaged_text(changes in prop::collection::vec((0..LOCK.len(), 0..4_usize, 0..PIECES.len()), 0..4)) {
        let mut text = LOCK.to_owned();
        for (at, gone, piece) in changes {
            let at = at.min(text.len());
            let end = (at + gone).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, PIECES[piece]);
            }
        }
        holds(&text);
        // The same damage to a definition.
        holds(text.split_once("\"definition\":").map_or("", |(_, rest)| rest.split(",\"fingerprint\"").next().unwrap_or_default()));
    }
}

#[test]
fn undamaged_text_can_be_read() {
    assert_eq!(LockFile::read(LOCK).map(|lock| lock.render().lines().count()), Ok(28));
    holds(LOCK);
}
