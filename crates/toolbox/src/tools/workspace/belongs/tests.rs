//! Whose a path is, and that a link does not make it anybody's.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::catalog::source::{DirSource, Sources};
use crate::tools::workspace::root::FileError;
use crate::tools::workspace::{OwnFiles, Workspaces};

fn catalog(dir: &std::path::Path) -> Catalog {
    let services: BTreeMap<ServiceName, Service> = toml::from_str(
        r#"
        [checkout]
        environment = "production"
        owner = "ann"
        files = [{ workspace = "shop", path = "checkout" }, { workspace = "shop", path = "shared.toml" }]
        [lab]
        environment = "staging"
        files = [{ workspace = "shop", path = "checkout/lab" }, { workspace = "shop", path = "shared.toml" }]
        [ledger]
        environment = "restricted"
        files = [{ workspace = "books", path = "ledger/2026" }]
        "#,
    )
    .unwrap();
    let source = |name: &str| (name.parse().unwrap(), DirSource { dir: dir.join(name) });
    let sources = Sources { workspaces: BTreeMap::from([source("shop"), source("books")]), ..Sources::default() };
    Catalog::new(services, sources).unwrap()
}

fn yard() -> (tempfile::TempDir, Workspaces) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("shop/checkout/lab")).unwrap();
    fs::create_dir_all(dir.path().join("books/ledger/2026")).unwrap();
    fs::write(dir.path().join("books/ledger/2026/q1.csv"), "secret figures").unwrap();
    fs::write(dir.path().join("books/readme"), "open").unwrap();
    let catalog = catalog(dir.path());
    let belongings = Belongings::of(&catalog).unwrap();
    let (workspaces, errors) = Workspaces::open_for(&catalog.sources().workspaces, OwnFiles::default(), belongings);
    assert!(errors.is_empty(), "{errors:?}");
    (dir, workspaces)
}

#[test]
fn a_path_is_its_services() {
    let (_dir, workspaces) = yard();
    let told = |text: &str| {
        let target = match text {
            "*" => workspaces.target(None).unwrap(),
            _ => workspaces.target(Some(&workspaces.place("path", text).unwrap())).unwrap(),
        };
        let part = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        let (service, environment) = (target.service.map(String::from), target.environment.map(String::from));
        format!("{text}: {} {} {}", part(service), part(environment), part(target.owner.map(String::from)))
    };
    let lines = [
        "shop:checkout",
        "shop:checkout/app.toml",
        "shop:checkout/lab/app.toml",
        "shop:checkouts/app.toml",
        "shop:shared.toml",
        "shop:.",
        "books:ledger/2026/q1.csv",
        "books:ledger/2026",
        "books:ledger/2025/q1.csv",
        "books:ledger",
        "books:.",
        "*",
    ]
    .map(told);
    insta::assert_snapshot!(lines.join("\n"), @r"
    shop:checkout: checkout production ann
    shop:checkout/app.toml: checkout production ann
    shop:checkout/lab/app.toml: lab staging -
    shop:checkouts/app.toml: - - -
    shop:shared.toml: checkout production ann
    shop:.: - - -
    books:ledger/2026/q1.csv: ledger restricted -
    books:ledger/2026: ledger restricted -
    books:ledger/2025/q1.csv: - - -
    books:ledger: ledger restricted -
    books:.: ledger restricted -
    *: ledger restricted -
    ");
}

#[test]
fn a_link_does_not_open_what_is_restricted() {
    let (dir, workspaces) = yard();
    symlink("ledger/2026/q1.csv", dir.path().join("books/open.csv")).unwrap();
    symlink("ledger/2026", dir.path().join("books/open")).unwrap();
    symlink("readme", dir.path().join("books/about")).unwrap();
    let open = |text: &str| {
        let place = workspaces.place("path", text).unwrap();
        place.root.file(&place.path).map(|_| ())
    };
    for link in ["books:open.csv", "books:open/q1.csv"] {
        let error = open(link).unwrap_err();
        assert!(matches!(&error, FileError::Elsewhere { real, .. } if real == "ledger/2026/q1.csv"), "{link}: {error}");
    }
    let place = workspaces.place("path", "books:open").unwrap();
    assert!(matches!(place.root.directory(&place.path), Err(FileError::Elsewhere { .. })));
    open("books:about").unwrap();
    open("books:ledger/2026/q1.csv").unwrap();
}

#[test]
fn a_path_of_the_catalog_that_is_none_is_told() {
    let services: BTreeMap<ServiceName, Service> =
        toml::from_str("[ledger]\nfiles = [{ workspace = \"books\", path = \"../ledger\" }]\n").unwrap();
    let dir = DirSource { dir: "/tmp".into() };
    let sources = Sources { workspaces: BTreeMap::from([("books".parse().unwrap(), dir)]), ..Sources::default() };
    let errors = Belongings::of(&Catalog::new(services, sources).unwrap()).unwrap_err();
    insta::assert_snapshot!(errors[0], @"service `ledger`: `files` names `../ledger`: the path holds a part that begins with `..`; write the whole path from the workspace root");
}
