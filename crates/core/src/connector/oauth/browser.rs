//! The authorization code: a person authorizes in a browser, which then comes back to this machine (RFC 6749, 7636, 8252, 9207).

use super::failure::{Failure, Reason, expired};
use super::metadata::Server;
use super::proof;
use crate::http::{Judgement, Loopback, Page, Url};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use zeroize::Zeroizing;

const PATH: &str = "/callback";
/// Bytes of a code.
const MAX_CODE: usize = 8 * 1024;

const DONE: Page = Page { status: 200, title: "Authorized", text: "You can close this window and go back to the program." };
const REFUSED: Page = Page { status: 200, title: "Not authorized", text: "The authorization was not given. You can close this window." };
const UNKNOWN: Page = Page { status: 400, title: "Not expected", text: "This answer belongs to no authorization that is under way here." };

/// What a browser comes back with, or why nothing comes of it.
pub(super) type Outcome = Result<Zeroizing<String>, Failure>;

/// A return of the browser that is waited for.
pub(super) struct Waiting {
    listener: Loopback,
    pub(super) redirect: String,
    state: Zeroizing<String>,
    verifier: Zeroizing<String>,
}

/// A code, and what proves that it was asked for here.
pub(super) struct Code {
    pub(super) code: Zeroizing<String>,
    pub(super) verifier: Zeroizing<String>,
}

/// What is asked for.
pub(super) struct Question<'a> {
    pub(super) client_id: &'a str,
    pub(super) scope: &'a str,
    pub(super) resource: Option<&'a str>,
}

impl Waiting {
    pub(super) async fn new(port: u16) -> Result<Self, Failure> {
        let taken =
            |_| Failure::new(Reason::Port, "the port for the browser's return cannot be listened at. Give another redirectPort, or none");
        let listener = Loopback::bind(port).await.map_err(taken)?;
        let redirect = format!("http://127.0.0.1:{}{PATH}", listener.port());
        Ok(Self { listener, redirect, state: proof::random()?, verifier: proof::random()? })
    }

    /// The address for the browser.
    pub(super) fn url(&self, server: &Server, question: &Question<'_>) -> Result<Zeroizing<String>, Failure> {
        let Some(url) = &server.authorization else {
            return Err(Failure::new(Reason::Metadata, "the authorization server has no page to authorize at. Try method 'device'"));
        };
        if server.proves == Some(false) {
            let message = "the authorization server does not say that it takes PKCE with S256, without which a code could be stolen. If it does, give \
                           oauth.authorizationUrl and oauth.tokenUrl";
            return Err(Failure::new(Reason::Metadata, message));
        }
        let mut url: Url = url.clone();
        let challenge = proof::challenge(&self.verifier);
        let mut query = url.query_pairs_mut();
        query.append_pair("response_type", "code").append_pair("client_id", question.client_id);
        query.append_pair("redirect_uri", &self.redirect).append_pair("state", &self.state);
        query.append_pair("code_challenge", &challenge).append_pair("code_challenge_method", "S256");
        if !question.scope.is_empty() {
            query.append_pair("scope", question.scope);
        }
        if let Some(resource) = question.resource {
            query.append_pair("resource", resource);
        }
        // OpenID Connect gives no access beyond the session without.
        if question.scope.split(' ').any(|scope| scope == "offline_access") {
            query.append_pair("prompt", "consent");
        }
        drop(query);
        Ok(Zeroizing::new(url.to_string()))
    }

    /// Waits for the browser. Its state is good once, and for as long as this waits.
    pub(super) async fn code(self, server: &Server, limit: Duration) -> Result<Code, Failure> {
        let (state, used) = (self.state, AtomicBool::new(false));
        let judge = |query: &str| match judge(query, &state, server.issuer.as_deref(), server.names_itself) {
            Some(outcome) if !used.swap(true, Ordering::AcqRel) => {
                let page = if outcome.is_ok() { DONE } else { REFUSED };
                Judgement::Taken(outcome, page)
            }
            _ => Judgement::Passed(UNKNOWN),
        };
        let code = timeout(limit, self.listener.wait(PATH, judge)).await.map_err(|_| expired())??;
        Ok(Code { code, verifier: self.verifier })
    }
}

/// Parameters of a return. One that comes twice is none of a server.
#[derive(Default)]
struct Returned {
    code: Option<Zeroizing<String>>,
    state: Option<Zeroizing<String>>,
    issuer: Option<String>,
    error: Option<String>,
}

