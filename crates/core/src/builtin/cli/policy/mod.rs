//! The argument policy: what a program may be given, before anything runs.
//!
//! It is a list of known dangers and known good, not a sandbox: a program that is allowed does with its arguments what it does.

mod expressions;
mod git;
mod options;
mod rule;

pub use rule::{Allow, Deny, Git, Rule};

use std::collections::HashMap;

/// The policy of one tool.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Rules of the app by program name; they stand before the built-in ones.
    pub programs: HashMap<String, Rule>,
    /// Whether the app decides about every program that it gave no rule for.
    pub hook: bool,
    /// Whether a program without a rule is refused, instead of judged by the names of its options.
    pub strict: bool,
}

/// What a rule says of a list of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The call may run.
    Allowed {
        /// Whether it changes something.
        writes: bool,
        /// Whether it cannot work without the network.
        network: bool,
    },
    /// These arguments are not allowed.
    Refused(Vec<String>),
    /// The program is not run, whatever its arguments.
    RefusedProgram,
    /// The app has to be asked.
    Ask,
}

impl Ruling {
    fn allowed(writes: bool) -> Self {
        Self::Allowed { writes, network: false }
    }
}

impl Policy {
    /// Judges a call. `typed` is the name in the command, `resolved` the name of the file that it stands for.
    pub fn judge(&self, typed: &str, resolved: &str, arguments: &[String]) -> Ruling {
        match self.rule(typed, resolved) {
            Some(Rule::Any { writes }) => Ruling::allowed(*writes),
            Some(Rule::Refuse) => Ruling::RefusedProgram,
            Some(Rule::Deny(deny)) => deny.judge(arguments),
            Some(Rule::Allow(allow)) => allow.judge(arguments),
            Some(Rule::Find { values, flags }) => expressions::find(arguments, values, flags),
            Some(Rule::TarList { long, short }) => expressions::tar_list(arguments, long, short),
            Some(Rule::Git(git)) => git.judge(arguments),
            Some(Rule::Hook) => Ruling::Ask,
            None if self.hook => Ruling::Ask,
            None if self.strict => Ruling::RefusedProgram,
            None => rule::DEFAULTS.as_ref().map_or(Ruling::RefusedProgram, |defaults| defaults.generic.judge(arguments)),
        }
    }

    /// Whether a program has a rule, of the app or a built-in one.
    pub fn has_rule(&self, typed: &str, resolved: &str) -> bool {
        self.rule(typed, resolved).is_some()
    }

    /// Git's rule, where it holds for this program.
    pub fn git(&self, typed: &str, resolved: &str) -> Option<&Git> {
        match self.rule(typed, resolved) {
            Some(Rule::Git(git)) => Some(git),
            _ => None,
        }
    }

    /// The arguments as they are passed: with those that the rule forces.
    pub fn arguments(&self, typed: &str, resolved: &str, given: &[String]) -> Vec<String> {
        match self.rule(typed, resolved) {
            Some(Rule::Allow(allow)) => allow.force_args.iter().chain(given).cloned().collect(),
            Some(Rule::Git(git)) => {
                let globals = given.iter().take_while(|argument| argument.starts_with('-')).count();
                let subcommand = given.get(globals).map_or("", String::as_str);
                let (before, after) = given.split_at(given.len().min(globals + 1));
                before.iter().chain(git.forced(subcommand)).chain(after).cloned().collect()
            }
            _ => given.to_vec(),
        }
    }

    /// The rule of a program: the app's, else the built-in one of its name, or of the file behind it.
    fn rule(&self, typed: &str, resolved: &str) -> Option<&Rule> {
        if let Some(rule) = self.programs.get(typed) {
            return Some(rule);
        }
        if self.hook {
            return None;
        }
        let programs = &rule::DEFAULTS.as_ref()?.programs;
        // What its name, a part of it or the file behind it suggests can only take away.
        let refused = |name: &str| parts(name).find_map(|part| programs.get(part).filter(|rule| matches!(rule, Rule::Refuse)));
        programs.get(typed).or_else(|| refused(typed)).or_else(|| refused(resolved))
    }
}

/// `python3.12`, `x86_64-linux-gnu-gcc-12` and `vim.basic` are `python`, `gcc` and `vim`, and what else their names hold.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let unversioned = |part: &'_ str| part.trim_end_matches(|character: char| character.is_ascii_digit()).len();
    let pieces = name.split(['-', '.']).flat_map(move |part| [part, part.get(..unversioned(part)).unwrap_or(part)]);
    std::iter::once(name).chain(pieces).filter(|part| !part.is_empty())
}
