//! The lock file: which tools of which servers were approved, in a form that a person can review in version control.
//!
//! Members stand in one order and one layout, and characters that hide are escapes, so that a change of a file shows what changed.

use super::canonical::pretty;
use super::changes;
use super::difference::Offer;
use super::fingerprint::{Definition, digest, parse};
use crate::mcp::text::quoted;
use crate::name;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Bytes of a file.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of one definition as it is laid out in the file; of parts beyond that only the hash is kept.
const KEPT_BYTES: usize = 32 * 1024;
/// The first member of a file, which tells it from others and from those of later versions.
const FORMAT: &str = "toolbolt-pins-1";

/// What is kept of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kept {
    /// Its one spelling.
    Whole(String),
    /// SHA-256 of a part that is too large.
    Digest(String),
}

/// An approved tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) fingerprint: String,
    /// What its definition was, as far as it is known.
    parts: Option<BTreeMap<&'static str, Kept>>,
}

impl Pin {
    /// A pin of which nothing but the fingerprint is known.
    pub(super) fn bare(fingerprint: String) -> Self {
        Self { fingerprint, parts: None }
    }

    fn of(offer: &Offer) -> Self {
        let mut room = KEPT_BYTES;
        let mut keep = |text: &str| {
            let laid_out = serde_json::from_str(text).ok().and_then(|json| pretty(json).ok()).map_or(usize::MAX, |text| text.len());
            if laid_out > room {
                return Kept::Digest(digest(text));
            }
            room -= laid_out;
            Kept::Whole(text.to_owned())
        };
        let parts = offer.definition.parts().filter_map(|(part, text)| Some((part, keep(text?)))).collect();
        Self { fingerprint: offer.fingerprint.clone(), parts: Some(parts) }
    }

    /// What became of each part that changed, as far as it is known.
    pub(super) fn changes(&self, now: &Definition) -> Vec<(&'static str, Vec<String>)> {
        let Some(parts) = &self.parts else { return Vec::new() };
        let changes = now.parts().map(|(part, now)| match parts.get(part) {
            Some(Kept::Digest(hash)) if now.is_some_and(|now| digest(now) == *hash) => (part, Vec::new()),
            Some(Kept::Digest(_)) => (part, vec!["~ it is too large to be shown".to_owned()]),
            Some(Kept::Whole(before)) => (part, changes::lines(Some(before), now)),
            None => (part, changes::lines(None, now)),
        });
        changes.filter(|(_, lines)| !lines.is_empty()).collect()
    }

    fn render(&self) -> String {
        let mut members = vec![format!("\"fingerprint\":{}", quoted(&self.fingerprint))];
        if let Some(parts) = &self.parts {
            let (mut whole, mut omitted) = (Vec::new(), Vec::new());
            for (part, kept) in parts {
                match kept {
                    Kept::Whole(text) => whole.push(format!("{}:{text}", quoted(part))),
                    Kept::Digest(hash) => omitted.push(format!("{}:{}", quoted(part), quoted(hash))),
                }
            }
            members.push(format!("\"definition\":{{{}}}", whole.join(",")));
            if !omitted.is_empty() {
                members.push(format!("\"omitted\":{{{}}}", omitted.join(",")));
            }
        }
        format!("{{{}}}", members.join(","))
    }
}

/// The pins of several servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

#[derive(Deserialize)]
struct Header {
    format: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    servers: BTreeMap<String, BTreeMap<String, Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fingerprint: String,
    definition: Option<BTreeMap<String, Box<RawValue>>>,
    #[serde(default)]
    omitted: BTreeMap<String, String>,
}

impl LockFile {
    /// Reads a file.
    ///
    /// # Errors
    /// With what is wrong with it, as the end of a sentence: anything that this version would not write back as it means.
    pub fn read(text: &str) -> Result<Self, String> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        pretty(raw).map_err(|fault| format!("it {fault}"))?;
        let header: Header = serde_json::from_str(text).map_err(|_| "it has no `format`, so it is not one of ours".to_owned())?;
        if header.format != FORMAT {
            let format: String = header.format.chars().take(40).collect();
            return Err(format!("its format is {}, and this version knows {FORMAT}", quoted(&format)));
        }
        let file: File = serde_json::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
        let mut servers = BTreeMap::new();
        for (namespace, entries) in file.servers {
            let mut pins = BTreeMap::new();
            for (tool, entry) in entries {
                if !name::is_valid(&namespace) || !name::is_valid(&tool) {
                    return Err("it holds a name that no server or tool can have".to_owned());
                }
                let pin = entry.pin().map_err(|reason| format!("the entry `{tool}` of the server `{namespace}` {reason}"))?;
                pins.insert(tool, pin);
            }
            servers.insert(namespace, pins);
        }
        Ok(Self { servers })
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let tools = |pins: &BTreeMap<String, Pin>| {
            let tools: Vec<String> = pins.iter().map(|(name, pin)| format!("{}:{}", quoted(name), pin.render())).collect();
            format!("{{{}}}", tools.join(","))
        };
        let servers: Vec<String> = self.servers.iter().map(|(name, pins)| format!("{}:{}", quoted(name), tools(pins))).collect();
        let json = format!("{{\"format\":{},\"servers\":{{{}}}}}", quoted(FORMAT), servers.join(","));
        // Every part has one spelling already, so laying it out cannot fail.
        let laid_out = RawValue::from_string(json).ok().and_then(|raw| pretty(&raw).ok());
        laid_out.unwrap_or_default() + "\n"
    }

    /// The pins of one server.
    pub(super) fn of(&self, namespace: &str) -> BTreeMap<String, Pin> {
        self.servers.get(namespace).cloned().unwrap_or_default()
    }

    pub(super) fn add(&mut self, namespace: &str, offer: &Offer) {
        self.servers.entry(namespace.to_owned()).or_default().insert(offer.name.clone(), Pin::of(offer));
    }
}

impl Entry {
    fn pin(self) -> Result<Pin, String> {
        let fingerprint = parse(&self.fingerprint).ok_or("has a fingerprint that is none")?;
        let Some(wholes) = self.definition else {
            return if self.omitted.is_empty() {
                Ok(Pin::bare(fingerprint))
            } else {
                Err("omits parts of a definition that it lacks".to_owned())
            };
        };
        let mut definition = Definition::default();
        for (part, json) in &wholes {
            if !definition.set(part, json).map_err(|fault| fault.to_string())? {
                return Err(format!("has a part {} that no definition has", quoted(part)));
            }
        }
        let mut parts = BTreeMap::new();
        for (part, text) in definition.parts() {
            match (text, self.omitted.get(part)) {
                (Some(_), Some(_)) => return Err(format!("both holds and omits {part}")),
                (Some(text), None) => drop(parts.insert(part, Kept::Whole(text.to_owned()))),
                (None, Some(hash)) => drop(parts.insert(part, Kept::Digest(parse(hash).ok_or("has a hash that is none")?))),
                (None, None) => {}
            }
        }
        if parts.len() != wholes.len() + self.omitted.len() {
            return Err("omits a part that no definition has".to_owned());
        }
        // What a person reviewed has to be what is pinned.
        if self.omitted.is_empty() && definition.fingerprint() != fingerprint {
            return Err("holds a definition that has not its fingerprint".to_owned());
        }
        Ok(Pin { fingerprint, parts: Some(parts) })
    }
}
