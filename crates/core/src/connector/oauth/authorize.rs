//! One authorization, from the question where to the tokens.

use super::browser::{Code, Question, Waiting};
use super::client::{Client, Wanted};
use super::device::{self, Asked, DeviceCode};
use super::failure::Failure;
use super::metadata::{self, Found, Server};
use super::settings::{check_client_id, check_scopes};
use super::token::{self, Tokens};
use super::web::Web;
use crate::connector::store::Credentials;
use crate::connector::{AuthType, ConnectorSpec};
use crate::error::{ErrorCode, ToolError};
use crate::surroundings::Surroundings;
use serde::Serialize;
use std::time::Duration;
use zeroize::Zeroizing;

/// How a person authorizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In a browser on this machine, which comes back to a port; 0 for any.
    Browser {
        /// The port.
        port: u16,
    },
    /// With a code, at any device.
    Device,
}

/// What is asked for. Has no `Debug` form, as it may hold a secret.
pub struct Wishes {
    /// How.
    pub way: Way,
    /// What people read at the server, where the program registers itself.
    pub client_name: String,
    /// The client that somebody registered; otherwise that of the specification, or the program registers itself.
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    pub client_secret: Option<Zeroizing<String>>,
    /// Instead of those of the specification.
    pub scopes: Option<Vec<String>>,
    /// How long a person may take.
    pub limit: Duration,
}

/// What a person is to be shown.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Invitation {
    /// The address for a browser.
    Browser {
        /// The address, which holds the `state`.
        url: Zeroizing<String>,
    },
    /// A code for another device.
    Device(DeviceCode),
}

/// Authorizes a connector: gives what is to be kept for it.
///
/// # Errors
/// `AUTHORIZATION_FAILED` with a `reason` in `data`; `TIMEOUT` where nobody authorized in time; `INVALID_OPTIONS`. None holds a secret.
pub async fn authorize(
    spec: &ConnectorSpec,
    wishes: Wishes,
    surroundings: &dyn Surroundings,
    invite: impl Fn(Invitation) + Send + Sync,
) -> Result<Credentials, ToolError> {
    let named = |error: ToolError| ToolError { message: format!("connector '{}': {}", spec.name, error.message), ..error };
    check(spec, &wishes).map_err(named)?;
    attempt(spec, wishes, surroundings, &invite).await.map_err(|failure| named(failure.into_error()))
}

fn check(spec: &ConnectorSpec, wishes: &Wishes) -> Result<(), ToolError> {
    if spec.auth_type != AuthType::OAuth2 {
        return Err(ToolError::new(ErrorCode::InvalidOptions, "its authType is not OAUTH2, so there is nothing to authorize"));
    }
    if let Some(id) = &wishes.client_id {
        check_client_id(id)?;
    }
    check_scopes(wishes.scopes.as_deref().unwrap_or_default())
}

async fn attempt(
    spec: &ConnectorSpec,
    wishes: Wishes,
    surroundings: &dyn Surroundings,
    invite: &(impl Fn(Invitation) + Send + Sync),
) -> Result<Credentials, Failure> {
    let web = Web::new(surroundings).await?;
    let found = metadata::find(&web, spec).await?;
    let scope = scope(spec, &wishes, &found);
    let waiting = match wishes.way {
        Way::Browser { port } => Some(Waiting::new(port).await?),
        Way::Device => None,
    };
    let redirect = waiting.as_ref().map(|waiting| waiting.redirect.clone());
    let limit = wishes.limit;
    let wanted = Wanted { name: &wishes.client_name.clone(), redirect: redirect.as_deref(), scope: &scope };
    let client = Client { resource: found.resource, ..client(&web, spec, &found.server, wishes, &wanted).await? };
    let tokens = match waiting {
        Some(waiting) => in_browser(&web, &found.server, &client, &scope, waiting, limit, invite).await?,
        None => {
            let ask = Asked { scope: &scope, reach: spec.reach(), limit };
            device::authorize(&web, &found.server, &client, &ask, |code| invite(Invitation::Device(code))).await?
        }
    };
    tokens.with_scope(&scope).record(&client, None)
}

async fn client(web: &Web, spec: &ConnectorSpec, server: &Server, wishes: Wishes, wanted: &Wanted<'_>) -> Result<Client, Failure> {
    let id = wishes.client_id.or_else(|| spec.oauth.as_ref().and_then(|settings| settings.client_id.clone()));
    match id {
        Some(id) => Ok(Client::known(spec, server, id, wishes.client_secret)),
        None => Client::register(web, spec, server, wanted).await,
    }
}

async fn in_browser(
    web: &Web,
    server: &Server,
    client: &Client,
    scope: &str,
    waiting: Waiting,
    limit: Duration,
    invite: &(impl Fn(Invitation) + Send + Sync),
) -> Result<Tokens, Failure> {
    let question = Question { client_id: &client.client_id, scope, resource: client.resource.as_deref() };
    invite(Invitation::Browser { url: waiting.url(server, &question)? });
    let redirect = waiting.redirect.clone();
    let Code { code, verifier } = waiting.code(server, limit).await?;
    let form =
        [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", &redirect), ("code_verifier", verifier.as_str())];
    token::request(web, client, &server.token, &form).await
}

/// What is asked for: what the caller says, else the specification, else what the servers propose, and then to stay authorized as well.
fn scope(spec: &ConnectorSpec, wishes: &Wishes, found: &Found) -> String {
    const STAY: &str = "offline_access";
    let said = wishes.scopes.as_ref().or_else(|| spec.oauth.as_ref()?.scopes.as_ref());
    if let Some(scopes) = said {
        return scopes.join(" ");
    }
    let stays = found.server.scopes.iter().any(|scope| scope == STAY) && !found.scopes.iter().any(|scope| scope == STAY);
    found.scopes.iter().map(String::as_str).chain(stays.then_some(STAY)).collect::<Vec<_>>().join(" ")
}
