//! What is wrong with a call's arguments, in an order that does not depend on the validator.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// More violations than this are counted, not listed.
pub const MAX_LISTED: usize = 50;
/// Longest path and sentence of one violation, in characters.
const MAX_CHARS: usize = 300;

/// One fault: where, as a JSON pointer (RFC 6901, empty for the root), and what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// JSON pointer of the offending value.
    pub path: String,
    /// What is wrong with it; never the value itself, which may be long or secret.
    pub message: String,
}

impl Violation {
    /// A fault of the arguments as a whole.
    pub fn root(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }
}

/// Makes violations that others wrote as short as ours.
pub fn shorten(violations: &mut [Violation]) {
    for violation in violations {
        for text in [&mut violation.path, &mut violation.message] {
            if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
                text.truncate(end);
                text.push('…');
            }
        }
    }
}

/// Sorts by path: the root first, array indices as numbers. Faults of one place keep their order.
pub fn sort(violations: &mut [Violation]) {
    violations.sort_by(|a, b| compare_paths(&a.path, &b.path));
}

fn compare_paths(a: &str, b: &str) -> Ordering {
    let mut left = a.split('/');
    let mut right = b.split('/');
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => {
                let ordering = match (a.parse::<u64>(), b.parse::<u64>()) {
                    (Ok(a), Ok(b)) => a.cmp(&b),
                    _ => a.cmp(b),
                };
                if ordering != Ordering::Equal {
                    return ordering;
                }
            }
        }
    }
}

/// One segment of a JSON pointer, escaped as RFC 6901 section 3 asks.
pub fn escape_segment(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_first_then_by_segment_with_numbers_as_numbers() {
        let mut found: Vec<Violation> =
            ["/b", "/a/10", "", "/a/9", "/a", "/a/x"].map(|path| Violation { path: path.into(), message: String::new() }).into();
        sort(&mut found);
        let order: Vec<&str> = found.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(order, ["", "/a", "/a/9", "/a/10", "/a/x", "/b"]);
    }
}
