//! How the tools that a server offers differ from those that were pinned.

use super::fingerprint::Definition;
use super::lockfile::Pin;
use crate::sanitize::visible;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Tools of each kind that are named in a message, and in the facts for a program.
const NAMED: usize = 20;
const LISTED: usize = 256;
/// Changed tools whose changes are shown.
const EXPLAINED: usize = 10;

/// A tool that a server offers.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The name that models see.
    pub name: String,
    /// What counts of its definition.
    pub definition: Definition,
    /// The fingerprint of that.
    pub fingerprint: String,
}

impl Offer {
    /// From a definition as the server wrote it.
    ///
    /// # Errors
    /// Where the definition has no one spelling.
    pub fn new(name: impl Into<String>, definition: &RawValue) -> Result<Self, super::Fault> {
        let definition = Definition::read(definition)?;
        Ok(Self { name: name.into(), fingerprint: definition.fingerprint(), definition })
    }
}

#[derive(Debug)]
struct Changed {
    name: String,
    expected: String,
    found: String,
    /// By part, what became of it. Empty where only the fingerprint is known.
    parts: Vec<(&'static str, Vec<String>)>,
}

/// What is new, missing and changed, each by name.
#[derive(Debug, Default)]
pub(super) struct Difference {
    added: BTreeMap<String, String>,
    removed: Vec<String>,
    changed: Vec<Changed>,
}

pub(super) fn compare(pinned: &BTreeMap<String, Pin>, offers: &[Offer]) -> Difference {
    let mut difference = Difference::default();
    for offer in offers {
        match pinned.get(&offer.name) {
            None => drop(difference.added.insert(offer.name.clone(), offer.fingerprint.clone())),
            Some(pin) if pin.fingerprint == offer.fingerprint => {}
            Some(pin) => difference.changed.push(Changed {
                name: offer.name.clone(),
                expected: pin.fingerprint.clone(),
                found: offer.fingerprint.clone(),
                parts: pin.changes(&offer.definition),
            }),
        }
    }
    let offered: BTreeSet<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
    difference.removed = pinned.keys().filter(|name| !offered.contains(name.as_str())).cloned().collect();
    difference.changed.sort_by(|one, other| one.name.cmp(&other.name));
    difference
}

impl Difference {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.has_no_loss()
    }

    /// Whether nothing that was pinned is missing or changed.
    pub(super) fn has_no_loss(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty()
    }

    pub(super) fn is_added(&self, name: &str) -> bool {
        self.added.contains_key(name)
    }

    /// For a person: one line for what is new, one for what is missing, a few for each change.
    pub(super) fn summary(&self) -> String {
        let mut lines = Vec::new();
        let added: Vec<&str> = self.added.keys().map(String::as_str).collect();
        let removed: Vec<&str> = self.removed.iter().map(String::as_str).collect();
        for (label, names) in [("new", added), ("missing", removed)] {
            if !names.is_empty() {
                let shown: Vec<String> = names.iter().take(NAMED).map(|name| visible(name)).collect();
                lines.push(format!("{label}: {}{}", shown.join(", "), and_more(names.len(), NAMED)));
            }
        }
        for changed in self.changed.iter().take(EXPLAINED) {
            lines.push(format!("changed: {}", changed.name));
            if changed.parts.is_empty() {
                lines.push(format!("  fingerprint: {} → {}", changed.expected, changed.found));
            }
            for (part, changes) in &changed.parts {
                lines.push(format!("  {part}:"));
                lines.extend(changes.iter().map(|line| format!("    {line}")));
            }
        }
        if self.changed.len() > EXPLAINED {
            let names: Vec<&str> = self.changed.iter().skip(EXPLAINED).take(NAMED).map(|changed| changed.name.as_str()).collect();
            lines.push(format!("changed too: {}{}", names.join(", "), and_more(self.changed.len(), EXPLAINED + NAMED)));
        }
        lines.join("\n")
    }

    /// The same for a program: `added`, `removed`, `changed`, and the fingerprints found of what is new or changed.
    pub(super) fn facts(&self) -> Value {
        let changed = self.changed.iter().take(LISTED).enumerate().map(|(place, changed)| {
            let parts: Vec<Value> = match place {
                0..EXPLAINED => changed.parts.iter().map(|(part, lines)| json!({ "part": part, "lines": lines })).collect(),
                _ => changed.parts.iter().map(|(part, _)| json!({ "part": part })).collect(),
            };
            json!({ "name": changed.name, "expected": changed.expected, "found": changed.found, "parts": parts })
        });
        let found = self.added.iter().chain(self.changed.iter().map(|changed| (&changed.name, &changed.found)));
        let found: BTreeMap<&String, &String> = found.take(LISTED).collect();
        let unlisted: usize =
            [self.added.len(), self.removed.len(), self.changed.len()].iter().map(|count| count.saturating_sub(LISTED)).sum();
        json!({
            "added": self.added.keys().take(LISTED).collect::<Vec<_>>(),
            "removed": self.removed.iter().take(LISTED).collect::<Vec<_>>(),
            "changed": changed.collect::<Vec<_>>(),
            "found": found,
            "unlisted": unlisted,
        })
    }
}

fn and_more(count: usize, shown: usize) -> String {
    if count > shown { format!(" and {} more", count - shown) } else { String::new() }
}
