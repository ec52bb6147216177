//! The law of rows: put together they are the edit. And what a hostile repository can't do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use serde_json::json;

use super::fixture::{Repo, set_time};
use super::*;
use crate::catalog::service::{RepoPaths, Service, WorkspaceFiles};
use crate::catalog::source::{DirSource, FileSource, Sources};
use crate::tools::workspace::protected::OwnFiles;

fn asked(service: Option<&str>) -> Asked {
    Asked {
        service: service.map(|name| name.parse().unwrap()),
        since: "2026-02-01T00:00:00Z".parse().unwrap(),
        until: "2026-02-03T00:00:00Z".parse().unwrap(),
    }
}

fn sources_of(repo: &Repo) -> Sources {
    let dir = DirSource { dir: repo.dir.path().to_owned() };
    Sources { repositories: BTreeMap::from([("repo".parse().unwrap(), dir)]), ..Sources::default() }
}

fn changes(services: BTreeMap<ServiceName, Service>, sources: Sources) -> Changes {
    let workspaces = Workspaces::open(&sources.workspaces, OwnFiles::default()).unwrap();
    let catalog = Catalog::new(services, sources).unwrap();
    Changes::new(Arc::new(catalog), Arc::new(workspaces), Program::find("git"))
}

async fn gathered(services: BTreeMap<ServiceName, Service>, sources: Sources, service: Option<&str>) -> Found {
    changes(services, sources).gather(&asked(service), &CancellationToken::new()).await.unwrap()
}

/// Undoes the rows on the new lines, from the last to the first.
fn undone(new: &[String], rows: &[Change]) -> Vec<String> {
    let mut lines = new.to_vec();
    let mut rows: Vec<&Change> = rows.iter().collect();
    // What was removed stood behind the line that it names.
    rows.sort_by_key(|row| std::cmp::Reverse((row.line, row.after.as_ref().unwrap().is_empty())));
    for row in rows {
        let (before, after) = (row.before.clone().unwrap(), row.after.clone().unwrap());
        let line = usize::try_from(row.line.unwrap()).unwrap();
        let start = if after.is_empty() { line } else { line - 1 };
        let replaced: Vec<String> = lines.splice(start..start + after.len(), before).collect();
        assert_eq!(replaced, after);
    }
    lines
}

fn content() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof!["(a|b|c|d) = [0-3]", "\\[(x|y)\\]", "[-+@ a]{0,4}", Just("diff --git a/x b/x".to_owned())];
    proptest::collection::vec(line, 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn rows_put_together_are_the_edit(
        old in content(),
        new in content(),
        file in prop_oneof![Just("app.toml"), Just("notes with space.txt"), Just("q\"uo\\te\té.yml")],
        committed in any::<bool>(),
    ) {
        let repo = Repo::new();
        let text = |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + line + "\n");
        repo.write(file, &text(&old));
        repo.commit("base", "2026-01-10T00:00:00Z");
        repo.write(file, &text(&new));
        if committed {
            repo.commit("edit", "2026-02-02T00:00:00Z");
        } else {
            set_time(&repo.dir.path().join(file), "2026-02-02T00:00:00Z");
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(gathered(BTreeMap::new(), sources_of(&repo), None));
        prop_assert_eq!(undone(&new, &found.changes), old);
        let kind = if committed { Kind::Commit } else { Kind::Uncommitted };
        prop_assert!(found.changes.iter().all(|row| row.kind == kind && row.file.as_deref() == Some(file)));
        prop_assert!(found.left_out.is_empty() && found.failed.is_empty());
    }
}

