//! The stores of credentials, on real files and on the keyring of the kernel.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on has failed, and it looks at what the store wrote"
)]

use secrecy::SecretString;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolbolt_core::connector::store::{
    CredentialStore, Credentials, EnvironmentStore, FileKey, FileStore, KeyringStore, MemoryStore, Sealed, SealedFault, generate_key,
};
use toolbolt_core::error::{ErrorCode, ToolError};

const SECRET: &str = "xoxb-planted-0123456789";
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER_KEY: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolbolt-credentials-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("credentials")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path, key: &str) -> FileStore {
    FileStore::new(path.to_str().unwrap(), FileKey::raw(key).unwrap()).unwrap()
}

fn open_with_password(path: &Path, password: &str) -> FileStore {
    FileStore::new(path.to_str().unwrap(), FileKey::password(password.to_owned()).unwrap()).unwrap()
}

fn token(value: &str) -> Credentials {
    Credentials::new([("token".to_owned(), SecretString::from(value))]).unwrap()
}

fn value(store: &dyn CredentialStore, connector: &str) -> Option<String> {
    store.get(connector).unwrap().and_then(|credentials| credentials.get("token").map(str::to_owned))
}

fn reason(error: &ToolError) -> &str {
    assert_eq!(error.code, ErrorCode::CredentialStoreFailed, "{error}");
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    error.data.as_ref().and_then(|data| data["reason"].as_str()).unwrap()
}

fn keeps_replaces_and_forgets(store: &dyn CredentialStore) {
    assert_eq!(store.list().unwrap(), Vec::<String>::new());
    assert_eq!(value(store, "slack"), None);
    assert!(!store.delete("slack").unwrap());
    store.put("slack", token("first")).unwrap();
    store.put("github:work", token(SECRET)).unwrap();
    store.put("slack", token("日本\n\"second\"")).unwrap();
    assert_eq!(value(store, "slack").as_deref(), Some("日本\n\"second\""));
    assert_eq!(value(store, "github:work").as_deref(), Some(SECRET));
    assert_eq!(store.list().unwrap(), ["github:work", "slack"]);
    assert!(store.delete("slack").unwrap());
    assert!(!store.delete("slack").unwrap());
    assert_eq!(value(store, "slack"), None);
    assert_eq!(store.list().unwrap(), ["github:work"]);
    for name in ["", "a b", "ü", "a\0", "a\n", &"x".repeat(129)] {
        for error in [store.get(name).unwrap_err(), store.put(name, token(SECRET)).unwrap_err(), store.delete(name).unwrap_err()] {
            assert_eq!(error.code, ErrorCode::InvalidOptions, "{error}");
        }
    }
}

#[test]
fn every_store_keeps_replaces_and_forgets() {
    let folder = Folder::new("every");
    keeps_replaces_and_forgets(&MemoryStore::default());
    keeps_replaces_and_forgets(&open(&folder.file(), KEY));
    fs::remove_file(folder.file()).unwrap();
    keeps_replaces_and_forgets(&open_with_password(&folder.file(), "correct horse"));
    if KeyringStore::check().is_ok() {
        let store = KeyringStore::new(&format!("test-{}", std::process::id())).unwrap();
        keeps_replaces_and_forgets(&store);
        store.delete("github:work").unwrap();
        let large = token(&"x".repeat(40_000));
        assert_eq!(reason(&store.put("large", large).unwrap_err()), "tooLarge");
        assert!(store.list().unwrap().is_empty());
    }
}

