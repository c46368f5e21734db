//! The truth table of permissions, and the rules that are refused.

use crate::{rows, strings, tracing_prompts};
use serde_json::Value;
use toolbolt_core::error::ErrorCode;
use toolbolt_core::permission::{Permissions, Rules};

fn rules(row: &Value) -> Rules {
    let list = |key: &str| (!row[key].is_null()).then(|| strings(&row[key]));
    Rules { allow: list("allow"), deny: list("deny"), allow_origins: list("allow_origins"), deny_origins: list("deny_origins") }
}

#[test]
fn the_truth_table_holds() {
    let prompts = tracing_prompts();
    let rows = rows("permissions");
    assert_eq!(rows.len(), 128);
    for row in rows {
        let origin = (row["arg"] == "tool").then_some("builtin");
        let denial = Permissions::new(rules(&row)).unwrap().denial("t", origin);
        let reason = denial.map(|denial| prompts.text(denial.key(), &denial.variables()));
        assert_eq!(reason.as_deref(), row["reason"].as_str(), "{row}");
    }
}

#[test]
fn rules_that_could_never_match_are_refused() {
    let names = ["git_*", "?", "[a]", "{a,b}", "!a", "^a", "a$", "", "a b", "a.b", "naïve"];
    for rule in names {
        let list = || Some(vec![rule.to_owned()]);
        for rules in [Rules { allow: list(), ..Rules::default() }, Rules { deny: list(), ..Rules::default() }] {
            assert_eq!(Permissions::new(rules).unwrap_err().code, ErrorCode::InvalidOptions, "{rule:?}");
        }
    }
    for rule in ["mcp:*", "", "!builtin"] {
        let rules = Rules { deny_origins: Some(vec![rule.to_owned()]), ..Rules::default() };
        assert_eq!(Permissions::new(rules).unwrap_err().code, ErrorCode::InvalidOptions, "{rule:?}");
    }
    let message = Permissions::new(Rules { allow: Some(vec!["git_*".to_owned()]), ..Rules::default() }).unwrap_err().message;
    assert!(message.contains("match exactly") && message.contains("git_*"), "{message}");
}

#[test]
fn ordinary_words_are_ordinary_names() {
    let rules = Rules { allow: Some(vec!["constructor".to_owned()]), allow_origins: Some(vec!["mcp:x".to_owned()]), ..Rules::default() };
    let permissions = Permissions::new(rules).unwrap();
    assert!(permissions.denial("constructor", None).is_none());
    assert!(permissions.denial("toString", None).is_some());
    assert!(permissions.denial("toString", Some("mcp:x")).is_none());
    assert!(Permissions::default().denial("__proto__", Some("any")).is_none());
}
