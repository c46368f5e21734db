//! Why an exchange failed, as sentences that name the fix.

use super::super::connection::{Connection, Failure, HttpFacts};
use super::super::frame::Envelope;
use super::super::wire::Undelivered;
use super::auth::NoToken;
use super::{Remote, address};
use crate::error::ErrorCode;
use crate::http::{HttpError, Reply, Url};
use crate::sanitize::clean_text;
use std::time::Duration;

/// Characters shown of an answer that is none.
const SHOWN: usize = 200;
/// And of its content type.
const MAX_KIND: usize = 60;

/// What is wrong, and what the program can do about it. A model is told the first alone.
struct Words {
    what: String,
    advice: String,
}

fn words(what: impl Into<String>, advice: impl Into<String>) -> Words {
    Words { what: what.into(), advice: advice.into() }
}

/// The request did not get an answer.
pub(super) fn unanswered(connection: &Connection, error: HttpError) -> Undelivered {
    let (words, sent) = match error {
        HttpError::Unreachable => {
            (words("cannot be reached", "Check that it runs, that its address is right, and the proxy if there is one."), false)
        }
        HttpError::Refused => (
            words(
                "refuses connections",
                "Nothing listens there, or at the proxy that the environment names. Start the server, or correct host and port of the url.",
            ),
            false,
        ),
        HttpError::Unresolved => (words("has a host name that leads nowhere", "Correct the host of the url, or check the network."), false),
        HttpError::Late => (
            words(
                "could not be reached in time",
                "Check host and port of the url, and the network, or raise connectTimeoutMs if it is below 10,000.",
            ),
            false,
        ),
        HttpError::Untrusted => {
            (words("has a certificate that is not trusted", "Correct it, or name its authority in NODE_EXTRA_CA_CERTS."), false)
        }
        HttpError::Expired => (words("has a certificate that is not valid now", "Renew it, or check the clock of this machine."), false),
        HttpError::Misnamed => (words("has a certificate for another name", "Use the host name that the certificate is for."), false),
        HttpError::NoTls => (words("does not speak TLS as https needs it", "If it serves plain http, begin the url with http://."), false),
        HttpError::Redirected => {
            (words("redirects to another place, which is not followed", "Configure the address that it leads to."), false)
        }
        HttpError::TooLarge => (words("answered with more than the limit for one message", "Ask for less, or raise maxFrameBytes."), true),
        HttpError::Proxy | HttpError::Invalid => (words("was sent something that is no request", ""), false),
        HttpError::Broken => (words("broke the connection off before it had answered", "It may have acted on the request."), true),
    };
    of_words(connection, words, sent)
}

/// An answer whose status is the only thing that counts.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    /// Where a redirect leads.
    pub(super) location: Option<Url>,
}

impl Answer {
    pub(super) fn of(reply: &Reply) -> Self {
        Self { status: reply.status(), retry_after: reply.retry_after(), location: reply.location() }
    }
}

pub(super) fn status(connection: &Connection, remote: &Remote, answer: &Answer) -> Undelivered {
    let Answer { status, retry_after, .. } = *answer;
    let words = match status {
        300..=399 => redirected(remote, answer),
        401 if remote.auth.is_some() => {
            words("did not accept the token (status 401)", "Check that the token that auth gave is meant for this server.")
        }
        401 if remote.headers.has("authorization") => words(
            "did not accept the credentials (status 401)",
            "The Authorization header of headers was sent: check that its value is right, whole and meant for this server.",
        ),
        401 => words("wants credentials (status 401)", "Pass auth, or an Authorization header in headers."),
        403 => words("refuses access (status 403)", "Check what the token or headers are allowed to do."),
        404 => words("knows nothing at this address (status 404)", path_hint(connection)),
        405 => words("takes no messages at this address (status 405)", path_hint(connection)),
        413 => words("finds the request too large (status 413)", "Send less."),
        429 => words("got too many requests (status 429)", wait(retry_after)),
        500.. => words(format!("failed (status {status})"), wait(retry_after)),
        _ => words(format!("refused the request (status {status})"), "Check the url and the transport."),
    };
    with_facts(of_words(connection, words, status >= 500), status, retry_after)
}

/// A redirect that was not followed.
fn redirected(remote: &Remote, answer: &Answer) -> Words {
    let advice = match &answer.location {
        Some(target) if target.origin() == remote.url.origin() => format!("Set the url to {}.", address::shown(target)),
        Some(_) => "It leads to another origin. If that is where the server is now, set the url to its address.".to_owned(),
        None => "It does not say where to. Check the url.".to_owned(),
    };
    let rule = format!("Only 307 and 308 within the origin of the url are followed, {} in a row.", super::REDIRECTS);
    words(format!("redirects (status {}), which is not followed", answer.status), format!("{rule} {advice}"))
}

