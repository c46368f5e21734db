//! Which addresses and headers of a server are accepted.

use super::options::RemoteOptions;
use crate::error::{ErrorCode, ToolError};
use crate::http::{Headers, Url, is_loopback, is_metadata};
use crate::redact::redact_text;

/// Bytes of an address.
const MAX_URL: usize = 8 * 1024;
/// Headers, and bytes of their names and values together.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Of a path that is shown: bytes of a part, and parts. Some services have keys in it, which are longer.
const MAX_PART: usize = 20;
const MAX_PARTS: usize = 10;

/// Headers that the protocol sets.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The address, checked.
pub(super) fn url(options: &RemoteOptions) -> Result<Url, ToolError> {
    if options.url.len() > MAX_URL {
        return invalid("the url is longer than 8 KiB. Pass long values as headers");
    }
    let Ok(mut url) = Url::parse(options.url.trim()) else {
        return invalid("the url cannot be read. Give a whole one, such as https://example.com/mcp");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return invalid("the url has to begin with https:// or, on this machine, http://");
    }
    if has_user_info(&options.url) {
        return invalid("the url holds a user name or password. Pass credentials with headers or auth");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return invalid("the url names no host");
    }
    if is_metadata(&url) {
        return invalid("the url leads to a link-local address or the metadata of a cloud, which is never reached");
    }
    if url.scheme() == "http" && !is_loopback(&url) && !options.allow_insecure_http {
        return invalid("http would send everything in clear text; it is for this machine only. Use https, or set allowInsecureHttp");
    }
    url.set_fragment(None);
    Ok(url)
}

/// The headers, checked.
pub(super) fn headers(options: &RemoteOptions) -> Result<Headers, ToolError> {
    let mut headers = Headers::default();
    let bytes: usize = options.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if options.headers.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        return invalid("there are more than 64 headers or 32 KiB of them. Send fewer");
    }
    for (name, value) in &options.headers {
        let shown = name.chars().take(64).collect::<String>().escape_debug().to_string();
        let lower = name.to_ascii_lowercase();
        if RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-param-") {
            return invalid(&format!("the header '{shown}' belongs to the protocol. Leave it out"));
        }
        if lower == "authorization" && options.auth.is_some() {
            return invalid("auth and the header Authorization exclude each other. Give one of them");
        }
        // Some programs that read headers into an object would lose more than this one.
        if lower == "__proto__" || headers.set(name, value, true).is_err() {
            return invalid(&format!("the header '{shown}' has a name that is none, or a value that is no visible ASCII text. Correct it"));
        }
    }
    Ok(headers)
}

/// Origin and path: what may be shown. A query may hold keys, and so may a long part of a path.
pub(super) fn shown(url: &Url) -> String {
    let part = |part: &str| if part.len() > MAX_PART { "…".to_owned() } else { redact_text(part) };
    let path: Vec<String> = url.path().split('/').take(MAX_PARTS).map(part).collect();
    let more = if url.path().split('/').nth(MAX_PARTS).is_some() { "/…" } else { "" };
    format!("{}{}{more}", url.origin().ascii_serialization(), path.join("/"))
}

/// Of the text, as an empty one leaves no trace in what was parsed.
fn has_user_info(text: &str) -> bool {
    let after = text.split_once(':').map_or("", |(_, after)| after).trim_start_matches(['/', '\\']);
    after.split(['/', '\\', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

fn invalid<T>(what: &str) -> Result<T, ToolError> {
    Err(ToolError::new(ErrorCode::InvalidOptions, format!("{what}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> bool {
        url(&RemoteOptions::new(address)).is_ok()
    }

    #[test]
    fn accepts_https_and_loopback_alone() {
        for address in [
            "https://example.com/mcp?key=a@b",
            "https://10.0.0.1:8443/",
            "http://localhost/mcp",
            "http://LOCALHOST:3000/mcp",
            "http://127.0.0.1/",
            "http://127.9.9.9:1/",
            "http://[::1]:3000/mcp",
        ] {
            assert!(check(address), "{address}");
        }
        for address in [
            "",
            "mcp",
            "file:///x",
            "ftp://example.com",
            "ws://localhost/",
            "https://",
            "http://example.com/",
            "http://0.0.0.0/",
            "http://localhost.evil.com/",
            "http://10.0.0.1/",
            "https://user:pw@example.com/",
            "https://@example.com/",
            "https:@example.com/",
            "https:\\\\user@example.com",
            "http://169.254.169.254/",
            "https://169.254.169.254/",
            "https://[::ffff:169.254.169.254]/",
            "http://[::ffff:169.254.169.254]/",
            "http://2852039166/",
            "https://2852039166/",
            "https://0xa9.0xfe.0xa9.0xfe/",
            "http://metadata.google.internal",
            "https://metadata.google.internal./",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(!check(address), "{address}");
        }
        let insecure = RemoteOptions { allow_insecure_http: true, ..RemoteOptions::new("http://10.0.0.1/") };
        assert!(url(&insecure).is_ok());
        let metadata = RemoteOptions { allow_insecure_http: true, ..RemoteOptions::new("http://169.254.169.254/") };
        assert!(url(&metadata).is_err());
    }

    #[test]
    fn shows_the_path_without_what_may_be_a_key() {
        for (address, seen) in [
            ("https://example.com", "https://example.com/"),
            ("https://Example.com:443/mcp?key=k#x", "https://example.com/mcp"),
            ("http://localhost:3000/a/mcp/", "http://localhost:3000/a/mcp/"),
            ("https://example.com/s/0123456789abcdef01234/mcp", "https://example.com/s/…/mcp"),
            ("https://example.com/1/2/3/4/5/6/7/8/9/10/11", "https://example.com/1/2/3/4/5/6/7/8/9/…"),
        ] {
            assert_eq!(url(&RemoteOptions::new(address)).map(|url| shown(&url)).ok().as_deref(), Some(seen));
        }
    }

    #[test]
    fn refuses_headers_that_inject_or_belong_to_the_protocol() {
        let with = |name: &str, value: &str| {
            headers(&RemoteOptions { headers: vec![(name.to_owned(), value.to_owned())], ..RemoteOptions::new("https://example.com") })
        };
        assert!(with("X-Api-Key", "a b").is_ok_and(|headers| headers.has("x-api-key")));
        for (name, value) in [
            ("X", "a\r\nX: y"),
            ("X", "a\0"),
            ("X", "gr\u{fc}n"),
            ("X Y", "a"),
            ("X:", "a"),
            ("", "a"),
            ("__proto__", "a"),
            ("Mcp-Session-Id", "a"),
            ("HOST", "a"),
            ("Mcp-Param-Region", "a"),
            ("\u{e9}", "a"),
        ] {
            assert!(with(name, value).is_err(), "{name} {value}");
        }
    }
}
