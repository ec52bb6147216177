//! What is found dry.

use std::sync::Arc;

use super::*;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::workspace::{OwnFiles, Workspaces};
use crate::tools::write::trying::catalog;

async fn found(services: &str) -> String {
    let outer = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(outer.path().join("ws/conf")).unwrap();
    std::fs::write(outer.path().join("ws/conf/app.toml"), "a = 1\n").unwrap();
    std::fs::write(outer.path().join("pid"), std::process::id().to_string()).unwrap();
    let at = outer.path().display().to_string();
    let catalog = catalog(&services.replace("AT", &at), Some(outer.path().join("ws")));
    let hands = Hands {
        workspaces: Arc::new(Workspaces::open(&catalog.sources().workspaces, OwnFiles::default()).unwrap()),
        clients: Arc::new(HttpClients::new(&catalog, &|_| None).unwrap()),
        catalog,
        kept: outer.path().join("kept"),
    };
    let user = user_name(rustix::process::geteuid().as_raw());
    let mut told: Vec<String> = Vec::new();
    for Finding { what, outcome } in check(&hands).await {
        let (mark, says) = match outcome {
            Ok(says) => ("ok", says),
            Err(why) => ("FAIL", why),
        };
        told.push(format!("{mark} {what}: {says}").replace(&at, "AT").replace(&user, "USER"));
    }
    assert_eq!(hands.tools().len(), 5);
    told.join("\n")
}

#[tokio::test]
async fn what_works_and_what_does_not_is_told_with_what_to_do() {
    let services = r#"
[services.shop]
files = [{ workspace = "ws", path = "conf" }, { workspace = "ws", path = "conf/app.toml" }]
temp_files = [{ workspace = "ws", path = "nosuch/over.toml" }]
validate = [{ workspace = "ws", path = "conf", argv = ["no-such-validator", "{file}"] }]
restart = { manager = "command", argv = ["/bin/true"], pid_file = "AT/pid" }
[services.other]
restart = { manager = "runit", dir = "AT/nosuch" }
"#;
    insta::assert_snapshot!(found(services).await, @r#"
    ok writes: undo directory: AT/kept
    FAIL services.other: restart: reading `AT/nosuch/run` failed: No such file or directory (os error 2)
    ok services.shop: files ws:conf: may be replaced in AT/ws/conf
    ok services.shop: files ws:conf/app.toml: may be replaced in AT/ws/conf
    FAIL services.shop: temp_files ws:nosuch/over.toml: user USER can't replace files there (No such file or directory (os error 2)): give it the directory (group, ACL) and name it in `ReadWritePaths` of its unit; without it the file can be read and not edited
    FAIL services.shop: validate: there is no program `no-such-validator`: install it, or name it by its absolute path
    ok services.shop: restart: "/bin/true" through command: runs; it has no `health` URL, so only its process shows that it came back
    "#);
}
