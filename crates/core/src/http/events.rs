//! A body that is a stream of server-sent events.

use super::HttpError;
use super::reply::Body;
use std::fmt;
use std::time::Duration;

/// One event. A field that did not come is `None`; what is neither data nor one of these is skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// `event`: what it is about.
    pub kind: Option<String>,
    /// `data`: its lines joined by line feeds. Empty where none came.
    pub data: String,
    /// `id`: where a stream that broke off can be taken up again.
    pub id: Option<String>,
    /// `retry`: how long the server wants to wait before that.
    pub retry: Option<Duration>,
}

impl Event {
    /// Whether it has data, and is of no particular kind.
    pub fn is_message(&self) -> bool {
        !self.data.is_empty() && self.kind.as_deref().is_none_or(|kind| matches!(kind, "" | "message"))
    }
}

/// The events of a body, in order.
pub struct Events {
    body: Body,
    parser: EventParser,
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    pub(super) fn new(body: Body, cap: usize) -> Self {
        Self { body, parser: EventParser::new(cap) }
    }

    /// The next one; `None` at the end. An event that the end cuts off is none.
    ///
    /// # Errors
    /// [`HttpError::TooLarge`] for an event over the cap; where the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            if let Some(event) = self.parser.next()? {
                return Ok(Some(event));
            }
            match self.body.chunk().await? {
                Some(chunk) => self.parser.feed(&chunk),
                None => return Ok(None),
            }
        }
    }
}

/// Where the buffer is given back.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// Reads events from the pieces of a body.
#[derive(Default)]
pub(crate) struct EventParser {
    cap: usize,
    buffer: Vec<u8>,
    /// Where the first line that was not taken begins, and up to where no line end was found.
    start: usize,
    searched: usize,
    begun: bool,
    after_return: bool,
    event: Event,
    has_data: bool,
    size: usize,
}

impl EventParser {
    /// For events of at most `cap` bytes.
    pub(crate) fn new(cap: usize) -> Self {
        Self { cap, ..Self::default() }
    }

    /// One more piece.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.is_empty() {
            self.buffer.shrink_to(KEPT_CAPACITY);
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The next event, if it is there as a whole.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, HttpError> {
        while let Some((from, to)) = self.line()? {
            if from == to {
                let event = std::mem::take(&mut self.event);
                self.size = 0;
                let has_data = std::mem::take(&mut self.has_data);
                // One without data still moves the place where the stream can be taken up.
                if has_data || event.id.is_some() || event.retry.is_some() {
                    return Ok(Some(event));
                }
                continue;
            }
            let line = String::from_utf8_lossy(self.buffer.get(from..to).unwrap_or_default()).into_owned();
            self.take(&line)?;
        }
        Ok(None)
    }

    /// The place of the next line, without its end.
    fn line(&mut self) -> Result<Option<(usize, usize)>, HttpError> {
        // The second half of a line end, whose first half was enough. Only the byte right after it is one, in whatever piece that comes.
        if self.after_return
            && let Some(next) = self.buffer.get(self.start)
        {
            self.start += usize::from(*next == b'\n');
            self.after_return = false;
        }
        self.searched = self.searched.max(self.start);
        let unseen = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(length) = unseen.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.buffer.len();
            return if self.buffer.len() - self.start + self.size > self.cap { Err(HttpError::TooLarge) } else { Ok(None) };
        };
        let (mut from, end) = (self.start, self.searched + length);
        self.after_return = self.buffer.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.searched = self.start;
        if !std::mem::replace(&mut self.begun, true) && self.buffer.get(from..).unwrap_or_default().starts_with(b"\xef\xbb\xbf") {
            from += 3;
        }
        Ok(Some((from, end)))
    }

    fn take(&mut self, line: &str) -> Result<(), HttpError> {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => self.event.kind = Some(value.to_owned()),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.event.retry = Some(Duration::from_millis(value.parse().unwrap_or(u64::MAX)));
            }
            // A comment, which keeps the connection open, or a field that nobody knows.
            _ => return Ok(()),
        }
        self.size += line.len();
        if self.size > self.cap { Err(HttpError::TooLarge) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Result<Vec<Event>, HttpError> {
        let mut parser = EventParser::new(64);
        let mut events = Vec::new();
        for chunk in chunks {
            parser.feed(chunk);
            while let Some(event) = parser.next()? {
                events.push(event);
            }
        }
        Ok(events)
    }

    fn data(events: &[Event]) -> Vec<&str> {
        events.iter().map(|event| event.data.as_str()).collect()
    }

    #[test]
    fn reads_every_form_of_a_line_in_whatever_pieces_it_comes() {
        let stream = "\u{feff}data: a\n\ndata:b\r\ndata:  c\r\n\r\n:x\rdata: d\r\revent: endpoint\nid: 7\nretry: 20\ndata\n\nid: 8\n\nother: x\n\ndata: cut";
        let whole = read(&[stream.as_bytes()]).unwrap();
        assert_eq!(data(&whole), ["a", "b\n c", "d", "", ""]);
        let named =
            Event { kind: Some("endpoint".into()), id: Some("7".into()), retry: Some(Duration::from_millis(20)), data: String::new() };
        assert_eq!(whole.get(3), Some(&named));
        let single: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read(&single).unwrap(), whole);
    }

    #[test]
    fn line_ends_of_every_kind_follow_each_other_in_whatever_pieces_they_come() {
        let ends = ["\n", "\r", "\r\n"];
        for number in 0..27 {
            let [first, second, third] = [ends[number / 9], ends[number / 3 % 3], ends[number % 3]];
            let stream = format!("id: 1{first}{second}{third}data: x{first}{second}{third}id: 2{third}{second}{first}");
            let whole = read(&[stream.as_bytes()]);
            for size in 1..6 {
                let pieces: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
                assert_eq!(read(&pieces), whole, "{stream:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn caps_an_event_and_an_endless_line() {
        let long = [b'x'; 65];
        assert_eq!(read(&[b"data: ", &long]), Err(HttpError::TooLarge));
        assert_eq!(read(&[b":", &long]), Err(HttpError::TooLarge));
        let lines = "data: 0123456789\n".repeat(5);
        assert_eq!(read(&[lines.as_bytes()]), Err(HttpError::TooLarge));
        let many = "data: 0123456789\n\n".repeat(50);
        assert_eq!(read(&[many.as_bytes()]).map(|events| events.len()), Ok(50));
    }
}
