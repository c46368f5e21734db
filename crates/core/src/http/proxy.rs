//! The proxies that the environment asks for.

use super::{HttpError, Url};
use crate::surroundings::Surroundings;
use reqwest::{NoProxy, Proxy};

/// Small letters first, as most programs read them.
const VARIABLES: &[&str] =
    &["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "REQUEST_METHOD"];

/// What is on this machine is reached directly, whatever the environment says.
const DIRECT: &str = "localhost,127.0.0.0/8,::1";

pub(super) async fn of_environment(surroundings: &dyn Surroundings) -> Result<Vec<Proxy>, HttpError> {
    let values = surroundings.variables(VARIABLES).await;
    let value = |names: &[&str]| {
        let places = names.iter().filter_map(|name| VARIABLES.iter().position(|known| known == name));
        places.filter_map(|place| values.get(place)?.as_deref()).map(str::trim).find(|value| !value.is_empty())
    };
    let exceptions = format!("{DIRECT},{}", value(&["no_proxy", "NO_PROXY"]).unwrap_or_default());
    let https = value(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]);
    // Within CGI a request sets HTTP_PROXY by its header `Proxy`.
    let is_cgi = value(&["REQUEST_METHOD"]).is_some();
    let http = value(if is_cgi { &["http_proxy", "all_proxy"] } else { &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] });
    let read = |address: &str, make: fn(Url) -> reqwest::Result<Proxy>| {
        let url = if address.contains("://") { Url::parse(address) } else { Url::parse(&format!("http://{address}")) };
        let proxy = make(url.map_err(|_| HttpError::Proxy)?).map_err(|_| HttpError::Proxy)?;
        Ok(proxy.no_proxy(NoProxy::from_string(&exceptions)))
    };
    let https = https.map(|address| read(address, Proxy::https));
    let http = http.map(|address| read(address, Proxy::http));
    https.into_iter().chain(http).collect()
}
