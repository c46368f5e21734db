//! Find and tar, whose arguments are no plain options.

use super::Ruling;
use super::options::{Word, word};

/// Every word that begins with a dash has to be listed, unless it is the value of the predicate before it.
pub(super) fn find(arguments: &[String], values: &[String], flags: &[String]) -> Ruling {
    let mut bad = Vec::new();
    let mut is_value = false;
    for argument in arguments {
        let takes = values.contains(argument);
        if !(is_value || !argument.starts_with('-') || argument == "-" || takes || flags.contains(argument)) {
            bad.push(argument.clone());
        }
        is_value = takes && !is_value;
    }
    if bad.is_empty() { Ruling::allowed(false) } else { Ruling::Refused(bad) }
}

/// Lists an archive of this machine: a mode has to be given, no other one, and a colon would name another machine.
pub(super) fn tar_list(arguments: &[String], long: &[String], short: &str) -> Ruling {
    let mut bad = Vec::new();
    let mut lists = false;
    for (place, argument) in arguments.iter().enumerate() {
        let letters = match word(argument) {
            Word::Long(name, value) => {
                lists |= name == "--list" && value.is_none() || matches!(name, "--help" | "--version");
                if !long.iter().any(|allowed| allowed == name) || value.is_some_and(|value| value.contains(':')) {
                    bad.push(argument.clone());
                }
                continue;
            }
            Word::Short(letters) => letters,
            // The first word is a bundle of options without a dash.
            Word::Operand(bundle) if place == 0 => {
                lists |= bundle.contains('t');
                if !bundle.chars().all(|letter| short.contains(letter)) {
                    bad.push(argument.clone());
                }
                continue;
            }
            Word::Operand(operand) => {
                if operand.contains(':') {
                    bad.push(argument.clone());
                }
                continue;
            }
            Word::End => continue,
        };
        let (options, file) = letters.find('f').map_or((letters, ""), |place| letters.split_at(place));
        lists |= options.contains('t');
        if !options.chars().all(|letter| short.contains(letter)) || file.contains(':') {
            bad.push(argument.clone());
        }
    }
    match () {
        () if !bad.is_empty() => Ruling::Refused(bad),
        () if !lists => Ruling::Refused(arguments.to_vec()),
        () => Ruling::allowed(false),
    }
}
