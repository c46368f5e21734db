//! Which addresses are accepted, from a specification and from what servers say of themselves.

use super::failure::{Failure, Reason};
use crate::http::{Url, is_loopback, is_metadata, leads_here};

/// Bytes of an address.
const MAX_URL: usize = 2_048;

/// Whether addresses on this machine are accepted. A server elsewhere is not to lead here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Everywhere but this machine, encrypted.
    Abroad,
    /// This machine too, there without encryption as well.
    Here,
}

impl Reach {
    /// As far as addresses that the application wrote itself.
    pub(super) fn of<'a>(own: impl IntoIterator<Item = &'a str>) -> Self {
        let here = own.into_iter().filter_map(|url| Url::parse(url).ok()).any(|url| is_loopback(&url));
        if here { Self::Here } else { Self::Abroad }
    }

    /// As far as what this server says may lead: it cannot lead here from elsewhere, whatever the application wrote.
    pub(super) fn from(self, server: &Url) -> Self {
        if leads_here(server) { self } else { Self::Abroad }
    }

    /// Reads an address. `what` says in an error whose it is.
    pub(super) fn read(self, what: &str, text: &str) -> Result<Url, Failure> {
        let refused = |why: &str| Err(Failure::new(Reason::Metadata, format!("{what} {why}")));
        if text.len() > MAX_URL || !text.bytes().all(is_harmless) {
            return refused("is no address that can be handed to a browser: it is too long, or has characters that a shell would act upon");
        }
        let Ok(url) = Url::parse(text) else { return refused("is no address") };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return refused("holds a user name, a password or a fragment");
        }
        if url.host_str().is_none_or(str::is_empty) || is_metadata(&url) {
            return refused("leads to no host that may be reached");
        }
        match (url.scheme(), is_loopback(&url), self) {
            (_, _, Self::Abroad) if leads_here(&url) => refused("leads to this machine, which a server elsewhere may not"),
            ("https", ..) | ("http", true, _) => Ok(url),
            _ => refused("does not begin with https://"),
        }
    }
}

/// Whether a byte means nothing to a shell, through which programs start browsers, and may stand in an address.
fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!*+,=&%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_is_encrypted_or_here() {
        let reads = |reach: Reach, url: &str| reach.read("it", url).is_ok();
        for url in ["https://a.example/authorize?x=1&y=%20", "https://a.example:8443/"] {
            assert!(reads(Reach::Abroad, url) && reads(Reach::Here, url), "{url}");
        }
        for url in ["http://127.0.0.1:81/x", "http://localhost/x", "https://[::1]/x"] {
            assert!(!reads(Reach::Abroad, url) && reads(Reach::Here, url), "{url}");
        }
        // Other ways to write this machine.
        for host in ["0.0.0.0", "0", "127.1", "2130706433", "[::]", "[::ffff:127.0.0.1]", "localhost.", "LOCALHOST", "x.localhost"] {
            assert!(!reads(Reach::Abroad, &format!("https://{host}/")), "{host}");
        }
        let from = |url: &str| Reach::Here.from(&Url::parse(url).unwrap());
        assert_eq!((from("http://127.0.0.1:81/"), from("https://a.example/")), (Reach::Here, Reach::Abroad));
        for url in [
            "http://a.example/",
            "https://u@a.example/",
            "https://a.example/#x",
            "https://169.254.169.254/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://a.example/$(calc)",
            "https://a.example/`id`",
            "https://a.example/?x=1;y",
            "https://a.example/a b",
            "https://",
            "",
        ] {
            assert!(!reads(Reach::Abroad, url) && !reads(Reach::Here, url), "{url}");
        }
    }
}
