//! `warrant audit`: what an operator and an auditor see, and exports that are verified by us and by the shipped script.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test sets up must stand")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use warrant::app::audit::folder::all_files;
use warrant::app::audit::publish::publishers;
use warrant::app::audit::verify::verify_files;
use warrant::app::{App, audit};
use warrant::config::Config;
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::ledger::Ledger;
use warrant_kernel::ledger::record::RecordKind;
use warrant_toolbox::tools::process::users;

/// A config whose ledger publishes into a directory and through a program.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    /// With whoever runs the tests as ann.
    fn new() -> Self {
        let uid = users::current();
        Self::of(&format!("[people.ann]\ngroups = [\"auditors\"]\nuids = [{uid}]\n"))
    }

    /// With these people.
    fn of(people: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().display();
        let text = format!(
            "[store]\npath = \"{at}/w.db\"\n[ledger]\npublish_dir = \"{at}/kept\"\n\
             publish_command = [\"/bin/cp\", \"{{checkpoint}}\", \"{at}/copied\"]\n{people}"
        );
        std::fs::write(directory.path().join("warrant.toml"), text).unwrap();
        Self { directory }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn app(&self) -> App {
        App::open(Config::load(&self.at("warrant.toml")).unwrap(), &|_| None, None)
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// Runs `warrant`, in the name of whose token it is.
    fn run(&self, token: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warrant"));
        command.arg("--config").arg(self.at("warrant.toml")).args(arguments);
        command.env("WARRANT_TOKEN", token).env("COLUMNS", "80").env("NO_COLOR", "1").output().unwrap()
    }

    /// What it prints, which must go well.
    fn told(&self, arguments: &[&str]) -> String {
        let arguments = [&["audit"], arguments].concat();
        let output = self.run("", &arguments);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {out}{err}");
        out
    }

    /// Begins the ledger and writes some records into it.
    async fn begun(&self, policies: usize) {
        let app = self.app();
        let (database, ledger) = self.ledger(&app).await;
        for number in 0..policies {
            let texts = BTreeMap::from([("p.cedar".to_owned(), format!("permit; // {}", number % 2))]);
            ledger.in_force(RecordKind::PolicyLoaded, &texts).await.unwrap();
        }
        let published = ledger.publish(&publishers(&app)).await.unwrap();
        assert!(published.iter().all(|it| it.error.is_none()), "{published:?}");
        ledger.shut().await;
        database.close().await;
    }

    async fn ledger(&self, app: &App) -> (Database, Ledger) {
        let database = Database::open(&app.config.store).await.unwrap();
        let lease = Lease::take(&app.config.store).unwrap();
        let ledger = Ledger::open(&database, lease, audit::options(app)).await.unwrap();
        (database, ledger)
    }

    /// Exports a folder.
    fn exported(&self) -> PathBuf {
        let folder = self.at("export");
        self.told(&["export", "--format", "folder", "--output", folder.to_str().unwrap()]);
        folder
    }
}

/// The Python that has what the script needs.
pub fn python() -> &'static str {
    let found = ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        Command::new(python).args(["-c", "import cryptography"]).output().is_ok_and(|output| output.status.success())
    });
    found.unwrap_or_else(|| panic!("no Python with `cryptography`; tests/run installs python3-cryptography"))
}

