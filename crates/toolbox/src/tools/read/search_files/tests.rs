//! What is found, what is passed over, and that it is said.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::catalog::source::DirSource;
use crate::tools::read::calling::{items, lines, read, reason, refused};
use crate::tools::read::list_files::list_files;
use crate::tools::sources::changes::fixture::set_time;
use crate::tools::workspace::protected::OwnFiles;

struct Yard {
    dir: TempDir,
    search: Arc<dyn ReadTool>,
    list: Arc<dyn ReadTool>,
}

fn yard(files: &[(&str, &str)]) -> Yard {
    let dir = tempfile::tempdir().unwrap();
    for (file, content) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        set_time(&path, "2026-02-03T04:05:06Z");
    }
    let sources = BTreeMap::from([("w".parse().unwrap(), DirSource { dir: dir.path().to_owned() })]);
    let workspaces = Arc::new(Workspaces::open(&sources, OwnFiles::default()).unwrap());
    Yard { dir, search: search_files(Arc::clone(&workspaces)), list: list_files(workspaces) }
}

fn shop() -> Yard {
    yard(&[
        ("app.toml", "[pool]\nmax = 50\nwait = 1\n"),
        ("conf/db.yml", "max: 5\nhost: db\n"),
        ("conf/deep/x.yml", "MAX: 7\r\n"),
        (".env", "max=secret\n"),
        (".git/config", "max=secret\n"),
        ("bin", "max = 1\0"),
    ])
}

#[tokio::test]
async fn matches_as_the_model_sees_them() {
    let output = read(&*shop().search, json!({ "pattern": "max", "context": 1, "ignore_case": true })).await.unwrap();
    insta::assert_json_snapshot!(json!([output.summary, lines(&output), output.left_out]), @r#"
    [
      {
        "matches": 3,
        "files_matched": 3,
        "files_searched": 4,
        "binary_files_skipped": 1
      },
      [
        "app.toml-1- [pool]",
        "app.toml:2: max = 50",
        "app.toml-3- wait = 1",
        "conf/db.yml:1: max: 5",
        "conf/db.yml-2- host: db",
        "conf/deep/x.yml:1: MAX: 7"
      ],
      "1 files are protected and were not searched"
    ]
    "#);
}

#[tokio::test]
async fn a_listing_as_the_model_sees_it() {
    let output = read(&*shop().list, json!({ "depth": 2, "limit": 5 })).await.unwrap();
    let files: Vec<&Value> = items(&output).iter().filter(|row| row["kind"] == "file").collect();
    let paths: Vec<&Value> = items(&output).iter().map(|row| &row["path"]).collect();
    insta::assert_json_snapshot!(json!([output.summary, paths, output.left_out]), @r#"
    [
      {
        "path": "",
        "entries": 7
      },
      [
        ".env",
        ".git",
        "app.toml",
        "bin",
        "conf"
      ],
      "2 more entries; raise `limit`, or name a `path` further down"
    ]
    "#);
    insta::assert_json_snapshot!(files.first(), @r#"
    {
      "path": ".env",
      "kind": "file",
      "size": 11,
      "modified": "2026-02-03T04:05:06.000Z",
      "protected": true
    }
    "#);
}

#[tokio::test]
async fn a_protected_file_is_listed_and_not_read() {
    let yard = shop();
    let output = read(&*yard.list, json!({})).await.unwrap();
    let protected: Vec<_> =
        items(&output).iter().filter(|row| row["protected"] == true).map(|row| &row["path"]).collect();
    assert_eq!(protected, [".env", ".git"]);
    for path in [".env", ".git", ".git/config"] {
        assert_eq!(
            reason(read(&*yard.search, json!({ "pattern": "max", "path": path })).await),
            "PROTECTED_FILE",
            "{path}"
        );
    }
    assert_eq!(reason(read(&*yard.list, json!({ "path": ".git" })).await), "PROTECTED_FILE");
    assert_eq!(reason(read(&*yard.list, json!({ "path": "none" })).await), "NOT_FOUND");
}

#[tokio::test]
async fn the_filter_and_the_limit_narrow_the_search() {
    let yard = shop();
    let found = async |args: Value| {
        let output = read(&*yard.search, args).await.unwrap();
        (lines(&output).into_iter().map(str::to_owned).collect::<Vec<_>>(), output.left_out)
    };
    let yml = json!({ "pattern": "(?i)max", "files": "*.yml" });
    assert_eq!(found(yml).await.0, ["conf/db.yml:1: max: 5", "conf/deep/x.yml:1: MAX: 7"]);
    let whole = json!({ "pattern": "(?i)max", "files": "conf/*.yml" });
    assert_eq!(found(whole).await.0, ["conf/db.yml:1: max: 5"]);
    let one = json!({ "pattern": "m|w", "path": "app.toml", "limit": 1 });
    let (rows, left_out) = found(one).await;
    assert_eq!(rows, ["app.toml:2: max = 50"]);
    assert!(left_out.unwrap().starts_with("stopped after 1 matches"));
    assert_eq!(found(json!({ "pattern": "max = 50", "limit": 1 })).await.0.len(), 1);
}

#[tokio::test]
async fn a_line_too_long_to_search_is_named_and_the_rest_is_found() {
    let yard = yard(&[("a.txt", "needle\n"), ("z.txt", "needle\n")]);
    fs::write(yard.dir.path().join("m.txt"), "x".repeat(100 * 1024 * 1024)).unwrap();
    let output = read(&*yard.search, json!({ "pattern": "needle" })).await.unwrap();
    assert_eq!(lines(&output), ["a.txt:1: needle", "z.txt:1: needle"]);
    assert!(output.left_out.unwrap().contains("1 files hold lines longer than 4 MiB"));
}

#[test]
fn every_problem_is_told_at_once() {
    let problems = refused(&*shop().search, json!({ "pattern": "(", "path": "../x" }));
    let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/pattern", "/path"]);
    assert_eq!(refused(&*shop().search, json!({ "pattern": "(a{1000}){1000}" })).len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_a_filter_that_matches_itself_if_it_is_plain(glob in ".{0,20}", plain in "[a-z.+(\\[$^]{1,10}") {
        prop_assert!(filter(&glob).is_ok());
        let filter = filter(&plain).unwrap();
        let longer = format!("{plain}x");
        let inside = format!("dir/{plain}");
        prop_assert!(filter.is_match(&plain) && filter.is_match(&inside) && !filter.is_match(&longer));
    }
}

#[tokio::test]
async fn ql_02_a_file_pattern_is_literal_but_for_its_stars() {
    let yard = yard(&[("a+b.(c)", "here\n"), ("aab.c", "here\n"), ("[x]{9}.toml", "here\n")]);
    for (files, found) in [("a+b.(c)", 1), ("*.(c)", 1), ("[x]{9}.*", 1), (".*", 0), ("a+b.c", 0), ("(a|a)*", 0)] {
        let output = read(&*yard.search, json!({ "pattern": "here", "files": files })).await.unwrap();
        assert_eq!(output.summary["matches"], found, "{files}");
    }
}

#[tokio::test]
async fn ql_02_a_pattern_that_grows_is_refused_and_one_that_explodes_elsewhere_is_linear() {
    let line = format!("{}b\n", "a".repeat(50_000));
    let yard = yard(&[("x.txt", &line)]);
    let told = refused(&*yard.search, json!({ "pattern": "(?:a{0,1000}){0,1000}" }));
    assert!(told[0].message.contains("`pattern`"), "{}", told[0].message);
    let output = read(&*yard.search, json!({ "pattern": "(a+)+$" })).await.unwrap();
    assert_eq!(output.summary["matches"], 0);
}
