//! The fingerprint of agentmaker 0.2.0, so that pins that were recorded there go on to work: SHA-256 over remote name, cleaned
//! description and completed input schema, with a NUL between them.
//!
//! It covers less than ours: neither title nor annotations nor output schema, nothing that cleaning removes, and a NUL in a text can
//! stand for one between two.

use super::canonical::Fault;
use super::fingerprint::digest;
use crate::sanitize::{TRUNCATED, cut, is_format};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

const OBJECT: &str = r#""object""#;
const EMPTY: &str = "{}";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    name: String,
    description: Option<String>,
    #[serde(borrow)]
    input_schema: Option<BTreeMap<String, &'a RawValue>>,
}

/// The fingerprint of a definition that can be used otherwise. `limit` is how many code points are kept of a description.
///
/// # Errors
/// Where a text that counts holds half of a surrogate pair.
pub(in crate::mcp) fn fingerprint(definition: &RawValue, limit: usize) -> Result<String, Fault> {
    let Definition { name, description, input_schema } = serde_json::from_str(definition.get()).map_err(|_| Fault::NoText)?;
    let mut schema = input_schema.unwrap_or_default();
    let (object, empty): (&RawValue, &RawValue) = (literal(OBJECT)?, literal(EMPTY)?);
    schema.entry("type".to_owned()).or_insert(object);
    schema.entry("properties".to_owned()).or_insert(empty);
    let mut spelled = String::new();
    spell_object(schema, Some(limit), &mut spelled)?;
    Ok(joined(&name, &clean(&description.unwrap_or_default(), limit), &spelled))
}

fn literal(json: &'static str) -> Result<&'static RawValue, Fault> {
    serde_json::from_str(json).map_err(|_| Fault::NoText)
}

fn joined(name: &str, description: &str, schema: &str) -> String {
    digest(&format!("{name}\0{description}\0{schema}"))
}

/// JSON as Python writes it with sorted keys and without escapes for what is not ASCII. With a limit, each description is cleaned.
fn spell(json: &RawValue, limit: Option<usize>, out: &mut String) -> Result<(), Fault> {
    match json.get().as_bytes().first() {
        Some(b'{') => spell_object(read(json)?, limit, out)?,
        Some(b'[') => {
            out.push('[');
            for (place, item) in read::<Vec<&RawValue>>(json)?.into_iter().enumerate() {
                out.push_str(if place == 0 { "" } else { ", " });
                spell(item, limit, out)?;
            }
            out.push(']');
        }
        Some(b'"') => push_text(&read::<String>(json)?, out),
        Some(b'-' | b'0'..=b'9') => out.push_str(&number(json.get())),
        _ => out.push_str(json.get()),
    }
    Ok(())
}

/// The order of the map is that of code points.
fn spell_object(members: BTreeMap<String, &RawValue>, limit: Option<usize>, out: &mut String) -> Result<(), Fault> {
    out.push('{');
    for (place, (key, value)) in members.into_iter().enumerate() {
        out.push_str(if place == 0 { "" } else { ", " });
        push_text(&key, out);
        out.push_str(": ");
        match limit {
            Some(limit) if key == "description" && value.get().starts_with('"') => push_text(&clean(&read::<String>(value)?, limit), out),
            _ => spell(value, limit, out)?,
        }
    }
    out.push('}');
    Ok(())
}

fn read<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(json.get()).map_err(|_| Fault::NoText)
}

fn push_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Whole numbers stay, however long; the others are the shortest that read as the same double.
fn number(literal: &str) -> String {
    if !literal.contains(['.', 'e', 'E']) {
        return if literal == "-0" { "0" } else { literal }.to_owned();
    }
    let value: f64 = literal.parse().unwrap_or_default();
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = value.to_string();
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// What agentmaker left of a description. Kinder than [`crate::sanitize::clean_text`]: DEL, the C1 controls and line separators stay,
/// and the rest of a terminal sequence.
fn clean(text: &str, limit: usize) -> String {
    let window = cut(text, limit.saturating_mul(8).saturating_add(1024).max(2048));
    let mut left = window.unwrap_or(text).chars().filter(|&character| match character {
        '\t' | '\n' | '\r' | '\u{200C}' | '\u{200D}' | '\u{AD}' => true,
        _ => character >= ' ' && !is_format(character),
    });
    let mut clean: String = left.by_ref().take(limit).collect();
    if window.is_some() || left.next().is_some() {
        clean.push_str(TRUNCATED);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Row<'a> {
        remote_name: String,
        description: String,
        #[serde(borrow)]
        schema: &'a RawValue,
        canonical: String,
        sha256: String,
    }

    #[test]
    fn every_row_of_fingerprint() {
        let rows: Vec<Row<'_>> = serde_json::from_str(include_str!("../../../../../__test__/vectors/fingerprint.json")).expect("rows");
        assert_eq!(rows.len(), 24);
        for (index, row) in rows.iter().enumerate() {
            let mut spelled = String::new();
            match row.schema.get() {
                "null" => spelled.push_str(EMPTY),
                _ => spell(row.schema, None, &mut spelled).expect("text"),
            }
            assert_eq!(spelled, row.canonical, "fingerprint {index}");
            assert_eq!(joined(&row.remote_name, &row.description, &spelled), row.sha256, "fingerprint {index}");
        }
    }

    #[test]
    fn every_row_of_sanitize_text() {
        // The last row is half a surrogate pair, which no text can hold.
        let text = include_str!("../../../../../__test__/vectors/sanitize_text.json").replace(r#""\ud800x""#, "null");
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("rows");
        for (index, row) in rows.iter().enumerate() {
            let (Some(given), Some(limit), Some(length)) = (row["in"].as_str(), row["limit"].as_u64(), row["in_len"].as_u64()) else {
                continue;
            };
            let length = usize::try_from(length).expect("small");
            let given = match given.ends_with(&format!("...(len {length})")) {
                true if length == 5003 => format!("{}abc", "\0".repeat(5000)),
                true => format!("{}ab", "\0".repeat(length - 2)),
                false => given.to_owned(),
            };
            assert_eq!(clean(&given, usize::try_from(limit).expect("small")), row["out"], "sanitize_text {index}");
        }
    }

    #[test]
    fn numbers_as_python_writes_them() {
        for (literal, written) in [
            ("-0", "0"),
            ("1E2", "100.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("-2.50", "-2.5"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ] {
            assert_eq!(number(literal), written);
        }
    }

    #[test]
    fn what_it_does_not_cover() {
        let of = |json: &str| fingerprint(&RawValue::from_string(json.to_owned()).expect("valid"), 4096);
        let plain = of(r#"{"name":"t","description":"d","inputSchema":{"type":"object","properties":{}}}"#);
        assert!(plain.is_ok());
        for same in [
            r#"{"name":"t","description":"d"}"#,
            r#"{"name":"t","description":"d\u200b","title":"x","annotations":{},"outputSchema":{},"inputSchema":null}"#,
        ] {
            assert_eq!(of(same), plain, "{same}");
        }
        assert_eq!(of(r#"{"name":"t","description":"\ud800"}"#), Err(Fault::NoText));
        assert_eq!(of(r#"{"name":"t","inputSchema":{"x":["\ud800"]}}"#), Err(Fault::NoText));
    }
}
