//! The token of a server: asked for once, kept, and asked for anew when the server refuses it.

use crate::http::Headers;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

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
    /// The server accepted the last one for a while, and says now that it is no longer valid.
    Expired,
}

/// Gives the tokens of a server.
pub trait TokenSource: Send + Sync {
    /// A token for the server at this address, without the word `Bearer`. An error says what went wrong, in words that hold no secret.
    fn token(&self, url: &str, reason: TokenReason) -> BoxFuture<'static, Result<String, String>>;
}

/// A token that is in use.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) generation: u64,
    pub(super) header: Headers,
    pub(super) text: Arc<str>,
}

type Question = BoxFuture<'static, Result<Token, Arc<str>>>;

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
    worked: bool,
    reason: TokenReason,
    /// A question under way, which lives as long as somebody waits for it.
    asking: Option<WeakShared<Question>>,
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
    pub(super) async fn token(&self) -> Result<Token, Arc<str>> {
        let asking = {
            let mut state = self.state.lock();
            match &state.token {
                Some(token) => return Ok(token.clone()),
                None => self.ask(&mut state),
            }
        };
        asking.await
    }

    /// Gives up a token that the server refused, with the challenge that it sent. Of several that come with the same one only the first
    /// has any effect.
    pub(super) fn refused(&self, generation: u64, challenge: Option<&str>) {
        let is_stale = challenge.is_some_and(|challenge| challenge.replace('"', "").contains("error=invalid_token"));
        let mut state = self.state.lock();
        if state.token.as_ref().is_some_and(|token| token.generation == generation) {
            state.reason = if state.worked && is_stale { TokenReason::Expired } else { TokenReason::Rejected };
            state.token = None;
        }
    }

    /// Notes that the server accepts a token.
    pub(super) fn accepted(&self, generation: u64) {
        let mut state = self.state.lock();
        state.worked |= state.token.as_ref().is_some_and(|token| token.generation == generation);
    }

    fn ask(&self, state: &mut State) -> Shared<Question> {
        if let Some(asking) = state.asking.as_ref().and_then(WeakShared::upgrade) {
            return asking;
        }
        let answer = self.source.token(&self.url, state.reason);
        let shared = Arc::clone(&self.state);
        let asking = async move {
            let answer = answer.await;
            let mut state = shared.lock();
            state.asking = None;
            let text = answer?;
            let mut header = Headers::default();
            let fits = !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic());
            if !fits || header.set("authorization", &format!("Bearer {text}"), true).is_err() {
                return Err(Arc::from("it gave something that is no token: visible ASCII without blanks, at most 32 KiB"));
            }
            state.generation += 1;
            state.worked = false;
            let token = Token { generation: state.generation, header, text: text.into() };
            state.token = Some(token.clone());
            Ok(token)
        };
        let asking = asking.boxed().shared();
        state.asking = asking.downgrade();
        asking
    }
}
