//! Lines of a server's standard output, and what kind of message each one is.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::io::BufRead;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Room for one read.
const CHUNK: usize = 64 * 1024;
/// A buffer that grew past this for one big message is given back.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// Why no more lines come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The server closed its standard output, or its last process ended.
    Closed,
    /// A line passed the cap. What follows cannot be understood any more.
    TooLarge,
}

/// Splits a stream at line feeds and at nothing else, in bounded memory. The cap holds for each line, however many come at once.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    cap: usize,
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// Up to where no line feed was found.
    searched: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(source: R, cap: usize) -> Self {
        Self { source, cap, buffer: Vec::new(), start: 0, searched: 0 }
    }

    /// The next line, without its line feed. Not to be dropped before it is done.
    pub(super) async fn next(&mut self) -> Result<&[u8], End> {
        loop {
            let unseen = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(length) = line_length(unseen) {
                let (from, to) = (self.start, self.searched + length);
                if to - from > self.cap {
                    return Err(End::TooLarge);
                }
                self.start = to + 1;
                self.searched = self.start;
                return Ok(self.buffer.get(from..to).unwrap_or_default());
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > self.cap {
                return Err(End::TooLarge);
            }
            self.make_room();
            if !matches!(self.source.read_buf(&mut self.buffer).await, Ok(1..)) {
                return Err(End::Closed);
            }
        }
    }

    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.capacity() > KEPT_CAPACITY && self.buffer.len() < CHUNK {
            self.buffer.shrink_to(CHUNK);
        }
        if self.buffer.capacity() - self.buffer.len() < CHUNK / 4 {
            self.buffer.reserve(CHUNK);
        }
    }
}

/// Where the first line feed is. The reader of slices searches many bytes at a time, which an iterator does not.
fn line_length(mut bytes: &[u8]) -> Option<usize> {
    let whole = bytes;
    let length = bytes.skip_until(b'\n').ok()?.checked_sub(1)?;
    (whole.get(length) == Some(&b'\n')).then_some(length)
}

/// The parts of a JSON-RPC message, each as it was written.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// `null` is a value here; an absent member is none.
pub(super) fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// Reads a message. `None` for anything that is none.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let envelope: Self = serde_json::from_str(text).ok()?;
        (envelope.method.is_some() || envelope.result.is_some() || envelope.error.is_some()).then_some(envelope)
    }

    /// The id, unless it is absent or `null`.
    pub(super) fn id(&self) -> Option<&'a RawValue> {
        self.id.filter(|id| id.get() != "null")
    }

    /// The id as a number. Some servers give it back as a string, or as the floating point number that it is to them.
    pub(super) fn number(&self) -> Option<u64> {
        let text = self.id()?.get();
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        text.parse().ok().or_else(|| whole(text.parse().ok()?))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of 32 bits")]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u64)
}

/// The text of a line: without a byte order mark and the blanks around it. `None` if it is not UTF-8.
pub(super) fn line_text(line: &[u8]) -> Option<&str> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    // The blanks of JSON only: others would be a mistake worth showing.
    Some(std::str::from_utf8(line).ok()?.trim_matches([' ', '\t', '\r', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn splits_at_line_feeds_only_and_caps_each_line() {
        let mut lines = Lines::new("a\r\n\u{2028}b\n\n12345678\n123456789\n".as_bytes(), 8);
        let mut seen = Vec::new();
        let end = loop {
            match lines.next().await {
                Ok(line) => seen.push(String::from_utf8_lossy(line).into_owned()),
                Err(end) => break end,
            }
        };
        assert_eq!((seen, end), (["a\r", "\u{2028}b", "", "12345678"].map(str::to_owned).to_vec(), End::TooLarge));
        let mut unfinished = Lines::new("a\nhalf".as_bytes(), 8);
        assert_eq!(unfinished.next().await, Ok(b"a".as_slice()));
        assert_eq!(unfinished.next().await, Err(End::Closed));
        let mut endless = Lines::new(tokio::io::repeat(b'x'), 100_000);
        assert_eq!(endless.next().await, Err(End::TooLarge));
        assert!(endless.buffer.capacity() < 400_000);
    }

    #[test]
    fn tells_messages_from_other_json() {
        for text in ["1", "{}", "[]", r#"{"id":1}"#, r#"{"error":null}"#, r#"{"result":1,"result":2}"#] {
            assert!(Envelope::parse(text).is_none(), "{text}");
        }
        assert!(Envelope::parse(r#"{"result":null,"id":null}"#).is_some_and(|message| message.id().is_none()));
        for id in [r#""12""#, "12", "12.0", "1.2e1"] {
            let message = format!(r#"{{"result":1e400,"id":{id}}}"#);
            assert_eq!(Envelope::parse(&message).and_then(|message| message.number()), Some(12), "{id}");
        }
        for id in ["12.5", "-1", "1e400", "null", "[12]", "true", r#""""#, r#""NaN""#] {
            let message = format!(r#"{{"result":1,"id":{id}}}"#);
            assert_eq!(Envelope::parse(&message).and_then(|message| message.number()), None, "{id}");
        }
    }
}