/// A server that opens no stream of HTTP+SSE.
pub(super) fn no_stream(connection: &Connection, status: u16) -> Undelivered {
    let what = format!("opens no stream of events at this address (status {status})");
    let advice =
        "If it serves Streamable HTTP, which newer servers do, use transport 'http' or connectHttp; if not, check the path of the url.";
    with_facts(of_words(connection, words(what, advice), false), status, None)
}

fn with_facts(mut undelivered: Undelivered, status: u16, retry_after: Option<Duration>) -> Undelivered {
    if let Undelivered::Failed { failure, .. } = &mut undelivered {
        failure.http = Some(HttpFacts { status, retry_after });
    }
    undelivered
}

/// Where many servers are.
fn path_hint(connection: &Connection) -> &'static str {
    match connection.program.ends_with("/mcp") {
        true => "Check the path of the url.",
        false => "Check the path of the url: is it /mcp?",
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!("Try again after {} seconds.", wait.as_secs_f64().ceil()),
        None => "Try again later.".to_owned(),
    }
}

/// An answer that is no message, or not the one that was asked for.
pub(super) fn bad_answer(connection: &Connection, kind: &str, text: &str) -> Undelivered {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let words = match text.trim() {
        text if !kind.is_empty() && !kind.eq_ignore_ascii_case("application/json") && Envelope::parse(text).is_none() => {
            let kind = clean_text(&connection.redactor.redact(kind), MAX_KIND).escape_debug().to_string();
            words(format!("answered with {kind} instead of JSON or an event stream, so no MCP server is there"), path_hint(connection))
        }
        "" => words("answered the request with nothing", ""),
        text if Envelope::parse(text).is_some() => words("answered something else than the request", ""),
        text => {
            let start: String = text.chars().take(SHOWN * 8).collect();
            // Again after cleaning, which may join what an invisible character had parted.
            let clean = connection.redactor.cleaned(&start, SHOWN * 8);
            let shown = clean_text(&clean, SHOWN).escape_debug().to_string();
            words("answered with something that is no reply to the request", format!("It begins with: {shown}"))
        }
    };
    with_facts(of_words(connection, words, true), 200, None)
}

/// A stream of events that ended too early.
pub(super) fn ended(connection: &Connection) -> Undelivered {
    of_words(connection, words("ended the stream before the answer came", "It may have acted on the request."), true)
}

/// The application gave no token, or nobody has authorized.
pub(super) fn no_token(connection: &Connection, why: &NoToken) -> Undelivered {
    let name = &connection.namespace;
    let failure = match why {
        NoToken::Problem(why) => {
            let message = format!("There is no token for MCP server `{name}`: {why}. Correct the auth callback.");
            Failure::new(ErrorCode::ConnectionFailed, message).told(format!("There is no token for MCP server `{name}`."))
        }
        NoToken::Passing(why) => Failure::new(ErrorCode::ConnectionFailed, format!("There is no token for MCP server `{name}`: {why}."))
            .told(format!("There is no token for MCP server `{name}` at the moment.")),
        NoToken::Unauthorized(why) => {
            let brief = format!("The authorization for MCP server `{name}` is over. Somebody has to give it anew.");
            Failure::new(ErrorCode::AuthorizationRequired, format!("There is no token for MCP server `{name}`: {why}.")).told(brief)
        }
    };
    Undelivered::Failed { failure, sent: false }
}

/// A lost session that could not be opened anew.
pub(super) fn not_reopened(connection: &Connection, why: &str) -> Undelivered {
    of_words(connection, words("lost the session, and a new one could not be opened", format!("The reason: {why}.")), false)
}

pub(super) fn failed(connection: &Connection, what: &str, advice: &str, sent: bool) -> Undelivered {
    of_words(connection, words(what, advice), sent)
}

fn of_words(connection: &Connection, Words { what, advice }: Words, sent: bool) -> Undelivered {
    let brief = format!("MCP server `{}` {what}.", connection.namespace);
    let mut message = format!("MCP server `{}` ({}) {what}.", connection.namespace, connection.program);
    if !advice.is_empty() {
        message.push(' ');
        message.push_str(&advice);
    }
    Undelivered::Failed { failure: Failure::new(ErrorCode::ConnectionFailed, message).told(brief), sent }
}
