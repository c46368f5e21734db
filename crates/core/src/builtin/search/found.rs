//! What a source found, as text that can be read.

use crate::http::{Secrets, Url};
use crate::sanitize::{TRUNCATED, clean_text, cut, is_hidden};
use serde::Serialize;

/// The most results of one source that are kept.
pub(super) const MAX_ITEMS: usize = 50;
const MAX_TITLE: usize = 300;
const MAX_SNIPPET: usize = 2_000;
const MAX_ANSWER: usize = 4_000;
/// A longer address is left out, as a part of one leads elsewhere.
const MAX_URL: usize = 2_048;

/// One result. What a source does not give is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Item {
    pub(super) title: Option<String>,
    pub(super) snippet: Option<String>,
    pub(super) url: Option<String>,
}

/// All that a source found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) answer: Option<String>,
    pub(super) items: Vec<Item>,
}

impl Found {
    /// Cleaned and bounded, without what repeats a key and without results that say nothing.
    pub(super) fn cleaned(self, secrets: &Secrets) -> Self {
        let line = |text: Option<String>, limit| text.map(|text| clean_line(&text, limit, secrets));
        let items = self.items.into_iter().map(|item| Item {
            title: line(item.title, MAX_TITLE),
            snippet: line(item.snippet, MAX_SNIPPET),
            url: item.url.and_then(|url| address(&url)).map(|url| secrets.hide(url)),
        });
        let says_something = |item: &Item| [&item.title, &item.snippet, &item.url].into_iter().flatten().any(|text| !text.is_empty());
        Self { answer: line(self.answer, MAX_ANSWER), items: items.filter(says_something).take(MAX_ITEMS).collect() }
    }
}

/// Text in one line without what hides: a line feed in it could pass for the next result. Cut last, as a cut may fall within a key.
fn clean_line(text: &str, limit: usize, secrets: &Secrets) -> String {
    let clean = clean_text(text, text.len()).split_whitespace().collect::<Vec<_>>().join(" ");
    // A few characters that other texts need join letters; between those of a key they would keep it from being found.
    let line = secrets.hide(clean.chars().filter(|&character| !is_hidden(character)).collect());
    match cut(&line, limit) {
        Some(head) => format!("{head}{TRUNCATED}"),
        None => line,
    }
}

/// An absolute web address, as it was written where nothing in it can mislead.
fn address(text: &str) -> Option<String> {
    let text = text.trim();
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}');
    let as_written = (text.starts_with("http://") || text.starts_with("https://")) && text.bytes().all(is_plain);
    let address = if as_written { text.to_owned() } else { String::from(url) };
    (address.len() <= MAX_URL).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_clean_line() {
        let line = |text: &str, limit| clean_line(text, limit, &Secrets::new(["planted-secret"]));
        assert_eq!(line(" a\n\n2. b\t\u{1b}[31mred\u{1b}[0m \u{202e} c\u{e0041} ", 100), "a 2. b red c");
        assert_eq!(line(&"x ".repeat(100_000), 5), "x x x…(truncated)");
        assert_eq!(line("\u{200b}\u{2060}", 10), "");
        assert_eq!(line("ab planted-secret", 6), "ab ***");
    }

    #[test]
    fn addresses_are_absolute_and_of_the_web() {
        for same in ["http://u/1", "https://example.org", "https://a.example/b?c=d&e=%20#f"] {
            assert_eq!(address(same).as_deref(), Some(same));
        }
        assert_eq!(address(" https://müller.example/ü\u{202e} x ").as_deref(), Some("https://xn--mller-kva.example/%C3%BC%E2%80%AE%20x"));
        assert_eq!(address("https:\\\\a.example").as_deref(), Some("https://a.example/"));
        for other in ["", "/a", "//a.example/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://a.example/"] {
            assert_eq!(address(other), None, "{other}");
        }
        assert_eq!(address(&format!("https://a.example/{}", "x".repeat(3_000))), None);
    }

    #[test]
    fn what_says_nothing_goes_and_keys_with_it() {
        let item = |title: Option<&str>, snippet: Option<&str>, url: Option<&str>| Item {
            title: title.map(str::to_owned),
            snippet: snippet.map(str::to_owned),
            url: url.map(str::to_owned),
        };
        let found = Found {
            answer: Some("is planted-\u{200b}secret".to_owned()),
            items: vec![
                item(None, None, None),
                item(Some(""), Some(" "), Some("ftp://x")),
                item(None, Some("s"), None),
                item(Some("planted-secret"), None, Some("https://a.example/?key=planted-secret")),
            ],
        };
        let cleaned = found.cleaned(&Secrets::new(["planted-secret"]));
        assert_eq!(cleaned.answer.as_deref(), Some("is ***"));
        assert_eq!(cleaned.items, [item(None, Some("s"), None), item(Some("***"), None, Some("https://a.example/?key=***"))]);
    }
}
