//! One replacement, from what the model saw to the bytes on disk.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{Value, json};
use warrant_kernel::call::write::Held as IsHeld;
use warrant_kernel::domain::plan::DiffLine;
use warrant_kernel::domain::result::ToolResult;

use super::*;
use crate::tools::write::trying::{Yard, looking, plan, preview, problems, reason};

const POOL: &str = "[pool]\nmax = 5\nmin = 1\n";

fn tool(yard: &Yard) -> Edit {
    Edit { files: Arc::clone(&yard.files), only: None }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

async fn approved(yard: &Yard, path: &str, old: &str, new: &str) -> Plan {
    let seen = [yard.read(path, 1, 400).await];
    let (tool, args) = (tool(yard), edit(path, old, new));
    let preview = preview(&tool, &args, &seen).await.unwrap();
    plan(&tool, "edit_config", &args, preview)
}

async fn refusal(yard: &Yard, args: &Value, seen: &[ToolResult]) -> &'static str {
    reason(preview(&tool(yard), args, seen).await)
}

#[tokio::test]
async fn a_preview_says_what_would_change_and_what_is_kept() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    fs::set_permissions(yard.path("conf/pool.toml"), fs::Permissions::from_mode(0o640)).unwrap();
    let plan = approved(&yard, "conf/pool.toml", "max = 5", "max = 50").await;
    let preview = plan.preview;
    insta::assert_snapshot!(preview.effect, @"overwrites ws:conf/pool.toml: 1 line removed, 1 line added");
    insta::assert_snapshot!(preview.notes.join("; "), @"configuration of `shop`; depend on `shop`: `front`");
    assert_eq!(preview.bound["path"], "ws:conf/pool.toml");
    assert_eq!(preview.bound["sha256"], sha256(POOL.as_bytes()));
    assert_eq!(preview.bound["sha256_after"], sha256(b"[pool]\nmax = 50\nmin = 1\n"));
    assert_eq!(preview.shown["mode"], "0640");
    assert_eq!(preview.shown["toml"], "parses");
    assert_eq!((preview.shown["size"].as_str(), preview.shown["size_after"].as_str()), ("23", "24"));
    assert_eq!(preview.diff[2], DiffLine::Removed("max = 5".to_owned()));
    assert_eq!(preview.floor, Some(warrant_kernel::domain::decision::Tier::Medium));
    let target = plan.target;
    assert_eq!((target.name.as_str(), target.environment.unwrap().as_str()), ("ws:conf/pool.toml", "staging"));
    assert_eq!(yard.get("conf/pool.toml"), POOL.as_bytes(), "a preview changes nothing");
}

#[tokio::test]
async fn an_edit_changes_the_match_and_keeps_mode_owner_and_attributes() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let path = yard.path("conf/pool.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o2751)).unwrap();
    let root = rustix::process::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(&path, Some(65534), Some(65534)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o2751)).unwrap();
    }
    let attributes = rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty());
    let before = fs::metadata(&path).unwrap();

    let plan = approved(&yard, "conf/pool.toml", "max = 5", "max = 50").await;
    let tool = tool(&yard);
    assert_eq!(looking(async |looking| tool.bound(&plan, looking).await).await.unwrap(), plan.preview.bound);
    let effect = tool.apply(plan.clone()).await.unwrap();
    assert_eq!(yard.get("conf/pool.toml"), b"[pool]\nmax = 50\nmin = 1\n");
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    if attributes.is_ok() {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    assert_eq!(yard.names("conf"), ["pool.toml"], "nothing stays behind");

    assert_eq!(effect.after["sha256"], plan.preview.bound["sha256_after"]);
    let undo = effect.undo.clone().unwrap();
    assert_eq!(
        (undo.tool.as_str(), undo.arguments["sha256"].as_str()),
        ("restore_config", Some(&*sha256(POOL.as_bytes())))
    );
    let verdict = looking(async |looking| tool.verify(&plan, &effect, looking).await).await;
    assert_eq!((verdict.held, verdict.because.as_str()), (IsHeld::Held, "the file holds the change and is valid TOML"));
    let follow = tool.follow_ups(&plan);
    assert_eq!((follow[0].tool.as_str(), &follow[0].arguments["from_line"]), ("read_file", &json!(1)));
    let kept = yard.outer.path().join("store/kept");
    assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o700);
    for entry in fs::read_dir(kept).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_read_that_was_shortened_since_is_not_told_as_a_change_of_the_file() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let mut read = yard.read("conf/pool.toml", 1, 400).await;
    read.data.as_object_mut().unwrap().retain(|name, _| name == "path");
    let edit = edit("conf/pool.toml", "max = 5", "max = 6");
    let refused = preview(&tool(&yard), &edit, &[read]).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "what was read of `conf/pool.toml` is no longer in view whole; call `read_file` again"
    );
}

