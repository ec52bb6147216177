//! Patches as Git prints them, and as it never would.

use proptest::prelude::*;

use super::*;
use crate::tools::sources::changes::keys;

const HEADER: &str = "\0aaaabbbbccccddddaaaabbbbccccddddaaaabbbb\x001770000000\0Ada\0Lower the pool\n";

#[test]
fn content_that_imitates_headers_stays_content() {
    let patch = format!(
        "{HEADER}\ndiff --git a/x.md b/x.md\nindex 1..2 100644\n--- a/x.md\n+++ b/x.md\n@@ -3,2 +3,3 @@ title\n\
         --- a/x.md\n-@@ -1 +1 @@\n+diff --git a/y b/y\n++++ b/y\n+\\ No newline\n\\ No newline at end of file\n"
    );
    let sections = parse(patch.as_bytes(), 10);
    let [section] = sections.as_slice() else { panic!("{sections:?}") };
    let [hunk] = section.hunks.as_slice() else { panic!("{section:?}") };
    assert_eq!(section.commit.as_ref().unwrap().subject, "Lower the pool");
    assert_eq!((hunk.file.as_str(), hunk.old_line, hunk.new_line), ("x.md", 3, 3));
    assert_eq!(hunk.before, ["-- a/x.md", "@@ -1 +1 @@"]);
    assert_eq!(hunk.after, ["diff --git a/y b/y", "+++ b/y", "\\ No newline"]);
}

#[test]
fn files_without_lines_are_told_by_their_names() {
    let patch = format!(
        "{HEADER}diff --git a/b in b/b in\nold mode 100644\nnew mode 100755\n\
         diff --git \"a/t\\tab\\303\\251\\\"\" \"b/t\\tab\\303\\251\\\"\"\nnew file mode 100644\nindex 0..1\n\
         diff --git a/i.png b/i.png\ndeleted file mode 100644\nBinary files a/i.png and /dev/null differ\n"
    );
    let sections = parse(patch.as_bytes(), 10);
    let told: Vec<_> = sections[0].hunks.iter().map(|h| (h.file.as_str(), h.change, h.binary)).collect();
    let expected = [
        ("b in", FileChange::Edited, false),
        ("t\tab\u{e9}\"", FileChange::Added, false),
        ("i.png", FileChange::Deleted, true),
    ];
    assert_eq!(told, expected);
}

#[test]
fn hunks_and_lines_beyond_the_limits_are_counted() {
    let mut patch = format!("{HEADER}diff --git a/x b/x\n@@ -0,0 +1,30 @@\n");
    patch.extend((0..30).map(|n| format!("+{n}{}\n", "y".repeat(n * 20))));
    patch.push_str("@@ -9 +9 @@\n-a\n+b\n@@ -19 +19 @@\n-a\n+b\n");
    let sections = parse(patch.as_bytes(), 2);
    let first = &sections[0].hunks[0];
    assert_eq!((first.after.len(), first.more, first.cut), (MAX_LINES, 10, true));
    assert!(first.after.iter().all(|line| line.chars().count() <= MAX_CHARS));
    assert_eq!((sections[0].hunks.len(), sections[0].more), (2, 1));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>(), pieces in proptest::collection::vec(0_usize..9, 0..30)) {
        prop_assert!(parse(&bytes, 4).iter().all(|section| section.hunks.len() <= 4));
        let words = [HEADER, "diff --git a/x b/x\n", "diff --git \"a/\\377", "@@ -1 +0,18446744073709551615 @@\n", "-\n", "+\n",
            "\\\n", "Binary files \n", "deleted file mode\n"];
        let patch: String = pieces.iter().map(|piece| words[*piece]).collect();
        for section in parse(patch.as_bytes(), 4) {
            for hunk in section.hunks {
                prop_assert!(!keys::split(hunk).is_empty());
            }
        }
    }
}
