//! The device authorization grant (RFC 8628): a person types a code at another device.

use super::client::Client;
use super::endpoint::Reach;
use super::failure::{Failure, Reason, expired};
use super::metadata::Server;
use super::token::{self, Tokens};
use super::web::Web;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

pub(super) const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Between two questions, where the server says nothing.
const INTERVAL: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// What is added for a server that is asked too often.
const SLOWER: Duration = Duration::from_secs(5);
/// Bytes of the code for the server, and of that for people.
const MAX_DEVICE_CODE: usize = 8 * 1024;
const MAX_USER_CODE: usize = 64;
/// The longest time for which such a code is good.
const LONGEST_CODE: Duration = Duration::from_secs(24 * 3600);

/// What a person needs to authorize at another device.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceCode {
    /// What they type.
    pub user_code: String,
    /// Where.
    pub verification_uri: String,
    /// The same with the code in it, if the server has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification_uri_complete: Option<String>,
    /// For how long in milliseconds.
    pub expires_in_ms: u64,
}

#[derive(Deserialize)]
struct Given {
    device_code: SecretString,
    user_code: String,
    #[serde(alias = "verification_url")]
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: Value,
    interval: Option<Value>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// Asks for codes, tells the person's through `tell`, and waits for them to be used.
pub(super) async fn authorize(
    web: &Web,
    server: &Server,
    client: &Client,
    ask: &Asked<'_>,
    tell: impl FnOnce(DeviceCode),
) -> Result<Tokens, Failure> {
    let started = Instant::now();
    let given = codes(web, server, client, ask).await?;
    let Some(lifetime) = token::lifetime(&given.expires_in) else { return Err(unusable()) };
    let lifetime = lifetime.min(LONGEST_CODE).min(ask.limit);
    let shown = DeviceCode {
        user_code: given.user_code,
        verification_uri: given.verification_uri,
        verification_uri_complete: given.verification_uri_complete,
        expires_in_ms: u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX),
    };
    tell(shown);
    let interval = given.interval.as_ref().and_then(token::lifetime).unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST);
    poll(web, server, client, &given.device_code, interval, started + lifetime).await
}

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) scope: &'a str,
    pub(super) reach: Reach,
    pub(super) limit: Duration,
}

async fn codes(web: &Web, server: &Server, client: &Client, ask: &Asked<'_>) -> Result<Given, Failure> {
    let Some(place) = &server.device else {
        return Err(Failure::new(Reason::Metadata, "the authorization server gives no codes for other devices. Use method 'browser'"));
    };
    let mut form = Vec::new();
    if !ask.scope.is_empty() {
        form.push(("scope", ask.scope));
    }
    if let Some(resource) = &client.resource {
        form.push(("resource", resource));
    }
    let answer = client.post(web, place, &form).await?;
    let Some(given) = answer.json::<Given>().filter(|_| answer.is_ok()) else {
        return Err(match answer.json::<Refusal>() {
            Some(Refusal { error }) => Failure::refused(&error),
            None => answer.failure("the device authorization endpoint"),
        });
    };
    let fits =
        |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !fits(&given.user_code, MAX_USER_CODE) || !fits(given.device_code.expose_secret(), MAX_DEVICE_CODE) {
        return Err(unusable());
    }
    let reach = ask.reach.from(place);
    reach.read("the page for the code", &given.verification_uri)?;
    if let Some(complete) = &given.verification_uri_complete {
        reach.read("the page for the code", complete)?;
    }
    Ok(given)
}

fn unusable() -> Failure {
    Failure::new(Reason::Response, "the device authorization endpoint gave codes that cannot be used")
}

async fn poll(
    web: &Web,
    server: &Server,
    client: &Client,
    code: &SecretString,
    mut interval: Duration,
    end: Instant,
) -> Result<Tokens, Failure> {
    let form = [("grant_type", GRANT), ("device_code", code.expose_secret())];
    loop {
        let next = Instant::now() + interval;
        if next >= end {
            sleep_until(end).await;
            return Err(expired());
        }
        sleep_until(next).await;
        let failure = match token::request(web, client, &server.token, &form).await {
            Ok(tokens) => return Ok(tokens),
            Err(failure) => failure,
        };
        match (failure.reason, failure.code) {
            (_, Some("authorization_pending")) => {}
            (_, Some("slow_down")) => interval = (interval + SLOWER).min(LONGEST),
            // As the standard has it: a server that does not answer is asked less and less.
            (Reason::Unreachable, _) => interval = (interval * 2).min(LONGEST),
            _ => return Err(failure),
        }
    }
}
