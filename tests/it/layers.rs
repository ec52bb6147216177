//! Who may import whom, how long a file may be, and what only certain files may name.
//!
//! Crates hold the large floors; here stand the modules within a crate. What counts is every path in the code: `use` trees,
//! inline paths, re-exports and macros alike, comments and texts left out.

mod paths;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paths::Paths;

/// A module: its floor, and what it may import. `parts` may be whole modules (`agent`, `kernel::domain`), whole crates
/// (`kernel`), or one module within (`model::config`).
struct Row {
    module: &'static str,
    floor: u8,
    may: &'static [&'static str],
}

const fn row(floor: u8, module: &'static str, may: &'static [&'static str]) -> Row {
    Row { module, floor, may }
}

/// The table, lowest floor first.
const TABLE: &[Row] = &[
    row(0, "kernel::domain", &[]),
    row(1, "kernel::people", &["kernel::domain"]),
    row(1, "kernel::redact", &["kernel::domain"]),
    row(1, "kernel::policy", &["kernel::domain"]),
    row(1, "kernel::db", &["kernel::domain"]),
    row(2, "kernel::ledger", &["kernel::domain", "kernel::db"]),
    row(2, "kernel::store", &["kernel::domain", "kernel::db"]),
    row(
        3,
        "kernel::call",
        &[
            "kernel::domain",
            "kernel::people",
            "kernel::redact",
            "kernel::policy",
            "kernel::db",
            "kernel::ledger",
            "kernel::store",
        ],
    ),
    row(4, "toolbox::catalog", &["kernel::domain"]),
    row(4, "toolbox::analysis", &["kernel::domain"]),
    row(5, "toolbox::runbook", &["kernel::domain"]),
    row(6, "toolbox::tools", &["kernel", "toolbox::catalog", "toolbox::analysis", "toolbox::runbook"]),
    row(7, "warrant::agent", &["kernel", "toolbox::catalog", "toolbox::analysis", "toolbox::runbook"]),
    row(8, "warrant::model", &["kernel", "toolbox::catalog", "toolbox::runbook", "warrant::agent"]),
    row(8, "warrant::chat", &["kernel", "toolbox::catalog", "toolbox::runbook", "warrant::agent"]),
    row(8, "warrant::alert", &["kernel", "toolbox::catalog", "toolbox::runbook", "warrant::agent"]),
    row(8, "warrant::web", &["kernel", "toolbox::catalog", "toolbox::runbook", "warrant::agent"]),
    row(8, "warrant::telemetry", &["kernel::domain", "kernel::redact", "toolbox::catalog", "warrant::agent"]),
    // The types in which the parts' own sections of the config are read.
    row(
        9,
        "warrant::config",
        &[
            "kernel::domain",
            "kernel::people",
            "toolbox::catalog",
            "warrant::model::config",
            "warrant::chat::slack::config",
            "warrant::alert::config",
            "warrant::web::config",
            "warrant::telemetry::config",
        ],
    ),
    row(
        10,
        "warrant::app",
        &[
            "kernel",
            "toolbox",
            "warrant::agent",
            "warrant::model",
            "warrant::chat",
            "warrant::alert",
            "warrant::web",
            "warrant::config",
            "warrant::telemetry",
        ],
    ),
    row(
        11,
        "warrant::demo",
        &["kernel", "toolbox", "warrant::agent", "warrant::model", "warrant::config", "warrant::app"],
    ),
    row(12, "warrant::main", &["kernel::domain", "warrant::app", "warrant::demo"]),
];

/// The crates: the name in the table, the name in paths, and where the sources lie.
const CRATES: [(&str, &str, &str); 3] = [
    ("kernel", "warrant_kernel", "crates/kernel/src"),
    ("toolbox", "warrant_toolbox", "crates/toolbox/src"),
    ("warrant", "warrant", "src"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a directory of the project, sorted, by their paths from its top.
fn sources(under: &str) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root().join(under)]);
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(!found.is_empty(), "no Rust file below `{under}`");
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The module of a file within its crate: `["call", "schema"]` of `crates/kernel/src/call/schema.rs`.
fn module_of(path: &Path, top: &str) -> Vec<String> {
    let inner = path.strip_prefix(top).unwrap().with_extension("");
    inner.iter().map(|part| part.to_str().unwrap().to_owned()).collect()
}

/// What one file imports of ours, as full paths that begin with the table's name of the crate.
fn imports(crate_name: &str, module: &[String], text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for path in Paths::of(text) {
        let Some((head, rest)) = path.split_first() else { continue };
        let known = CRATES.iter().find(|(_, in_paths, _)| head == in_paths);
        let full: Vec<String> = match (head.as_str(), known) {
            // `warrant` is a crate only in front of `::`, and there only for `main`.
            (_, Some((name, ..))) => std::iter::once((*name).to_owned()).chain(rest.iter().cloned()).collect(),
            ("crate", None) => {
                // The sources of the command are a crate of their own.
                let own: &[&str] = if module.first().is_some_and(|top| top == "main") { &["main"] } else { &[] };
                let within = own.iter().map(|name| (*name).to_owned());
                std::iter::once(crate_name.to_owned()).chain(within).chain(rest.iter().cloned()).collect()
            }
            // In a module at the top, `super` is the crate.
            ("super", None) if module.len() == 1 && is_module(crate_name, rest) => {
                std::iter::once(crate_name.to_owned()).chain(rest.iter().cloned()).collect()
            }
            _ => continue,
        };
        found.push(full);
    }
    found
}

fn is_module(crate_name: &str, rest: &[String]) -> bool {
    rest.first().is_some_and(|name| TABLE.iter().any(|row| row.module == format!("{crate_name}::{name}")))
}

fn allowed(row: &Row, import: &[String]) -> bool {
    let own: Vec<&str> = row.module.split("::").collect();
    let begins = |with: &[&str]| with.len() <= import.len() && with.iter().zip(import).all(|(a, b)| a == b);
    begins(&own) || row.may.iter().any(|may| begins(&may.split("::").collect::<Vec<_>>()))
}

#[test]
fn every_module_imports_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    let mut seen = BTreeMap::new();
    for (crate_name, _, top) in CRATES {
        for path in sources(top) {
            let text = read(&path);
            let module = module_of(&path, top);
            for path_in_code in Paths::of(&text) {
                if path_in_code.iter().filter(|part| *part == "super").count() > 1 {
                    wrong.push(format!("{}: `super::super`; say `crate::`", path.display()));
                }
            }
            let place = module.first().unwrap();
            if place == "lib" {
                if text.lines().any(|line| line.starts_with("use ") || line.starts_with("pub use ")) {
                    wrong.push(format!("{}: a root holds modules only, so that no name has two homes", path.display()));
                }
                continue;
            }
            let name = format!("{crate_name}::{place}");
            let Some(row) = TABLE.iter().find(|row| row.module == name) else {
                wrong.push(format!("{}: `{name}` has no floor; give it a row in the table", path.display()));
                continue;
            };
            *seen.entry(row.module).or_insert(0) += 1;
            for import in imports(crate_name, &module, &text) {
                if !allowed(row, &import) {
                    let (floor, import) = (row.floor, import.join("::"));
                    wrong.push(format!("{}: `{name}` (floor {floor}) imports `{import}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for row in TABLE {
        assert!(seen.contains_key(row.module), "`{}` has a row and no file", row.module);
    }
}

#[test]
fn an_import_up_or_along_is_seen_in_every_form() {
    let refused = |module: &str, text: &str| {
        let row = TABLE.iter().find(|row| row.module == module).unwrap();
        let (crate_name, place) = module.split_once("::").unwrap();
        let found = imports(crate_name, &[place.to_owned()], text);
        assert!(!found.is_empty(), "no import seen in `{text}`");
        found.iter().any(|import| !allowed(row, import))
    };
    assert!(refused("kernel::redact", "use crate::call::execute;"));
    assert!(refused("kernel::redact", "pub use super::policy::Policy;"));
    assert!(refused("toolbox::catalog", "use warrant_kernel::{domain::name, store::Store};"));
    assert!(refused("warrant::agent", "fn f() { crate::model::wire::send() }"));
    assert!(refused("warrant::agent", "use warrant_toolbox::tools::read;"));
    assert!(refused("warrant::config", "use crate::model::retry::Wait;"));
    assert!(refused("warrant::main", "use warrant::chat::terminal;"));
    assert!(!refused("warrant::config", "use crate::model::config::ModelConfig;"));
    assert!(!refused("warrant::main", "use crate::flags::Flags;"));
    assert!(!refused("toolbox::tools", "use crate::{analysis::mask, tools::sources};"));
}

/// The table itself: imports go down, and never along a floor.
#[test]
fn the_table_leads_downwards_only() {
    for row in TABLE {
        for may in row.may {
            let below = TABLE.iter().filter(|other| {
                other.module == *may
                    || other.module.starts_with(&format!("{may}::"))
                    || may.starts_with(&format!("{}::", other.module))
            });
            let floors: Vec<u8> = below.map(|other| other.floor).collect();
            assert!(!floors.is_empty(), "`{may}` of `{}` is no module", row.module);
            assert!(floors.iter().all(|floor| *floor < row.floor), "`{}` may not import `{may}`", row.module);
        }
    }
}

#[test]
fn no_file_has_more_than_400_lines() {
    let long: Vec<String> = ["src", "crates", "tests", "benches", "examples"]
        .into_iter()
        .flat_map(sources)
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > 400)
        .map(|(lines, path)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A call is made of definitions: a tool's name in its code would be a rule that the definition does not show. A text
/// may tell the reader where to look.
#[test]
fn call_names_no_tool() {
    let tools: Vec<String> = super::shipped::names("tools", "toml");
    let mut wrong = Vec::new();
    for path in sources("crates/kernel/src/call").into_iter().chain([PathBuf::from("crates/kernel/src/call.rs")]) {
        if path.ends_with("tests.rs") || path.iter().any(|part| part == "tests") {
            continue;
        }
        let text = read(&path);
        let names =
            tools.iter().filter(|tool| text.contains(&format!("\"{tool}\"")) || paths::words(&text).contains(*tool));
        wrong.extend(names.map(|tool| format!("{}: names `{tool}`", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn main_is_thin_and_only_app_names_all_parts() {
    assert!(read(Path::new("src/main.rs")).lines().count() <= 60, "main.rs takes flags and gives an exit code");
    let parts = ["agent", "model", "chat", "config", "telemetry"];
    for path in sources("src") {
        let module = module_of(&path, "src");
        if module.first().is_some_and(|top| top == "app") {
            continue;
        }
        let imported = imports("warrant", &module, &read(&path));
        let all = parts.iter().all(|part| imported.iter().any(|path| path.get(1).is_some_and(|name| name == part)));
        assert!(!all, "{} names all parts", path.display());
    }
}
