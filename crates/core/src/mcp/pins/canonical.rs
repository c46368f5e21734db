//! One spelling for JSON that means the same: members in the order of RFC 8785 (by UTF-16 code units), its escapes in strings, no
//! blanks; numbers as they were written, because a number that another reader rounds is another number.
//!
//! Halves of surrogate pairs, which RFC 8785 forbids, stay as escapes, so that two texts with different ones stay different.

use crate::sanitize::is_hidden;
use serde_json::value::RawValue;
use std::fmt::Write as _;

/// Levels of nesting of a definition, and of a file that holds some.
const MAX_DEPTH: usize = 128;
const MAX_FILE_DEPTH: usize = MAX_DEPTH + 16;

/// Why JSON has no such spelling. Reads as the end of a sentence about what holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A member comes twice in one object: readers differ in which one they take.
    #[error("repeats a member")]
    Repeated,
    /// It is nested too deep.
    #[error("is nested too deep")]
    TooDeep,
    /// It holds half of a surrogate pair, which the fingerprint of agentmaker cannot cover.
    #[error("holds half of a surrogate pair, which the fingerprint of agentmaker cannot cover")]
    NoText,
}

/// The one spelling.
///
/// # Errors
/// Where an object has a member twice, or nesting exceeds 128 levels.
pub fn canonical(json: &RawValue) -> Result<String, Fault> {
    spell(json, false)
}

/// The same value for people: a line for each member, and characters that hide as escapes. Ends without a line feed.
///
/// # Errors
/// As for [`canonical`], but for a few levels more: a file has definitions inside.
pub fn pretty(json: &RawValue) -> Result<String, Fault> {
    spell(json, true)
}

/// The members of an object, each value in the one spelling; none for anything else.
pub(super) fn members(json: &RawValue) -> Result<Option<Vec<(String, String)>>, Fault> {
    let mut reader = Reader { text: json.get(), at: 0, pretty: false, max_depth: MAX_DEPTH };
    reader.skip_blanks();
    if reader.peek() != Some(b'{') {
        return Ok(None);
    }
    let members = reader.members(0)?;
    Ok(Some(members.into_iter().map(|(key, value)| (String::from_utf16_lossy(&key), value)).collect()))
}

fn spell(json: &RawValue, pretty: bool) -> Result<String, Fault> {
    let mut out = String::with_capacity(json.get().len());
    let max_depth = if pretty { MAX_FILE_DEPTH } else { MAX_DEPTH };
    Reader { text: json.get(), at: 0, pretty, max_depth }.value(0, &mut out)?;
    Ok(out)
}

/// Reads JSON that is known to be valid, so nothing here looks for mistakes.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    pretty: bool,
    max_depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Whether another item follows, in a list or object whose opening is behind us.
    fn goes_on(&mut self, closing: u8) -> bool {
        self.skip_blanks();
        if self.peek() == Some(b',') {
            self.at += 1;
            self.skip_blanks();
        }
        let ends = self.peek().is_none_or(|byte| byte == closing);
        self.at += usize::from(ends);
        !ends
    }

    fn value(&mut self, depth: usize, out: &mut String) -> Result<(), Fault> {
        if depth > self.max_depth {
            return Err(Fault::TooDeep);
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => {
                let colon = if self.pretty { ": " } else { ":" };
                let members = self.members(depth)?;
                let items = members.into_iter().map(|(key, value)| quoted(&key, self.pretty) + colon + &value).collect();
                self.enclose(['{', '}'], items, depth, out);
            }
            Some(b'[') => {
                let items = self.items(depth)?;
                self.enclose(['[', ']'], items, depth, out);
            }
            Some(b'"') => {
                let units = self.string();
                out.push_str(&quoted(&units, self.pretty));
            }
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let literal = rest.split([',', '}', ']', ' ', '\t', '\n', '\r']).next().unwrap_or_default();
                out.push_str(literal);
                self.at += literal.len();
            }
        }
        Ok(())
    }

    /// In order.
    fn members(&mut self, depth: usize) -> Result<Vec<(Vec<u16>, String)>, Fault> {
        let mut members = Vec::new();
        self.at += 1;
        while self.goes_on(b'}') {
            let key = self.string();
            self.skip_blanks();
            // The colon.
            self.at += 1;
            let mut value = String::new();
            self.value(depth + 1, &mut value)?;
            members.push((key, value));
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let repeated = members.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        if repeated { Err(Fault::Repeated) } else { Ok(members) }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<String>, Fault> {
        let mut items = Vec::new();
        self.at += 1;
        while self.goes_on(b']') {
            let mut item = String::new();
            self.value(depth + 1, &mut item)?;
            items.push(item);
        }
        Ok(items)
    }

    fn enclose(&self, [open, close]: [char; 2], items: Vec<String>, depth: usize, out: &mut String) {
        out.push(open);
        if self.pretty && !items.is_empty() {
            let line = format!("\n{}", "  ".repeat(depth + 1));
            out.push_str(&line);
            out.push_str(&items.join(&format!(",{line}")));
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        } else {
            out.push_str(&items.join(","));
        }
        out.push(close);
    }

    /// A string as UTF-16, which can hold what a text cannot: halves of surrogate pairs.
    fn string(&mut self) -> Vec<u16> {
        let mut units = Vec::new();
        let mut buffer = [0; 2];
        let body = self.text.get(self.at + 1..).unwrap_or_default();
        let mut characters = body.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => break,
                '\\' => match characters.next() {
                    Some('u') => {
                        let digits = characters.as_str().get(..4).unwrap_or_default();
                        units.push(u16::from_str_radix(digits, 16).unwrap_or_default());
                        characters = characters.as_str().get(4..).unwrap_or_default().chars();
                    }
                    Some('b') => units.push(8),
                    Some('t') => units.push(9),
                    Some('n') => units.push(10),
                    Some('f') => units.push(12),
                    Some('r') => units.push(13),
                    Some(other) => units.extend_from_slice(other.encode_utf16(&mut buffer)),
                    None => break,
                },
                _ => units.extend_from_slice(character.encode_utf16(&mut buffer)),
            }
        }
        self.at = self.text.len() - characters.as_str().len();
        units
    }
}

