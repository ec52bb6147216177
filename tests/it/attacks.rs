//! Every attack case that docs/ATTACKS.md names has the tests it names, and every test that bears a case's id stands there.
//!
//! That they ran and passed is checked by tests/run, which sees what ran.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

const PLACES: [&str; 6] =
    ["src", "tests", "crates/kernel/src", "crates/kernel/tests", "crates/toolbox/src", "crates/toolbox/tests"];

/// The tests in the sources whose name begins with the id of a case, and whether they are ignored.
fn written(dir: &Path, found: &mut BTreeMap<String, bool>) {
    let pattern = Regex::new(
        r"(?m)^\s*#\[(?:tokio::)?test(?:\([^\n]*\))?\]\s*\n((?:\s*#\[[^\n]*\n)*)\s*(?:async )?fn ((?:sh|fs|ap|wh|sl|rd|pi|ss|ql|rs|lm|au|cr)_\d\d_\w+)\(",
    )
    .unwrap();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            written(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for test in pattern.captures_iter(&text) {
                found.insert(test[2].to_owned(), test[1].contains("ignore"));
            }
        }
    }
}

/// The cases that a test holds: the ids that its name begins with.
fn cases(test: &str) -> Vec<String> {
    let id = Regex::new(r"^([a-z]{2})_(\d\d)_").unwrap();
    let (mut rest, mut cases) = (test, Vec::new());
    while let Some(found) = id.captures(rest) {
        cases.push(format!("{}-{}", found[1].to_uppercase(), &found[2]));
        rest = rest.strip_prefix(&found[0]).unwrap();
    }
    cases
}

#[test]
fn each_case_has_its_tests_and_each_test_its_case() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for place in PLACES {
        written(&root.join(place), &mut found);
    }
    let ignored: Vec<&String> = found.iter().filter(|(_, ignored)| **ignored).map(|(name, _)| name).collect();
    assert!(ignored.is_empty(), "a case whose test is ignored is not held: {ignored:?}");

    let page = std::fs::read_to_string(root.join("docs/ATTACKS.md")).unwrap();
    let rows = Regex::new(r"(?m)^\| ([A-Z]{2})-(\d\d) \|[^|\n]*\| ([^|\n]*) \|$").unwrap();
    let quoted = Regex::new("`([a-z0-9_]+)`").unwrap();
    let mut named = BTreeSet::new();
    for row in rows.captures_iter(&page) {
        let case = format!("{}-{}", &row[1], &row[2]);
        let tests: Vec<&str> =
            quoted.captures_iter(row.get(3).unwrap().as_str()).map(|test| test.get(1).unwrap().as_str()).collect();
        assert!(!tests.is_empty(), "{case} names no test");
        named.extend(tests.into_iter().map(|test| (case.clone(), test.to_owned())));
    }
    let written: BTreeSet<(String, String)> =
        found.into_keys().flat_map(|test| cases(&test).into_iter().map(move |case| (case, test.clone()))).collect();
    let (gone, unnamed): (Vec<_>, Vec<_>) =
        (named.difference(&written).collect(), written.difference(&named).collect());
    assert!(gone.is_empty(), "docs/ATTACKS.md names tests that are not there: {gone:?}");
    assert!(unnamed.is_empty(), "docs/ATTACKS.md does not name these tests: {unnamed:?}");
}
