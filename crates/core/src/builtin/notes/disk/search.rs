//! Which lines of which notes hold a text.

use super::super::NotesLimits;
use super::super::answer::{Findings, Match};
use super::super::fault::Fault;
use super::super::path::NotePath;
use super::super::request::Query;
use super::folder::{Access, Folder};
use super::read::{decode, start_of, with_plain_newlines};
use super::walk::Walk;
use super::{folder_at, note_at};
use crate::sanitize::cut;
use std::fs::File;
use std::ops::ControlFlow;
use tokio_util::sync::CancellationToken;

/// The most matches of a search.
const MAX_MATCHES: usize = 200;
/// The most bytes of notes that are read.
const MAX_BYTES: u64 = 64 << 20;
/// The most characters that are shown of a line.
const MAX_LINE_CHARS: usize = 200;
/// How many of them stand before the match, in a line that is longer.
const CHARS_BEFORE: usize = 60;

pub(super) fn search(
    root: Option<&Folder>,
    path: &NotePath,
    query: &Query,
    limits: &NotesLimits,
    cancelled: &CancellationToken,
) -> Result<Findings, Fault> {
    let mut search = Search { query, left: MAX_BYTES, max_file_bytes: limits.max_file_bytes, findings: Findings::default() };
    search.findings.query = query.text.clone();
    search.findings.path = path.to_string();
    let Some(root) = root else { return Ok(search.findings) };
    let folder = match folder_at(root, path.names()) {
        Ok(folder) => folder,
        Err(Fault::NotFolder) => {
            // The path of one note will do as well.
            let Some(file) = note_at(root, path)? else { return Ok(search.findings) };
            search.findings.exists = true;
            let cut = search.through(&file, path)?.is_break();
            search.findings.truncated |= cut;
            return Ok(search.findings);
        }
        Err(fault) => return Err(fault),
    };
    let Some(folder) = folder else { return Ok(search.findings) };
    let mut walk = Walk::new(cancelled);
    let _ = walk.through(&folder, path, &mut |step| {
        if step.metadata.is_dir() {
            return Ok(ControlFlow::Continue(()));
        }
        let searched = step.folder.open_note(step.name, Access::Read).and_then(|file| match file {
            Some(file) => search.through(&file, step.path),
            None => Ok(ControlFlow::Continue(())),
        });
        // One note that cannot be read is no reason to find nothing in the others.
        Ok(searched.unwrap_or_else(|_| {
            search.findings.skipped += 1;
            ControlFlow::Continue(())
        }))
    })?;
    search.findings.exists = true;
    search.findings.skipped += walk.skipped;
    search.findings.truncated |= walk.cut;
    Ok(search.findings)
}

struct Search<'a> {
    query: &'a Query,
    /// How many bytes may still be read.
    left: u64,
    max_file_bytes: u64,
    findings: Findings,
}

impl Search<'_> {
    fn through(&mut self, file: &File, path: &NotePath) -> Result<ControlFlow<()>, Fault> {
        let bytes = start_of(file, self.left.min(self.max_file_bytes))?;
        self.left -= bytes.len() as u64;
        let length = file.metadata()?.len();
        let text = with_plain_newlines(decode(&bytes, length)?);
        for (index, line) in text.split('\n').enumerate() {
            let Some(found) = self.query.pattern.find(line) else { continue };
            if self.findings.matches.len() == MAX_MATCHES {
                return Ok(ControlFlow::Break(()));
            }
            self.findings.matches.push(Match { path: path.to_string(), line: index + 1, text: excerpt(line, found.start()) });
        }
        if (bytes.len() as u64) < length {
            self.findings.truncated = true;
        }
        Ok(if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// A line, or the part of a long one around the byte where a match begins.
fn excerpt(line: &str, at: usize) -> String {
    if cut(line, MAX_LINE_CHARS).is_none() {
        return line.to_owned();
    }
    let (before, after) = line.split_at(at);
    let from = before.char_indices().rev().take(CHARS_BEFORE).last().map_or(at, |(index, _)| index);
    let kept = line.get(from..).unwrap_or(after);
    let (start, end) = (if from > 0 { "…" } else { "" }, cut(kept, MAX_LINE_CHARS));
    format!("{start}{}{}", end.unwrap_or(kept), if end.is_some() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn a_long_line_is_shown_around_the_match() {
        let line = format!("{}needle{}", "é".repeat(500), "b".repeat(500));
        let shown = excerpt(&line, 1_000);
        assert!(shown.starts_with("…é") && shown.contains("needle") && shown.ends_with("b…"));
        assert_eq!(shown.chars().count(), 202);
        assert_eq!(excerpt("short needle", 6), "short needle");
        assert!(excerpt(&format!("needle{}", "b".repeat(500)), 0).starts_with("needle"));
    }
}
