//! Names of tools: the rule, and how foreign names are made to fit.

use crate::error::{ErrorCode, ToolError};
use crate::sanitize::{cut, visible};
use std::collections::{HashMap, HashSet};

/// The most characters that a name may have; providers refuse a whole request for one longer name.
pub const MAX_CHARS: usize = 64;

const fn is_allowed(character: char) -> bool {
    matches!(character, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-')
}

/// Whether the whole name fits `^[a-zA-Z0-9_-]{1,64}$`.
pub fn is_valid(name: &str) -> bool {
    (1..=MAX_CHARS).contains(&name.len()) && name.chars().all(is_allowed)
}

/// Refuses a name that breaks the rule.
///
/// # Errors
/// `INVALID_NAME`, with the rule, the name as it can be read, and a name that would do.
pub fn check(name: &str) -> Result<(), ToolError> {
    if is_valid(name) {
        return Ok(());
    }
    let shown = match cut(name, MAX_CHARS) {
        Some(head) => format!("{}…", visible(head)),
        None => visible(name),
    };
    let message = format!(
        "tool name '{shown}' is not allowed: a name has 1 to {MAX_CHARS} characters out of a-z, A-Z, 0-9, '_' and '-'; use for example '{}'",
        sanitize(name)
    );
    Err(ToolError::new(ErrorCode::InvalidName, message))
}

/// The nearest legal name: every other character becomes `_`, the rest is cut at 64, nothing becomes `tool`.
pub fn sanitize(name: &str) -> String {
    if name.is_empty() {
        return "tool".to_owned();
    }
    name.chars().take(MAX_CHARS).map(|character| if is_allowed(character) { character } else { '_' }).collect()
}

/// Legal and different names in the order given. A name that is taken gets the first free of `_2`, `_3`…, in place of its tail where it is long.
pub fn dedupe(names: &[String]) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    let mut counters = Counters::default();
    let mut result = Vec::with_capacity(names.len());
    for name in names {
        let mut name = sanitize(name);
        if taken.contains(&name) {
            name = counters.free_name(&name, &taken);
        }
        taken.insert(name.clone());
        result.push(name);
    }
    result
}

/// The next number to try, by what stands before the number and its digits.
///
/// Names that differ only in their tail share what stands before the number, so this is what has to be counted by: otherwise
/// each of them would try all the numbers of the others again. Taken names are never given back, so a counter only grows.
#[derive(Default)]
struct Counters {
    next: HashMap<(String, usize), u64>,
}

impl Counters {
    fn free_name(&mut self, name: &str, taken: &HashSet<String>) -> String {
        // More digits than the count of all names has are never needed, so the powers cannot overflow.
        let mut digits = 1;
        loop {
            let stem: String = name.chars().take(MAX_CHARS - 1 - digits).collect();
            let end = 10_u64.pow(digits as u32);
            let next = self.next.entry((stem.clone(), digits)).or_insert(if digits == 1 { 2 } else { end / 10 });
            while *next < end {
                let candidate = format!("{stem}_{next}");
                *next += 1;
                if !taken.contains(&candidate) {
                    return candidate;
                }
            }
            digits += 1;
        }
    }
}
