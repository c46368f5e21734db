//! What an export had to give up of a schema.

use serde::Serialize;

/// One thing that the schema of a tool says and that its export for a provider does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Weakening {
    /// Where in the tool's own schema, as a JSON pointer.
    pub path: String,
    /// The keyword that was changed.
    pub keyword: String,
    /// What became of it.
    pub what: &'static str,
}

/// A place in a schema, written out only where it is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: &'a str,
}

impl<'a> Path<'a> {
    pub(super) const ROOT: Path<'static> = Path { parent: None, segment: "" };

    pub(super) const fn join(&'a self, segment: &'a str) -> Path<'a> {
        Path { parent: Some(self), segment }
    }

    fn pointer(&self) -> String {
        match self.parent {
            None => String::new(),
            Some(parent) => format!("{}/{}", parent.pointer(), self.segment.replace('~', "~0").replace('/', "~1")),
        }
    }

    pub(super) fn weakened(&self, keyword: &str, what: &'static str) -> Weakening {
        Weakening { path: self.pointer(), keyword: keyword.to_owned(), what }
    }
}

/// Collects weakenings, each once.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) weakened: Vec<Weakening>,
}

/// Lines of a report on one tool: more tell nobody anything.
const MAX_LINES: usize = 200;

impl Report {
    pub(super) fn add(&mut self, path: &Path<'_>, keyword: &str, what: &'static str) {
        if self.weakened.len() < MAX_LINES {
            let line = path.weakened(keyword, what);
            if !self.weakened.contains(&line) {
                self.weakened.push(line);
            }
        }
    }
}
