//! The revisions of the protocol that are spoken.

/// The revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
/// The revisions with one, newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Refusals that only a server of the newest revisions knows.
pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const MISSING_CAPABILITY: i64 = -32021;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
