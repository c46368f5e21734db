//! Names and keys that stand for others which a provider refuses.

use sha2::{Digest, Sha256};

/// The allowed characters of a name, cut so that it fits with 8 hexadecimal digits of its hash: those keep it apart from every other name,
/// so that what it stands for does not depend on which others there are.
pub(super) fn suffixed(name: &str, max: usize, is_allowed: fn(char) -> bool) -> String {
    let hash: String = Sha256::digest(name.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let head = if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') { "" } else { "_" };
    let cleaned = name.chars().map(|character| if is_allowed(character) { character } else { '_' });
    let cut: String = head.chars().chain(cleaned).take(max - 9).collect();
    format!("{cut}_{hash}")
}
