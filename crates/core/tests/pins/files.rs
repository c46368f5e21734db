//! The door to small files: bounded, whole or not at all, and never through a link.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use toolbolt_core::files::{FileError, read, update};

const FILE: &str = "FILES_TEST_FILE";
const WORD: &str = "FILES_TEST_WORD";
const MAX: u64 = 1 << 24;

/// A folder that goes with the test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("toolbolt-files-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// This program again, as one of its tests that only runs so.
pub(crate) fn start(test: &str, file: &Path, word: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(FILE, file).env(WORD, word);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// What `start` passed on.
pub(crate) fn started_with() -> Option<(PathBuf, String)> {
    Some((std::env::var_os(FILE)?.into(), std::env::var(WORD).ok()?))
}

fn write(path: &Path, text: &str) -> Result<(), FileError> {
    update(path, MAX, |_| Ok(Some(text.to_owned())))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn a_new_file_is_its_owners_and_an_old_one_keeps_its_rights() {
    let scratch = Scratch::new();
    let path = scratch.path("a.json");
    assert_eq!(read(&path, MAX), Ok(None));
    write(&path, "one").unwrap();
    assert_eq!((read(&path, MAX), mode(&path)), (Ok(Some("one".to_owned())), 0o600));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    // What a killed writer left is no hindrance.
    fs::write(scratch.path(".a.json.new"), "left").unwrap();
    update::<FileError>(&path, MAX, |text| {
        assert_eq!(text, Some("one"));
        Ok(Some("two".to_owned()))
    })
    .unwrap();
    assert_eq!((read(&path, MAX), mode(&path)), (Ok(Some("two".to_owned())), 0o664));
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn a_change_that_is_refused_changes_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    write(&path, "one").unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    assert_eq!(update(&path, MAX, |_| Err(FileError::NotText)), Err(FileError::NotText));
    assert_eq!(update::<FileError>(&path, MAX, |_| Ok(None)), Ok(()));
    assert_eq!(update::<FileError>(&path, 3, |_| Ok(Some("four".to_owned()))), Err(FileError::TooLarge(3)));
    assert_eq!((read(&path, MAX), fs::metadata(&path).unwrap().ino()), (Ok(Some("one".to_owned())), before));
}

#[test]
fn what_is_no_small_text_file_is_refused() {
    let scratch = Scratch::new();
    fs::write(scratch.path("large"), "12345").unwrap();
    fs::write(scratch.path("bytes"), b"\xff").unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    symlink(scratch.path("large"), scratch.path("link")).unwrap();
    symlink(scratch.path("nothing"), scratch.path("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().unwrap().success());
    for (name, error) in [
        ("large", FileError::TooLarge(4)),
        ("bytes", FileError::NotText),
        ("folder", FileError::NotFile),
        ("link", FileError::Link),
        ("dangling", FileError::Link),
        ("pipe", FileError::NotFile),
    ] {
        let path = scratch.path(name);
        assert_eq!(read(&path, 4), Err(error.clone()), "{name}");
        assert_eq!(update::<FileError>(&path, 4, |_| Ok(Some(String::new()))), Err(error), "{name}");
    }
    assert_eq!(fs::read(scratch.path("large")).unwrap(), b"12345");
    assert_eq!(read(&scratch.path("no/file"), MAX), Ok(None));
    assert_eq!(write(&scratch.path("no/file"), ""), Err(FileError::NoFolder));
    assert_eq!(write(Path::new("/"), ""), Err(FileError::NoName));
}

#[test]
#[ignore = "started by the test below, in a process that is killed"]
fn endless_writer() {
    let Some((path, word)) = started_with() else { return };
    for round in 0_usize.. {
        write(&path, &whole(&word, round)).unwrap();
    }
}

/// A text that tells whether it is all there.
fn whole(word: &str, round: usize) -> String {
    let length = 100_000 + round * 7_919 % 400_000;
    format!("{length}:{}", word.repeat(length))
}

fn is_whole(text: &str) -> bool {
    let (length, rest) = text.split_once(':').unwrap();
    rest.len() == length.parse::<usize>().unwrap() && rest.bytes().all(|byte| rest.as_bytes()[0] == byte)
}

#[test]
fn a_writer_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    write(&path, &whole("x", 0)).unwrap();
    let mut left = 0;
    for round in 0..60_u64 {
        let mut child = start("files::endless_writer", &path, if round % 2 == 0 { "a" } else { "b" });
        for _ in 0..round % 7 {
            // A reader waits for nobody.
            assert!(is_whole(&read(&path, MAX).unwrap().unwrap()));
            thread::sleep(Duration::from_micros(round * 977 % 5_000));
        }
        thread::sleep(Duration::from_millis(5 + round % 20));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_whole(&read(&path, MAX).unwrap().unwrap()));
        left += u32::from(scratch.path(".a.new").exists());
    }
    assert!(left > 0, "none was killed in the middle of writing");
    write(&path, "after").unwrap();
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
#[ignore = "started by the test below, in a process of its own"]
fn counting_writer() {
    let Some((path, word)) = started_with() else { return };
    for number in 0..100 {
        update::<FileError>(&path, MAX, |text| Ok(Some(format!("{}{word} {number}\n", text.unwrap_or_default())))).unwrap();
    }
}

#[test]
fn processes_that_change_one_file_lose_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    let writers = ["one", "two", "three"].map(|word| start("files::counting_writer", &path, word));
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(read(&path, MAX).unwrap().unwrap().lines().count(), 300);
}
