use super::{Notes, Scratch, data, ok, refused};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolbolt_core::builtin::notes::NotesLimits;
use toolbolt_core::error::ErrorCode;
use toolbolt_core::response::Status;

fn limits(max_read_chars: usize, max_append_chars: usize, max_file_bytes: u64) -> NotesLimits {
    NotesLimits { max_read_chars, max_append_chars, max_file_bytes }
}

#[test]
fn looking_makes_nothing_and_the_first_append_makes_all_of_it_private() {
    let scratch = Scratch::new();
    let root = scratch.path("far/away/notebook");
    let notes = Notes::new(&root);
    ok(&notes.read("a.md"));
    ok(&notes.list(""));
    ok(&notes.search("x", ""));
    assert!(!scratch.path("far").exists());
    ok(&notes.append("trips/rome.md", "pack"));
    for (path, mode) in [("far", 0o700), ("far/away/notebook/trips", 0o700), ("far/away/notebook/trips/rome.md", 0o600)] {
        assert_eq!(fs::metadata(scratch.path(path)).unwrap().mode() & 0o777, mode, "{path}");
    }
    assert_eq!(notes.read("trips/rome.md").text, "pack\n");
}

#[test]
fn links_pipes_and_folders_are_no_notes() {
    let scratch = Scratch::new();
    let root = scratch.path("root");
    let notes = Notes::new(&root);
    ok(&notes.append("inside/a.md", "mine"));
    fs::create_dir(scratch.path("outside")).unwrap();
    fs::write(scratch.path("outside/secret"), "SECRET").unwrap();
    symlink("../outside/secret", root.join("to_file")).unwrap();
    symlink("../outside", root.join("to_folder")).unwrap();
    symlink("inside", root.join("to_inside")).unwrap();
    symlink("nowhere", root.join("to_nothing")).unwrap();
    fs::hard_link(scratch.path("outside/secret"), root.join("hard")).unwrap();
    mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::from_bits_truncate(0o600), 0).unwrap();
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    let started = Instant::now();
    for path in [
        "to_file",
        "to_folder/secret",
        "to_folder/new",
        "to_inside/a.md",
        "to_nothing",
        "hard",
        "pipe",
        "pipe/x",
        "socket",
        "inside",
        "inside/a.md/x",
    ] {
        refused(&notes.read(path));
        refused(&notes.append(path, "x"));
    }
    assert!(started.elapsed() < Duration::from_secs(5), "nothing waited");
    for path in ["to_folder", "to_inside", "pipe", "inside/a.md"] {
        refused(&notes.list(path));
    }
    refused(&notes.search("SECRET", "to_folder"));
    refused(&notes.search("SECRET", "to_file"));
    let found = notes.search("SECRET", "");
    assert_eq!(data(&found)["matches"], json!([]), "{}", found.text);
    assert_eq!(data(&found)["skipped"], json!(7));
    assert_eq!(fs::read_to_string(scratch.path("outside/secret")).unwrap(), "SECRET");
    assert_eq!(fs::read_dir(scratch.path("outside")).unwrap().count(), 1);
    assert!(fs::symlink_metadata(root.join("nowhere")).is_err());
}

#[test]
fn the_root_is_held_once_it_was_used() {
    let scratch = Scratch::new();
    let root = scratch.path("root");
    let notes = Notes::new(&root);
    ok(&notes.append("a.md", "first"));
    fs::create_dir(scratch.path("outside")).unwrap();
    fs::rename(&root, scratch.path("moved")).unwrap();
    symlink("outside", &root).unwrap();
    ok(&notes.append("a.md", "second"));
    assert_eq!(notes.read("a.md").text, "first\nsecond\n");
    assert_eq!(fs::read_dir(scratch.path("outside")).unwrap().count(), 0);
}

#[test]
fn a_root_that_is_a_file_or_open_to_everybody_is_refused() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), "x").unwrap();
    for root in [scratch.path("file"), scratch.path("file/below")] {
        refused(&Notes::new(&root).append("a.md", "x"));
    }
    let open = scratch.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    refused(&Notes::new(&open).read("a.md"));
    fs::set_permissions(&open, fs::Permissions::from_mode(0o775)).unwrap();
    ok(&Notes::new(&open).append("a.md", "x"));
    symlink("open", scratch.path("link")).unwrap();
    assert_eq!(Notes::new(&scratch.path("link")).read("a.md").text, "x\n");
}

#[test]
fn limits_hold_to_the_byte() {
    let scratch = Scratch::new();
    let notes = Notes::with(&scratch.path("root"), limits(20, 30, 60));
    refused(&notes.append("a", &"é".repeat(30)));
    refused(&notes.append("a", &"x".repeat(31)));
    assert!(!scratch.path("root").exists(), "nothing was made for nothing");
    ok(&notes.append("a", &"x".repeat(30)));
    refused(&notes.append("a", &"x".repeat(29)));
    ok(&notes.append("a", &"x".repeat(28)));
    assert_eq!(fs::metadata(scratch.path("root/a")).unwrap().len(), 60);
    refused(&notes.append("a", "x"));
    let read = notes.read("a");
    assert_eq!((read.status, data(&read)["truncated"].clone()), (Status::Partial, json!(true)));
    fs::write(scratch.path("root/line"), "é".repeat(5_000_000)).unwrap();
    assert!(notes.read("line").text.starts_with(&"é".repeat(20)));
    fs::write(scratch.path("root/cr"), "\r\n".repeat(20)).unwrap();
    assert_eq!((notes.read("cr").status, notes.read("cr").text), (Status::Success, "\n".repeat(20)));
}

