use std::cmp::Reverse;

use proptest::prelude::*;

use super::{Packing, Place, fits, member};

#[test]
fn rotated_neighbours_belong_to_their_log() {
    let dated = |digits: &str| Place::Dated(digits.to_owned(), 0);
    let cases = [
        ("app.log", Packing::Plain, Place::Live),
        ("app.log.1", Packing::Plain, Place::Numbered(Reverse(1))),
        ("app.log.12.gz", Packing::Gzip, Place::Numbered(Reverse(12))),
        ("app.log.gz", Packing::Gzip, Place::Numbered(Reverse(0))),
        ("app.log.zst", Packing::Zstd, Place::Numbered(Reverse(0))),
        ("app.log-20261130", Packing::Plain, dated("20261130")),
        ("app.log-20261130.gz", Packing::Gzip, dated("20261130")),
        ("app.log.2026-11-30.gz", Packing::Gzip, dated("20261130")),
        ("app.log.2026-11-30-11.zst", Packing::Zstd, dated("2026113011")),
        ("app-2026-11-30.log", Packing::Plain, dated("20261130")),
        ("app-2026-11-30.log.gz", Packing::Gzip, dated("20261130")),
        ("app.2026-11-30.3.log", Packing::Plain, Place::Dated("20261130".to_owned(), 3)),
        ("app.2.log", Packing::Plain, Place::Numbered(Reverse(2))),
        ("app.log.3.xz", Packing::Other, Place::Numbered(Reverse(3))),
    ];
    for (name, packing, place) in cases {
        let found = member(name, "app.log").unwrap_or_else(|| panic!("{name} belongs"));
        assert_eq!((found.base.as_str(), found.packing, found.place), ("app.log", packing, place), "{name}");
    }
}

#[test]
fn other_files_do_not_belong() {
    for name in ["app.log.bak", "app-1.log", "myapp.log", "app.log2", "app.logs.1", "app.txt", ".log", "app.log.", ""] {
        assert_eq!(member(name, "app.log"), None, "{name}");
    }
}

#[test]
fn a_star_stands_for_any_part() {
    assert!(fits("worker-a.log", "worker-*.log"));
    assert!(fits("worker-.log", "worker-*.log"));
    assert!(!fits("worker.log", "worker-*.log"));
    assert!(fits("aba", "a*a") && !fits("a", "a*a"));
    assert_eq!(member("worker-a.log.1", "worker-*.log").unwrap().base, "worker-a.log");
    assert_eq!(member("app.log.1", "app.log*").unwrap().base, "app.log");
}

#[test]
fn the_order_is_oldest_first() {
    let names = ["app.log", "app.log.1", "app.log.10.gz", "app.log.2", "app.log-20261129", "app.log-20261130"];
    let mut members: Vec<_> = names.iter().map(|name| (member(name, "app.log").unwrap().place, *name)).collect();
    members.sort();
    let order: Vec<_> = members.into_iter().map(|(_, name)| name).collect();
    assert_eq!(order, ["app.log-20261129", "app.log-20261130", "app.log.10.gz", "app.log.2", "app.log.1", "app.log"]);
}

proptest! {
    #[test]
    fn any_name_is_taken_apart_without_a_panic(name in "\\PC{0,40}", pattern in "[a-z*.é]{0,10}") {
        let _found = member(&name, &pattern);
    }
}