#[tokio::test]
async fn a_hostile_repository_runs_nothing_and_shows_nothing_from_elsewhere() {
    let (repo, marks) = (Repo::new(), tempfile::tempdir().unwrap());
    repo.write("app.toml", "limit = 1\n");
    repo.write(".gitattributes", "* filter=evil diff=evil\n");
    repo.commit("base", "2026-01-10T00:00:00Z");
    repo.write("app.toml", "limit = 2\n");
    repo.commit("edit", "2026-02-02T00:00:00Z");
    let program = marks.path().join("program");
    let mark = marks.path().join("ran");
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(repo.dir.path().join(".git/hooks")).unwrap();
    fs::copy(&program, repo.dir.path().join(".git/hooks/post-index-change")).unwrap();
    let program = program.to_str().unwrap();
    for key in [
        "filter.evil.clean",
        "filter.evil.process",
        "filter.evil.smudge",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "gpg.program",
        "pager.log",
        "pager.diff",
        "core.alternateRefsCommand",
        "interactive.diffFilter",
        "alias.log",
        "alias.diff",
        "core.editor",
    ] {
        repo.git(&["config", key, program], "");
    }
    for (key, value) in [
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.worktree", "/etc"),
        ("diff.noprefix", "true"),
        ("diff.context", "5"),
        ("color.ui", "always"),
        ("diff.renames", "copies"),
        ("format.pretty", "raw"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.interHunkContext", "9"),
        ("log.decorate", "full"),
        ("diff.relative", "true"),
    ] {
        repo.git(&["config", key, value], "");
    }
    repo.write("app.toml", "limit = 3\n");
    set_time(&repo.dir.path().join("app.toml"), "2026-02-02T12:00:00Z");
    let found = gathered(BTreeMap::new(), sources_of(&repo), None).await;
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    let rows: Vec<_> = found.changes.iter().map(|row| json!([row.kind, row.file, row.before, row.after])).collect();
    assert_eq!(
        json!(rows),
        json!([
            ["uncommitted", "app.toml", ["limit = 2"], ["limit = 3"]],
            ["commit", "app.toml", ["limit = 1"], ["limit = 2"]],
        ])
    );
    assert_eq!(found.failed, []);
}

#[tokio::test]
async fn one_source_that_fails_is_named_and_the_others_are_read() {
    let repo = Repo::new();
    repo.write("a.txt", "a\n");
    repo.commit("base", "2026-02-02T00:00:00Z");
    let mut sources = sources_of(&repo);
    sources.repositories.insert("none".parse().unwrap(), DirSource { dir: marks_nothing() });
    sources.deploys.insert("gone".parse().unwrap(), FileSource { file: "/no/such/log".into() });
    let found = gathered(BTreeMap::new(), sources, None).await;
    assert_eq!(found.read, ["repositories.repo"]);
    let failed: Vec<&str> = found.failed.iter().map(|failed| failed.source.as_str()).collect();
    assert_eq!(failed, ["repositories.none", "deploys.gone"]);
    assert_eq!(found.changes.len(), 1);
    let mut only = Sources::default();
    only.deploys.insert("gone".parse().unwrap(), FileSource { file: "/no/such/log".into() });
    let all_failed = changes(BTreeMap::new(), only).gather(&asked(None), &CancellationToken::new()).await;
    assert!(matches!(all_failed, Err(ReadError::Backend { reason: "ALL_SOURCES_FAILED", .. })));
}

/// A directory that is no repository, though it lies in one.
fn marks_nothing() -> std::path::PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/src").into()
}

#[tokio::test]
async fn a_merge_is_told_when_it_landed_and_a_flood_shows_settings_first() {
    let repo = Repo::new();
    repo.write("app.toml", "limit = 1\n");
    repo.commit("base", "2026-01-10T00:00:00Z");
    repo.git(&["checkout", "--quiet", "-b", "topic"], "");
    repo.write("app.toml", "limit = 2\n");
    for n in 0..80 {
        repo.write(&format!("a/{n}.txt"), "x\n");
    }
    repo.commit("topic", "2026-01-11T00:00:00Z");
    repo.git(&["checkout", "--quiet", "main"], "");
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge topic", "topic"], "2026-02-02T00:00:00Z");
    let found = gathered(BTreeMap::new(), sources_of(&repo), None).await;
    assert_eq!(found.changes.len(), 60);
    assert!(
        found.left_out.iter().any(|text| text.starts_with("21 more changed places of commit ")),
        "{:?}",
        found.left_out
    );
    let row = found.changes.iter().find(|row| row.file.as_deref() == Some("app.toml")).unwrap();
    assert_eq!((row.subject.as_deref(), row.key.as_deref()), (Some("Merge topic"), Some("limit")));
}

