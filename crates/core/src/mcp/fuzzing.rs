//! Everything that a server's bytes reach, for fuzz targets and property tests.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parts of messages, which random bytes would not hit.
    fn parts() -> impl Strategy<Value = Vec<u8>> {
        let words = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "null",
            "-1e999",
            "9007199254740993",
            "\"\\ud800\"",
            "\"a\"",
            "\n",
            "\r",
            "\"jsonrpc\":\"2.0\"",
            "\"id\":1073741824",
            "\"id\":null",
            "\"method\":\"ping\"",
            "\"method\":\"notifications/progress\"",
            "\"params\":{\"progressToken\":1073741824}",
            "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}",
            "\"error\":{\"code\":1,\"message\":\"secret\"}",
            "\"structuredContent\":",
            "\"resultType\":\"input_required\"",
            "\"requestState\":\"s\"",
            "\"type\":\"object\"",
            "\"properties\":",
            "\"$ref\":\"#\"",
            "\"pattern\":\"(a+)+$\"",
            "\"anyOf\":",
            "data: ",
            "event: x",
            "id: 1",
            "retry: 5",
            ": c",
            "\u{feff}",
        ];
        let word = prop_oneof![
            prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..6)
        ];
        prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn whatever_a_server_sends_is_taken_in(bytes in parts(), piece in 1..40usize) {
            message(&bytes);
            events(&bytes, piece);
        }
    }
}
