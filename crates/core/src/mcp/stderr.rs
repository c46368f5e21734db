//! The end of what a server wrote to its standard error, and the removal of secrets from it.

use crate::sanitize::clean_prose;
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::fmt;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes kept of a server's standard error.
const KEPT: usize = 16 * 1024;
/// Characters of it that an error shows.
const SHOWN: usize = 2000;
/// A value shorter than this is no secret, and its removal would garble ordinary words.
const SHORTEST_SECRET: usize = 4;
/// The same of one line among others.
const SHORTEST_LINE: usize = 8;
/// Tokens that are kept to be taken out of text, the last ones: a connection that lives for weeks sees many.
const KEPT_TOKENS: usize = 32;

/// Takes given values out of text before anybody reads it.
#[derive(Default)]
pub(super) struct Redactor {
    /// The longest first: one may contain another, and a part of it would stay.
    secrets: RwLock<Vec<String>>,
    tokens: Mutex<VecDeque<String>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let redactor = Self::default();
        for value in values {
            redactor.add(value);
        }
        redactor
    }

    /// One more value, as it is and as a server that logs JSON shows it. False for one that is known, or too short.
    fn add(&self, value: &str) -> bool {
        if value.len() < SHORTEST_SECRET || self.secrets.read().iter().any(|known| known == value) {
            return false;
        }
        let mut secrets = self.secrets.write();
        for form in forms(value) {
            if !secrets.contains(&form) {
                secrets.push(form);
            }
        }
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        true
    }

    /// A token that is about to be used. The oldest of many is forgotten.
    pub(super) fn add_token(&self, token: &str) {
        if !self.add(token) {
            return;
        }
        let mut tokens = self.tokens.lock();
        tokens.push_back(token.to_owned());
        if tokens.len() > KEPT_TOKENS
            && let Some(oldest) = tokens.pop_front()
        {
            let forgotten = forms(&oldest);
            self.secrets.write().retain(|secret| !forgotten.contains(secret));
        }
    }

    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets.read();
        secrets
            .iter()
            .fold(text.to_owned(), |text, secret| if text.contains(secret.as_str()) { text.replace(secret.as_str(), "***") } else { text })
    }

    /// Text from outside, clean and without secrets: taken out again after cleaning, which may join what an invisible character had parted.
    pub(super) fn cleaned(&self, text: &str, limit: usize) -> String {
        self.redact(&clean_prose(&self.redact(text), limit))
    }

    fn longest(&self) -> usize {
        self.secrets.read().first().map_or(0, String::len)
    }
}

/// A value and its lines without the blanks around them, each as it is and as JSON shows it: what came from a file ends with a line break
/// that is not repeated, and a key of several lines is told line by line.
fn forms(value: &str) -> Vec<String> {
    let lines = || value.lines().map(str::trim).filter(|line| !line.is_empty());
    let shortest = if lines().count() > 1 { SHORTEST_LINE } else { SHORTEST_SECRET };
    let parts = std::iter::once(value).chain(lines().filter(|line| line.len() >= shortest));
    let escaped = |part: &str| {
        let quoted = super::text::quoted(part);
        quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(part).to_owned()
    };
    parts.flat_map(|part| [part.to_owned(), escaped(part)]).collect()
}

/// A bounded buffer that is filled as long as the server lives: a server whose standard error nobody reads stops at 64 KiB.
#[derive(Debug, Default)]
pub(super) struct StderrRing {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl StderrRing {
    /// Reads to the end.
    pub(super) async fn fill(&self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            self.push(chunk.get(..count).unwrap_or_default());
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock();
        kept.bytes.extend(bytes);
        let excess = kept.bytes.len().saturating_sub(KEPT);
        if excess > 0 {
            kept.bytes.drain(..excess);
            kept.cut = true;
        }
    }

    /// The end of it, clean and without secrets; empty if nothing was written.
    pub(super) fn tail(&self, redactor: &Redactor) -> String {
        let text = {
            let kept = self.kept.lock();
            // Where the beginning was cut it may have been cut within a secret.
            let unsafe_start = if kept.cut { redactor.longest().saturating_sub(1) } else { 0 };
            let bytes: Vec<u8> = kept.bytes.iter().skip(unsafe_start).copied().collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let text = redactor.cleaned(&text, KEPT);
        let text = text.trim();
        let start = text.char_indices().rev().nth(SHOWN - 1).map_or(0, |(place, _)| place);
        let shown = text.get(start..).unwrap_or_default();
        if start > 0 { format!("…{shown}") } else { shown.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_old_tokens_but_no_given_value() {
        let redactor = Redactor::new(std::iter::once("given"));
        for number in 0..=KEPT_TOKENS {
            redactor.add_token(&format!("token{number:04}"));
        }
        redactor.add_token("given");
        assert_eq!(redactor.redact("given token0000 token0001"), "*** token0000 ***");
    }

    #[test]
    fn takes_out_what_is_told_line_by_line() {
        let redactor = Redactor::new(["-----BEGIN KEY-----\nMIIEvQIBADAN\r\n  Bgkqhkig\nAQ==\n", " from-a-file\n"].into_iter());
        for (text, expected) in [
            ("key: MIIEvQIBADAN", "key: ***"),
            ("1: -----BEGIN KEY-----\n2: Bgkqhkig", "1: ***\n2: ***"),
            ("\"-----BEGIN KEY-----\\nMIIEvQIBADAN\\r\\n  Bgkqhkig\\nAQ==\\n\"", "\"***\""),
            ("it is from-a-file.", "it is ***."),
        ] {
            assert_eq!(redactor.redact(text), expected, "{text}");
        }
    }

    #[test]
    fn keeps_the_end_and_no_part_of_a_secret() {
        let ring = StderrRing::default();
        let redactor = Redactor::new(["hunter2hunter2", "abc", "hunter2"].into_iter());
        ring.push(b"token hunter2hunter2 and hunter2, abc\x1b[0m\xff\n");
        assert_eq!(ring.tail(&redactor), "token *** and ***, abc\u{fffd}");
        for fill in 0..40 {
            let ring = StderrRing::default();
            ring.push(b"hunter2hunter2");
            ring.push(&vec![b' '; KEPT - fill]);
            ring.push(b"end");
            let seen: String = ring.tail(&redactor).chars().filter(char::is_ascii_alphanumeric).collect();
            assert_eq!(seen, "end", "{fill}");
        }
    }
}