#[tokio::test]
async fn files_and_deploys_of_a_service() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["one/new.toml", "one/old.toml", "two.toml"] {
        fs::create_dir_all(dir.path().join("one")).unwrap();
        fs::write(dir.path().join(file), "x").unwrap();
        set_time(&dir.path().join(file), "2026-02-02T00:00:00Z");
    }
    set_time(&dir.path().join("one/old.toml"), "2025-01-01T00:00:00Z");
    let log = dir.path().join("deploys.jsonl");
    let entries = [
        r#"{"time":"2026-02-02T01:00:00Z","service":"one","version":"1.4","user":"ada","msg":"roll out"}"#,
        r#"{"ts":1769994000,"service":"two","version":7}"#,
        r#"{"at":1769997600000,"message":"everything"}"#,
        r#"{"time":"2026-01-01T00:00:00Z","service":"one"}"#,
        r#"{"time":"soon","service":"one"}"#,
        "no json",
    ];
    fs::write(&log, entries.join("\n")).unwrap();
    let name = || "d".parse().unwrap();
    let sources = Sources {
        workspaces: BTreeMap::from([("w".parse().unwrap(), DirSource { dir: dir.path().to_owned() })]),
        deploys: BTreeMap::from([(name(), FileSource { file: log })]),
        ..Sources::default()
    };
    let files = |path: &str| vec![WorkspaceFiles { workspace: "w".parse().unwrap(), path: path.to_owned() }];
    let one = Service { files: files("one"), deploys: vec![name()], ..Service::default() };
    let two = Service { files: files("two.toml"), ..Service::default() };
    let services = BTreeMap::from([("one".parse().unwrap(), one), ("two".parse().unwrap(), two)]);
    let found = gathered(services.clone(), sources.clone(), Some("one")).await;
    insta::assert_json_snapshot!(found.changes, @r#"
    [
      {
        "kind": "deploy",
        "at": "2026-02-02T02:00:00.000Z",
        "message": "everything"
      },
      {
        "kind": "deploy",
        "at": "2026-02-02T01:00:00.000Z",
        "service": "one",
        "version": "1.4",
        "by": "ada",
        "message": "roll out"
      },
      {
        "kind": "modified",
        "at": "2026-02-02T00:00:00.000Z",
        "service": "one",
        "file": "one/new.toml"
      }
    ]
    "#);
    assert_eq!(found.left_out, ["2 lines of `deploys.d` are no deploys (no JSON object with a time)"]);
    assert_eq!(found.read, ["deploys.d", "workspaces.w:one"]);
    let all = gathered(services, sources, None).await;
    assert_eq!(all.changes.len(), 5);
}

#[test]
fn the_nearest_path_above_a_file_names_its_service() {
    let paths = |paths: &[&str]| Service {
        changes: vec![RepoPaths {
            repository: "repo".parse().unwrap(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }],
        ..Service::default()
    };
    let services = BTreeMap::from([
        ("all".parse().unwrap(), paths(&[])),
        ("cart".parse().unwrap(), paths(&["svc/cart", "shared"])),
        ("pay".parse().unwrap(), paths(&["svc/pay/", "shared"])),
    ]);
    let repo: SourceName = "repo".parse().unwrap();
    let sources =
        Sources { repositories: BTreeMap::from([(repo.clone(), DirSource { dir: "/".into() })]), ..Sources::default() };
    let catalog = Catalog::new(services, sources).unwrap();
    let owners = repository::Owners::new(&catalog, &asked(None), &repo);
    for (file, names) in [
        ("svc/cart/app.toml", vec!["cart"]),
        ("svc/pay/app.toml", vec!["pay"]),
        ("svc/payments.toml", vec!["all"]),
        ("shared/x", vec!["cart", "pay"]),
    ] {
        assert_eq!(owners.of(file), names, "{file}");
    }
}
