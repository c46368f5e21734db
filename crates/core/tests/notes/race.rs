use super::{Notes, Scratch, ok};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use toolbolt_core::response::Status;

const LASTS: Duration = Duration::from_secs(3);

/// Puts a link to the outside in the place of a folder, of a note and of a note that is yet to be made, and takes it away again.
fn swap(root: &Path, outside: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let _ = fs::rename(root.join("sub"), root.join("aside"));
        let _ = symlink(outside, root.join("sub"));
        let _ = fs::remove_file(root.join("sub"));
        let _ = fs::rename(root.join("aside"), root.join("sub"));
        let _ = fs::rename(root.join("note.md"), root.join("note.aside"));
        let _ = symlink(outside.join("secret.md"), root.join("note.md"));
        let _ = fs::remove_file(root.join("note.md"));
        let _ = fs::hard_link(outside.join("secret.md"), root.join("note.md"));
        let _ = fs::remove_file(root.join("note.md"));
        let _ = fs::rename(root.join("note.aside"), root.join("note.md"));
        let _ = symlink(outside.join("made.md"), root.join("new.md"));
        let _ = fs::remove_file(root.join("new.md"));
    }
}

#[test]
fn whoever_swaps_links_in_gets_nothing_out_and_nothing_in() {
    let scratch = Scratch::new();
    let (root, outside) = (scratch.path("root"), scratch.path("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "SECRET").unwrap();
    let notes = Notes::new(&root);
    for path in ["sub/secret.md", "note.md"] {
        ok(&notes.append(path, "mine"));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = thread::spawn({
        let (root, outside, stop) = (root.clone(), outside.clone(), Arc::clone(&stop));
        move || swap(&root, &outside, &stop)
    });
    let (started, mut served, mut refused) = (Instant::now(), 0, 0);
    while started.elapsed() < LASTS {
        for path in ["sub/secret.md", "note.md", "new.md", "sub/made.md"] {
            for response in [notes.read(path), notes.append(path, "mine"), notes.search("SECRET", "sub")] {
                assert!(!response.text.contains("SECRET") || response.text.contains("'SECRET'"), "{}", response.text);
                if response.status == Status::Error { refused += 1 } else { served += 1 }
            }
        }
        assert_eq!(fs::read_to_string(outside.join("secret.md")).unwrap(), "SECRET");
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused: there was a race");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "nothing was made outside");
}
