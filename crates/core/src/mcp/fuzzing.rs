//! What fuzz targets need of the inside: everything that a server's bytes reach.

use super::bounds::SchemaBounds;
use super::connection::Connection;
use super::outbox::Outbox;
use super::rate::Rate;
use super::result::{Words, response, to_be_continued};
use super::stderr::Redactor;
use super::wire::Wire;
use super::{ConnectOptions, schema};
use crate::http::EventParser;
use crate::prompts::PromptRegistry;
use serde_json::value::RawValue;

/// Takes bytes as a message on a pipe, as a body, as a result and as the schema of a tool.
pub fn message(bytes: &[u8]) {
    let wire = Wire::Pipe(Outbox::default());
    let redactor = Redactor::new(std::iter::once("secret"));
    let connection = Connection::new("ns".to_owned(), "program".to_owned(), wire, None, redactor, Rate::new(100));
    connection.accept(bytes, None);
    connection.accept(bytes, Some(1 << 30));
    let Some(raw) = std::str::from_utf8(bytes).ok().and_then(|text| serde_json::from_str::<&RawValue>(text).ok()) else { return };
    let words = Words { server: "ns", prompts: &PromptRegistry::default(), restarting: false };
    let told = response(raw, &words, None);
    assert!(told.data.is_none_or(|data| serde_json::from_str::<&RawValue>(data.get()).is_ok()));
    drop(to_be_continued(raw));
    drop(schema::prepare(Some(raw), SchemaBounds::of(&ConnectOptions::new("ns", "program"))));
}

/// Takes bytes as a stream of events: the same events whatever pieces it comes in, and none above the cap.
pub fn events(bytes: &[u8], piece: usize) {
    const CAP: usize = 256;
    let read = |piece: usize| {
        let mut parser = EventParser::new(CAP);
        let mut events = Vec::new();
        for chunk in bytes.chunks(piece.max(1)) {
            parser.feed(chunk);
            loop {
                match parser.next() {
                    Ok(Some(event)) => events.push(event),
                    Ok(None) => break,
                    Err(_) => return Err(events),
                }
            }
        }
        Ok(events)
    };
    if let (Ok(whole), Ok(parts)) = (read(bytes.len()), read(piece)) {
        assert_eq!(whole, parts);
        // A byte that is no UTF-8 becomes three.
        assert!(whole.iter().all(|event| event.data.len() <= 3 * CAP));
    }
}
