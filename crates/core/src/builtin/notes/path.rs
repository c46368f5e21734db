//! Where a note is: a relative path of names that every system takes as they are.

use crate::sanitize::is_hidden;
use std::fmt;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The most bytes of a path.
pub const MAX_PATH_BYTES: usize = 1_024;
/// The most names in a path.
pub const MAX_DEPTH: usize = 16;
/// The most bytes of a name.
pub const MAX_NAME_BYTES: usize = 255;

/// Where a note or a folder of notes is, below the root. No name leads out, and no system gives one a meaning of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotePath {
    names: Vec<String>,
    names_folder: bool,
}

/// Why a text is no such path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// No name is in it.
    Empty,
    /// It is absolute, or goes up.
    Escape,
    /// It has more than [`MAX_PATH_BYTES`].
    TooLong,
    /// It has more than [`MAX_DEPTH`] names.
    TooDeep,
    /// A name has more than [`MAX_NAME_BYTES`].
    NameTooLong,
    /// A name holds a character that is hidden, or that some systems take for something else.
    Character(char),
    /// A name ends in a dot or a space, which some systems drop, or begins with a space, which nobody sees.
    Ending,
    /// A name stands for a device on some systems.
    Reserved(String),
}

impl NotePath {
    /// Reads the path of a note. Blanks around it, `.` and doubled slashes do not count; nothing is decoded or expanded.
    ///
    /// # Errors
    /// Everything that is not one to sixteen portable names.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        let path = Self::parse_folder(text)?;
        if path.is_root() { Err(PathFault::Empty) } else { Ok(path) }
    }

    /// Reads the path of a folder, where no name at all stands for the root.
    ///
    /// # Errors
    /// Everything that is not up to sixteen portable names.
    pub fn parse_folder(text: &str) -> Result<Self, PathFault> {
        let text = text.trim();
        if text.starts_with('/') {
            return Err(PathFault::Escape);
        }
        let given: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if given.contains(&"..") {
            return Err(PathFault::Escape);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathFault::TooLong);
        }
        if given.len() > MAX_DEPTH {
            return Err(PathFault::TooDeep);
        }
        let names = given.into_iter().map(|name| portable(name.nfc().collect())).collect::<Result<Vec<_>, _>>()?;
        let path = Self { names, names_folder: text.ends_with('/') };
        if path.byte_count() > MAX_PATH_BYTES { Err(PathFault::TooLong) } else { Ok(path) }
    }

    /// The path of something in this folder; none for a name that no path here could hold.
    pub(super) fn child(&self, name: &str) -> Option<Self> {
        if self.names.len() == MAX_DEPTH || !is_nfc(name) {
            return None;
        }
        let name = portable(name.to_owned()).ok()?;
        let path = Self { names: [self.names.as_slice(), &[name]].concat(), names_folder: false };
        (path.byte_count() <= MAX_PATH_BYTES).then_some(path)
    }

    /// The names from the root on, each in Unicode's NFC.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it stands for the root.
    pub fn is_root(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether it was written with a slash at its end, as folders are.
    pub fn names_folder(&self) -> bool {
        self.names_folder
    }

    fn byte_count(&self) -> usize {
        self.names.iter().map(|name| name.len() + 1).sum::<usize>().saturating_sub(1)
    }
}

impl fmt::Display for NotePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.names.join("/"))
    }
}

fn portable(name: String) -> Result<String, PathFault> {
    if let Some(character) = name.chars().find(|&character| is_hidden(character) || r#"<>:"/\|?*"#.contains(character)) {
        return Err(PathFault::Character(character));
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Err(PathFault::Ending);
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(PathFault::NameTooLong);
    }
    if is_reserved(&name) { Err(PathFault::Reserved(name)) } else { Ok(name) }
}

/// Whether Windows takes a name for a device, whatever follows its first dot.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    if matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") {
        return true;
    }
    let number = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    number.is_some_and(|number| {
        number.chars().eq(number.chars().take(1)) && number.starts_with(|c: char| c.is_ascii_digit() || "¹²³".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, MAX_NAME_BYTES, NotePath, PathFault};

    fn read(text: &str) -> Result<String, PathFault> {
        NotePath::parse(text).map(|path| path.to_string())
    }

    #[test]
    fn ordinary_paths_are_taken_as_they_are() {
        for text in [
            "a.md",
            "trips/rome.md",
            "..a",
            "a..b",
            "~",
            "~/x",
            "$HOME/x",
            "%2e%2e/x",
            "..%2f",
            "\u{2024}\u{2024}/x",
            "com.md",
            "com10",
            "lpt",
            "console",
            ".hidden",
        ] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        for text in [" a/b ", "./a/b", "a//b", "a/./b", "a/b/", "a/b/."] {
            assert_eq!(read(text).as_deref(), Ok("a/b"), "{text}");
        }
        assert_eq!(read("e\u{301}.md"), read("\u{e9}.md"));
        assert_eq!(read("\u{212a}.md").as_deref(), Ok("K.md"), "the Kelvin sign is a K");
    }

    #[test]
    fn what_leads_out_is_refused() {
        for text in ["..", "../x", "a/../b", "a/../../x", "/", "//x", "/etc/passwd", " /x", "a/..", "./../x"] {
            assert_eq!(read(text), Err(PathFault::Escape), "{text}");
        }
        for text in ["", "  ", ".", "./", "././/."] {
            assert_eq!(read(text), Err(PathFault::Empty), "{text:?}");
            assert!(NotePath::parse_folder(text).is_ok_and(|path| path.is_root()));
        }
    }

    #[test]
    fn names_are_portable() {
        for (text, character) in [
            ("a\0b", '\0'),
            ("a\nb", '\n'),
            ("a:b", ':'),
            (r"..\x", '\\'),
            ("a\u{202e}b", '\u{202e}'),
            ("a\u{200b}", '\u{200b}'),
            ("x/a?", '?'),
        ] {
            assert_eq!(read(text), Err(PathFault::Character(character)), "{text:?}");
        }
        for text in ["a.", "...", "a /b", "a/ b", "./ a", "a.md. "] {
            assert_eq!(read(text), Err(PathFault::Ending), "{text:?}");
        }
        for text in ["CON", "nul.txt", "COM1", "com\u{b9}.md", "x/lpt9", "aux .txt", "Nul/x", "CONIN$"] {
            assert!(matches!(read(text), Err(PathFault::Reserved(_))), "{text}");
        }
    }

    #[test]
    fn length_and_depth_end_somewhere() {
        assert!(read(&"x".repeat(MAX_NAME_BYTES)).is_ok());
        assert_eq!(read(&"x".repeat(MAX_NAME_BYTES + 1)), Err(PathFault::NameTooLong));
        assert!(read(&["a"; MAX_DEPTH].join("/")).is_ok());
        assert_eq!(read(&["a"; MAX_DEPTH + 1].join("/")), Err(PathFault::TooDeep));
        assert_eq!(read(&"a/".repeat(5_000)), Err(PathFault::TooLong));
        assert_eq!(read(&["x".repeat(250).as_str(); 5].join("/")), Err(PathFault::TooLong));
    }
}
