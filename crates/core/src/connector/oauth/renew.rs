//! Tokens that are there: whether they are good, new ones, and their end.

use super::client::Client;
use super::failure::{Failure, Reason};
use super::token::{self, ACCESS, CLIENT, EXPIRES, REFRESH, SCOPE};
use super::web::Web;
use crate::connector::ConnectorSpec;
use crate::connector::store::Credentials;
use crate::error::{ErrorCode, ToolError};
use crate::http::Url;
use crate::surroundings::Surroundings;
use serde::Serialize;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// How kept tokens stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// Whether there is a token for this connector.
    pub authorized: bool,
    /// Whether its time is over.
    pub expired: bool,
    /// Whether there may be a new one without anybody's help.
    pub refreshable: bool,
    /// When it is to be replaced, in milliseconds since 1970, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The scopes that were granted.
    pub scopes: Vec<String>,
}

/// How the tokens that are kept for a connector stand.
pub fn standing(spec: &ConnectorSpec, kept: &Credentials, now: SystemTime) -> Standing {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    let expires_at = kept.get(EXPIRES).and_then(|text| text.parse().ok());
    let client = client_of(kept);
    // What was given for another server is not sent to this one.
    let is_ours = kept.get(CLIENT).is_none() || client.as_ref().is_some_and(|client| client.server == spec.mcp_url);
    Standing {
        authorized: is_ours && kept.get(ACCESS).is_some_and(|token| !token.is_empty()),
        expired: expires_at.is_some_and(|expires: u64| u128::from(expires) <= now),
        refreshable: is_ours && client.is_some() && kept.get(REFRESH).is_some(),
        expires_at,
        scopes: kept.get(SCOPE).unwrap_or_default().split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect(),
    }
}

/// New tokens for those that are kept: what is to be kept then. `secret` is that of a client that somebody registered.
///
/// # Errors
/// `AUTHORIZATION_REQUIRED` where somebody has to authorize anew. `CONNECTION_FAILED` where the server cannot be asked; what is kept is then as
/// good as before. `AUTHORIZATION_FAILED` for anything else. None holds a secret.
pub async fn refresh(
    spec: &ConnectorSpec,
    kept: &Credentials,
    secret: Option<Zeroizing<String>>,
    surroundings: &dyn Surroundings,
) -> Result<Credentials, ToolError> {
    let named = |error: ToolError| ToolError { message: format!("connector '{}': {}", spec.name, error.message), ..error };
    let required = || ToolError::new(ErrorCode::AuthorizationRequired, OVER);
    let (Some(client), Some(old)) = (client_of(kept), kept.get(REFRESH)) else { return Err(named(required())) };
    let is_registered = client.registered;
    let client = with_secret(client, secret);
    let renewing = async {
        let url = spec.reach().read("the token endpoint that is kept", &client.token_url)?;
        let web = Web::new(surroundings).await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", old)];
        token::request(&web, &client, &url, &form).await?.record(&kept_form(client, is_registered), Some(kept))
    };
    renewing.await.map_err(|failure| {
        named(match (failure.reason, failure.code) {
            (_, Some("invalid_grant")) => required().with_data(json!({ "error": "invalid_grant" })),
            // Servers forget clients that registered themselves.
            (_, Some(code @ ("invalid_client" | "unauthorized_client"))) if is_registered => required().with_data(json!({ "error": code })),
            (Reason::Unreachable, _) => {
                let message = format!("the token could not be renewed: {}. Try again later; what is kept is as before", failure.message);
                ToolError::new(ErrorCode::ConnectionFailed, message)
            }
            _ => failure.into_error(),
        })
    })
}

/// What somebody is told whose tokens are of no more use.
pub(super) const OVER: &str = "the authorization is over or was withdrawn. Call authorize again";

/// Has the server forget the tokens that are kept, where it offers that (RFC 7009): whether it was asked to.
///
/// # Errors
/// `AUTHORIZATION_FAILED`.
pub async fn revoke(
    spec: &ConnectorSpec,
    kept: &Credentials,
    secret: Option<Zeroizing<String>>,
    surroundings: &dyn Surroundings,
) -> Result<bool, ToolError> {
    let Some(client) = client_of(kept) else { return Ok(false) };
    let client = with_secret(client, secret);
    let Some(place) = client.revocation_url.clone() else { return Ok(false) };
    let asking = async {
        let url: Url = spec.reach().read("the revocation endpoint that is kept", &place)?;
        let web = Web::new(surroundings).await?;
        for (kind, token) in [(REFRESH, kept.get(REFRESH)), (ACCESS, kept.get(ACCESS))] {
            let Some(token) = token else { continue };
            let answer = client.post(&web, &url, &[("token", token), ("token_type_hint", kind)]).await?;
            if !answer.is_ok() {
                return Err(answer.failure("the revocation endpoint"));
            }
        }
        Ok(true)
    };
    asking.await.map_err(|failure: Failure| {
        let error = failure.into_error();
        ToolError { message: format!("connector '{}': {}", spec.name, error.message), ..error }
    })
}

fn client_of(kept: &Credentials) -> Option<Client> {
    serde_json::from_str(kept.get(CLIENT)?).ok()
}

fn with_secret(client: Client, secret: Option<Zeroizing<String>>) -> Client {
    let secret = if client.registered { client.client_secret.clone() } else { secret };
    Client { client_secret: secret, ..client }
}

/// A client without a secret that is kept elsewhere.
fn kept_form(client: Client, is_registered: bool) -> Client {
    Client { client_secret: client.client_secret.filter(|_| is_registered), ..client }
}
