//! Finding tools by what they are for: names, descriptions and the names of parameters, ranked by BM25.

mod index;
mod synonyms;
mod words;

use crate::export;
use crate::gate::Gate;
pub(crate) use index::Index;
use serde::Serialize;
use std::sync::Arc;

/// Characters of a query that are read.
const MAX_QUERY_CHARS: usize = 1_000;

/// A tool that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// How well it fits; only the order of scores of one search means anything.
    pub score: f64,
}

/// The permitted tools that fit a query best, the best first; those that share no word with it are left out.
pub fn search(gate: &Gate, query: &str, top: usize) -> Vec<Match> {
    let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
    let index = current(gate);
    let mut found = Vec::new();
    for (name, score) in index.ranked(&query) {
        if found.len() >= top {
            break;
        }
        let entry = gate.with_registry(|registry| registry.get(name).cloned());
        if let Some(entry) = entry.filter(|entry| gate.permits(entry)) {
            found.push(Match { name: name.to_owned(), description: entry.definition.description.clone(), score });
        }
    }
    found
}

/// The index of the tools as they are, made anew where they changed.
fn current(gate: &Gate) -> Arc<Index> {
    let stamp = export::stamp(gate);
    let mut kept = gate.index.lock();
    if let Some(index) = kept.as_ref().filter(|index| index.stamp == stamp) {
        return Arc::clone(index);
    }
    let entries: Vec<_> = gate.with_registry(|registry| registry.entries().cloned().collect());
    let index = Arc::new(Index::new(stamp, &entries));
    *kept = Some(Arc::clone(&index));
    index
}
