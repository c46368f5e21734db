//! Who may come in over HTTP, by what a request says of itself: a page of a stranger that a browser shows must not reach a server
//! on the same machine, whatever name its address was given.

use hyper::HeaderMap;
use hyper::Uri;
use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Which hosts and origins are let in.
#[derive(Clone, Debug, Default)]
pub(super) struct Door {
    /// Names, with or without a port; names of this machine when empty.
    pub(super) hosts: Vec<String>,
    /// Origins as browsers write them; those of this machine when empty.
    pub(super) origins: Vec<String>,
}

impl Door {
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(host) = single(headers, &HOST) else { return false };
        self.admits_host(host)
            && (!headers.contains_key(ORIGIN) || single(headers, &ORIGIN).is_some_and(|origin| self.admits_origin(origin)))
    }

    fn admits_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = name_of(&host);
        if self.hosts.is_empty() {
            return LOOPBACK.contains(&name);
        }
        self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&host) || allowed.eq_ignore_ascii_case(name))
    }

    fn admits_origin(&self, origin: &str) -> bool {
        if !self.origins.is_empty() {
            return self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin));
        }
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| LOOPBACK.contains(&host.to_ascii_lowercase().as_str()))
    }
}

/// A header that is there once, as text.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(only)
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

/// The bearer token of a request.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    let (scheme, token) = single(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Door;
    use hyper::HeaderMap;
    use hyper::header::{HOST, ORIGIN};

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_names_of_this_machine_come_in_by_default() {
        let door = Door::default();
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8123", "[::1]", "[::1]:8123"] {
            assert!(door.admits(&headers(host, None)), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "::1:80", "a@localhost", "localhost:80:80"]
        {
            assert!(!door.admits(&headers(host, None)), "{host}");
        }
        for origin in ["http://localhost", "https://127.0.0.1:3000", "http://[::1]:3000"] {
            assert!(door.admits(&headers("localhost", Some(origin))), "{origin}");
        }
        for origin in ["null", "http://evil.example", "http://localhost.evil.example", "file://localhost", "localhost", ""] {
            assert!(!door.admits(&headers("localhost", Some(origin))), "{origin}");
        }
        assert!(!door.admits(&HeaderMap::new()));
        let mut twice = headers("localhost", None);
        twice.append(HOST, "evil.example".parse().unwrap());
        assert!(!door.admits(&twice));
    }

    #[test]
    fn lists_replace_that() {
        let door = Door { hosts: vec!["mcp.example".into(), "other.example:8443".into()], origins: vec!["https://app.example/".into()] };
        for host in ["mcp.example", "mcp.example:443", "other.example:8443"] {
            assert!(door.admits(&headers(host, Some("https://app.example"))), "{host}");
        }
        for host in ["localhost", "other.example", "other.example:80"] {
            assert!(!door.admits(&headers(host, None)), "{host}");
        }
        assert!(!door.admits(&headers("mcp.example", Some("http://localhost"))));
    }
}