#[tokio::test]
async fn fs_15_a_file_that_changed_since_it_was_read_is_read_again_first() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let seen = [yard.read("conf/pool.toml", 1, 400).await];
    yard.put("conf/pool.toml", format!("{POOL}# by hand\n"));
    assert_eq!(refusal(&yard, &edit("conf/pool.toml", "max = 5", "max = 6"), &seen).await, "STALE_READ");
    let again = [seen[0].clone(), yard.read("ws:conf/pool.toml", 1, 400).await];
    preview(&tool(&yard), &edit("conf/pool.toml", "max = 5", "max = 6"), &again).await.unwrap();
}

#[tokio::test]
async fn fs_15_a_file_that_changed_after_the_approval_is_left_alone() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let plan = approved(&yard, "conf/pool.toml", "max = 5", "max = 50").await;
    yard.put("conf/pool.toml", format!("{POOL}# by hand\n"));
    let tool = tool(&yard);
    let bound = looking(async |looking| tool.bound(&plan, looking).await).await.unwrap();
    assert_ne!(bound, plan.preview.bound);
    assert_eq!(reason(tool.apply(plan.clone()).await), "CHANGED");
    assert_eq!(yard.get("conf/pool.toml"), format!("{POOL}# by hand\n").as_bytes());
    yard.put("conf/pool.toml", "max = 5\nmax = 5\n");
    assert_eq!(reason(looking(async |looking| tool.bound(&plan, looking).await).await), "NOT_UNIQUE");
}

#[tokio::test]
async fn fs_16_what_is_not_there_once_is_refused_before_anybody_is_asked() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", "a = 1\nb = 1\n");
    let seen = [yard.read("conf/pool.toml", 1, 400).await];
    for (old, new, expected) in
        [("= 1", "= 2", "NOT_UNIQUE"), ("c", "d", "NOT_UNIQUE"), ("", "x", "NOOP"), ("a = 1", "a = 1", "NOOP")]
    {
        assert_eq!(refusal(&yard, &edit("conf/pool.toml", old, new), &seen).await, expected, "{old:?}");
    }
}

#[tokio::test]
async fn fs_17_a_file_that_this_investigation_did_not_read_is_not_edited() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    yard.put("conf/other.toml", POOL);
    let args = edit("conf/pool.toml", "max = 5", "max = 6");
    assert_eq!(refusal(&yard, &args, &[]).await, "NOT_READ");
    // The same bytes read as another file are not this file.
    let other = yard.read("conf/other.toml", 1, 400).await;
    assert_eq!(refusal(&yard, &args, std::slice::from_ref(&other)).await, "NOT_READ");
    // Nor is what another tool shows.
    let mut searched = yard.read("conf/pool.toml", 1, 400).await;
    searched.tool = "search_files".to_owned();
    assert_eq!(refusal(&yard, &args, &[searched]).await, "NOT_READ");
}

