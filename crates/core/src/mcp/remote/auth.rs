//! The token of a server: asked for once, kept, and asked for anew when the server refuses it.

use crate::http::Headers;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of a token.
const MAX_TOKEN: usize = 32 * 1024;

/// Why a token is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TokenReason {
    /// There is none yet.
    #[default]
    First,
    /// The server refused the last one.
    Rejected,
    /// The time of the last one is over: whoever gave it said so, or it is a JSON Web Token with an `exp` that has passed.
    Expired,
}

/// A token that was given.
#[derive(Clone)]
pub struct GivenToken {
    /// The token, without the word `Bearer`.
    pub text: String,
    /// When to ask for another one, where that is known.
    pub expires: Option<SystemTime>,
}

/// Why there is no token.
#[derive(Clone, Debug)]
pub enum NoToken {
    /// The application gave none. The words hold no secret.
    Problem(String),
    /// A person has to authorize first, as the words say.
    Unauthorized(String),
    /// There is a fault that may pass, as the words say.
    Passing(String),
}

/// Gives the tokens of a server.
pub trait TokenSource: Send + Sync {
    /// A token for the server at this address.
    fn token(&self, url: &str, reason: TokenReason) -> BoxFuture<'static, Result<GivenToken, NoToken>>;
}

/// A token that is in use.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) generation: u64,
    pub(super) header: Headers,
    pub(super) text: Arc<str>,
    expires: Option<SystemTime>,
}

type Question = BoxFuture<'static, Result<Token, Arc<NoToken>>>;

/// The token of one server, and who gives it.
pub(super) struct Auth {
    source: Arc<dyn TokenSource>,
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    generation: u64,
    token: Option<Token>,
    reason: TokenReason,
    /// A question under way, which lives as long as somebody waits for it.
    asking: Option<WeakShared<Question>>,
    /// The last question has had no answer, whether anybody still waits for it or not.
    unanswered: bool,
}

impl fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Auth").finish_non_exhaustive()
    }
}

impl Auth {
    pub(super) fn new(source: Arc<dyn TokenSource>, url: String) -> Self {
        Self { source, url, state: Arc::default() }
    }

    /// The token in use, or the first one.
    pub(super) async fn token(&self) -> Result<Token, Arc<NoToken>> {
        let asking = {
            let mut state = self.state.lock();
            match &state.token {
                Some(token) if token.expires.is_none_or(|expires| SystemTime::now() < expires) => return Ok(token.clone()),
                Some(_) => state.reason = TokenReason::Expired,
                None => {}
            }
            self.ask(&mut state)
        };
        asking.await
    }

    /// Gives up a token that the server refused. Of several that come with the same one only the first has any effect.
    pub(super) fn refused(&self, generation: u64) {
        let mut state = self.state.lock();
        if state.token.as_ref().is_some_and(|token| token.generation == generation) {
            state.token = None;
            state.reason = TokenReason::Rejected;
        }
    }

    /// Whether the application owes an answer.
    pub(super) fn is_unanswered(&self) -> bool {
        self.state.lock().unanswered
    }

    fn ask(&self, state: &mut State) -> Shared<Question> {
        if let Some(asking) = state.asking.as_ref().and_then(WeakShared::upgrade) {
            return asking;
        }
        let answer = self.source.token(&self.url, state.reason);
        state.unanswered = true;
        let shared = Arc::clone(&self.state);
        let asking = async move {
            let answer = answer.await;
            let mut state = shared.lock();
            state.asking = None;
            state.unanswered = false;
            let GivenToken { text, expires } = answer?;
            let mut header = Headers::default();
            if text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer ")) {
                return Err(problem("it gave a text that begins with `Bearer `, which is added here; leave that word out"));
            }
            let fits = !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic());
            if !fits || header.set("authorization", &format!("Bearer {text}"), true).is_err() {
                return Err(problem("it gave something that is no token: visible ASCII without blanks, at most 32 KiB"));
            }
            state.generation += 1;
            // One that was old when it came is for the server to judge.
            let expires = expires.or_else(|| expiry(&text)).filter(|expires| SystemTime::now() < *expires);
            let token = Token { generation: state.generation, header, text: text.into(), expires };
            state.token = Some(token.clone());
            Ok(token)
        };
        let asking = asking.boxed().shared();
        state.asking = asking.downgrade();
        asking
    }
}

fn problem(what: &str) -> Arc<NoToken> {
    Arc::new(NoToken::Problem(what.to_owned()))
}

/// When a JSON Web Token says that it ends. Other tokens say nothing.
fn expiry(token: &str) -> Option<SystemTime> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let claims = token.split('.').nth(1).filter(|_| token.split('.').count() == 3)?;
    let claims: Claims = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(claims.exp).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_end_of_a_web_token() {
        let token = |claims: &str| format!("e30.{}.x", BASE64_URL_SAFE_NO_PAD.encode(claims));
        assert_eq!(expiry(&token(r#"{"sub":"a","exp":100}"#)), UNIX_EPOCH.checked_add(Duration::from_secs(100)));
        for other in ["opaque", "a.b.c", &token("{}"), &token(r#"{"exp":-1}"#), &token(r#"{"exp":1e300}"#)] {
            assert_eq!(expiry(other), None, "{other}");
        }
    }
}
