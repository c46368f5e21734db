//! Options by letter and by name: what is denied, what is allowed, and what an unknown program may get.

use super::Ruling;
use super::rule::{Allow, Deny, Generic};

/// One argument, as the programs of this world read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// `--name` or `--name=value`; the name has its dashes.
    Long(&'a str, Option<&'a str>),
    /// `-abc`, without the dash.
    Short(&'a str),
    /// `--`: only operands follow.
    End,
    /// Anything else, also a single dash.
    Operand(&'a str),
}

pub(super) fn word(argument: &str) -> Word<'_> {
    match argument.strip_prefix("--") {
        Some("") => Word::End,
        Some(_) => match argument.split_once('=') {
            Some((name, value)) => Word::Long(name, Some(value)),
            None => Word::Long(argument, None),
        },
        None => match argument.strip_prefix('-') {
            Some(letters) if !letters.is_empty() => Word::Short(letters),
            _ => Word::Operand(argument),
        },
    }
}

/// The letters of a cluster that are options, and what is glued to the last one as its value. A letter that takes a value and ends the
/// cluster takes the next word: then the value is empty.
fn cluster<'a>(letters: &'a str, takes: &str) -> (&'a str, Option<&'a str>) {
    match letters.char_indices().find(|(_, letter)| takes.contains(*letter)) {
        Some((place, letter)) => {
            let (options, value) = letters.split_at(place + letter.len_utf8());
            (options, Some(value))
        }
        None => (letters, None),
    }
}

impl Deny {
    /// What follows a `--` is read both ways, as operands and as options: the `--` may have been the value of an option.
    pub(super) fn judge(&self, arguments: &[String]) -> Ruling {
        let mut bad = Vec::new();
        let mut operands = 0;
        // Whether the last word takes this one as its value. It is judged all the same, only not as an operand.
        let mut is_value = false;
        let mut after_end = false;
        for argument in arguments {
            let word = word(argument);
            let is_operand = matches!(word, Word::Operand(_)) && !is_value || after_end;
            operands += usize::from(is_operand);
            let denied = match word {
                Word::Long(name, _) => self.denies_long(name),
                Word::Short(letters) => self.denies_short(letters),
                Word::Operand(_) | Word::End => false,
            };
            if denied || is_operand && !allows_operand(&self.operands, argument) {
                bad.push(argument.clone());
            }
            after_end |= word == Word::End;
            is_value = !is_value && matches!(word, Word::Short(letters) if self.takes_next(letters));
        }
        let too_many = self.max_operands.is_some_and(|most| operands > most);
        let unmet = !self.needs_first.is_empty() && !arguments.first().is_some_and(|first| self.needs_first.contains(first));
        if too_many || unmet {
            bad = arguments.to_vec();
        }
        if bad.is_empty() { Ruling::allowed(self.writes) } else { Ruling::Refused(bad) }
    }

    fn denies_long(&self, name: &str) -> bool {
        self.long.iter().any(|denied| match self.abbreviations {
            Some(false) => denied == name,
            _ => denied.starts_with(name),
        })
    }

    fn denies_short(&self, letters: &str) -> bool {
        // Where a single dash can begin a name, no letter ends the cluster for certain.
        let options = if self.single_dash_long { letters } else { cluster(letters, &self.takes).0 };
        options.contains(|letter| self.short.contains(letter))
    }

    fn takes_next(&self, letters: &str) -> bool {
        let is_name = self.single_dash_long && letters.chars().count() > 1;
        !is_name && cluster(letters, &self.takes).1 == Some("")
    }
}

impl Allow {
    pub(super) fn judge(&self, arguments: &[String]) -> Ruling {
        let mut bad = Vec::new();
        let mut writes = self.writes;
        let mut is_value = false;
        let mut only_operands = false;
        for argument in arguments {
            let word = if only_operands || is_value { Word::Operand(argument) } else { word(argument) };
            let fits = match word {
                Word::Operand(value) if is_value => self.allows_value(value),
                Word::Operand(operand) => allows_operand(&self.operands, operand),
                Word::End => {
                    only_operands = true;
                    true
                }
                Word::Long(name, value) => {
                    writes |= self.is_change(name);
                    self.long.iter().any(|allowed| allowed == name) && value.is_none_or(|value| self.allows_value(value))
                }
                Word::Short(letters) => {
                    let (options, value) = cluster(letters, &self.takes);
                    writes |= options.chars().any(|letter| self.is_change(&format!("-{letter}")));
                    options.chars().all(|letter| self.short.contains(letter)) && value.is_none_or(|value| self.allows_value(value))
                }
            };
            if !fits {
                bad.push(argument.clone());
            }
            is_value = match word {
                Word::Long(name, None) => self.long_takes.iter().any(|taker| taker == name),
                Word::Short(letters) => cluster(letters, &self.takes).1 == Some(""),
                Word::Long(..) | Word::End | Word::Operand(_) => false,
            };
        }
        if bad.is_empty() { Ruling::Allowed { writes, network: self.network } } else { Ruling::Refused(bad) }
    }

    fn is_change(&self, option: &str) -> bool {
        self.changes.iter().any(|change| change == option)
    }

    fn allows_value(&self, value: &str) -> bool {
        self.refuse_values.is_empty() || !value.starts_with(&self.refuse_values)
    }
}

/// Whether an operand begins as one of these, where there are any. A path that climbs would leave the folder that it begins with.
fn allows_operand(beginnings: &[String], operand: &str) -> bool {
    let climbs = operand.split('/').any(|name| name == "..");
    let fits = |beginning: &String| operand.starts_with(beginning) && (!climbs || beginning.contains("://"));
    beginnings.is_empty() || beginnings.iter().any(fits)
}

impl Generic {
    /// `--` ends nothing here: not every program heeds it.
    pub(super) fn judge(&self, arguments: &[String]) -> Ruling {
        let bad: Vec<String> = arguments.iter().filter(|argument| !self.allows(argument)).cloned().collect();
        if bad.is_empty() { Ruling::allowed(true) } else { Ruling::Refused(bad) }
    }

    fn allows(&self, argument: &str) -> bool {
        if self.allow.iter().any(|allowed| allowed == argument) {
            return true;
        }
        match word(argument) {
            Word::Long(name, _) => !self.denies_name(name.trim_start_matches('-')),
            Word::Short(letters) => {
                let name = letters.split_once('=').map_or(letters, |(name, _)| name);
                !letters.contains(|letter| self.refuse_short.contains(letter)) && (letters.chars().count() < 2 || !self.denies_name(name))
            }
            Word::Operand(operand) => {
                !operand.starts_with('@') && !operand.split_once('=').is_some_and(|(key, _)| self.denies_name(key.trim_start_matches('-')))
            }
            Word::End => true,
        }
    }

    /// Case and underscores do not count: programs differ in both.
    fn denies_name(&self, name: &str) -> bool {
        let name = name.to_lowercase().replace('_', "-");
        !name.is_empty() && self.refuse_long.iter().any(|refused| name.starts_with(refused.as_str()) || refused.starts_with(&name))
    }
}
