//! Secrets in records.

use crate::vector;
use serde_json::json;
use std::time::Instant;
use toolbolt_core::redact::{redact, redact_text};

#[test]
fn the_recorded_sample_is_redacted_alike() {
    let sample = vector("tracer_redaction");
    assert_eq!(redact(&sample["in"]), sample["out"]);
}

#[test]
fn usual_secrets_are_hidden_in_text() {
    for (text, redacted) in [
        ("token ghp_abcdefghij0123 end", "token *** end"),
        ("github_pat_11ABCDEFG0123", "***"),
        ("xoxb-1234-abcdef", "***"),
        ("key AKIAIOSFODNN7EXAMPLE.", "key ***."),
        ("eyJhbGciOi.eyJzdWIi.c2ln!", "***!"),
        ("https://bob:pa:ss@host/x", "https://***@host/x"),
        ("https://x/search?q=a&api_key=SECRET&num=5", "https://x/search?q=a&api_key=***&num=5"),
        ("https://x/?key=abc", "https://x/?key=***"),
        ("password=hunter*2 next", "password=*** next"),
        ("{\"token\": \"a b\", \"n\": 1}", "{\"token\": ***, \"n\": 1}"),
        (r#"{\"token\":\"abc\",\"n\":1}"#, r#"{\"token\":***,\"n\":1}"#),
        ("Authorization: Basic Ym9iOnBhc3M=\nnext", "Authorization: ***\nnext"),
        ("Cookie: a=b; c=d\r\nx", "Cookie: ***\r\nx"),
        ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\nAb+/\n-----END RSA PRIVATE KEY-----\nx", "***\nx"),
        (r"C:\Users\bob\x", r"C:\Users\***\x"),
        ("total_tokens: 5, a task-list-item, risk-assessment", "total_tokens: 5, a task-list-item, risk-assessment"),
    ] {
        assert_eq!(redact_text(text), redacted);
    }
}

#[test]
fn records_are_bounded_and_lose_no_field() {
    let long = "word ".repeat(1_000_000);
    assert_eq!(redact(&json!({ "s": long }))["s"].as_str().unwrap().chars().count(), 201);
    // The part that is looked at ends inside the secret.
    let split = format!("{}sk-{}", "/home/somebody/ ".repeat(255), "s".repeat(300));
    assert!(!redact(&json!(split)).to_string().contains("sss"));
    let twins = json!({ "sk-abcdefghijkl": 1, "sk-bcdefghijklm": 2 });
    assert_eq!(redact(&twins).as_object().unwrap().len(), 2);
    assert_eq!(
        redact(&json!({ "run_id": "sk-abcdefghijkl", "callId": "f".repeat(32) })),
        json!({ "run_id": "***", "callId": "f".repeat(32) })
    );
    let deep = (0..1_000).fold(json!("sk-abcdefghijkl"), |inner, _| json!([inner]));
    assert!(!redact(&deep).to_string().contains("sk-"));
}

#[test]
fn hostile_text_takes_no_time() {
    let started = Instant::now();
    for piece in ["://", "-----BEGIN PRIVATE KEY-----", "token=", "\"", "eyJa", "password\\\"", "a@", "/home/"] {
        redact_text(&piece.repeat(200_000));
    }
    assert!(started.elapsed().as_secs() < 30, "took {:?}", started.elapsed());
}