#[tokio::test]
async fn lines_that_were_not_seen_whole_and_unmasked_are_not_replaced() {
    let yard = Yard::new();
    let long = format!("d = \"{}\"", "x".repeat(5_000));
    let text = format!("a = 1\nb = 2\npassword = \"hunter2\"\n{long}\n");
    yard.put("conf/app.toml", &text);
    let part = [yard.read("conf/app.toml", 1, 1).await];
    let told = preview(&tool(&yard), &edit("conf/app.toml", "b = 2", "b = 3"), &part).await.unwrap_err();
    insta::assert_snapshot!(told, @"line 2 of `conf/app.toml` was not seen as it stands (never shown, cut, masked, stripped of invisible characters, or no longer in view); call `read_file` with `from_line` 2 and `lines` 1; a line that holds a masked secret or invisible characters can't be edited");
    let mut masked = yard.read("conf/app.toml", 1, 400).await;
    masked.data["lines"][2] = json!("3| password = \"[secret:password:a1b2c3]\"");
    let seen = [masked];
    assert_eq!(
        refusal(&yard, &edit("conf/app.toml", "password = \"hunter2\"", "password = \"x\""), &seen).await,
        "LINES_NOT_SEEN"
    );
    assert_eq!(refusal(&yard, &edit("conf/app.toml", &long, "d = 1"), &seen).await, "LINES_NOT_SEEN");
    // A neighbour of a masked line may be changed.
    preview(&tool(&yard), &edit("conf/app.toml", "b = 2", "b = 3"), &seen).await.unwrap();
    for (old, new) in [("password = \"[secret:password:a1b2c3]\"", "x"), ("b = 2", "b = \"[secret:token:aaaaaa]\"")] {
        assert_eq!(refusal(&yard, &edit("conf/app.toml", old, new), &seen).await, "PLACEHOLDER");
    }
}

#[tokio::test]
async fn fs_19_a_result_that_no_longer_parses_is_refused_before_anybody_is_asked() {
    let yard = Yard::new();
    for (name, text, old, new) in [
        ("conf/a.toml", "max = 5\n", "5", ""),
        ("conf/a.json", "{\"max\": 5}\n", "5", "5,"),
        ("conf/a.yaml", "max: 5\n", "5", "[5"),
        ("conf/a.ini", "[a]\nmax = 5\n", "[a]", "[a"),
    ] {
        yard.put(name, text);
        let seen = [yard.read(name, 1, 400).await];
        assert_eq!(refusal(&yard, &edit(name, old, new), &seen).await, "UNPARSABLE", "{name}");
    }
    // What does not parse anyway may be mended in steps.
    yard.put("conf/b.toml", "max = \nmin = \n");
    let seen = [yard.read("conf/b.toml", 1, 400).await];
    let made = preview(&tool(&yard), &edit("conf/b.toml", "max = ", "max = 1"), &seen).await.unwrap();
    assert_eq!(made.notes[0], "the file is not valid TOML now, and would not be then");
    assert!(made.shown["toml"].starts_with("does not parse: "));
}

#[tokio::test]
async fn fs_19_a_validator_of_the_catalog_is_asked_on_a_copy() {
    let services = r#"
[services.shop]
files = [{ workspace = "ws", path = "conf" }]
validate = [{ workspace = "ws", path = "conf", argv = ["grep", "-q", "listen", "{file}"] }]
"#;
    let yard = Yard::with(services, &[]);
    yard.put("conf/site.conf", "listen 80;\nroot /srv;\n");
    let seen = [yard.read("conf/site.conf", 1, 400).await];
    assert_eq!(refusal(&yard, &edit("conf/site.conf", "listen", "lisen"), &seen).await, "VALIDATOR_REFUSES");
    let made = preview(&tool(&yard), &edit("conf/site.conf", "listen 80", "listen 81"), &seen).await.unwrap();
    assert_eq!(made.shown["validator"], "`grep` accepts it");
    assert_eq!(fs::read_dir(yard.outer.path().join("store/kept")).unwrap().count(), 0, "no copy stays behind");
}

#[tokio::test]
async fn fs_18_line_ends_byte_order_marks_and_invalid_text_stay_as_they_are() {
    let yard = Yard::new();
    let text = b"\xef\xbb\xbf# caf\xe9\r\nmax = 5\r\nmin = 1\r\n";
    yard.put("conf/pool.conf", text);
    let plan = approved(&yard, "conf/pool.conf", "max = 5\nmin = 1", "max = 50\nmin = 1").await;
    tool(&yard).apply(plan).await.unwrap();
    assert_eq!(yard.get("conf/pool.conf"), b"\xef\xbb\xbf# caf\xe9\r\nmax = 50\r\nmin = 1\r\n");
}

