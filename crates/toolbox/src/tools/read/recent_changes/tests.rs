//! Changes as the model sees them, from a small repository made here.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::catalog::service::{RepoPaths, Service, WorkspaceFiles};
use crate::catalog::source::{DirSource, Sources};
use crate::tools::process::Program;
use crate::tools::read::calling::{items, read, refused};
use crate::tools::read::sight::AllBut;
use crate::tools::sources::changes::fixture::{Repo, set_time};
use crate::tools::workspace::Workspaces;
use crate::tools::workspace::protected::OwnFiles;

fn tool(repo: &Repo) -> Arc<dyn ReadTool> {
    tool_of(repo, AllBut(&[]))
}

fn tool_of(repo: &Repo, sight: AllBut) -> Arc<dyn ReadTool> {
    let dir = || DirSource { dir: repo.dir.path().to_owned() };
    let sources = Sources {
        repositories: BTreeMap::from([("conf".parse().unwrap(), dir())]),
        workspaces: BTreeMap::from([("conf".parse().unwrap(), dir())]),
        ..Sources::default()
    };
    let service = |path: &str| Service {
        changes: vec![RepoPaths { repository: "conf".parse().unwrap(), paths: vec![path.to_owned()] }],
        files: vec![WorkspaceFiles { workspace: "conf".parse().unwrap(), path: path.to_owned() }],
        ..Service::default()
    };
    let services = BTreeMap::from([
        ("cart".parse().unwrap(), service("cart")),
        ("pay".parse().unwrap(), service("pay")),
        ("idle".parse().unwrap(), Service::default()),
    ]);
    let workspaces = Arc::new(Workspaces::open(&sources.workspaces, OwnFiles::default()).unwrap());
    let catalog = Arc::new(Catalog::new(services, sources).unwrap());
    let changes = Changes::new(Arc::clone(&catalog), workspaces, Program::find("git"));
    recent_changes(catalog, changes, Arc::new(sight))
}

fn shop() -> Repo {
    let repo = Repo::new();
    repo.write("cart/app.toml", "[pool]\nmax_connections = 50\nwait = \"1s\"\n\n[log]\nlevel = \"info\"\n");
    repo.write("pay/app.yml", "http:\n  timeout: 30\n  retries: 2\n");
    repo.write("pay/.env", "TOKEN=1\n");
    repo.commit("First", "2026-01-10T00:00:00Z");
    repo.write("cart/app.toml", "[pool]\nmax_connections = 5\nwait = \"2s\"\n\n[log]\nlevel = \"info\"\n");
    repo.write("pay/.env", "TOKEN=2\n");
    repo.commit("Save memory", "2026-02-03T11:00:00Z");
    repo.write("pay/app.yml", "http:\n  timeout: 30\n");
    repo.write("pay/new.txt", "hello\n");
    for file in ["cart/app.toml", "pay/.env", "pay/app.yml", "pay/new.txt"] {
        set_time(&repo.dir.path().join(file), "2026-02-03T11:30:00Z");
    }
    repo
}

const SINCE: &str = "2026-02-03T00:00:00Z";

#[tokio::test]
async fn changes_of_services_that_the_requester_may_not_read_are_counted_and_not_shown() {
    let repo = shop();
    let window = json!({ "since": "2026-01-01T00:00:00Z", "until": "2026-02-03T12:00:00Z" });
    let all = read(&*tool(&repo), window.clone()).await.unwrap();
    let of_pay = |rows: &[Value]| rows.iter().filter(|row| row["service"] == "pay").count();
    assert!(of_pay(items(&all)) > 0);
    let shown = read(&*tool_of(&repo, AllBut(&["pay"])), window).await.unwrap();
    let rows = items(&shown);
    assert!(!rows.is_empty() && of_pay(rows) == 0 && !json!(rows).to_string().contains("pay/"), "{rows:?}");
    let hidden = of_pay(items(&all));
    let told = format!("{hidden} changes of services that the requester may not read are not shown");
    assert!(shown.left_out.clone().unwrap().contains(&told), "{:?}", shown.left_out);
}

