//! Taking an edit back, and what is not ours to take back.

use serde_json::json;

use super::*;
use crate::tools::write::trying::{Yard, plan, preview, problems, reason};

const BEFORE: &str = "max = 5\n";
const AFTER: &str = "max = 50\n";

fn edited(yard: &Yard) -> (Restore, String) {
    yard.put("conf/pool.toml", AFTER);
    let place = yard.files.workspaces.place("path", "conf/pool.toml").unwrap();
    yard.files.kept.keep(&place, BEFORE.as_bytes(), &sha256(AFTER.as_bytes())).unwrap();
    (Restore { files: Arc::clone(&yard.files) }, sha256(BEFORE.as_bytes()))
}

#[tokio::test]
async fn an_edit_of_ours_is_taken_back_and_that_again() {
    let yard = Yard::new();
    let (tool, before) = edited(&yard);
    let args = json!({"path": "conf/pool.toml", "sha256": before});
    let made = preview(&tool, &args, &[]).await.unwrap();
    assert_eq!(made.notes[0], "puts back the content from before an edit of ours");
    let effect = tool.apply(plan(&tool, "restore_config", &args, made)).await.unwrap();
    assert_eq!(yard.get("conf/pool.toml"), BEFORE.as_bytes());
    assert_eq!(reason(preview(&tool, &args, &[]).await), "NOOP");
    let undo = effect.undo.unwrap().arguments;
    let again = preview(&tool, &undo.into(), &[]).await.unwrap();
    assert_eq!(again.bound["sha256_after"], sha256(AFTER.as_bytes()));
}

#[tokio::test]
async fn what_somebody_else_wrote_since_is_not_thrown_away() {
    let yard = Yard::new();
    let (tool, before) = edited(&yard);
    let args = json!({"path": "conf/pool.toml", "sha256": before});
    let approved = plan(&tool, "restore_config", &args, preview(&tool, &args, &[]).await.unwrap());
    yard.put("conf/pool.toml", "max = 7\n");
    assert_eq!(reason(preview(&tool, &args, &[]).await), "CHANGED_SINCE");
    assert_eq!(reason(tool.apply(approved).await), "CHANGED_SINCE");
    assert_eq!(yard.get("conf/pool.toml"), b"max = 7\n");
}

#[tokio::test]
async fn bytes_of_one_file_are_not_restored_into_another() {
    let yard = Yard::new();
    let (tool, before) = edited(&yard);
    yard.put("conf/other.toml", AFTER);
    let args = json!({"path": "conf/other.toml", "sha256": before});
    assert_eq!(reason(preview(&tool, &args, &[]).await), "NOT_KEPT");
    let args = json!({"path": "conf/pool.toml", "sha256": sha256(b"never there")});
    assert_eq!(reason(preview(&tool, &args, &[]).await), "NOT_KEPT");
}

#[test]
fn a_digest_is_a_digest() {
    let yard = Yard::new();
    let tool = Restore { files: Arc::clone(&yard.files) };
    for digest in ["", "../../etc/passwd", &"A".repeat(64), &"a".repeat(63)] {
        let found = problems(&tool, json!({"path": "conf/pool.toml", "sha256": digest}));
        assert_eq!(found[0].pointer, "/sha256", "{digest}");
    }
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let yard = Yard::new();
    let place = yard.files.workspaces.place("path", "conf/pool.toml").unwrap();
    let kept = &yard.files.kept;
    for n in 0..520 {
        std::fs::create_dir_all(kept.dir()).unwrap();
        if n < 515 {
            // Written past the store, for speed: each `keep` is made durable.
            let bytes = format!("{n}");
            let name = format!("{}-{}-{}", "0".repeat(64), sha256(bytes.as_bytes()), "1".repeat(64));
            std::fs::write(kept.dir().join(name), bytes).unwrap();
        } else {
            kept.keep(&place, format!("{n}").as_bytes(), &"2".repeat(64)).unwrap();
        }
    }
    assert_eq!(std::fs::read_dir(kept.dir()).unwrap().count(), 512);
    assert_eq!(kept.edits(&place).len(), 5, "the newest are still there");
}
