//! Git, as far as it reads: listed subcommands with listed options, spelled out, as git also takes the beginning of a name.

use super::Ruling;
use super::rule::Git;

impl Git {
    pub(super) fn judge(&self, arguments: &[String]) -> Ruling {
        let globals = arguments.iter().take_while(|argument| argument.starts_with('-')).count();
        let (globals, rest) = arguments.split_at(globals);
        let bad: Vec<String> = globals.iter().filter(|argument| !self.globals.contains(argument)).cloned().collect();
        if !bad.is_empty() {
            return Ruling::Refused(bad);
        }
        match rest.split_first() {
            Some((subcommand, rest)) => self.judge_subcommand(subcommand, rest),
            None => Ruling::allowed(false),
        }
    }

    fn judge_subcommand(&self, subcommand: &str, arguments: &[String]) -> Ruling {
        let Some(allowed) = self.subcommands.get(subcommand) else { return Ruling::Refused(vec![subcommand.to_owned()]) };
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let (before, after) = arguments.split_at(end);
        let (options, operands): (Vec<&String>, Vec<&String>) =
            before.iter().partition(|argument| argument.len() > 1 && argument.starts_with('-'));
        let mut bad: Vec<String> = options.iter().filter(|option| !self.allows(allowed, option)).map(|option| (*option).clone()).collect();
        bad.extend(
            arguments.windows(2).filter(|pair| self.values.contains(&pair[0]) && pair[1].starts_with('-')).map(|pair| pair[0].clone()),
        );
        if !bad.is_empty() {
            return Ruling::Refused(bad);
        }
        let has_one = |wanted: &[String]| options.iter().any(|option| wanted.iter().any(|one| one == name(option)));
        if self.needs.get(subcommand).is_some_and(|wanted| !has_one(wanted)) {
            return Ruling::Refused(vec![subcommand.to_owned()]);
        }
        let count = operands.len() + after.len().saturating_sub(1);
        let lists = self.listing.get(subcommand).is_some_and(|wanted| has_one(wanted));
        match self.operands.get(subcommand) {
            Some(&most) if count > most && !lists => Ruling::Refused(operands.into_iter().chain(after.iter().skip(1)).cloned().collect()),
            _ => Ruling::allowed(false),
        }
    }

    fn allows(&self, allowed: &[String], option: &str) -> bool {
        let listed = |option: &str| allowed.iter().any(|one| one == option);
        if listed(option) || option.starts_with("--") && listed(name(option)) {
            return true;
        }
        let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
        // `-5` is `-n 5`.
        if letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return listed("-n");
        }
        let first = letters.chars().next().unwrap_or_default();
        if self.takes.contains(first) {
            return listed(&format!("-{first}"));
        }
        letters.chars().all(|letter| !self.takes.contains(letter) && listed(&format!("-{letter}")))
    }

    /// What is put right after a subcommand.
    pub(super) fn forced(&self, subcommand: &str) -> &[String] {
        self.force_args.get(subcommand).map_or(&[], Vec::as_slice)
    }

    /// The variables that git has to get, its forced configuration among them.
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (place, (key, value)) in self.config.iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{place}"), key.clone()));
            variables.push((format!("GIT_CONFIG_VALUE_{place}"), value.clone()));
        }
        variables.push(("GIT_CONFIG_COUNT".to_owned(), self.config.len().to_string()));
        variables
    }
}

/// A long option without its value.
fn name(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}
