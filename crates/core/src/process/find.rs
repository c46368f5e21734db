//! Where programs are.

use super::SpawnOptions;
use std::path::{Path, PathBuf};

/// Where a name without a folder is found on the child's `PATH`. Relative folders of `PATH` are passed over.
pub(super) fn find(options: &SpawnOptions) -> PathBuf {
    let name = PathBuf::from(&options.program);
    if !cfg!(unix) || options.program.contains('/') {
        return name;
    }
    let path = options.env.iter().rev().find(|(key, _)| key == "PATH").map_or("", |(_, value)| value.as_str());
    find_program(&options.program, path).unwrap_or(name)
}

/// The file that a bare name stands for on a `PATH`, of which only absolute folders count.
pub fn find_program(name: &str, path: &str) -> Option<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(|file| may_execute(file))
}

/// Whether there is a folder.
pub fn is_folder(path: &str) -> bool {
    Path::new(path).is_dir()
}

/// The name of the file behind all links.
pub fn real_name(file: &Path) -> Option<String> {
    std::fs::canonicalize(file).ok()?.file_name()?.to_str().map(str::to_owned)
}

#[cfg(unix)]
fn may_execute(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_execute(_file: &Path) -> bool {
    false
}
