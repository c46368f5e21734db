//! Words that people and authors of tools use for the same thing. Few: those of what nearly every tool does.

use super::words::words;
use std::sync::LazyLock;

const GROUPS: &[&[&str]] = &[
    &["create", "make", "add", "new", "open", "start", "init"],
    &["delete", "remove", "erase", "clear", "wipe", "uninstall"],
    &["get", "read", "show", "retrieve", "fetch", "view", "look", "display"],
    &["update", "edit", "change", "modify", "rename", "set", "patch", "replace"],
    &["search", "find", "query", "look"],
    &["list", "enumerate", "browse"],
    &["run", "execute", "trigger", "play", "start", "launch"],
    &["stop", "cancel", "end", "close", "finish", "abort"],
    &["retry", "restart", "rerun", "again"],
    &["folder", "directory"],
    &["send", "post", "publish"],
    &["write", "create", "append", "save"],
    &["comment", "note", "reply"],
    &["picture", "image", "photo", "media"],
    &["url", "website", "page", "link", "web"],
    &["undo", "revert", "reset", "restore"],
    &["check", "verify", "validate", "test", "assert"],
    &["merge", "mr", "pull", "pr"],
    &["log", "output", "trace"],
    &["project", "repository", "repo"],
    &["issue", "bug", "ticket", "task"],
    &["todo", "task"],
    &["time", "datetime", "clock"],
];

/// The groups in the form in which words are compared.
static STEMS: LazyLock<Vec<Vec<String>>> =
    LazyLock::new(|| GROUPS.iter().map(|group| group.iter().flat_map(|member| words(member)).collect()).collect());

/// The other words of the groups that a word is in.
pub(super) fn of(word: &str) -> Vec<&'static str> {
    let groups = STEMS.iter().filter(|group| group.iter().any(|stem| stem == word));
    groups.flatten().map(String::as_str).filter(|stem| *stem != word).collect()
}
