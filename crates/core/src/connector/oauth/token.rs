//! Answers with tokens: what is accepted of them, and how they are kept.

use super::client::Client;
use super::failure::{Failure, Reason};
use super::settings::is_scope;
use super::web::{Answer, Web};
use crate::connector::store::Credentials;
use crate::http::Url;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const ACCESS: &str = "access_token";
pub(super) const REFRESH: &str = "refresh_token";
pub(super) const EXPIRES: &str = "expires_at";
pub(super) const SCOPE: &str = "scope";
pub(super) const TYPE: &str = "token_type";
pub(super) const CLIENT: &str = "oauth_client";

/// Bytes of a token.
const MAX_TOKEN: usize = 32 * 1024;
/// Bytes of the scopes that were granted.
const MAX_SCOPE: usize = 8 * 1024;
/// A token is replaced before its end by this, or by a tenth of its time if that is less.
const LEEWAY: Duration = Duration::from_secs(30);
/// The longest time of a token. More is a fault of the server.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Tokens that a server gave.
pub(super) struct Tokens {
    access: SecretString,
    refresh: Option<SecretString>,
    /// When they are to be replaced, in milliseconds since 1970.
    expires: Option<u64>,
    scope: Option<String>,
}

#[derive(Deserialize)]
struct Granted {
    access_token: Option<SecretString>,
    token_type: Option<String>,
    expires_in: Option<Value>,
    refresh_token: Option<SecretString>,
    scope: Option<Value>,
    error: Option<String>,
}

/// Asks the token endpoint of a client.
pub(super) async fn request(web: &Web, client: &Client, url: &Url, form: &[(&str, &str)]) -> Result<Tokens, Failure> {
    let asked = SystemTime::now();
    let resource = client.resource.as_deref().map(|resource| ("resource", resource));
    let form: Vec<(&str, &str)> = form.iter().copied().chain(resource).collect();
    read(&client.post(web, url, &form).await?, asked)
}

fn read(answer: &Answer, asked: SystemTime) -> Result<Tokens, Failure> {
    const WHAT: &str = "the token endpoint";
    let Some(granted) = answer.json::<Granted>() else { return Err(answer.failure(WHAT)) };
    // Some servers give errors with the status of a success.
    if let Some(error) = granted.error {
        let fault = matches!(answer.status, 429 | 500..) || matches!(error.as_str(), "server_error" | "temporarily_unavailable");
        return Err(if fault { Failure { reason: Reason::Unreachable, ..Failure::refused(&error) } } else { Failure::refused(&error) });
    }
    if !answer.is_ok() {
        return Err(answer.failure(WHAT));
    }
    let useless = |what: &str| Failure::new(Reason::Response, format!("{WHAT} gave {what}"));
    if granted.token_type.as_deref().is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(useless("a token of another type than Bearer"));
    }
    let fits = |token: &SecretString| {
        let token = token.expose_secret();
        (1..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let access = granted.access_token.filter(&fits).ok_or_else(|| useless("no access token that can be sent"))?;
    if granted.refresh_token.as_ref().is_some_and(|token| !token.expose_secret().is_empty() && !fits(token)) {
        return Err(useless("a refresh token that cannot be sent"));
    }
    Ok(Tokens {
        access,
        refresh: granted.refresh_token.filter(|token| !token.expose_secret().is_empty()),
        expires: granted.expires_in.as_ref().and_then(lifetime).and_then(|lifetime| expiry(asked, lifetime)),
        scope: granted.scope.as_ref().and_then(scopes),
    })
}

/// The scopes that a server names, in a text or, as some have it, in a list. What else it may be is no reason to lose a token.
fn scopes(value: &Value) -> Option<String> {
    let words: Vec<&str> = match value {
        Value::String(text) => text.split(' ').filter(|word| !word.is_empty()).collect(),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let scope = words.join(" ");
    (words.iter().all(|word| is_scope(word)) && (1..=MAX_SCOPE).contains(&scope.len())).then_some(scope)
}

/// A number of seconds, also where it comes as a text. What is none, or not above zero, says nothing.
pub(super) fn lifetime(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).map_or(LONGEST, |lifetime| lifetime.min(LONGEST)))
}

fn expiry(asked: SystemTime, lifetime: Duration) -> Option<u64> {
    let until = asked.checked_add(lifetime - LEEWAY.min(lifetime / 10))?;
    u64::try_from(until.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

impl Tokens {
    /// What is kept: these tokens, and of `before` what they do not replace.
    pub(super) fn record(self, client: &Client, before: Option<&Credentials>) -> Result<Credentials, Failure> {
        let kept = |key: &str| before.and_then(|before| before.get(key)).map(SecretString::from);
        let client = serde_json::to_string(client).map_err(|_| Failure::new(Reason::Response, "the tokens cannot be kept"))?;
        let fields = [
            (ACCESS, Some(self.access)),
            (REFRESH, self.refresh.or_else(|| kept(REFRESH))),
            (EXPIRES, self.expires.map(|expires| SecretString::from(expires.to_string()))),
            (SCOPE, self.scope.map(SecretString::from).or_else(|| kept(SCOPE))),
            (TYPE, Some(SecretString::from("Bearer"))),
            (CLIENT, Some(SecretString::from(client))),
        ];
        let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Credentials::new(fields).map_err(|_| Failure::new(Reason::Response, "the tokens are longer than what can be kept"))
    }

    /// Takes the scopes that were asked for where the server does not say which it granted, which means that it granted these.
    pub(super) fn with_scope(mut self, asked: &str) -> Self {
        if self.scope.is_none() && !asked.is_empty() {
            self.scope = Some(asked.to_owned());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn reads_how_long_a_token_lasts() {
        let seconds = |value: Value| lifetime(&value).map(|lifetime| lifetime.as_secs());
        for (value, expected) in [
            (json!(3600), Some(3600)),
            (json!("3600"), Some(3600)),
            (json!(59.9), Some(59)),
            (json!(0), None),
            (json!(-1), None),
            (json!("soon"), None),
            (json!("NaN"), None),
            (json!(null), None),
            (json!([1]), None),
            (json!(1e300), Some(LONGEST.as_secs())),
            (json!("inf"), Some(LONGEST.as_secs())),
            (json!(u64::MAX), Some(LONGEST.as_secs())),
        ] {
            assert_eq!(seconds(value.clone()), expected, "{value}");
        }
    }

    #[test]
    fn reads_scopes_in_every_form() {
        for (value, expected) in [
            (json!("a b"), Some("a b")),
            (json!(" a  b "), Some("a b")),
            (json!(["a", "b"]), Some("a b")),
            (json!(""), None),
            (json!([]), None),
            (json!(["a b"]), None),
            (json!("a\nb"), None),
            (json!([1]), None),
            (json!({}), None),
        ] {
            assert_eq!(scopes(&value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn is_replaced_a_little_before_its_end() {
        let ends = |seconds: u64| expiry(UNIX_EPOCH, Duration::from_secs(seconds));
        assert_eq!((ends(3600), ends(10), ends(LONGEST.as_secs()).is_some()), (Some(3_570_000), Some(9_000), true));
    }

    proptest! {
        #[test]
        fn no_lifetime_is_too_odd(number in any::<f64>(), text in "\\PC{0,20}") {
            for value in [json!(number), json!(text), json!(number.to_string())] {
                prop_assert!(lifetime(&value).is_none_or(|lifetime| lifetime <= LONGEST));
            }
        }
    }
}
