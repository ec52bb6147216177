//! What people are shown of a change.

use super::*;

fn shown(before: &[u8], after: &[u8]) -> String {
    let lines: Vec<String> = diff(before, after)
        .into_iter()
        .map(|line| match line {
            DiffLine::Hunk(text) => format!("@@ {text} @@"),
            DiffLine::Context(text) => format!(" {text}"),
            DiffLine::Removed(text) => format!("-{text}"),
            DiffLine::Added(text) => format!("+{text}"),
        })
        .collect();
    lines.join("\n")
}

#[test]
fn a_change_stands_with_three_lines_around_it() {
    let before = b"a\nb\nc\nd\nmax = 5\ne\nf\ng\nh\n";
    let after = b"a\nb\nc\nd\nmax = 50\ne\nf\ng\nh\n";
    insta::assert_snapshot!(shown(before, after), @r"
    @@ -2,7 +2,7 @@
     b
     c
     d
    -max = 5
    +max = 50
     e
     f
     g
    ");
    assert_eq!(counts(&diff(before, after)), (1, 1));
    assert_eq!(diff(before, before), []);
}

#[test]
fn what_differs_looks_different() {
    insta::assert_snapshot!(shown(b"a\xff\nb", b"a\xfe\nb\n").replace('\r', "<CR>"), @r"
    @@ -1,2 +1,2 @@
    -a\xFF
    -b [no line end]
    +a\xFE
    +b
    ");
    insta::assert_snapshot!(shown(b"a\r\nb\r\n", b"a\nb\r\n").replace('\r', "<CR>"), @r"
    @@ -1,2 +1,2 @@
    -a<CR>
    +a
     b
    ");
}
