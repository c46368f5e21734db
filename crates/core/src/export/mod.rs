//! The tools as a model or provider wants to see them. Denied tools are in no export.

mod anthropic;
mod flatten;
mod format;
mod gemini;
mod keys;
mod kinds;
mod lax;
mod narrow;
mod report;
mod restore;
mod root;
mod strict;
mod text;
mod union;

pub(crate) use format::Exported;
pub use format::{Format, ReportLine, own_name, report, restored_arguments, stamp, tools};
pub use report::Weakening;
pub use text::{catalog, description};

use crate::gate::Gate;
use crate::registry::Entry;
use std::collections::HashSet;
use std::sync::Arc;

/// The permitted tools: all in order of registration, or the named ones in the given order, each once, unknown ones left out.
fn selected(gate: &Gate, names: Option<&[String]>) -> Vec<Arc<Entry>> {
    let found: Vec<Arc<Entry>> = gate.with_registry(|registry| match names {
        None => registry.entries().cloned().collect(),
        Some(names) => {
            let mut seen = HashSet::new();
            names.iter().filter(|name| seen.insert(name.as_str())).filter_map(|name| registry.get(name).cloned()).collect()
        }
    });
    found.into_iter().filter(|entry| gate.permits(entry)).collect()
}