#[tokio::test]
async fn changes_of_all_services_newest_first() {
    let repo = shop();
    let output = read(&*tool(&repo), json!({ "since": SINCE })).await.unwrap();
    insta::assert_json_snapshot!(output.summary, @r#"
    {
      "window": {
        "since": "2026-02-03T00:00:00.000Z",
        "until": "2026-02-03T12:00:00.000Z"
      },
      "commits": 3,
      "uncommitted": 2,
      "modified": 0,
      "deploys": 0,
      "sources_read": [
        "repositories.conf",
        "workspaces.conf:cart",
        "workspaces.conf:pay"
      ],
      "sources_failed": []
    }
    "#);
    insta::assert_json_snapshot!(items(&output), @r#"
    [
      {
        "kind": "uncommitted",
        "at": "2026-02-03T11:30:00.000Z",
        "service": "pay",
        "repository": "conf",
        "file": "pay/app.yml",
        "line": 2,
        "key": "http.retries",
        "before": [
          "  retries: 2"
        ],
        "after": []
      },
      {
        "kind": "uncommitted",
        "at": "2026-02-03T11:30:00.000Z",
        "service": "pay",
        "repository": "conf",
        "file": "pay/new.txt",
        "line": 1,
        "before": [],
        "after": [
          "hello"
        ],
        "note": "new file"
      },
      {
        "kind": "commit",
        "at": "2026-02-03T11:00:00.000Z",
        "service": "cart",
        "repository": "conf",
        "file": "cart/app.toml",
        "line": 2,
        "key": "pool.max_connections",
        "before": [
          "max_connections = 50"
        ],
        "after": [
          "max_connections = 5"
        ],
        "author": "Ada",
        "commit": "f6ad879103ab",
        "subject": "Save memory"
      },
      {
        "kind": "commit",
        "at": "2026-02-03T11:00:00.000Z",
        "service": "cart",
        "repository": "conf",
        "file": "cart/app.toml",
        "line": 3,
        "key": "pool.wait",
        "before": [
          "wait = \"1s\""
        ],
        "after": [
          "wait = \"2s\""
        ],
        "author": "Ada",
        "commit": "f6ad879103ab",
        "subject": "Save memory"
      },
      {
        "kind": "commit",
        "at": "2026-02-03T11:00:00.000Z",
        "service": "pay",
        "repository": "conf",
        "file": "pay/.env",
        "note": "protected: content is never shown",
        "author": "Ada",
        "commit": "f6ad879103ab",
        "subject": "Save memory"
      }
    ]
    "#);
    assert_eq!(output.left_out, None);
}

#[tokio::test]
async fn only_what_concerns_the_service() {
    let repo = shop();
    let output = read(&*tool(&repo), json!({ "since": SINCE, "service": "cart", "limit": 1 })).await.unwrap();
    let [row] = items(&output) else { panic!("{:?}", output.rows) };
    assert_eq!((&row["service"], &row["key"]), (&json!("cart"), &json!("pool.max_connections")));
    assert_eq!(output.left_out.as_deref(), Some("1 older changes; narrow the window or raise `limit`"));
    let idle = read(&*tool(&repo), json!({ "since": SINCE, "service": "idle" })).await.unwrap();
    assert!(idle.summary["note"].as_str().unwrap().starts_with("nothing tells of changes here"));
    assert_eq!(idle.left_out, None, "nothing is missing that could be seen");
}

#[test]
fn a_window_that_ends_before_it_begins_is_refused() {
    let args = json!({ "since": SINCE, "until": "2026-02-02T00:00:00Z" });
    assert_eq!(refused(&*tool(&Repo::new()), args)[0].message, "`since` must lie before `until`");
}
