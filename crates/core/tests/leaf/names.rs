//! Names of tools: recorded vectors, cost, messages.

use crate::{rows, strings};
use proptest::prelude::*;
use std::collections::HashSet;
use std::time::Instant;
use toolbolt_core::error::ErrorCode;
use toolbolt_core::name;

#[test]
fn foreign_names_are_made_legal_as_recorded() {
    for row in rows("sanitize_tool_name") {
        assert_eq!(name::sanitize(row["in"].as_str().unwrap_or_default()), row["out"].as_str().unwrap(), "{row}");
    }
}

#[test]
fn equal_names_are_told_apart_as_recorded() {
    for row in rows("dedupe") {
        assert_eq!(name::dedupe(&strings(&row["in"])), strings(&row["out"]), "{row}");
    }
}

#[test]
fn many_equal_names_take_no_time() {
    let started = Instant::now();
    let equal = vec!["a".repeat(64); 100_000];
    // Pairs of names that differ in what a number replaces, so all of them compete for the same numbers.
    let alike: Vec<String> = (0..100_000).map(|index| format!("{}{:04x}", "b".repeat(60), index / 2)).collect();
    for names in [equal, alike] {
        let unique: HashSet<String> = name::dedupe(&names).into_iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(unique.iter().all(|name| name::is_valid(name)));
    }
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
}

#[test]
fn a_refused_name_is_echoed_with_escapes_and_bounded() {
    for name in ["a.b", "", "naïve", "a\nb", " a", "abc\n", &"x".repeat(65)] {
        assert_eq!(name::check(name).unwrap_err().code, ErrorCode::InvalidName, "{name:?}");
    }
    assert!(name::check("constructor").is_ok() && name::check(&"x".repeat(64)).is_ok());
    let error = name::check("a\u{202e}\nb").unwrap_err().message;
    assert!(error.contains(r"'a\u{202e}\u{a}b'") && error.contains("'a__b'"), "{error}");
    assert!(name::check(&"\u{7}".repeat(100_000)).unwrap_err().message.len() < 1_000);
}

proptest! {
    #[test]
    fn sanitized_names_are_valid(name in any::<String>()) {
        prop_assert!(name::is_valid(&name::sanitize(&name)));
        prop_assert_eq!(name::check(&name).is_ok(), name::is_valid(&name));
    }
}
