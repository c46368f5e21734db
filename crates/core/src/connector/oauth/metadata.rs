//! Where and how to authorize: what a specification says, or what the servers say of themselves (RFC 9728, RFC 8414, OpenID Connect
//! Discovery).

use super::challenge::{self, Challenge};
use super::endpoint::Reach;
use super::failure::{Failure, Reason};
use super::settings::{OAuthSettings, is_scope};
use super::web::Web;
use crate::connector::ConnectorSpec;
use crate::http::Url;
use serde::Deserialize;

const RESOURCE: &str = "oauth-protected-resource";
const SERVER: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";
/// Scopes that are taken over from what servers propose.
const MAX_PROPOSED: usize = 64;

/// An authorization server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) issuer: Option<String>,
    pub(super) authorization: Option<Url>,
    pub(super) token: Url,
    pub(super) device: Option<Url>,
    pub(super) registration: Option<Url>,
    pub(super) revocation: Option<Url>,
    /// How clients may authenticate.
    pub(super) auth_methods: Option<Vec<String>>,
    /// Whether it names itself in the browser's return.
    pub(super) names_itself: bool,
    /// Whether it says that it takes PKCE with S256. `None` where nobody asked it.
    pub(super) proves: Option<bool>,
    pub(super) scopes: Vec<String>,
}

/// A server, and what a token is to be for.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) server: Server,
    /// The address of what the token is for, as it calls itself.
    pub(super) resource: Option<String>,
    /// The scopes that it proposes.
    pub(super) scopes: Vec<String>,
}

#[derive(Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Described {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: String,
    device_authorization_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// Finds out where a connector is authorized.
pub(super) async fn find(web: &Web, spec: &ConnectorSpec) -> Result<Found, Failure> {
    let reach = spec.reach();
    let mcp = spec.mcp_url.as_deref().map(|url| reach.read("mcpUrl", url)).transpose()?;
    let own = mcp.as_ref().map(identifier);
    if let Some(settings) = spec.oauth.as_ref()
        && let Some(server) = Server::told(settings, reach)?
    {
        return Ok(Found { server, resource: own, scopes: Vec::new() });
    }
    if let Some(issuer) = spec.oauth.as_ref().and_then(|settings| settings.issuer.as_deref()) {
        return Ok(Found { server: describe(web, reach, issuer).await?, resource: own, scopes: Vec::new() });
    }
    let Some(mcp) = mcp else {
        let message = "nothing says where to authorize. Give oauth.issuer, or oauth.authorizationUrl and oauth.tokenUrl";
        return Err(Failure::new(Reason::Options, message));
    };
    let challenge = challenge_of(web, &mcp).await?;
    let asked = words(challenge.scope.as_deref().unwrap_or_default());
    match resource(web, reach, &mcp, challenge.resource_metadata.as_deref()).await? {
        Some((found, from)) => {
            let Some(issuer) = found.authorization_servers.first() else { return Err(nowhere()) };
            let server = describe(web, reach.from(&from), issuer).await?;
            let scopes = if asked.is_empty() { proposed(found.scopes_supported) } else { asked };
            Ok(Found { server, resource: Some(found.resource), scopes })
        }
        // Before revision 2025-06-18 an MCP server was its own authorization server.
        None => {
            let origin = mcp.origin().ascii_serialization();
            Ok(Found { server: describe(web, reach, &origin).await?, resource: own, scopes: asked })
        }
    }
}

/// The identifier of a resource: its address without what a browser keeps to itself.
fn identifier(url: &Url) -> String {
    let text = url.as_str();
    if url.path() == "/" && url.query().is_none() { text.trim_end_matches('/').to_owned() } else { text.to_owned() }
}

async fn challenge_of(web: &Web, mcp: &Url) -> Result<Challenge, Failure> {
    let found = web.challenges(mcp).await?;
    Ok(found.iter().filter_map(|header| challenge::read(header)).next().unwrap_or_default())
}

/// The metadata of the MCP server and where it was, where there is any.
async fn resource(web: &Web, reach: Reach, mcp: &Url, told: Option<&str>) -> Result<Option<(Resource, Url)>, Failure> {
    const WHAT: &str = "the metadata of the MCP server";
    let mut places: Vec<Url> =
        told.map(|url| reach.read("the address of the metadata of the MCP server", url)).transpose()?.into_iter().collect();
    if mcp.path() != "/" {
        places.push(well_known(mcp, &format!("{RESOURCE}{}", mcp.path())));
    }
    places.push(well_known(mcp, RESOURCE));
    for place in places {
        let answer = web.get(&place).await?;
        if matches!(answer.status, 400..=499) && answer.status != 429 {
            continue;
        }
        let Some(found) = answer.json::<Resource>().filter(|_| answer.is_ok()) else { return Err(answer.failure(WHAT)) };
        if !covers(&found.resource, mcp) {
            let message = format!("{WHAT} is about another address. A token for that one would not be for this server");
            return Err(Failure::new(Reason::Metadata, message));
        }
        // It is handed on as it is written, in an address too.
        reach.read("the resource that the MCP server calls itself", &found.resource)?;
        return Ok(Some((found, place)));
    }
    Ok(None)
}

/// Whether a resource is this address, or one above it in the same origin.
fn covers(resource: &str, mcp: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let above = resource.path().trim_end_matches('/');
    let below = mcp.path().strip_prefix(above);
    resource.origin() == mcp.origin() && resource.fragment().is_none() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn well_known(base: &Url, name: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("/.well-known/{name}"));
    url.set_query(None);
    url
}

