//! Providers that take any JSON Schema whose root is a plain object.

use super::flatten::Flattener;
use super::report::{Path, Report};
use super::root;
use serde_json::{Map, Value};

/// The schema as it is, but for its root. References stay.
pub(super) fn root(original: &Value) -> (Map<String, Value>, Report) {
    if let (true, Value::Object(keywords)) = (root::is_plain(original), original) {
        return (keywords.clone(), Report::default());
    }
    let mut flattener = Flattener::new(original);
    let mut keywords = root::plain(&mut flattener, original, &Path::ROOT);
    for keyword in ["$defs", "definitions"] {
        if let Some(definitions) = original.get(keyword) {
            keywords.insert(keyword.to_owned(), definitions.clone());
        }
    }
    (keywords, flattener.report)
}
