use proptest::prelude::*;
use toolbolt_core::builtin::notes::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, NotePath};
use unicode_normalization::is_nfc;

fn check(text: &str) {
    let Ok(path) = NotePath::parse(text) else { return };
    let shown = path.to_string();
    assert!(!path.is_root() && path.names().len() <= MAX_DEPTH && shown.len() <= MAX_PATH_BYTES);
    for name in path.names() {
        assert!(!name.is_empty() && name.len() <= MAX_NAME_BYTES && name != "." && name != "..", "{name:?}");
        assert!(!name.contains(['/', '\\', ':', '\0', '\n', '\u{202e}']) && !name.ends_with(['.', ' ']), "{name:?}");
        assert!(is_nfc(name));
    }
    assert!(NotePath::parse(&shown).is_ok_and(|again| again.names() == path.names()), "{text:?}");
}

proptest! {
    #[test]
    fn whatever_is_read_stays_inside(text in ".{0,60}") {
        check(&text);
    }

    #[test]
    fn so_do_paths_made_of_tricky_parts(parts in prop::collection::vec(
        prop::sample::select(vec!["..", ".", "", "/", "a", "a.md", " ", "\\", "c:", "CON", "nul.txt", "e\u{301}", "\u{212a}", "\u{200b}", "~", "%2e%2e", "\u{2024}\u{2024}", "com\u{b9}", "...", "x ", " x"]),
        0..8,
    ), separators in prop::collection::vec(prop::sample::select(vec!["/", "//", "/./", "\\", ""]), 8)) {
        let text: String = parts.iter().zip(&separators).flat_map(|(part, separator)| [*part, *separator]).collect();
        check(&text);
    }
}