#[test]
fn what_a_crash_left_is_kept_apart_and_never_in_the_way() {
    let scratch = Scratch::new();
    let notes = Notes::new(&scratch.path("root"));
    ok(&notes.append("a", "one"));
    let file = scratch.path("root/a");
    fs::write(&file, "one\ntw").unwrap();
    ok(&notes.append("a", "three"));
    assert_eq!(notes.read("a").text, "one\ntw\nthree\n");
    // A write that is cut off ends at a page, within a character too.
    let torn = ["one\n".as_bytes(), &vec![b'x'; 4_090], "语".as_bytes()].concat();
    fs::write(&file, &torn[..4_096]).unwrap();
    ok(&notes.read("a"));
    assert_eq!(data(&notes.search("one", ""))["matches"][0]["line"], json!(1));
    ok(&notes.append("a", "two"));
    let healed = fs::read_to_string(&file).unwrap();
    assert_eq!((healed.len(), healed.ends_with("x\ntwo\n")), (4_094 + 5, true));
    // Text in another encoding stays what it is.
    fs::write(&file, b"caf\xe9").unwrap();
    refused(&notes.read("a"));
    ok(&notes.append("a", "x"));
    assert_eq!(fs::read(&file).unwrap(), b"caf\xe9\nx\n");
}

#[test]
fn a_locked_note_is_waited_for_and_given_up() {
    let scratch = Scratch::new();
    let notes = Notes::new(&scratch.path("root"));
    ok(&notes.append("a", "one"));
    let holder = fs::File::open(scratch.path("root/a")).unwrap();
    flock(&holder, FlockOperation::LockExclusive).unwrap();
    let started = Instant::now();
    refused(&notes.append("a", "two"));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(notes.read("a").text, "one\n", "reading goes on");
    let cancelled = CancellationToken::new();
    let stop = cancelled.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.cancel();
    });
    let response = notes.call_with(json!({"action": "append", "path": "a", "content": "two"}), cancelled);
    assert_eq!(response.code, Some(ErrorCode::Cancelled));
    other.join().unwrap();
    flock(&holder, FlockOperation::Unlock).unwrap();
    // Long enough for what was cancelled to write, if it would.
    std::thread::sleep(Duration::from_millis(100));
    ok(&notes.append("a", "three"));
    assert_eq!(notes.read("a").text, "one\nthree\n");
}

#[test]
fn listings_and_searches_are_in_order_and_bounded() {
    let scratch = Scratch::new();
    let notes = Notes::new(&scratch.path("root"));
    for path in ["b.md", "a/z.md", "a/b/c.md", ".git/config", "Ärger.md"] {
        ok(&notes.append(path, "first line\nA Straße in Zürich"));
    }
    let paths = |response: &_| {
        data(response)["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&notes.list("")), ["a", "a/b", "a/b/c.md", "a/z.md", "b.md", "Ärger.md"]);
    assert_eq!(paths(&notes.list("a/b/")), ["a/b/c.md"]);
    assert_eq!(paths(&notes.list(".git")), [".git/config"]);
    let found = notes.search("ZÜRICH", "a");
    assert_eq!(found.text, "a/b/c.md:2: A Straße in Zürich\na/z.md:2: A Straße in Zürich");
    assert_eq!(data(&notes.search("zürich", "b.md"))["matches"].as_array().unwrap().len(), 1);
    assert_eq!(data(&notes.search("zürich", "gone.md"))["exists"], json!(false));
    for arguments in [
        json!({"action": "search", "query": "a\nb"}),
        json!({"action": "search", "query": " "}),
        json!({"action": "search", "query": "a".repeat(201)}),
    ] {
        refused(&notes.call(arguments));
    }
    for number in 0..1_100 {
        fs::write(scratch.path("root").join(format!("{number:04}.txt")), "needle\n").unwrap();
    }
    let listed = notes.list("");
    assert_eq!((listed.status, data(&listed)["entries"].as_array().unwrap().len()), (Status::Partial, 1_000));
    let found = notes.search("needle", "");
    assert_eq!((found.status, data(&found)["matches"].as_array().unwrap().len()), (Status::Partial, 200));
    assert!(listed.text.chars().count() < 8_300 && found.text.chars().count() < 8_300);
}

#[test]
fn arguments_of_no_kind_get_an_answer() {
    let scratch = Scratch::new();
    let notes = Notes::new(&scratch.path("root"));
    for arguments in [
        json!({}),
        json!({"action": null}),
        json!({"action": "READ", "path": "a"}),
        json!({"action": " read ", "path": "a"}),
        json!({"action": "append ", "path": "a", "content": "x"}),
        json!({"action": 5, "path": "a"}),
        json!({"action": "read", "path": 5}),
        json!({"action": "append", "path": "a", "content": ["x"]}),
        json!({"action": "append", "path": "a", "content": null}),
        json!({"action": "append", "path": "a/", "content": "x"}),
        json!({"action": "read", "path": "a/"}),
    ] {
        refused(&notes.call(arguments));
    }
    assert!(!scratch.path("root").exists());
}
