//! What a person reads before saying yes.

use crate::tracing_prompts;
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};
use toolbolt_core::confirm::{Rejection, preview};

#[test]
fn arguments_are_shown_one_per_line_with_what_hides() {
    let arguments = r#"{ "path": "old.txt", "n": 1.50e3, "deep": {"a": [1, "x\n\u001b[2K\u202e"]}, "big": 123456789012345678901234567890, "q\r": "\"\\" }"#;
    assert_eq!(
        preview("delete_file", "builtin", false, arguments),
        "delete_file (from builtin)\npath: \"old.txt\"\nn: 1.50e3\ndeep: {\"a\":[1,\"x\\n\\u{1b}[2K\\u{202e}\"]}\n\
         big: 123456789012345678901234567890\n\"q\\r\": \"\\\"\\\\\""
    );
    assert_eq!(preview("t", "o", false, r#"{"path: \"safe\"": 1, "": 2}"#), "t (from o)\n\"path: \\\"safe\\\"\": 1\n\"\": 2");
    let told_apart = r#"{"feed": "a\nb\tc\rd", "words": "a\\nb\\tc\\u{a}"}"#;
    assert_eq!(preview("t", "o", false, told_apart), "t (from o)\nfeed: \"a\\nb\\tc\\rd\"\nwords: \"a\\\\nb\\\\tc\\\\u{a}\"");
    assert_eq!(preview("t", "o", false, "{}"), "t (from o)\n(no arguments)");
    assert_eq!(preview("t", "o", true, "{}"), "t (from o; writes)\n(no arguments)");
    assert_eq!(preview("t", "o\n", false, "not {json\u{7}"), "t (from o\\n)\narguments: not {json\\u{7}");
}

#[test]
fn a_cut_says_what_it_hides() {
    let value = format!("{}{}evil", "a".repeat(9_000), "\n".repeat(500));
    let arguments = json!({ "short": "seen", "long": value, "also": "seen" }).to_string();
    let shown = preview("t", "o", false, &arguments);
    assert!(shown.chars().count() <= 8_000 && shown.chars().count() > 7_000, "{}", shown.chars().count());
    assert!(shown.contains("short: \"seen\"") && shown.contains("also: \"seen\"") && shown.contains("evil\""));
    // Two quotes, and two characters for every line feed.
    let note = Regex::new(r"…\[([0-9]+) of 10006 characters are not shown; sha256 [0-9a-f]{16}\]…").unwrap();
    let hidden: usize = note.captures(&shown).unwrap()[1].parse().unwrap();
    let line = shown.lines().find(|line| line.starts_with("long: ")).unwrap();
    let rest = note.replace(line.strip_prefix("long: ").unwrap(), "");
    assert_eq!(rest.chars().count() + hidden, 10_006);
    let tail = rest.trim_end_matches("evil\"").trim_end_matches("\\n");
    assert!(tail.ends_with('a'), "no escape is cut in two: {tail}");
}

#[test]
fn many_arguments_hide_nothing_silently() {
    let fields: serde_json::Map<String, Value> =
        (0..5_000).map(|index| (format!("key{index}{}", "k".repeat(300)), json!("v".repeat(500)))).collect();
    let shown = preview(&"n".repeat(9_000), &"\n".repeat(9_000), false, &Value::Object(fields).to_string());
    assert!(shown.chars().count() <= 8_000, "{}", shown.chars().count());
    let note = Regex::new(r"\n…\[([0-9]+) of 5000 arguments are not shown; sha256 of all of them [0-9a-f]{16}\]\z").unwrap();
    let omitted: usize = note.captures(&shown).unwrap()[1].parse().unwrap();
    assert_eq!(shown.lines().count() - 2 + omitted, 5_000);
}

#[test]
fn rejections_have_sentences() {
    let prompts = tracing_prompts();
    assert_eq!(Rejection::Declined.sentence(&prompts), "<tool.confirm.declined>");
    assert_eq!(Rejection::NotABoolean.sentence(&prompts), "<tool.confirm.not_boolean>");
    assert_eq!(Rejection::Threw("bad\u{7} password=x".to_owned()).sentence(&prompts), "<tool.confirm.threw|err=bad password=***>");
    assert_eq!(Rejection::TimedOut(50).sentence(&prompts), "<tool.confirm.timed_out|timeout=50>");
    assert_eq!(Rejection::Cancelled.sentence(&prompts), "<tool.confirm.cancelled>");
    assert_eq!(Rejection::Promise.sentence(&prompts), "<tool.confirm.promise>");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_preview_is_bounded_and_shows_everything_that_hides(
        fields in prop::collection::hash_map(any::<String>(), prop::collection::vec(any::<char>(), 0..3_000), 0..40),
    ) {
        let object: serde_json::Map<String, Value> = fields.into_iter().map(|(key, value)| (key, json!(String::from_iter(value)))).collect();
        let count = object.len();
        let shown = preview("t", "o", false, &Value::Object(object).to_string());
        prop_assert!(shown.chars().count() <= 8_000);
        prop_assert!(!shown.chars().any(|character| character.is_control() && character != '\n'));
        prop_assert!(shown.contains("arguments are not shown") || shown.lines().count() == count.max(1) + 1);
    }
}
