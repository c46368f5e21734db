//! A command line as one string.

use crate::error::{ErrorCode, ToolError};

/// Splits a command line into words as a POSIX shell would, quotes and backslashes included, without running one: nothing is
/// expanded, and an operator is an ordinary character.
///
/// # Errors
/// [`ErrorCode::InvalidOptions`] for an open quote, a trailing backslash, or no words at all.
pub fn split_command(command: &str) -> Result<Vec<String>, ToolError> {
    match shlex::split(command) {
        Some(words) if !words.is_empty() => Ok(words),
        Some(_) => Err(ToolError::new(ErrorCode::InvalidOptions, "the command is empty; name the program that is the server")),
        None => Err(ToolError::new(
            ErrorCode::InvalidOptions,
            "the command has an open quote or ends in a backslash; close it, or give a list of words",
        )),
    }
}

/// What may have been meant by a command that is a whole command line, for an error about a program that was not found.
pub(super) fn split_hint(command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    let (program, args) = words.split_first().filter(|(_, args)| !args.is_empty())?;
    Some(format!(" The command holds blanks, and no shell splits it. Arguments go into args: command {program:?}, args {args:?}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_at_a_split() {
        assert!(split_hint("npx -y 'a b'").unwrap().contains(r#"command "npx", args ["-y", "a b"]"#));
        assert_eq!(split_hint("npx"), None);
        assert_eq!(split_hint("a 'b"), None);
    }

    #[test]
    fn words() {
        assert_eq!(split_command("npx -y 'my server' a\\ b \"c d\"").unwrap(), ["npx", "-y", "my server", "a b", "c d"]);
        for bad in ["", "  ", "a 'b", "a\\"] {
            assert_eq!(split_command(bad).unwrap_err().code, ErrorCode::InvalidOptions, "{bad}");
        }
    }
}