#[test]
fn credentials_keep_their_rules_and_show_no_value() {
    for wrong in
        ["", "null", "[]", "{}", r#"{"a":1}"#, r#"{"a":""}"#, r#"{"a b":"xoxb-planted-0123456789"}"#, r#""xoxb-planted-0123456789""#]
    {
        let error = Credentials::from_json(wrong.to_owned()).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidOptions);
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    for wrong in [format!("{SECRET}\0"), SECRET.repeat(3000)] {
        let error = Credentials::new([("token".to_owned(), SecretString::from(wrong))]).unwrap_err();
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    let many = (0..65).map(|index| (format!("field{index}"), SecretString::from("x")));
    assert!(Credentials::new(many).is_err());
    let folder = Folder::new("debug");
    let store = open(&folder.file(), KEY);
    let memory = MemoryStore::default();
    memory.put("slack", token(SECRET)).unwrap();
    for shown in [format!("{:?}", token(SECRET)), format!("{memory:?}"), format!("{store:?}")] {
        assert!(!shown.contains(SECRET) && !shown.contains("0, 1, 2, 3"), "{shown}");
    }
}

#[test]
fn the_environment_is_read_anew_and_empty_counts_as_missing() {
    let names = |pairs: &[(&str, &str)]| pairs.iter().map(|(field, variable)| ((*field).to_owned(), (*variable).to_owned())).collect();
    let variables: BTreeMap<String, BTreeMap<String, String>> = [
        ("slack".to_owned(), names(&[("token", "SLACK_TOKEN"), ("team", "SLACK_TEAM")])),
        ("github".to_owned(), names(&[("token", "GITHUB_TOKEN")])),
    ]
    .into();
    let store = EnvironmentStore::new(variables).unwrap();
    let read = |name: &str| match name {
        "SLACK_TOKEN" => Some(SECRET.to_owned()),
        "SLACK_TEAM" => Some(String::new()),
        _ => None,
    };
    let slack = store.get("slack", read).unwrap().unwrap();
    assert_eq!(slack.get("token"), Some(SECRET));
    assert_eq!(slack.fields().collect::<Vec<_>>(), ["token"]);
    assert!(store.get("github", read).unwrap().is_none());
    assert!(store.get("nobody", read).unwrap().is_none());
    assert_eq!(store.list(read), ["slack"]);
    for variable in ["", "1A", "A-B", "A=B", "Ä"] {
        assert!(EnvironmentStore::new([("slack".to_owned(), names(&[("token", variable)]))].into()).is_err(), "{variable}");
    }
}

#[test]
fn a_wrong_key_is_an_error_that_loses_nothing() {
    let folder = Folder::new("wrong");
    let path = folder.file();
    open(&path, KEY).put("slack", token(SECRET)).unwrap();
    let before = fs::read(&path).unwrap();
    for other in [open(&path, OTHER_KEY), open_with_password(&path, "correct horse")] {
        for error in [
            other.get("slack").unwrap_err(),
            other.put("slack", token("x")).unwrap_err(),
            other.delete("slack").unwrap_err(),
            other.list().unwrap_err(),
        ] {
            assert_eq!(reason(&error), "wrongKey");
        }
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(value(&open(&path, KEY), "slack").as_deref(), Some(SECRET));
}

#[test]
fn a_password_opens_what_it_closed_and_no_other() {
    let folder = Folder::new("password");
    let path = folder.file();
    let first = open_with_password(&path, "correct horse");
    first.put("slack", token(SECRET)).unwrap();
    assert_eq!(value(&open_with_password(&path, "correct horse"), "slack").as_deref(), Some(SECRET));
    assert_eq!(reason(&open_with_password(&path, "correct hors€").get("slack").unwrap_err()), "wrongKey");
    assert_eq!(reason(&open(&path, KEY).get("slack").unwrap_err()), "wrongKey");
    // Another file has another salt, which the store has to notice.
    fs::remove_file(&path).unwrap();
    open_with_password(&path, "correct horse").put("slack", token("other")).unwrap();
    assert_eq!(value(&first, "slack").as_deref(), Some("other"));
    assert!(FileKey::password("1234567".to_owned()).is_err());
}

#[test]
fn keys_are_read_in_hexadecimal_and_in_base64() {
    let folder = Folder::new("keys");
    let path = folder.file();
    open(&path, KEY).put("slack", token(SECRET)).unwrap();
    for same in [
        &KEY.to_uppercase(),
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    ] {
        assert_eq!(value(&open(&path, same), "slack").as_deref(), Some(SECRET), "{same}");
    }
    for wrong in ["", "secret", &KEY[2..], &format!("{KEY}00"), &"g".repeat(64), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg=="] {
        let error = FileKey::raw(wrong).unwrap_err();
        assert!(wrong.is_empty() || !error.message.contains(wrong), "{error}");
    }
    assert!(FileKey::raw(&generate_key().unwrap()).is_ok());
    assert_ne!(*generate_key().unwrap(), *generate_key().unwrap());
}

/// Every byte changed, every cut, and everything that is added: no such file opens, and no access writes over it.
#[test]
fn no_byte_can_be_changed() {
    let folder = Folder::new("tamper");
    let path = folder.file();
    for store in [open(&path, KEY), open_with_password(&path, "correct horse")] {
        store.put("slack", token(SECRET)).unwrap();
        let before = fs::read(&path).unwrap();
        // A password's own file: each change of the salt would make a key anew, so of those one is enough.
        let is_password = String::from_utf8_lossy(&before).contains("\"salt\": \"");
        let salt = 54..80;
        let mut changed: Vec<Vec<u8>> = Vec::new();
        for at in 0..before.len() {
            if is_password && salt.contains(&at) && at != 60 {
                continue;
            }
            for bit in [0x01, 0x20, 0x80] {
                let mut other = before.clone();
                other[at] ^= bit;
                changed.push(other);
            }
            changed.push(before[..at].to_vec());
        }
        changed.push([&before[..], b" "].concat());
        changed.push([b" ", &before[..]].concat());
        changed.push([&before[..], &before[..]].concat());
        for other in changed {
            fs::write(&path, &other).unwrap();
            let error = store.put("github", token("x")).expect_err(&String::from_utf8_lossy(&other));
            assert!(["wrongKey", "format", "file"].contains(&reason(&error)), "{error}");
            assert_eq!(fs::read(&path).unwrap(), other);
        }
        fs::write(&path, &before).unwrap();
        assert_eq!(value(&store, "slack").as_deref(), Some(SECRET));
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn parts_of_two_files_do_not_fit_together() {
    let folder = Folder::new("mixed");
    let path = folder.file();
    let store = open(&path, KEY);
    let mut files = Vec::new();
    for value in ["first", "other"] {
        store.put("slack", token(value)).unwrap();
        files.push(fs::read_to_string(&path).unwrap());
    }
    let lines = |file: usize| files[file].lines().map(str::to_owned).collect::<Vec<_>>();
    let mut mixed = lines(0);
    assert_ne!(mixed[3], lines(1)[3], "a nonce is used once");
    mixed[3] = lines(1)[3].clone();
    fs::write(&path, mixed.join("\n") + "\n").unwrap();
    assert_eq!(reason(&store.get("slack").unwrap_err()), "wrongKey");
}

#[test]
fn files_of_others_and_of_later_versions_are_told_apart() {
    let later = r#"{"format":"toolbolt-credentials-2"}"#;
    assert_eq!(Sealed::read(later), Err(SealedFault::Newer));
    for other in ["", "{}", "[]", "token=x", r#"{"format":"toolbolt-pins-1","servers":{}}"#, r#"{"format":1}"#] {
        assert_eq!(Sealed::read(other), Err(SealedFault::NotOurs), "{other}");
    }
    let folder = Folder::new("others");
    fs::write(folder.file(), later).unwrap();
    assert_eq!(reason(&open(&folder.file(), KEY).get("slack").unwrap_err()), "format");
}

#[test]
fn a_file_is_its_owners_alone() {
    let folder = Folder::new("rights");
    let path = folder.file();
    let store = open(&path, KEY);
    let mode = || fs::metadata(&path).unwrap().mode() & 0o7777;
    store.put("slack", token(SECRET)).unwrap();
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    store.put("github", token(SECRET)).unwrap();
    assert_eq!(mode(), 0o600);
    assert!(!String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("slack"));
    let names: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["credentials"]);

    let link = folder.0.join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(reason(&open(&link, KEY).get("slack").unwrap_err()), "file");
    assert_eq!(reason(&open(&link, KEY).put("slack", token("x")).unwrap_err()), "file");
    assert_eq!(reason(&open(&folder.0, KEY).get("slack").unwrap_err()), "file");
    let nowhere = folder.0.join("missing/credentials");
    assert_eq!(value(&open(&nowhere, KEY), "slack"), None);
    assert!(!open(&nowhere, KEY).delete("slack").unwrap());
    assert_eq!(reason(&open(&nowhere, KEY).put("slack", token("x")).unwrap_err()), "file");
    assert!(FileStore::new("", FileKey::raw(KEY).unwrap()).is_err());
}

#[test]
fn what_does_not_fit_is_refused_and_loses_nothing() {
    let folder = Folder::new("large");
    let path = folder.file();
    let store = open(&path, KEY);
    store.put("slack", token(SECRET)).unwrap();
    let before = fs::read(&path).unwrap();
    let fields = (0..8).map(|index| (format!("field{index}"), SecretString::from("x".repeat(64 * 1024))));
    let large = Credentials::new(fields).unwrap();
    store.put("first", large.clone()).unwrap();
    assert_eq!(reason(&store.put("second", large).unwrap_err()), "tooLarge");
    assert!(store.delete("first").unwrap());
    assert_ne!(fs::read(&path).unwrap(), before);
    assert_eq!(store.list().unwrap(), ["slack"]);
}

#[test]
fn many_writers_lose_nothing() {
    let folder = Folder::new("writers");
    let path = folder.file();
    let shared: Arc<dyn CredentialStore> = Arc::new(open(&path, KEY));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (path, shared) = (&path, &shared);
            scope.spawn(move || {
                let own = open(path, KEY);
                for index in 0..10 {
                    let store: &dyn CredentialStore = if index % 2 == 0 { &own } else { shared.as_ref() };
                    store.put(&format!("c{writer}-{index}"), token(SECRET)).unwrap();
                }
            });
        }
    });
    assert_eq!(shared.list().unwrap().len(), 40);
}
