//! Why an exchange failed, as sentences that name the fix.

use super::super::connection::{Connection, Failure, HttpFacts};
use super::super::frame::Envelope;
use super::super::wire::Undelivered;
use crate::error::ErrorCode;
use crate::http::HttpError;
use crate::sanitize::clean_text;
use std::time::Duration;

/// Characters shown of an answer that is none.
const SHOWN: usize = 200;
/// And of its content type.
const MAX_KIND: usize = 60;

/// The request did not get an answer.
pub(super) fn unanswered(connection: &Connection, error: HttpError) -> Undelivered {
    let (what, sent) = match error {
        HttpError::Unreachable => {
            ("cannot be reached. Check that it runs, that its address is right, and the proxy if there is one.", false)
        }
        HttpError::Refused => (
            "refuses connections: nothing listens there, or at the proxy that the environment names. Start the server, or correct host and port of the url.",
            false,
        ),
        HttpError::Unresolved => ("has a host name that leads nowhere. Correct the host of the url, or check the network.", false),
        HttpError::Late => ("could not be reached in time. Check host and port of the url, and the network.", false),
        HttpError::Untrusted => ("has a certificate that is not trusted. Correct it, or name its authority in NODE_EXTRA_CA_CERTS.", false),
        HttpError::Expired => ("has a certificate that is not valid now. Renew it, or check the clock of this machine.", false),
        HttpError::Misnamed => ("has a certificate for another name. Use the host name that the certificate is for.", false),
        HttpError::NoTls => ("does not speak TLS as https needs it. If it serves plain http, begin the url with http://.", false),
        HttpError::Redirected => ("redirects to another place, which is not followed. Configure the address that it leads to.", false),
        HttpError::TooLarge => ("answered with more than the limit for one message. Ask for less.", true),
        HttpError::Proxy | HttpError::Invalid => ("was sent something that is no request.", false),
        HttpError::Broken => ("broke the connection off before it had answered. It may have acted on the request.", true),
    };
    failed(connection, what, sent)
}

/// An answer whose status is the only thing that counts.
pub(super) fn status(connection: &Connection, status: u16, retry_after: Option<Duration>, has_auth: bool) -> Undelivered {
    let (what, sent) = match status {
        401 if has_auth => {
            ("did not accept the token that auth gave (status 401). Check that the token is meant for this server.".to_owned(), false)
        }
        401 => ("wants credentials (status 401). Pass auth, or an Authorization header in headers.".to_owned(), false),
        403 => ("refuses access (status 403). Check what the token or headers are allowed to do.".to_owned(), false),
        404 => (format!("knows nothing at this address (status 404). {}", path_hint(connection)), false),
        405 => (format!("takes no messages at this address (status 405). {}", path_hint(connection)), false),
        413 => ("finds the request too large (status 413). Send less.".to_owned(), false),
        429 => (format!("got too many requests (status 429).{}", wait(retry_after)), false),
        500.. => (format!("failed (status {status}).{}", wait(retry_after)), true),
        _ => (format!("refused the request (status {status}). Check the url and the transport."), false),
    };
    let mut undelivered = failed(connection, &what, sent);
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
        Some(wait) => format!(" Try again after {} seconds.", wait.as_secs_f64().ceil()),
        None => " Try again later.".to_owned(),
    }
}

/// An answer that is no message, or not the one that was asked for.
pub(super) fn bad_answer(connection: &Connection, kind: &str, text: &str) -> Undelivered {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let what = match text.trim() {
        text if !kind.is_empty() && !kind.eq_ignore_ascii_case("application/json") && Envelope::parse(text).is_none() => {
            let kind = clean_text(&connection.redactor.redact(kind), MAX_KIND).escape_debug().to_string();
            format!("answered with {kind} instead of JSON or an event stream, so no MCP server is there. {}", path_hint(connection))
        }
        "" => "answered the request with nothing.".to_owned(),
        text if Envelope::parse(text).is_some() => "answered something else than the request.".to_owned(),
        text => {
            let start: String = text.chars().take(SHOWN * 8).collect();
            // Again after cleaning, which may join what an invisible character had parted.
            let clean = connection.redactor.cleaned(&start, SHOWN * 8);
            let shown = clean_text(&clean, SHOWN).escape_debug().to_string();
            format!("answered with something that is no reply to the request: {shown}")
        }
    };
    let mut undelivered = failed(connection, &what, true);
    if let Undelivered::Failed { failure, .. } = &mut undelivered {
        failure.http = Some(HttpFacts { status: 200, retry_after: None });
    }
    undelivered
}

/// A stream of events that ended too early.
pub(super) fn ended(connection: &Connection) -> Undelivered {
    failed(connection, "ended the stream before the answer came. It may have acted on the request.", true)
}

/// The application gave no token.
pub(super) fn no_token(connection: &Connection, why: &str) -> Undelivered {
    let message = format!("There is no token for MCP server `{}`: {why}. Correct the auth callback.", connection.namespace);
    Undelivered::Failed { failure: Failure::new(ErrorCode::ConnectionFailed, message), sent: false }
}

/// A lost session that could not be opened anew.
pub(super) fn not_reopened(connection: &Connection, why: &str) -> Undelivered {
    failed(connection, &format!("lost the session, and a new one could not be opened: {why}"), false)
}

pub(super) fn failed(connection: &Connection, what: &str, sent: bool) -> Undelivered {
    let message = format!("MCP server `{}` ({}) {what}", connection.namespace, connection.program);
    Undelivered::Failed { failure: Failure::new(ErrorCode::ConnectionFailed, message), sent }
}
