//! The law of lines: what is shown under a number is that line of the file.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::catalog::source::DirSource;
use crate::tools::read::calling::{lines, read, reason, refused};
use crate::tools::workspace::protected::OwnFiles;

fn over(content: &[u8]) -> (TempDir, Arc<dyn ReadTool>) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.txt"), content).unwrap();
    let sources = BTreeMap::from([("w".parse().unwrap(), DirSource { dir: dir.path().to_owned() })]);
    let workspaces = Workspaces::open(&sources, OwnFiles::default()).unwrap();
    (dir, read_file(Arc::new(workspaces)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shown_numbers_agree_with_the_file(
        content in proptest::collection::vec("[a-zé\\r]{0,8}", 0..30), ends in any::<bool>(), from in 1_u64..40, count in 1_u64..40,
    ) {
        let text = content.join("\n") + if ends { "\n" } else { "" };
        let (_dir, tool) = over(text.as_bytes());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let args = json!({ "path": "f.txt", "from_line": from, "lines": count });
        let output = runtime.block_on(read(&*tool, args)).unwrap();
        let (first, take) = (usize::try_from(from - 1).unwrap(), usize::try_from(count).unwrap());
        let numbered = text.split('\n').enumerate().map(|(at, line)| format!("{}| {}", at + 1, line.strip_suffix('\r').unwrap_or(line)));
        let expected: Vec<String> = numbered.take(text.lines().count()).skip(first).take(take).collect();
        prop_assert_eq!(lines(&output), expected.clone());
        let total = text.lines().count();
        prop_assert_eq!(&output.summary["lines_total"], &json!(total));
        prop_assert_eq!(output.left_out.is_some(), expected.len() < total, "{:?}", output.left_out);
    }
}

#[tokio::test]
async fn a_file_as_the_model_sees_it() {
    let (dir, tool) = over("one\r\ntwo\nthree \u{1f980}\n".as_bytes());
    crate::tools::sources::changes::fixture::set_time(&dir.path().join("f.txt"), "2026-02-03T04:05:06Z");
    let output = read(&*tool, json!({ "path": "f.txt", "from_line": 2, "lines": 1 })).await.unwrap();
    insta::assert_json_snapshot!(json!([output.summary, lines(&output), output.left_out]), @r#"
    [
      {
        "path": "f.txt",
        "size": 20,
        "lines_total": 3,
        "modified": "2026-02-03T04:05:06.000Z",
        "sha256": "36030f1c92a5eedead54a4a08d2c4b9aa0ca980041178969d84bb5007ac3b1ec"
      },
      [
        "2| two"
      ],
      "lines 3 to 3; read on with `from_line` 3; lines before 2"
    ]
    "#);
}

#[tokio::test]
async fn what_is_no_text_is_refused_and_what_is_hardly_text_is_shown() {
    let (_dir, tool) = over(b"text\n\0\x01");
    assert_eq!(reason(read(&*tool, json!({ "path": "f.txt" })).await), "BINARY_FILE");
    let (_dir, tool) = over(b"caf\xe9\n\xff\xfe\n");
    let output = read(&*tool, json!({ "path": "f.txt" })).await.unwrap();
    assert_eq!(lines(&output), ["1| caf\u{fffd}", "2| \u{fffd}\u{fffd}"]);
    let (_dir, tool) = over(b"");
    let output = read(&*tool, json!({ "path": "f.txt" })).await.unwrap();
    assert_eq!((lines(&output).len(), output.left_out), (0, None));
}

#[tokio::test]
async fn a_long_line_is_cut_between_characters_and_says_so() {
    let (_dir, tool) = over(format!("a{}\nend\n", "\u{e9}".repeat(5_000_000)).as_bytes());
    let output = read(&*tool, json!({ "path": "f.txt" })).await.unwrap();
    let shown = lines(&output);
    assert!(shown[0].len() < MAX_LINE + 40 && shown[0].ends_with("\u{e9} [9995906 more bytes]"), "{}", shown[0].len());
    assert_eq!(shown[1], "2| end");
    assert_eq!(output.left_out.unwrap(), "the ends of 1 lines longer than 4096 bytes");
}

#[tokio::test]
async fn a_giant_file_is_read_up_to_the_window_only() {
    let (dir, tool) = over(b"");
    let file = fs::File::create(dir.path().join("giant")).unwrap();
    std::io::Write::write_all(&mut &file, "line\n".repeat(2_000).as_bytes()).unwrap();
    file.set_len(1 << 40).unwrap();
    let output = read(&*tool, json!({ "path": "giant", "from_line": 1500, "lines": 2 })).await.unwrap();
    assert_eq!(lines(&output), ["1500| line", "1501| line"]);
    assert_eq!(output.summary["lines_total"], Value::Null);
    assert!(output.left_out.unwrap().contains("`from_line` 1502"));
}

#[tokio::test]
async fn a_read_ends_with_its_token() {
    let (dir, _) = over(b"");
    fs::File::create(dir.path().join("giant")).unwrap().set_len(1 << 40).unwrap();
    let sources = BTreeMap::from([("w".parse().unwrap(), DirSource { dir: dir.path().to_owned() })]);
    let workspaces = Workspaces::open(&sources, OwnFiles::default()).unwrap();
    let place = workspaces.place("path", "giant").unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let args = Args { path: "giant".to_owned(), from_line: 1, lines: 1 };
    let ended = super::read(place.root.file(&place.path).unwrap(), &args, &cancel);
    assert!(matches!(ended, Err(ReadError::Cancelled)));
}

#[test]
fn a_path_that_is_none_is_refused_before_the_read() {
    let (_dir, tool) = over(b"");
    let problems = refused(&*tool, json!({ "path": "../x" }));
    assert_eq!(problems[0].pointer, "/path");
}