/// The metadata of an authorization server, which has to call itself as it is called.
async fn describe(web: &Web, reach: Reach, issuer: &str) -> Result<Server, Failure> {
    const WHAT: &str = "the metadata of the authorization server";
    let base = reach.read("the issuer", issuer)?;
    if base.query().is_some() {
        return Err(Failure::new(Reason::Metadata, "the issuer has a query"));
    }
    for place in places(&base) {
        let answer = web.get(&place).await?;
        if matches!(answer.status, 400..=499) && answer.status != 429 {
            continue;
        }
        let reach = reach.from(&base);
        let Some(described) = answer.json::<Described>().filter(|_| answer.is_ok()) else { return Err(answer.failure(WHAT)) };
        if described.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            return Err(Failure::new(Reason::Issuer, format!("{WHAT} is that of another issuer")));
        }
        return Server::described(described, reach);
    }
    Err(nowhere())
}

/// Where the metadata of an issuer may be. The well-known part stands in front of a path, or in older servers after it.
fn places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![well_known(issuer, &format!("{SERVER}{path}")), well_known(issuer, &format!("{OPENID}{path}"))];
    if !path.is_empty() {
        let mut after = issuer.clone();
        after.set_path(&format!("{path}/.well-known/{OPENID}"));
        places.push(after);
    }
    places
}

fn nowhere() -> Failure {
    let message = "the servers do not say where to authorize. If the service documents it, give oauth.authorizationUrl and oauth.tokenUrl";
    Failure::new(Reason::Metadata, message)
}

impl Server {
    /// One whose addresses are in the specification.
    fn told(settings: &OAuthSettings, reach: Reach) -> Result<Option<Self>, Failure> {
        let read = |what: &str, url: &Option<String>| url.as_deref().map(|url| reach.read(what, url)).transpose();
        let Some(token) = read("oauth.tokenUrl", &settings.token_url)? else { return Ok(None) };
        Ok(Some(Self {
            issuer: settings.issuer.clone(),
            authorization: read("oauth.authorizationUrl", &settings.authorization_url)?,
            token,
            device: read("oauth.deviceUrl", &settings.device_url)?,
            registration: None,
            revocation: read("oauth.revocationUrl", &settings.revocation_url)?,
            auth_methods: None,
            names_itself: false,
            proves: None,
            scopes: Vec::new(),
        }))
    }

    fn described(described: Described, reach: Reach) -> Result<Self, Failure> {
        let read = |what: &str, url: &Option<String>| url.as_deref().map(|url| reach.read(what, url)).transpose();
        let authorization = read("the authorization endpoint", &described.authorization_endpoint)?;
        if authorization.as_ref().is_some_and(asks_already) {
            let message = "the authorization endpoint has parameters that this program alone is to set";
            return Err(Failure::new(Reason::Metadata, message));
        }
        Ok(Self {
            authorization,
            token: reach.read("the token endpoint", &described.token_endpoint)?,
            device: read("the device authorization endpoint", &described.device_authorization_endpoint)?,
            registration: read("the registration endpoint", &described.registration_endpoint)?,
            revocation: read("the revocation endpoint", &described.revocation_endpoint)?,
            auth_methods: described.token_endpoint_auth_methods_supported,
            names_itself: described.authorization_response_iss_parameter_supported.unwrap_or(false),
            // A server that does not say so does not have it, says RFC 8414.
            proves: Some(described.code_challenge_methods_supported.is_some_and(|methods| methods.iter().any(|method| method == "S256"))),
            scopes: proposed(described.scopes_supported.unwrap_or_default()),
            issuer: Some(described.issuer),
        })
    }
}

/// Whether an address sets what a request asks for. Of two values with one name another server may take the first: another client, another
/// place to return to, or a weaker proof.
fn asks_already(url: &Url) -> bool {
    const OURS: &[&str] = &[
        "response_type",
        "response_mode",
        "client_id",
        "redirect_uri",
        "state",
        "code_challenge",
        "code_challenge_method",
        "scope",
        "resource",
        "request",
        "request_uri",
    ];
    url.query_pairs().any(|(name, _)| OURS.contains(&&*name))
}

fn words(text: &str) -> Vec<String> {
    proposed(text.split(' ').map(str::to_owned).collect())
}

fn proposed(scopes: Vec<String>) -> Vec<String> {
    scopes.into_iter().filter(|scope| is_scope(scope)).take(MAX_PROPOSED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_in_the_places_of_the_standards() {
        let shown = |issuer: &str| places(&Url::parse(issuer).unwrap()).iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(
            shown("https://a.example"),
            ["https://a.example/.well-known/oauth-authorization-server", "https://a.example/.well-known/openid-configuration"]
        );
        assert_eq!(
            shown("https://a.example/tenant/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant",
                "https://a.example/.well-known/openid-configuration/tenant",
                "https://a.example/tenant/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_above_it() {
        let mcp = Url::parse("https://a.example/v1/mcp").unwrap();
        for resource in
            ["https://a.example/v1/mcp", "https://a.example/v1/mcp/", "https://a.example/v1", "https://a.example", "https://a.example/"]
        {
            assert!(covers(resource, &mcp), "{resource}");
        }
        for resource in
            ["https://b.example/v1/mcp", "http://a.example/v1/mcp", "https://a.example/v1/m", "https://a.example/v1/mcp/x", "a", ""]
        {
            assert!(!covers(resource, &mcp), "{resource}");
        }
        assert_eq!(identifier(&Url::parse("https://a.example/").unwrap()), "https://a.example");
        assert_eq!(identifier(&mcp), "https://a.example/v1/mcp");
    }
}