#[tokio::test]
async fn ap_23_configuration_does_not_pass_as_a_temporary_override() {
    let yard = Yard::new();
    let temporary = edit_temp_config(Arc::clone(&yard.files));
    let path = |path: &str| edit(path, "a", "b");
    let target =
        temporary.resolve(&crate::tools::write::trying::arguments(path("conf/override/x.toml")), Timestamp::UNIX_EPOCH);
    assert_eq!(target.unwrap().service.unwrap().as_str(), "shop");
    insta::assert_snapshot!(problems(&*temporary, path("conf/pool.toml"))[0].message, @"`ws:conf/pool.toml` is configuration of `shop` and no temporary override (`temp_files`); use `edit_config`");
    // Listed as both: it is configuration.
    assert_eq!(problems(&*temporary, path("conf/both.toml")).len(), 1);
    assert_eq!(problems(&*temporary, path("conf/override/../pool.toml")).len(), 1);
    insta::assert_snapshot!(problems(&*temporary, path("elsewhere.toml"))[0].message, @"no service lists `ws:elsewhere.toml` in its `files` or `temp_files`; only what the catalog lists is changed");
    yard.put("conf/override/x.toml", "a = 1\n");
    let seen = [yard.read("conf/override/x.toml", 1, 9).await];
    let made = preview(&*temporary, &path("conf/override/x.toml"), &seen).await.unwrap();
    assert_eq!((made.floor, made.notes[0].as_str()), (None, "an override of `shop`; a restart of it discards this"));
}

#[tokio::test]
async fn a_probe_tells_by_the_digest() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let plan = approved(&yard, "conf/pool.toml", "max = 5", "max = 50").await;
    let tool = tool(&yard);
    let probe = async || looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(probe().await, Probed::DidNot { .. }));
    tool.apply(plan.clone()).await.unwrap();
    assert!(matches!(probe().await, Probed::Took { .. }));
    yard.put("conf/pool.toml", "something = \"else\"\n");
    assert!(matches!(probe().await, Probed::CantTell { .. }));
    fs::remove_file(yard.path("conf/pool.toml")).unwrap();
    assert!(matches!(probe().await, Probed::CantTell { .. }));
}

#[tokio::test]
async fn fs_20_what_a_crash_left_beside_the_file_goes_once_it_is_known_what_became_of_the_write() {
    let yard = Yard::new();
    yard.put("conf/pool.toml", POOL);
    let plan = approved(&yard, "conf/pool.toml", "max = 5", "max = 50").await;
    let tool = tool(&yard);
    let left = format!("conf/.warrant-{}-{}.tmp", plan.run.investigation, plan.id);
    let told = async || match looking(async |looking| tool.probe(&plan, looking).await).await {
        Probed::DidNot { because } | Probed::Took { because, .. } | Probed::CantTell { because } => because,
    };
    // Killed before the exchange: the new content lies there.
    yard.put(&left, "[pool]\nmax = 50\n");
    insta::assert_snapshot!(told().await, @"the file is what it was before; what it left beside the file was removed");
    assert!(!yard.path(&left).exists());
    // Killed after it: the old content.
    tool.apply(plan.clone()).await.unwrap();
    yard.put(&left, POOL);
    insta::assert_snapshot!(told().await, @"the file is what it was to become; what it left beside the file was removed");
    assert!(!yard.path(&left).exists());
    // Another write's file, and what is no file, stay.
    yard.put("conf/.warrant-i9-A9.tmp", "another's");
    fs::create_dir(yard.path(&left)).unwrap();
    assert!(told().await.contains("could not be removed: remove it"));
    assert!(yard.path("conf/.warrant-i9-A9.tmp").exists() && yard.path(&left).exists());
    // While nobody knows what happened, everything stays as it is.
    fs::remove_dir(yard.path(&left)).unwrap();
    yard.put(&left, POOL);
    yard.put("conf/pool.toml", "something = \"else\"\n");
    assert!(!told().await.contains("removed") && yard.path(&left).exists());
}
