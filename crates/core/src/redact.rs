//! Values without the secrets in them, for records and for texts that others wrote.
//!
//! Redaction is for logs: it rather hides too much than too little, and takes time in proportion to what it reads.

use crate::sanitize::{constant_regex, cut};
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::LazyLock;

const HIDDEN: &str = "***";
/// The most characters of one text in a record.
const MAX_CHARS: usize = 200;
/// How much of a text is looked at for a record, so that a long result costs no more than a short one.
const WINDOW_CHARS: usize = 4_096;
/// What is nested deeper is left out.
const MAX_DEPTH: usize = 64;

/// Names of fields whose value is a secret, in small letters and without separators.
const SECRET_NAMES: &[&str] =
    &["auth", "bearer", "key", "jwt", "otp", "pass", "passcode", "pin", "pwd", "session", "sessionid", "sid", "signature", "token"];

/// What makes a name one of a secret wherever it stands in it.
const SECRET_PARTS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authkey",
    "authorization",
    "authtoken",
    "cookie",
    "credential",
    "encryptionkey",
    "idtoken",
    "masterkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "sessiontoken",
    "signingkey",
    "sshkey",
];

/// Ids that the program itself made and that a log has to keep. Their values may be long, but still must not be a known kind of secret.
const IDS: &[&str] = &["run_id", "runId", "call_id", "callId"];

/// A copy for a record: secrets and user names hidden, in keys too, texts cut at 200 characters.
pub fn redact(value: &Value) -> Value {
    redact_at(value, 0)
}

/// A text without secrets and user names, in its full length.
pub fn redact_text(text: &str) -> String {
    LONG_RUN.replace_all(&without_known_secrets(text), HIDDEN).into_owned()
}

/// Whether a text holds what is a secret by its shape alone.
pub fn has_known_secret(text: &str) -> bool {
    KNOWN_SECRET.is_match(text)
}

fn redact_at(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => Value::String(redact_and_cut(text)),
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => Value::String("…".to_owned()),
        Value::Array(items) => Value::Array(items.iter().map(|item| redact_at(item, depth + 1)).collect()),
        Value::Object(fields) => Value::Object(redact_fields(fields, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn redact_fields(fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut redacted = Map::with_capacity(fields.len());
    for (index, (key, value)) in fields.iter().enumerate() {
        let value = match value {
            Value::Null => Value::Null,
            _ if is_secret_name(key) => Value::String(HIDDEN.to_owned()),
            Value::String(id) if IDS.contains(&key.as_str()) => Value::String(shortened(&without_known_secrets(window(id).0))),
            _ => redact_at(value, depth),
        };
        let mut key = redact_and_cut(key);
        // Two keys can become equal; neither field may be lost.
        while redacted.contains_key(&key) {
            key = format!("{key} ({index})");
        }
        redacted.insert(key, value);
    }
    redacted
}

/// Whether what has this name is a secret by its name.
pub fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    // `github_token` is a secret and `total_tokens` is a number.
    SECRET_NAMES.contains(&plain.as_str()) || plain.ends_with("token") || SECRET_PARTS.iter().any(|part| plain.contains(part))
}

fn redact_and_cut(text: &str) -> String {
    let (head, rest_is_hidden) = window(text);
    let mut redacted = redact_text(head);
    if rest_is_hidden {
        redacted.push_str(HIDDEN);
    }
    shortened(&redacted)
}

/// The part of a text that is looked at, and whether there is more. The last word of a part is left out: it may be the start of a
/// secret that is only known by its end.
fn window(text: &str) -> (&str, bool) {
    match cut(text, WINDOW_CHARS) {
        Some(head) => (head.rfind(char::is_whitespace).and_then(|end| head.get(..end)).unwrap_or_default(), true),
        None => (text, false),
    }
}

fn shortened(text: &str) -> String {
    cut(text, MAX_CHARS).map_or_else(|| text.to_owned(), |head| format!("{head}…"))
}

fn without_known_secrets(text: &str) -> Cow<'_, str> {
    let steps: [(&Regex, &str); 5] =
        [(&KNOWN_SECRET, HIDDEN), (&HEADER, "${1}***"), (&LABELLED, "${1}***"), (&URL_CREDENTIALS, "${1}***@"), (&USER_NAME, "${1}***")];
    steps.into_iter().fold(Cow::Borrowed(text), |text, (pattern, replacement)| match pattern.replace_all(&text, replacement) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => Cow::Owned(changed),
    })
}

/// Secrets that are known by their own shape.
static KNOWN_SECRET: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        r"sk-[A-Za-z0-9_-]{6,}",
        r#"(?i-u:bearer)[ \t]+[^ \t\r\n"',;]+"#,
        r"gh[a-z]_[A-Za-z0-9]{10,}",
        r"github_pat_[A-Za-z0-9_]{10,}",
        r"glpat-[A-Za-z0-9_-]{10,}",
        r"x(?:ox[a-z]|app)-[A-Za-z0-9-]{6,}",
        r"A(?:KIA|SIA)[A-Z0-9]{12,}",
        r"AIza[A-Za-z0-9_-]{20,}",
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{6,}",
        r"(?:npm|hf)_[A-Za-z0-9]{20,}",
        r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?",
    ];
    let private_key = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)";
    constant_regex(&format!(r"(?-u:\b)(?:{})|{private_key}", shapes.join("|")))
});

/// Headers whose whole value is a secret.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    let quote = r#"\\?["']?"#;
    constant_regex(&format!(r#"((?i-u:authorization|cookie){quote}[ \t]*:[ \t]*{quote})[^\r\n"']+"#))
});

/// `password=…`, `"token": "…"`, `?api_key=…`: the name of a secret, then its value. A quoted value goes up to its second quote.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    let names = [
        "passw(?:or)?d",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "credentials?",
        "authorization",
        "cookie",
        "(?:api|access|private|secret|auth|signing)[_-]?key",
        "[?&](?:key|sig|signature|auth)",
    ];
    let value = r#"\\?"[^"]*"?|'[^']*'?|(?:[^ \t\r\n"'&,;\\]|\\[^"'])+"#;
    constant_regex(&format!(r#"((?i-u:{})\\?["']?[ \t]*[:=][ \t]*)(?:{value})"#, names.join("|")))
});

static URL_CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| constant_regex(r#"(://)[^ \t\r\n/?#"'<>]*@"#));

static USER_NAME: LazyLock<Regex> = LazyLock::new(|| constant_regex(r#"((?:/home|[/\\]Users)[/\\]+)[^ \t\r\n/\\"'`:;,()<>]+"#));

static LONG_RUN: LazyLock<Regex> = LazyLock::new(|| constant_regex("[A-Za-z0-9_-]{32,}"));