fn quoted(units: &[u16], pretty: bool) -> String {
    let mut out = String::with_capacity(units.len() + 2);
    let escape = |out: &mut String, unit: u16| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    };
    out.push('"');
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\r') => out.push_str("\\r"),
            Ok(character) if character < ' ' || (pretty && is_hidden(character)) => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| escape(&mut out, unit));
            }
            Ok(character) => out.push(character),
            Err(half) => escape(&mut out, half.unpaired_surrogate()),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("valid")
    }

    fn of(json: &str) -> Result<String, Fault> {
        canonical(&raw(json))
    }

    #[test]
    fn order_escapes_and_blanks() {
        // The order of RFC 8785, section 3.2.3: an emoji sorts before U+FB33, since its first unit is D83D.
        let json = "{ \"\\u20ac\": 1, \"\\r\": 2, \"\\ufb33\": 3, \"1\": 4, \"\\ud83d\\ude00\": 5, \"\\u0080\": 6, \"\\u00f6\": 7 }";
        assert_eq!(of(json).unwrap(), "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
        assert_eq!(of(r#""\u0041\/\u000a\u000B\u001F\u007f\"\\""#).unwrap(), "\"A/\\n\\u000b\\u001f\u{7f}\\\"\\\\\"");
        assert_eq!(of(" [ { } , [ ] , true , null , \"\" ] ").unwrap(), "[{},[],true,null,\"\"]");
    }

    #[test]
    fn numbers_stay_as_written() {
        for number in ["1", "1.0", "1e0", "1E+0", "-0", "12345678901234567890123", "1e400", "0.10"] {
            assert_eq!(of(number).unwrap(), number);
            assert_eq!(of(&format!("[{number} ,{{\"n\":{number}}}]")).unwrap(), format!("[{number},{{\"n\":{number}}}]"));
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_stay_different() {
        assert_eq!(of(r#""\uD800""#).unwrap(), r#""\ud800""#);
        assert_ne!(of(r#""\ud800""#), of(r#""\ud801""#));
        assert_eq!(of(r#"{"\udc00":1,"\ud800":2}"#).unwrap(), r#"{"\ud800":2,"\udc00":1}"#);
    }

    #[test]
    fn refuses_what_readers_read_differently() {
        assert_eq!(of(r#"{"a":{"b":1,"\u0062":1}}"#), Err(Fault::Repeated));
        assert_eq!(of(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), Err(Fault::TooDeep));
        assert!(of(&format!("{}{}", "[".repeat(128), "]".repeat(128))).is_ok());
    }

    #[test]
    fn pretty_shows_what_hides() {
        let json = raw("{\"b\":[1,{}],\"a\":\"x\u{200b}\u{e0041}y\"}");
        assert_eq!(pretty(&json).unwrap(), "{\n  \"a\": \"x\\u200b\\udb40\\udc41y\",\n  \"b\": [\n    1,\n    {}\n  ]\n}");
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6).prop_map(|members| members.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_value_stays_and_the_spelling_is_one(value in values()) {
            let once = of(&value.to_string()).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(&once).unwrap(), &value);
            prop_assert_eq!(&of(&once).unwrap(), &once);
            let shown = pretty(&raw(&once)).unwrap();
            prop_assert_eq!(of(&shown).unwrap(), once);
            // Another order of members and other blanks.
            prop_assert_eq!(pretty(&raw(&serde_json::to_string_pretty(&reversed(&value)).unwrap())).unwrap(), shown);
        }
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(members) => members.iter().rev().map(|(key, member)| (key.clone(), reversed(member))).collect(),
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }
}
