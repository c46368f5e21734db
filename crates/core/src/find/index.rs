//! The index: which words each tool has, and how often.

use super::words::words;
use crate::registry::Entry;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// How much a word counts by where it stands.
const IN_NAME: f64 = 3.0;
const IN_DESCRIPTION: f64 = 1.0;
const IN_PARAMETER: f64 = 0.7;
/// How quickly a word that is there often stops counting, and how much long descriptions are held against a tool.
const K1: f64 = 1.2;
const B: f64 = 0.6;
/// What a word counts that a word of the query is only the beginning of, and from how many characters on.
const BEGINNING: f64 = 0.4;
const MIN_BEGINNING: usize = 3;
/// Characters of one description, and parameters of one tool, that are read.
const MAX_CHARS: usize = 4_000;
const MAX_PARAMETERS: usize = 200;

/// The tools of one state of a registry.
#[derive(Debug)]
pub(crate) struct Index {
    pub(super) stamp: (u64, u64),
    names: Vec<String>,
    lengths: Vec<f64>,
    average: f64,
    /// For each word the tools that have it, with how much it counts there.
    places: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Index {
    pub(super) fn new(stamp: (u64, u64), entries: &[Arc<Entry>]) -> Self {
        let mut index = Self { stamp, names: Vec::new(), lengths: Vec::new(), average: 1.0, places: BTreeMap::new() };
        for (number, entry) in entries.iter().enumerate() {
            let counts = counts(entry);
            index.names.push(entry.definition.name.clone());
            index.lengths.push(counts.values().sum());
            for (word, count) in counts {
                index.places.entry(word).or_default().push((number, count));
            }
        }
        let total: f64 = index.lengths.iter().sum();
        index.average = (total / amount(index.lengths.len())).max(1.0);
        index
    }

    /// The tools that have a word of the query, the best first; of equals the one that was registered first.
    pub(super) fn ranked(&self, query: &str) -> Vec<(&str, f64)> {
        let mut asked = words(query);
        asked.sort_unstable();
        asked.dedup();
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in &asked {
            for (tool, score) in self.scores(word) {
                *scores.entry(tool).or_default() += score;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(first, one), (second, other)| other.total_cmp(one).then(first.cmp(second)));
        ranked.into_iter().filter_map(|(tool, score)| Some((self.names.get(tool)?.as_str(), score))).collect()
    }

    /// What one word of a query gives to each tool: the best of the word itself and of those that begin with it.
    fn scores(&self, word: &str) -> HashMap<usize, f64> {
        let mut best = HashMap::new();
        let from = (Bound::Included(word), Bound::Unbounded);
        let beginnings = self.places.range::<str, _>(from).take_while(|(known, _)| known.starts_with(word));
        for (known, places) in beginnings {
            let part = if known == word { 1.0 } else { BEGINNING };
            if known != word && word.chars().count() < MIN_BEGINNING {
                break;
            }
            let tools = amount(places.len());
            let rarity = (1.0 + (amount(self.names.len()) - tools + 0.5) / (tools + 0.5)).ln();
            for (tool, count) in places {
                let length = self.lengths.get(*tool).copied().unwrap_or(1.0) / self.average;
                let score = part * rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                let known: &mut f64 = best.entry(*tool).or_default();
                *known = known.max(score);
            }
        }
        best
    }
}

fn counts(entry: &Entry) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in words(text) {
            *counts.entry(word).or_insert(0.0) += weight;
        }
    };
    let definition = &entry.definition;
    add(&definition.name, IN_NAME);
    add(&definition.description.chars().take(MAX_CHARS).collect::<String>(), IN_DESCRIPTION);
    let schema = entry.shown_schema();
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys).take(MAX_PARAMETERS) {
        add(name, IN_PARAMETER);
    }
    counts
}

#[expect(clippy::cast_precision_loss, reason = "a number of tools")]
const fn amount(count: usize) -> f64 {
    count as f64
}
