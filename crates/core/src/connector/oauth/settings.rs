//! What a specification says of OAuth 2. None of it is secret.

use super::endpoint::Reach;
use crate::connector::spec::{AuthType, ConnectorSpec, invalid};
use crate::error::ToolError;
use crate::redact::has_known_secret;
use serde::{Deserialize, Serialize};

/// Scopes of a connector, and bytes of one.
const MAX_SCOPES: usize = 64;
const MAX_SCOPE: usize = 256;
/// Bytes of the id of a client, which may be an address.
const MAX_CLIENT_ID: usize = 2_048;

/// What is known of a service's OAuth 2. What is not said is asked of its servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OAuthSettings {
    /// The authorization server. Default: the one that the MCP server names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Where a person authorizes. Together with `token_url` it replaces all that servers say of themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_url: Option<String>,
    /// Where tokens are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// Where codes for other devices are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_url: Option<String>,
    /// Where tokens are revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revocation_url: Option<String>,
    /// The id under which the program is registered. Default: it registers itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// What is asked for. Default: what the servers propose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

impl OAuthSettings {
    /// Every address that it has, with its name.
    pub(super) fn urls(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("oauth.issuer", &self.issuer),
            ("oauth.authorizationUrl", &self.authorization_url),
            ("oauth.tokenUrl", &self.token_url),
            ("oauth.deviceUrl", &self.device_url),
            ("oauth.revocationUrl", &self.revocation_url),
        ]
        .into_iter()
        .filter_map(|(name, url)| Some((name, url.as_deref()?)))
    }

    /// Refuses what breaks a rule.
    pub(in crate::connector) fn check(&self, auth_type: AuthType) -> Result<(), ToolError> {
        if auth_type != AuthType::OAuth2 {
            return invalid("oauth is for authType OAUTH2");
        }
        for (name, url) in self.urls() {
            Reach::of([url]).read(name, url).map_err(|failure| ToolError::new(crate::error::ErrorCode::InvalidOptions, failure.message))?;
        }
        let others = [&self.authorization_url, &self.device_url, &self.revocation_url];
        if self.token_url.is_none() && others.iter().any(|url| url.is_some()) {
            return invalid("oauth needs a tokenUrl with its other addresses. Give it, or none of them, and they are asked for");
        }
        if self.token_url.is_some() && self.authorization_url.is_none() && self.device_url.is_none() {
            return invalid("oauth has a tokenUrl, but neither authorizationUrl nor deviceUrl, which nobody is asked for then");
        }
        if let Some(id) = &self.client_id {
            check_client_id(id)?;
        }
        check_scopes(self.scopes.as_deref().unwrap_or_default())
    }
}

/// Refuses what is no id of a client.
pub(super) fn check_client_id(id: &str) -> Result<(), ToolError> {
    if !(1..=MAX_CLIENT_ID).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return invalid("clientId has to be a short text of visible ASCII");
    }
    if has_known_secret(id) {
        return invalid("clientId looks like a credential. A client secret is the credential 'client_secret'");
    }
    Ok(())
}

/// Refuses what are no scopes.
pub(super) fn check_scopes(scopes: &[String]) -> Result<(), ToolError> {
    if scopes.len() > MAX_SCOPES || !scopes.iter().all(|scope| is_scope(scope)) {
        return invalid(format!("scopes has to be a list of at most {MAX_SCOPES} words of visible ASCII without quotes"));
    }
    Ok(())
}

pub(super) fn is_scope(scope: &str) -> bool {
    (1..=MAX_SCOPE).contains(&scope.len()) && scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}

impl ConnectorSpec {
    /// How far addresses may lead for this connector.
    pub(super) fn reach(&self) -> Reach {
        let own = self.oauth.iter().flat_map(OAuthSettings::urls).map(|(_, url)| url);
        Reach::of(self.mcp_url.as_deref().into_iter().chain(own))
    }
}
