//! Why an authorization did not come about, without words of the other side.

use crate::error::{ErrorCode, ToolError};
use serde_json::json;

/// What a program can tell failures apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A person, or the server in their place, said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The answer names another server than the one that was asked.
    Issuer,
    /// Where and how to authorize is not to be found out, or not safe.
    Metadata,
    /// This program is not known to the server, and cannot make itself known.
    Registration,
    /// The server's answer cannot be used.
    Response,
    /// The server refused, with a code of the standard.
    Refused,
    /// The server does not answer, or has a fault that may pass.
    Unreachable,
    /// The port for the browser's return cannot be listened at.
    Port,
    /// What the caller asked for cannot be done.
    Options,
}

/// Codes of the standards. Another text is no code, and is not shown.
const CODES: &[&str] = &[
    "access_denied",
    "account_selection_required",
    "authorization_pending",
    "consent_required",
    "expired_token",
    "interaction_required",
    "invalid_client",
    "invalid_client_metadata",
    "invalid_grant",
    "invalid_redirect_uri",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "login_required",
    "server_error",
    "slow_down",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_response_type",
    "unsupported_token_type",
];

/// A failure. Nothing of it is secret.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) reason: Reason,
    /// What is wrong, and what to do.
    pub(super) message: String,
    /// The server's code.
    pub(super) code: Option<&'static str>,
}

impl Reason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Issuer => "issuer",
            Self::Metadata => "metadata",
            Self::Registration => "registration",
            Self::Response => "response",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Port => "port",
            Self::Options => "options",
        }
    }
}

impl Failure {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), code: None }
    }

    /// A refusal with a code of the server.
    pub(super) fn refused(code: &str) -> Self {
        let code = CODES.iter().copied().find(|known| *known == code);
        match code {
            Some("access_denied") => Self { code, ..Self::new(Reason::Denied, "the authorization was denied") },
            Some("expired_token") => Self { code, ..expired() },
            Some(known) => {
                Self { code, ..Self::new(Reason::Refused, format!("the authorization server refused with {known}{}", advice(known))) }
            }
            None => Self::new(Reason::Refused, "the authorization server refused with a code of its own"),
        }
    }

    /// The error for a caller who asked for an authorization.
    pub(super) fn into_error(self) -> ToolError {
        let code = match self.reason {
            Reason::Expired => ErrorCode::Timeout,
            Reason::Options => return ToolError::new(ErrorCode::InvalidOptions, self.message),
            _ => ErrorCode::AuthorizationFailed,
        };
        let mut data = json!({ "reason": self.reason.as_str() });
        if let Some(code) = self.code {
            data["error"] = code.into();
        }
        let advice = if self.reason == Reason::Unreachable { ". Try again later" } else { "" };
        ToolError::new(code, format!("{}{advice}", self.message)).with_data(data)
    }
}

/// Nobody answered in time.
pub(super) fn expired() -> Failure {
    Failure::new(Reason::Expired, "nobody gave the authorization in time. Call authorize again")
}

fn advice(code: &str) -> &'static str {
    match code {
        "invalid_client" | "unauthorized_client" => ". Check clientId, and the credential client_secret if the client has one",
        "invalid_scope" => ". Check scopes",
        "invalid_redirect_uri" => ". Register http://127.0.0.1/callback, of whatever port, or give redirectPort",
        "invalid_grant" => ". Call authorize again",
        _ => "",
    }
}
