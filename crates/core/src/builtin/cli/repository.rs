//! Whether a git repository can be read without running what its own configuration names.

use super::policy::Git;
use super::run::{Limits, run};
use crate::process::SpawnOptions;
use std::time::Duration;

/// For reading the configuration: far more than it takes.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(10), max_bytes: 1 << 20 };

/// What speaks against running git here; none where nothing does. `options` are those of the call.
pub(super) async fn objection(git: &Git, options: &SpawnOptions) -> Option<String> {
    let Some(listing) = output(options, &["config", "--list", "--includes", "--show-scope", "-z"]).await else {
        return Some("?".to_owned());
    };
    let mut fields = listing.split('\0');
    let mut worktree = false;
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        // The other scopes are ours: files of the user and the system are switched off.
        if !matches!(scope, "local" | "worktree") {
            continue;
        }
        if runs_a_program(git, key, value) {
            return Some(key.to_owned());
        }
        worktree |= key == "core.worktree";
    }
    // A work tree elsewhere would have files outside of the working folder compared and shown.
    let inside = !worktree || output(options, &["rev-parse", "--is-inside-work-tree"]).await.is_some_and(|answer| answer.trim() == "true");
    (!inside).then(|| "core.worktree".to_owned())
}

async fn output(options: &SpawnOptions, arguments: &[&str]) -> Option<String> {
    let options = SpawnOptions { args: arguments.iter().map(|&argument| argument.to_owned()).collect(), ..options.clone() };
    let ran = run(options, LIMITS).await.ok()?;
    if !ran.status.is_some_and(|status| status.success()) || ran.stdout.overflowed {
        return None;
    }
    ran.stdout.exact()
}

fn runs_a_program(git: &Git, key: &str, value: &str) -> bool {
    let is_alias = key.starts_with("alias.") && value.trim_start().starts_with('!');
    is_alias || git.refuse_config.iter().any(|pattern| matches(pattern, key))
}

/// Section and name are without case; the part between, which may hold anything, is what `*` stands for.
fn matches(pattern: &str, key: &str) -> bool {
    let key = match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section, _)), Some((_, name))) => (section.to_lowercase(), name.to_lowercase(), key.matches('.').count() > 1),
        _ => return false,
    };
    let (section, _) = pattern.split_once('.').unwrap_or_default();
    let (_, name) = pattern.rsplit_once('.').unwrap_or_default();
    (section, name, pattern.contains('*')) == (&key.0, &key.1, key.2)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_the_middle_part_whatever_it_holds() {
        assert!(matches("filter.*.clean", "filter.a.b.clean") && matches("filter.*.clean", "filter.x.Clean"));
        assert!(
            matches("core.editor", "core.editor") && !matches("core.editor", "core.x.editor") && !matches("filter.*.clean", "filter.clean")
        );
    }
}
