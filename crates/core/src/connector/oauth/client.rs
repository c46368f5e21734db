//! The program as the authorization server knows it: registered by somebody, or by itself (RFC 7591), and how it says who it is.

use super::failure::{Failure, Reason};
use super::metadata::Server;
use super::web::{Answer, Web};
use crate::connector::ConnectorSpec;
use crate::http::Url;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use form_urlencoded::byte_serialize;
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

/// Bytes of a secret.
const MAX_SECRET: usize = 4_096;

/// How a client says who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Method {
    /// With its id alone.
    None,
    /// With id and secret in a header.
    Basic,
    /// With id and secret in the form.
    Post,
}

/// A client of one authorization server, as it is kept beside its tokens. Has no `Debug` form, as there may be a secret in it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Client {
    /// The MCP server that the tokens are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    pub(super) token_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revocation_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource: Option<String>,
    pub(super) client_id: String,
    pub(super) method: Method,
    /// Whether it registered itself. Its secret is then kept here; that of another is a credential like any.
    pub(super) registered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<Zeroizing<String>>,
}

/// What a client is to be made for.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    /// None for a device, to which no browser returns.
    pub(super) redirect: Option<&'a str>,
    pub(super) scope: &'a str,
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<Zeroizing<String>>,
    token_endpoint_auth_method: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Client {
    /// One that somebody registered.
    pub(super) fn known(spec: &ConnectorSpec, server: &Server, id: String, secret: Option<Zeroizing<String>>) -> Self {
        let method = match (&secret, &server.auth_methods) {
            (None, _) => Method::None,
            (Some(_), Some(methods)) if !has(methods, "client_secret_basic") && has(methods, "client_secret_post") => Method::Post,
            // What RFC 8414 says of a server that says nothing.
            (Some(_), _) => Method::Basic,
        };
        Self::of(spec, server, id, method, secret, false)
    }

    /// One that registers itself.
    pub(super) async fn register(web: &Web, spec: &ConnectorSpec, server: &Server, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let Some(place) = &server.registration else {
            let message = "the authorization server wants a client that is registered with it. Register one, and give its clientId";
            return Err(Failure::new(Reason::Registration, message));
        };
        let method = match &server.auth_methods {
            Some(methods) if has(methods, "none") => "none",
            Some(methods) if has(methods, "client_secret_basic") => "client_secret_basic",
            Some(methods) if has(methods, "client_secret_post") => "client_secret_post",
            _ => "none",
        };
        let grant = if wanted.redirect.is_some() { "authorization_code" } else { super::device::GRANT };
        let mut body = json!({
            "client_name": wanted.name,
            "application_type": "native",
            "redirect_uris": wanted.redirect.into_iter().collect::<Vec<_>>(),
            "response_types": if wanted.redirect.is_some() { vec!["code"] } else { Vec::new() },
            "grant_types": [grant, "refresh_token"],
            "token_endpoint_auth_method": method,
        });
        if !wanted.scope.is_empty() {
            body["scope"] = wanted.scope.into();
        }
        let mut answer = web.post_json(place, &body).await?;
        // Some servers know scopes of their own alone, and not those of what they guard.
        if answer.status == 400 && body.as_object_mut().is_some_and(|body| body.remove("scope").is_some()) {
            answer = web.post_json(place, &body).await?;
        }
        let mut registered = answer.json::<Registered>().filter(|_| answer.is_ok()).ok_or_else(|| not_registered(&answer))?;
        registered.client_secret = registered.client_secret.filter(|secret| !secret.is_empty());
        let fits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits(&registered.client_id, MAX_SECRET) || registered.client_secret.as_ref().is_some_and(|secret| !fits(secret, MAX_SECRET)) {
            return Err(Failure::new(Reason::Registration, "the authorization server registered a client that cannot be used"));
        }
        let method = match (registered.token_endpoint_auth_method.as_deref().unwrap_or(method), &registered.client_secret) {
            ("none", _) | (_, None) => Method::None,
            ("client_secret_post", Some(_)) => Method::Post,
            (_, Some(_)) => Method::Basic,
        };
        let secret = registered.client_secret.filter(|_| method != Method::None);
        Ok(Self::of(spec, server, registered.client_id, method, secret, true))
    }

    fn of(spec: &ConnectorSpec, server: &Server, id: String, method: Method, secret: Option<Zeroizing<String>>, registered: bool) -> Self {
        Self {
            server: spec.mcp_url.clone(),
            token_url: server.token.to_string(),
            revocation_url: server.revocation.as_ref().map(Url::to_string),
            resource: None,
            client_id: id,
            method,
            registered,
            client_secret: secret,
        }
    }

    /// Posts a form as this client.
    pub(super) async fn post(&self, web: &Web, url: &Url, form: &[(&str, &str)]) -> Result<Answer, Failure> {
        let mut form = form.to_vec();
        let secret = self.client_secret.as_ref().map(|secret| secret.as_str());
        let basic = match (self.method, secret) {
            (Method::Basic, Some(secret)) => Some(basic(&self.client_id, secret)),
            (Method::Post, Some(secret)) => {
                form.extend([("client_id", self.client_id.as_str()), ("client_secret", secret)]);
                None
            }
            _ => {
                form.push(("client_id", &self.client_id));
                None
            }
        };
        web.post_form(url, &form, basic.as_ref().map(|basic| basic.as_str())).await
    }
}

fn has(methods: &[String], method: &str) -> bool {
    methods.iter().any(|known| known == method)
}

/// Id and secret as RFC 6749 wants them: each written as in a form.
fn basic(id: &str, secret: &str) -> Zeroizing<String> {
    let secret: Zeroizing<String> = Zeroizing::new(byte_serialize(secret.as_bytes()).collect());
    let pair = Zeroizing::new(format!("{}:{}", byte_serialize(id.as_bytes()).collect::<String>(), *secret));
    Zeroizing::new(format!("Basic {}", BASE64_STANDARD.encode(pair.as_bytes())))
}

fn not_registered(answer: &Answer) -> Failure {
    let failure = match answer.json::<Refusal>() {
        Some(Refusal { error }) => Failure::refused(&error),
        None => answer.failure("the registration"),
    };
    match failure.reason {
        Reason::Unreachable => failure,
        _ => Failure {
            reason: Reason::Registration,
            message: format!("this program could not be registered: {}. Register a client, and give its clientId", failure.message),
            ..failure
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_who_it_is_as_a_form_would() {
        let expected = format!("Basic {}", BASE64_STANDARD.encode("an+id%3A:p%C3%A9%25"));
        assert_eq!(*basic("an id:", "pé%"), expected);
    }
}
