//! Authorizations with OAuth 2.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::dispatch::{self, Dispatcher, Message};
use crate::error::to_js;
use crate::surroundings::JsSurroundings;
use crate::threads::Lane;
use crate::values::{duration, to_text};
use napi::Env;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;
use toolbolt_core::connector::ConnectorSpec;
use toolbolt_core::connector::oauth::{self, Way, Wishes};
use toolbolt_core::connector::store::Credentials;
use toolbolt_core::error::{ErrorCode, ToolError};

/// What is asked for with an authorization.
#[napi(object)]
pub struct OAuthWishes {
    /// Whether a code for another device is asked for, instead of a browser here.
    pub device: bool,
    /// The port for the browser's return; any if absent.
    pub redirect_port: Option<u16>,
    /// What people read where the program registers itself.
    pub client_name: String,
    /// The client that somebody registered.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// The scopes, if not those of the specification.
    pub scopes: Option<Vec<String>>,
    /// How long a person may take.
    pub limit_ms: f64,
}

impl OAuthWishes {
    fn read(self) -> Wishes {
        Wishes {
            way: if self.device { Way::Device } else { Way::Browser { port: self.redirect_port.unwrap_or(0) } },
            client_name: self.client_name,
            client_id: self.client_id,
            client_secret: self.client_secret.map(Into::into),
            scopes: self.scopes,
            limit: duration(Some(self.limit_ms)).unwrap_or(Duration::MAX),
        }
    }
}

/// Authorizes a connector. What a person is to be shown comes as progress, as JSON; the result is what is to be kept, as JSON.
#[napi(catch_unwind)]
pub fn authorize_connector(env: Env, token: u32, spec: String, wishes: OAuthWishes) -> Result<()> {
    let spec = ConnectorSpec::read(&spec).map_err(to_js)?;
    let (wishes, cancelled) = (wishes.read(), CancellationToken::new());
    dispatch::start(&env, token, Lane::Network, Some(cancelled.clone()), move |dispatcher| async move {
        let surroundings = surroundings(&dispatcher);
        let invite = |invitation| {
            if let Ok(invitation) = serde_json::to_string(&invitation) {
                dispatcher.send(Message::Progress, token, invitation);
            }
        };
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(ToolError::new(ErrorCode::Cancelled, format!("connector '{}': the authorization was cancelled", spec.name))),
            kept = oauth::authorize(&spec, wishes, &surroundings, invite) => Ok(kept?.expose_json().to_string()),
        }
    })
}

/// How the tokens that are kept for a connector stand, as JSON.
#[napi(catch_unwind)]
pub fn oauth_standing(spec: String, kept: String) -> Result<String> {
    let spec = ConnectorSpec::read(&spec).map_err(to_js)?;
    let kept = Credentials::from_json(kept).map_err(to_js)?;
    to_text(&oauth::standing(&spec, &kept, SystemTime::now()))
}

/// New tokens for those that are kept: what is to be kept then, as JSON.
#[napi(catch_unwind)]
pub fn refresh_oauth(env: Env, token: u32, spec: String, kept: String, secret: Option<String>) -> Result<()> {
    let spec = ConnectorSpec::read(&spec).map_err(to_js)?;
    let kept = Credentials::from_json(kept).map_err(to_js)?;
    dispatch::start(&env, token, Lane::Network, None, move |dispatcher| async move {
        let fresh = oauth::refresh(&spec, &kept, secret.map(Into::into), &surroundings(&dispatcher)).await?;
        Ok(fresh.expose_json().to_string())
    })
}

/// Has the server forget the tokens that are kept: `true` if it was asked to.
#[napi(catch_unwind)]
pub fn revoke_oauth(env: Env, token: u32, spec: String, kept: String, secret: Option<String>) -> Result<()> {
    let spec = ConnectorSpec::read(&spec).map_err(to_js)?;
    let kept = Credentials::from_json(kept).map_err(to_js)?;
    dispatch::start(&env, token, Lane::Network, None, move |dispatcher| async move {
        Ok(oauth::revoke(&spec, &kept, secret.map(Into::into), &surroundings(&dispatcher)).await?.to_string())
    })
}

fn surroundings(dispatcher: &Arc<Dispatcher>) -> JsSurroundings {
    JsSurroundings::new(Some(dispatcher))
}
