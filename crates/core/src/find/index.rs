//! The index: which words each tool has, and how often.

use super::synonyms;
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
/// What a word counts that only means the same as a word of the query.
const MEANING: f64 = 0.5;
/// How much a tool gains whose whole name is in the query.
const WHOLE_NAME: f64 = 0.6;
/// Characters of one description, and parameters of one tool, that are read.
const MAX_CHARS: usize = 4_000;
const MAX_PARAMETERS: usize = 200;

/// The tools of one state of a registry.
#[derive(Debug)]
pub(crate) struct Index {
    pub(super) stamp: (u64, u64),
    names: Vec<String>,
    /// The words of each name.
    name_words: Vec<Vec<String>>,
    lengths: Vec<f64>,
    average: f64,
    /// For each word the tools that have it, with how much it counts there.
    places: BTreeMap<String, Vec<(usize, f64)>>,
}

impl Index {
    pub(super) fn new(stamp: (u64, u64), entries: &[Arc<Entry>]) -> Self {
        let mut index =
            Self { stamp, names: Vec::new(), name_words: Vec::new(), lengths: Vec::new(), average: 1.0, places: BTreeMap::new() };
        for (number, entry) in entries.iter().enumerate() {
            let counts = counts(entry);
            index.names.push(entry.definition.name.clone());
            index.name_words.push(words(&entry.definition.name));
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
        let others: Vec<Vec<&str>> = asked.iter().map(|word| synonyms::of(word)).collect();
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for (word, others) in asked.iter().zip(&others) {
            let mut best = self.scores(word);
            for other in others {
                self.add_places(other, MEANING, &mut best);
            }
            for (tool, score) in best {
                *scores.entry(tool).or_default() += score;
            }
        }
        for (tool, score) in &mut scores {
            let names = self.name_words.get(*tool).map(Vec::as_slice).unwrap_or_default();
            let said = names.iter().map(|name| {
                if asked.contains(name) {
                    1.0
                } else if others.iter().any(|others| others.contains(&name.as_str())) {
                    MEANING
                } else {
                    0.0
                }
            });
            *score *= 1.0 + WHOLE_NAME * said.sum::<f64>() / amount(names.len()).max(1.0);
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
        for known in beginnings.map(|(known, _)| known) {
            if known == word {
                self.add_places(known, 1.0, &mut best);
            } else if word.chars().count() >= MIN_BEGINNING {
                self.add_places(known, BEGINNING, &mut best);
            }
        }
        best
    }

    /// What one word gives to the tools that have it, where that is more than they got.
    fn add_places(&self, word: &str, part: f64, best: &mut HashMap<usize, f64>) {
        let Some(places) = self.places.get(word) else { return };
        let tools = amount(places.len());
        let rarity = (1.0 + (amount(self.names.len()) - tools + 0.5) / (tools + 0.5)).ln();
        for (tool, count) in places {
            let length = self.lengths.get(*tool).copied().unwrap_or(1.0) / self.average;
            let score = part * rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            let known = best.entry(*tool).or_default();
            *known = known.max(score);
        }
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
