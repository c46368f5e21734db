//! Values between the core and JavaScript: as JSON text, which keeps every digit and costs least.

use crate::error::misuse;
use napi::bindgen_prelude::Result;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::time::Duration;
use toolbolt_core::exact;
use toolbolt_core::gate::Finished;

pub(crate) fn duration(milliseconds: Option<f64>) -> Option<Duration> {
    milliseconds.and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok())
}

/// JSON of at least this many bytes is made plain if it nearly is.
const LARGE: usize = 16 * 1024;
/// One byte in this many may be of another character than ASCII's.
const NEARLY: usize = 256;

/// A finished call for JavaScript: whole numbers that a double would round travel as marked strings.
pub(crate) fn finished_json(finished: &Finished) -> std::result::Result<String, serde_json::Error> {
    let Some((marked, prefix)) = finished.response.data.as_ref().and_then(|data| exact::mark_inexact(data.get())) else {
        return serde_json::to_string(finished).map(plain);
    };
    let mut finished = finished.clone();
    finished.response.data = Some(RawValue::from_string(marked)?);
    let mut json = serde_json::to_string(&finished)?;
    json.truncate(json.len() - 1);
    json.push_str(&format!(",\"bigPrefix\":\"{prefix}\"}}"));
    Ok(plain(json))
}

/// Writes the few characters beyond ASCII as escapes: one of them alone, such as the mark of a cut, makes V8 keep and read all of a
/// text at two bytes a character. Valid JSON has them only in strings.
fn plain(json: String) -> String {
    let others = if json.len() < LARGE { 0 } else { json.bytes().filter(|byte| !byte.is_ascii()).count() };
    if others == 0 || others > json.len() / NEARLY {
        return json;
    }
    let mut plain = String::with_capacity(json.len() + 2 * others);
    let mut rest = json.as_str();
    while let Some(place) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (before, from) = rest.split_at(place);
        plain.push_str(before);
        let mut characters = from.chars();
        for unit in characters.next().into_iter().flat_map(|character| character.encode_utf16(&mut [0; 2]).to_vec()) {
            plain.push_str(&format!("\\u{unit:04x}"));
        }
        rest = characters.as_str();
    }
    plain.push_str(rest);
    plain
}

pub(crate) fn ended(finished: &Finished) -> Result<String> {
    finished_json(finished).map_err(|error| misuse(&format!("no JSON form: {error}")))
}

pub(crate) fn to_text(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| misuse(&format!("no JSON form: {error}")))
}

/// JSON from TypeScript.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| misuse(&error.to_string()))
}
