//! The rules of the argument policy, as data. `default.json` holds the built-in ones; an app adds its own in the same shape.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// How the arguments of one program are judged.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase", tag = "mode", deny_unknown_fields)]
pub enum Rule {
    /// Every argument is allowed.
    Any {
        /// Whether it changes something.
        #[serde(default)]
        writes: bool,
    },
    /// The program is not run at all.
    Refuse,
    /// What is listed is refused.
    Deny(Deny),
    /// What is not listed is refused.
    Allow(Allow),
    /// Find's expressions: what is not listed is refused.
    Find {
        /// Predicates that take the next word as their value.
        values: Vec<String>,
        /// Predicates and options that stand alone.
        flags: Vec<String>,
    },
    /// Tar, as far as it lists an archive.
    TarList {
        /// Long options.
        long: Vec<String>,
        /// Letters of short options, also of a bundle without a dash.
        short: String,
    },
    /// Git's reading subcommands.
    Git(Box<Git>),
    /// The app decides, call by call.
    Hook,
}

/// Options that are refused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Deny {
    /// Long options with their dashes; their abbreviations are refused too.
    pub long: Vec<String>,
    /// Letters of short options, refused wherever they stand in a cluster.
    pub short: String,
    /// Letters of short options that take the rest of their cluster, or the next word, as a value.
    pub takes: String,
    /// Whether the program takes a long option for any beginning of its name.
    pub abbreviations: Option<bool>,
    /// The most operands, where a further one names a file to write.
    pub max_operands: Option<usize>,
    /// Whether a single dash can begin a long name.
    pub single_dash_long: bool,
    /// Options of which one has to be the first argument, where it cannot be the value of another one.
    pub needs_first: Vec<String>,
    /// What every operand has to begin with, if anything.
    pub operands: Vec<String>,
    /// Whether the program changes something.
    pub writes: bool,
}

/// Options that are allowed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Allow {
    /// Long options with their dashes, spelled out.
    pub long: Vec<String>,
    /// Letters of short options.
    pub short: String,
    /// Letters of short options that take the rest of their cluster, or the next word, as a value.
    pub takes: String,
    /// Long options that take the next word as a value, unless it stands after `=`.
    pub long_takes: Vec<String>,
    /// Put before all other arguments.
    pub force_args: Vec<String>,
    /// What every operand has to begin with, if anything.
    pub operands: Vec<String>,
    /// What no value of an option may begin with.
    pub refuse_values: String,
    /// Options that make a call one that changes something.
    pub changes: Vec<String>,
    /// Whether every call changes something.
    pub writes: bool,
    /// Whether it cannot work without the network.
    pub network: bool,
}

/// What is allowed of git.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Git {
    /// Options before the subcommand.
    pub globals: Vec<String>,
    /// Letters of short options to which a value can be glued.
    pub takes: String,
    /// Options that take the next word as a value. It must not begin with a dash: which options git reads would then not be for certain.
    pub values: Vec<String>,
    /// Subcommands with their options, spelled out.
    pub subcommands: HashMap<String, Vec<String>>,
    /// Put right after a subcommand.
    pub force_args: HashMap<String, Vec<String>>,
    /// The most operands of a subcommand, where more would change something.
    pub operands: HashMap<String, usize>,
    /// Options that make a subcommand list, so that operands are patterns.
    pub listing: HashMap<String, Vec<String>>,
    /// Options of which a subcommand needs one.
    pub needs: HashMap<String, Vec<String>>,
    /// Variables that are set, whatever the environment says.
    pub env: BTreeMap<String, String>,
    /// Configuration that is set, whatever the repository says.
    pub config: BTreeMap<String, String>,
    /// Names in a repository's own configuration that make it refused; `*` stands for any part.
    pub refuse_config: Vec<String>,
}

/// How a program without a rule of its own is judged.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Generic {
    /// Words that the name of a long option may neither begin with nor be the beginning of.
    pub(super) refuse_long: Vec<String>,
    /// Letters of short options.
    pub(super) refuse_short: String,
    /// Arguments that are always allowed.
    pub(super) allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    generic: Generic,
    classes: BTreeMap<String, Vec<String>>,
    programs: HashMap<String, Rule>,
}

/// The built-in rules.
#[derive(Debug)]
pub(super) struct Defaults {
    pub(super) generic: Generic,
    pub(super) programs: HashMap<String, Rule>,
}

/// Read once; the file is a part of the program, and a test reads it.
pub(super) static DEFAULTS: LazyLock<Option<Defaults>> = LazyLock::new(|| read(include_str!("default.json")).ok());

fn read(text: &str) -> Result<Defaults, serde_json::Error> {
    let File { generic, classes, mut programs } = serde_json::from_str(text)?;
    for (class, names) in classes {
        let rule = match class.as_str() {
            "readonly" => Rule::Any { writes: false },
            "writes" => Rule::Any { writes: true },
            _ => Rule::Refuse,
        };
        programs.extend(names.into_iter().map(|name| (name, rule.clone())));
    }
    Ok(Defaults { generic, programs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_can_be_read() {
        let defaults = read(include_str!("default.json")).unwrap();
        assert!(matches!(defaults.programs["bash"], Rule::Refuse));
        assert!(matches!(defaults.programs["ls"], Rule::Any { writes: false }));
        assert!(matches!(defaults.programs["rm"], Rule::Any { writes: true }));
        assert!(matches!(defaults.programs["git"], Rule::Git(_)));
        assert!(defaults.programs.len() > 380);
    }
}
