//! docs/LIMITS.md says what the code does: each row names the line that holds its bound.

use std::fs;
use std::path::Path;

#[test]
fn every_limit_that_is_told_stands_in_the_source_as_it_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/LIMITS.md")).unwrap();
    let mut held = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains(".rs` `")) {
        let place = row.trim_end_matches(" |").rsplit_once(" | ").unwrap().1;
        let mut quoted = place.split('`').skip(1).step_by(2);
        let (file, bound) = (quoted.next().unwrap(), quoted.next().unwrap());
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(source.contains(bound), "{file} does not hold `{bound}`");
        held += 1;
    }
    assert!(held > 60, "{held}");
}
