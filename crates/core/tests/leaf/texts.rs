//! Cleaning and showing text from outside.

use crate::vector_text;
use proptest::prelude::*;
use regex::Regex;
use serde_json::Value;
use toolbolt_core::sanitize::{clean_text, cut, visible};

/// Rows that differ on purpose: index, what we give, why.
const STRICTER: &[(usize, &str, &str)] = &[
    (12, "", "DEL and the C1 controls go too: terminals act on them"),
    (14, "\n\n", "line and paragraph separators become line feeds: few programs show them as the breaks that they are"),
    (16, "red", "a terminal sequence goes as a whole: what it leaves behind is noise"),
];

#[test]
fn remote_text_is_cleaned_as_recorded_or_more_strictly() {
    // The last row is half a surrogate pair, which no Rust string can hold.
    let text = vector_text("sanitize_text").replace(r#""\ud800x""#, "null");
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.len(), 26);
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| !row["in"].is_null()) {
        let limit = row["limit"].as_u64().unwrap() as usize;
        let ours = STRICTER.iter().find(|(stricter, ..)| *stricter == index).map(|(_, out, _)| *out);
        assert_eq!(clean_text(&input(row), limit), ours.unwrap_or(row["out"].as_str().unwrap()), "row {index}: {row}");
    }
}

/// The long inputs are recorded by their start and length: NULs, then a few letters.
fn input(row: &Value) -> String {
    let length = row["in_len"].as_u64().unwrap() as usize;
    match row["in"].as_str().unwrap() {
        text if text.ends_with(&format!("...(len {length})")) => {
            let tail = if length == 5_003 { "abc" } else { "ab" };
            format!("{}{tail}", "\0".repeat(length - tail.len()))
        }
        text => text.to_owned(),
    }
}

#[test]
fn terminal_sequences_go_as_a_whole() {
    for (text, clean) in [
        ("\u{1b}[8mhidden\u{1b}[0m", "hidden"),
        ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}]52;c;aGk=\u{7}text", "text"),
        ("\u{9b}31mred", "red"),
        ("\u{1b}]without an end", "without an end"),
        ("a\u{8}b\u{1b}", "ab"),
    ] {
        assert_eq!(clean_text(text, 100), clean, "{text:?}");
    }
}

#[test]
fn the_table_of_format_characters_is_unicodes() {
    let format = Regex::new(r"\A\p{Cf}\z").unwrap();
    for character in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|character| !character.is_ascii()) {
        let text = character.to_string();
        if format.is_match(&text) {
            assert_eq!(visible(&text), format!("\\u{{{:x}}}", u32::from(character)));
        }
        let dropped = clean_text(&text, 9).is_empty();
        let kept_on_purpose = matches!(character, '\u{200C}' | '\u{200D}' | '\u{AD}');
        assert_eq!(dropped, character.is_control() || (format.is_match(&text) && !kept_on_purpose), "{character:?}");
    }
}

#[test]
fn hidden_characters_are_shown() {
    let hidden = "a\n\t\u{1b}[2K\r\u{202e}\u{200b}\u{e0041}\u{a0}\u{2028}\u{3164}\u{fe0f}\\ é日";
    let shown = r"a\u{a}\u{9}\u{1b}[2K\u{d}\u{202e}\u{200b}\u{e0041}\u{a0}\u{2028}\u{3164}\u{fe0f}\\ é日";
    assert_eq!(visible(hidden), shown);
    assert_eq!(visible(r"\u{202e}"), r"\\u{202e}");
}

#[test]
fn a_cut_counts_code_points() {
    assert_eq!(cut("héllo", 3), Some("hél"));
    assert_eq!(cut("ééé", 3), None);
    assert_eq!(cut("", 0), None);
    assert_eq!(cut("a", 0), Some(""));
}

proptest! {
    #[test]
    fn visible_text_hides_nothing(text in any::<String>(), other in any::<String>()) {
        let shown = visible(&text);
        prop_assert!(!shown.chars().any(char::is_control));
        prop_assert_eq!(visible(&shown.replace('\\', "")), shown.replace('\\', ""));
        prop_assert_eq!(shown == visible(&other), text == other);
    }

    #[test]
    fn clean_text_is_bounded(text in any::<String>(), limit in 0_usize..50) {
        let clean = clean_text(&text, limit);
        prop_assert!(clean.chars().count() <= limit + "…(truncated)".chars().count());
        prop_assert!(!clean.chars().any(|character| character.is_control() && !matches!(character, '\t' | '\n' | '\r')));
    }
}
