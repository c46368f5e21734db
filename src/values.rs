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

/// A finished call for JavaScript: whole numbers that a double would round travel as marked strings.
pub(crate) fn finished_json(finished: &Finished) -> std::result::Result<String, serde_json::Error> {
    let Some((marked, prefix)) = finished.response.data.as_ref().and_then(|data| exact::mark_inexact(data.get())) else {
        return serde_json::to_string(finished);
    };
    let mut finished = finished.clone();
    finished.response.data = Some(RawValue::from_string(marked)?);
    let mut json = serde_json::to_string(&finished)?;
    json.truncate(json.len() - 1);
    json.push_str(&format!(",\"bigPrefix\":\"{prefix}\"}}"));
    Ok(json)
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
