//! The fingerprint of a tool's definition: what the server wrote, before anything is cleaned or cut.

use super::canonical::{Fault, canonical, members};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The members of a definition that count, in the order in which they are hashed.
pub const PARTS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// Stands before everything else that is hashed, so that no other hash of ours can be taken for one of these.
const DOMAIN: &[u8] = b"toolbolt tool definition 1\n";

/// What counts of a definition, each part in its one spelling, by the order of [`PARTS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition(pub(super) [Option<String>; PARTS.len()]);

impl Definition {
    /// Reads a definition as a server wrote it.
    ///
    /// # Errors
    /// Where an object has a member twice, or nesting is too deep.
    pub fn read(raw: &RawValue) -> Result<Self, Fault> {
        let mut definition = Self::default();
        for (name, value) in members(raw)?.unwrap_or_default() {
            if let Some(slot) = place_of(&name).and_then(|place| definition.0.get_mut(place)) {
                *slot = Some(value);
            }
        }
        Ok(definition)
    }

    /// Sets one part from JSON in any spelling. False for a part that there is not.
    pub(super) fn set(&mut self, part: &str, json: &RawValue) -> Result<bool, Fault> {
        let Some(slot) = place_of(part).and_then(|place| self.0.get_mut(place)) else { return Ok(false) };
        *slot = Some(canonical(json)?);
        Ok(true)
    }

    /// The parts by name, those that are missing too.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        PARTS.into_iter().zip(self.0.iter().map(Option::as_deref))
    }

    /// SHA-256 in hex. Each part counts with a byte that tells a missing one from one that is there, and one that is there with its
    /// length before it, so that no two definitions are hashed as the same bytes.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        for (_, part) in self.parts() {
            match part {
                None => hash.update([0]),
                Some(text) => {
                    hash.update([1]);
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text);
                }
            }
        }
        hex(&hash.finalize())
    }
}

/// SHA-256 of a text in hex.
pub(super) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A fingerprint that somebody wrote down, in lower case; none for what cannot be one.
pub(in crate::mcp) fn parse(text: &str) -> Option<String> {
    (text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_ascii_lowercase())
}

fn place_of(part: &str) -> Option<usize> {
    PARTS.iter().position(|known| *known == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::collections::HashSet;

    fn of(json: &str) -> String {
        Definition::read(&RawValue::from_string(json.to_owned()).expect("valid")).expect("one spelling").fingerprint()
    }

    #[test]
    fn the_algorithm_is_written_down() {
        let hashed =
            b"toolbolt tool definition 1\n\x01\0\0\0\0\0\0\0\x03\"t\"\0\x01\0\0\0\0\0\0\0\x02\"\"\x01\0\0\0\0\0\0\0\x0b{\"a\":[1.0]}\0\0";
        assert_eq!(
            of("{\"description\":\"\", \"name\":\"\\u0074\", \"inputSchema\":{\"a\" : [ 1.0 ]}, \"icons\":[]}"),
            hex(&Sha256::digest(hashed))
        );
    }

    #[test]
    fn tool_07_every_part_counts() {
        let all = [
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"}}"#,
            r#"{"name":"t","description":"D","inputSchema":{"type":"object"}}"#,
            r#"{"name":"t","title":"d","description":"d","inputSchema":{"type":"object"}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{}}}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1}}}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1.0}}}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"annotations":{}}"#,
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"annotations":null}"#,
            r#"{"name":"t","description":"","inputSchema":{"type":"object"}}"#,
            r#"{"name":"t","inputSchema":{"type":"object"}}"#,
        ];
        let different: HashSet<String> = all.iter().map(|json| of(json)).collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn tool_08_no_two_texts_run_together() {
        for (one, other) in [
            (r#"{"name":"ab","description":"c"}"#, r#"{"name":"a","description":"bc"}"#),
            (r#"{"name":"a\u0000b","description":"c"}"#, r#"{"name":"a","description":"b\u0000c"}"#),
            (r#"{"name":"t","title":"x"}"#, r#"{"name":"t","description":"x"}"#),
            ("{\"name\":\"t\",\"description\":\"caf\u{e9}\"}", "{\"name\":\"t\",\"description\":\"cafe\u{301}\"}"),
            ("{\"name\":\"t\",\"description\":\"ab\"}", "{\"name\":\"t\",\"description\":\"a\u{200b}b\"}"),
        ] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }

    #[test]
    fn fingerprints_that_people_write() {
        assert_eq!(parse(&"AB".repeat(32)), Some("ab".repeat(32)));
        for wrong in ["", "ab", &"g".repeat(64), &"a".repeat(63), &"a".repeat(65), &"é".repeat(32)] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    fn definitions() -> impl Strategy<Value = Value> {
        let text = || prop_oneof![Just(None), any::<String>().prop_map(|text| Some(Value::from(text)))];
        let schema =
            || prop::option::of((any::<String>(), any::<i32>()).prop_map(|(key, number)| json!({ "type": "object", key: number })));
        ((text(), text(), text()), (schema(), schema(), schema())).prop_map(|((name, title, description), (input, output, annotations))| {
            let parts = [name, title, description, input, output, annotations];
            PARTS.into_iter().zip(parts).filter_map(|(part, value)| Some((part.to_owned(), value?))).collect()
        })
    }

    proptest! {
        #[test]
        fn two_definitions_have_one_fingerprint_only_if_they_are_one(one in definitions(), other in definitions()) {
            prop_assert_eq!(one == other, of(&one.to_string()) == of(&other.to_string()));
        }

        #[test]
        fn any_part_that_goes_changes_it(definition in definitions()) {
            let whole = of(&definition.to_string());
            for part in PARTS {
                let mut without = definition.clone();
                if without.as_object_mut().is_some_and(|members| members.shift_remove(part).is_some()) {
                    prop_assert_ne!(&of(&without.to_string()), &whole);
                }
            }
            prop_assert_eq!(of(&serde_json::to_string_pretty(&definition).unwrap()), whole);
        }
    }
}