impl Returned {
    fn read(query: &str) -> Option<Self> {
        let mut returned = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let twice = match &*name {
                "code" => returned.code.replace(Zeroizing::new(value.into_owned())).is_some(),
                "state" => returned.state.replace(Zeroizing::new(value.into_owned())).is_some(),
                "iss" => returned.issuer.replace(value.into_owned()).is_some(),
                "error" => returned.error.replace(value.into_owned()).is_some(),
                _ => false,
            };
            if twice {
                return None;
            }
        }
        Some(returned)
    }
}

/// What a return means to whoever asked the server with this issuer, which may have announced to name itself. `None` for one that does not belong to this authorization.
pub(super) fn judge(query: &str, state: &str, issuer: Option<&str>, names_itself: bool) -> Option<Outcome> {
    let returned = Returned::read(query)?;
    if !returned.state.is_some_and(|returned| proof::same(&returned, state)) {
        return None;
    }
    // A server that somebody mixed up with another is to get neither a code nor its errors believed.
    let mixed = match (&returned.issuer, issuer) {
        (Some(named), Some(expected)) => named != expected,
        (None, _) => names_itself,
        (Some(_), None) => false,
    };
    if mixed {
        let message = "the answer is not from the authorization server that was asked. Nothing was sent to it";
        return Some(Err(Failure::new(Reason::Issuer, message)));
    }
    if let Some(error) = returned.error {
        return Some(Err(Failure::refused(&error)));
    }
    let code = returned.code.filter(|code| (1..=MAX_CODE).contains(&code.len()));
    Some(code.ok_or_else(|| Failure::new(Reason::Response, "the authorization server sent the browser back without a code")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ISSUER: &str = "https://a.example";

    fn server(proves: bool) -> Server {
        Server {
            issuer: Some(ISSUER.to_owned()),
            authorization: Some(Url::parse("https://a.example/auth?x=1").unwrap()),
            token: Url::parse("https://a.example/token").unwrap(),
            device: None,
            registration: None,
            revocation: None,
            auth_methods: None,
            names_itself: false,
            proves: Some(proves),
            scopes: Vec::new(),
        }
    }

    fn outcome(query: &str, names_itself: bool) -> Option<Result<String, Reason>> {
        judge(query, "the-state", Some(ISSUER), names_itself)
            .map(|outcome| outcome.map(|code| code.to_string()).map_err(|failure| failure.reason))
    }

    #[test]
    fn state_and_issuer_come_before_the_code() {
        for (query, names_itself, expected) in [
            ("code=a&state=the-state", false, Some(Ok("a"))),
            ("code=a%20b&state=the-state&iss=https%3A%2F%2Fa.example", true, Some(Ok("a b"))),
            ("code=a&state=the-state&iss=https%3A%2F%2Fa.example", false, Some(Ok("a"))),
            ("code=a&state=the-state", true, Some(Err(Reason::Issuer))),
            ("code=a&state=the-state&iss=https%3A%2F%2Fb.example", false, Some(Err(Reason::Issuer))),
            ("code=a&state=the-state&iss=https%3A%2F%2Fa.example%2F", true, Some(Err(Reason::Issuer))),
            ("error=access_denied&state=the-state&iss=https%3A%2F%2Fb.example", true, Some(Err(Reason::Issuer))),
            ("error=access_denied&state=the-state", false, Some(Err(Reason::Denied))),
            ("error=something+odd&code=a&state=the-state", false, Some(Err(Reason::Refused))),
            ("state=the-state", false, Some(Err(Reason::Response))),
            ("code=a&state=other", false, None),
            ("code=a&state=the-stat", false, None),
            ("code=a", false, None),
            ("error=access_denied", false, None),
            ("code=a&code=b&state=the-state", false, None),
            ("code=a&state=the-state&state=the-state", false, None),
            ("", false, None),
        ] {
            assert_eq!(outcome(query, names_itself), expected.map(|outcome| outcome.map(str::to_owned)), "{query}");
        }
    }

    proptest! {
        #[test]
        fn no_return_without_the_state_counts(query in "[ -~]{0,200}") {
            prop_assume!(!query.contains("the-state"));
            prop_assert!(outcome(&query, false).is_none());
        }
    }

    #[tokio::test]
    async fn asks_with_a_challenge() {
        let waiting = Waiting::new(0).await.unwrap();
        let question = Question { client_id: "me", scope: "a offline_access", resource: Some("https://a.example/mcp") };
        let url = waiting.url(&server(true), &question).unwrap();
        for part in [
            "/auth?x=1&response_type=code&client_id=me",
            "code_challenge_method=S256",
            "prompt=consent",
            "resource=https%3A%2F%2Fa.example%2Fmcp",
        ] {
            assert!(url.contains(part), "{part}");
        }
        assert!(url.contains(&*waiting.state) && !url.contains(&*waiting.verifier));
        assert_eq!(waiting.url(&server(false), &question).unwrap_err().reason, Reason::Metadata);
    }
}