/// What the shipped script says about a folder, and its exit code.
fn script(folder: &Path, more: &[&str]) -> (i32, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/verify.py");
    let output = Command::new(python()).arg(script).arg(folder).args(more).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

/// Something that is done to an exported folder.
type Change = Box<dyn Fn(&Path)>;

fn copied(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    for (path, bytes) in all_files(from).unwrap() {
        let path = to.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

#[tokio::test]
async fn an_export_verifies_here_and_by_the_shipped_script_and_a_tampered_one_by_neither() {
    let place = Place::new();
    place.begun(300).await;
    let folder = place.exported();
    let kept = place.at("kept/checkpoint");
    let kept = kept.to_str().unwrap();
    assert!(folder.join("tile/entries/000").is_file() && folder.join("tile/1/000.p/1").is_file());
    let (code, text) = script(&folder, &["--against", kept]);
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("sound: 30") && text.contains("as the kept checkpoints say"), "{text}");
    place.told(&["verify", folder.to_str().unwrap(), "--against", kept]);

    let tampered = place.at("tampered");
    let files = all_files(&folder).unwrap();
    let last = files.keys().rfind(|path| path.starts_with("tile/entries")).unwrap().clone();
    let mut changes: Vec<(&str, Change)> = Vec::new();
    for (path, bytes) in &files {
        let (path, bytes) = (path.clone(), bytes.clone());
        let is_hash = path.starts_with("tile") && !path.starts_with("tile/entries");
        changes.push((
            if is_hash { "a hash" } else { "a bit" },
            Box::new(move |folder| {
                let mut bytes = bytes.clone();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(folder.join(&path), bytes).unwrap();
            }),
        ));
    }
    for path in files.keys().filter(|path| !path.starts_with("texts")) {
        let path = path.clone();
        let is_hash = path.starts_with("tile") && !path.starts_with("tile/entries");
        changes.push((
            if is_hash { "a hash" } else { "a file gone" },
            Box::new(move |folder| std::fs::remove_file(folder.join(&path)).unwrap()),
        ));
    }
    changes.push(("a file more", Box::new(|folder| std::fs::write(folder.join("tile/0/002"), [0; 32]).unwrap())));
    changes.push((
        "the end cut off",
        Box::new(move |folder| {
            let path = folder.join(&last);
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.truncate(bytes.len() - 1);
            std::fs::write(path, bytes).unwrap();
        }),
    ));
    changes.push((
        "a line doubled",
        Box::new(|folder| {
            let text = std::fs::read_to_string(folder.join("openings.jsonl")).unwrap();
            let line = text.lines().last().unwrap().to_owned();
            std::fs::write(folder.join("openings.jsonl"), format!("{text}{line}\n")).unwrap();
        }),
    ));
    assert!(changes.len() > 15);
    for (what, change) in changes {
        copied(&folder, &tampered);
        change(&tampered);
        let (code, text) = script(&tampered, &[]);
        // The script makes every hash from the records, and does not look at the tiles of hashes.
        let is_seen = what != "a hash" && what != "a file more";
        assert_eq!(code, if is_seen { 4 } else { 0 }, "{what}: {text}");
        let found = verify_files(&all_files(&tampered).unwrap(), Vec::new(), None);
        assert!(!found.is_ok_and(|answer| answer.is_sound()), "{what}");
    }
    let output = place.run("", &["audit", "verify", tampered.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(4));
}

#[tokio::test]
async fn au_01_every_bit_of_an_exported_folder_counts() {
    let place = Place::new();
    place.begun(1).await;
    let files = all_files(&place.exported()).unwrap();
    assert!(verify_files(&files, Vec::new(), None).unwrap().is_sound());
    let flips: Vec<(&PathBuf, usize, u8)> = files
        .iter()
        .flat_map(|(path, bytes)| (0..bytes.len() * 8).map(move |bit| (path, bit / 8, 1_u8 << (bit % 8))))
        .collect();
    assert!(flips.len() > 10_000, "{} bits", flips.len());
    let unseen = |flips: &[(&PathBuf, usize, u8)]| {
        let mut files = files.clone();
        let mut unseen = Vec::new();
        for (path, byte, bit) in flips {
            files.get_mut(*path).unwrap()[*byte] ^= bit;
            if verify_files(&files, Vec::new(), None).is_ok_and(|answer| answer.is_sound()) {
                unseen.push(format!("{} byte {byte} bit {bit}", path.display()));
            }
            files.get_mut(*path).unwrap()[*byte] ^= bit;
        }
        unseen
    };
    let unseen: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> = flips.chunks(flips.len() / 2 + 1).map(|part| scope.spawn(|| unseen(part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert_eq!(unseen, Vec::<String>::new());
}

#[tokio::test]
async fn verify_exits_4_where_the_store_is_not_what_was_kept() {
    let place = Place::new();
    assert_eq!(place.told(&["verify"]), "There is no ledger yet; it begins with the first write.\n");
    place.begun(2).await;
    let kept = place.at("kept");
    let kept = kept.to_str().unwrap();
    assert!(place.told(&["verify", "--against", kept]).contains("sound, and as the kept checkpoints say (records: 3)"));
    assert_eq!(std::fs::read(place.at("copied")).unwrap(), std::fs::read(place.at("kept/checkpoint")).unwrap());
    // The store is removed, and begun anew under the same key.
    for name in ["w.db", "w.db-wal", "w.db-shm"] {
        let _ = std::fs::remove_file(place.at(name));
    }
    let lost = place.run("", &["audit", "verify", "--against", kept]);
    assert_eq!(lost.status.code(), Some(4));
    let app = place.app();
    let (database, ledger) = place.ledger(&app).await;
    ledger.shut().await;
    database.close().await;
    let output = place.run("", &["audit", "verify", "--against", kept, "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        answer["findings"][0]["what"],
        "the log had 3 records and has 1: its end was cut off, or an old copy restored"
    );
}

#[tokio::test]
async fn au_05_a_second_process_that_wants_to_write_is_refused_and_readers_are_not() {
    let place = Place::new();
    place.begun(1).await;
    let app = place.app();
    let (database, ledger) = place.ledger(&app).await;
    let refused = place.run("", &["audit", "rotate-key"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains(&format!("another process (pid {}) writes to the ledger", std::process::id())), "{said}");
    place.told(&["list", "--all"]);
    place.told(&["verify"]);
    place.exported();
    ledger.shut().await;
    database.close().await;
}

#[tokio::test]
async fn a_sealed_value_is_gone_from_what_is_shown_and_exported_and_all_of_it_still_verifies() {
    // Persons who share a user of the machine have a token each.
    let place = Place::of(
        "[people.ann]\ngroups = [\"auditors\"]\n[people.bob]\ngroups = [\"auditors\"]\n[people.eve]\ngroups = [\"oncall\"]\n",
    );
    place.begun(1).await;
    let token = |person: &str| {
        let output = place.run("", &["token", "new", person, "--json"]);
        let issued: Value = serde_json::from_slice(&output.stdout).unwrap();
        issued["token"].as_str().unwrap().to_owned()
    };
    let (ann, bob, eve) = (token("ann"), token("bob"), token("eve"));
    let seal = ["audit", "seal", "1", "--field", "build", "--reason", "it was private"];
    let told = |token: &str| {
        let output = place.run(token, &seal);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    assert!(told("").contains("$WARRANT_TOKEN"), "{}", told(""));
    assert!(told(&eve).contains("`eve` may not do this"), "{}", told(&eve));
    assert_eq!(told(&ann), "It waits for a second person, who runs the same command.\n");
    assert_eq!(told(&ann), "It waits for a second person, who runs the same command.\n");
    let sealed = told(&bob);
    assert!(sealed.starts_with("Sealed; record "), "{sealed}");
    let shown: Value = serde_json::from_str(&place.told(&["show", "1", "--json"])).unwrap();
    assert_eq!(shown["records"][0]["sealed"], serde_json::json!(["build"]));
    assert!(place.told(&["show", "1"]).contains("  build: (sealed)"));
    let folder = place.exported();
    let (code, text) = script(&folder, &[]);
    assert_eq!(code, 0, "{text}");
    assert!(place.told(&["verify", folder.to_str().unwrap()]).contains("1 value sealed by two persons"));
    // Without the record that says so, it is a value that somebody took away.
    let mut files = all_files(&folder).unwrap();
    let text = String::from_utf8(files[Path::new("openings.jsonl")].clone()).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[1]["openings"].as_object_mut().unwrap().shift_remove("texts");
    let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n") + "\n";
    files.insert("openings.jsonl".into(), text.into_bytes());
    let found = verify_files(&files, Vec::new(), None).unwrap();
    assert_eq!(found.verified.findings[0].what, "its value of `texts` is missing, and nobody sealed it");
}

#[tokio::test]
async fn a_rotated_key_is_a_record_and_exports_verify_under_the_first_one() {
    let place = Place::new();
    place.begun(1).await;
    let before = std::fs::read_to_string(place.at("w.db.key")).unwrap();
    let answer: Value = serde_json::from_str(&place.told(&["verify", "--json"])).unwrap();
    let first = answer["key"].as_str().unwrap().to_owned();
    let said = place.told(&["rotate-key"]);
    assert_ne!(std::fs::read_to_string(place.at("w.db.key")).unwrap(), before);
    let folder = place.exported();
    for key in [first.as_str(), said.lines().nth(1).unwrap()] {
        let (code, text) = script(&folder, &["--key", key]);
        assert_eq!(code, 0, "{text}");
        place.told(&["verify", folder.to_str().unwrap(), "--key", key]);
    }
}

#[tokio::test]
async fn looks_are_recorded_before_anything_is_shown() {
    let place = Place::new();
    place.begun(1).await;
    place.told(&["list"]);
    place.told(&["show", "0"]);
    let lines = place.told(&["list", "--looks", "--json"]);
    let looks: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |field: &str| looks.iter().rev().map(|it| it["fields"][field].clone()).collect::<Vec<_>>();
    assert_eq!(of("command"), [Value::Null, "list".into(), "show".into(), "list --looks".into()]);
    assert_eq!(of("person"), [Value::Null, "ann".into(), "ann".into(), "ann".into()]);
}

#[tokio::test]
async fn exports_for_people_hold_every_record_and_no_formula() {
    let place = Place::new();
    place.begun(2).await;
    let lines = place.told(&["export"]);
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = records.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["log_opened", "policy_loaded", "policy_loaded", "checkpoint"]);
    assert!(records.iter().all(|it| it["record"].as_str().unwrap().starts_with("{\"commitments\":")));
    let table = place.at("ledger.csv");
    place.told(&["export", "--format", "csv", "--output", table.to_str().unwrap()]);
    let table = std::fs::read_to_string(table).unwrap();
    assert_eq!(table.matches("\r\n").count(), 5);
    assert!(table.lines().skip(1).all(|line| !line.split("\",\"").any(|cell| cell.starts_with(['=', '+', '-', '@']))));
    // What is there is not written over.
    let again =
        place.run("", &["audit", "export", "--format", "csv", "--output", place.at("ledger.csv").to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1));
}

#[tokio::test]
async fn what_is_in_force_is_recorded_once_and_its_texts_are_kept() {
    let place = Place::new();
    for _ in 0..2 {
        assert_eq!(place.run("", &["approvals", "list"]).status.code(), Some(0));
    }
    let lines = place.told(&["list", "--all", "--json"]);
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| records.iter().filter(|it| it["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("config_changed").len(), of("policy_loaded").len(), of("people_changed").len()), (1, 1, 1));
    let folder = place.exported();
    let texts = of("config_changed")[0]["fields"]["texts"].as_object().unwrap();
    assert!(texts.len() > 20);
    for (name, digest) in texts {
        let text = std::fs::read_to_string(folder.join("texts").join(digest.as_str().unwrap())).unwrap();
        assert!(name != "config" || text.contains("publish_command"), "{text}");
    }
    // Another text in its place is no text of that digest.
    let mut files = all_files(&folder).unwrap();
    let (path, _) =
        files.iter().find(|(path, _)| path.starts_with("texts")).map(|(path, it)| (path.clone(), it)).unwrap();
    files.insert(path, b"permit(principal, action, resource);".to_vec());
    assert!(!verify_files(&files, Vec::new(), None).unwrap().is_sound());
}
