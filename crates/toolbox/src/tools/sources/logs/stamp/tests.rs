use jiff::tz::Offset;
use proptest::prelude::*;

use super::{Zone, from_number, from_text, leading};

const ZONE: Zone = Zone { offset: Offset::UTC, latest: jiff::Timestamp::constant(1_796_040_000, 0) }; // 2026-11-30T12:00:00Z

fn at(line: &str) -> Option<String> {
    leading(line.as_bytes()).and_then(|(stamp, _)| ZONE.settle(stamp)).map(warrant_kernel::domain::time::rfc3339)
}

#[test]
fn the_usual_forms_are_read() {
    let same = [
        "2026-11-30T11:05:18.123Z error message",
        "2026-11-30T12:05:18.123+01:00 message",
        "2026-11-30 11:05:18.123 message",
        "2026-11-30 11:05:18,123 ERROR root: message",
        "2026-11-30 06:05:18,123 -0500 message",
        "2026-11-30 11:05:18.123 UTC [42] ERROR:  message",
        "[2026-11-30T11:05:18.123456Z] message",
        "[2026-11-30 11:05:18.123] [error] message",
        "2026-11-30T11:05:18.123456789Z stderr F message",
        "E1130 11:05:18.123456   42 main.go:7] message",
        "Mon Nov 30 11:05:18.123 2026 message",
        "[Mon Nov 30 11:05:18.123456 2026] [core:error] message",
        "30-Nov-2026 11:05:18.123 SEVERE [main] message",
        "42:M 30 Nov 2026 11:05:18.123 * message",
        "1796036718.123 message",
        "1796036718123 message",
        "ERROR 2026-11-30 11:05:18.123 message",
        "[ERROR] [2026-11-30T11:05:18.123Z] message",
        "level=error ts=2026-11-30T11:05:18.123Z msg=message",
        "<165>1 2026-11-30T11:05:18.123Z host app 42 ID47 - message",
        "\u{feff}2026-11-30T11:05:18.123Z message",
    ];
    for line in same {
        let expected = if line.contains("123") { "2026-11-30T11:05:18.123Z" } else { "2026-11-30T11:05:18.000Z" };
        assert_eq!(at(line).as_deref(), Some(expected), "{line}");
    }
    let seconds = [
        "Nov 30 11:05:18 host prog[42]: message",
        "<34>Nov 30 11:05:18 host su: message",
        "2026/11/30 11:05:18 [error] 42#0: *1 message",
        "10.0.0.1 - anna [30/Nov/2026:11:05:18 +0000] \"GET / HTTP/1.1\" 500 12",
        "2001:db8::1 - - [30/Nov/2026:12:05:18 +0100] \"GET / HTTP/1.1\" 200 12",
        "Mon, 30 Nov 2026 11:05:18 GMT message",
        "1796036718 message",
        "Nov 30 2026 11:05:18 message",
    ];
    for line in seconds {
        assert_eq!(at(line).as_deref(), Some("2026-11-30T11:05:18.000Z"), "{line}");
    }
}

#[test]
fn lines_without_a_time_of_their_own_have_none() {
    let none = [
        "",
        "    at com.shop.Checkout.pay(Checkout.java:118)",
        "\tat 2026-11-30T11:05:18Z",
        "Caused by: java.net.ConnectException at 2026-11-30 11:05:18",
        "Traceback (most recent call last):",
        "12345 is a number",
        "2026-13-45 99:99:99 no such time",
        "order 2026 of 11",
        "the report mentions, far into the line and long after its beginning, 2026-11-30 11:05:18",
        "May contain nuts",
        "E1130 is a code",
    ];
    for line in none {
        assert_eq!(at(line), None, "{line}");
    }
}

#[test]
fn a_date_without_a_year_is_the_latest_one_that_is_not_to_come() {
    assert_eq!(at("Nov 30 23:00:00 host x: m").as_deref(), Some("2026-11-30T23:00:00.000Z"));
    assert_eq!(at("Dec  3 01:00:00 host x: m").as_deref(), Some("2025-12-03T01:00:00.000Z"));
    assert_eq!(at("Feb 29 01:00:00 host x: m").as_deref(), Some("2024-02-29T01:00:00.000Z"));
}

#[test]
fn values_of_fields_are_read() {
    let settle = |stamp| ZONE.settle(stamp).map(warrant_kernel::domain::time::rfc3339).unwrap();
    assert_eq!(settle(from_text("2026-11-30T11:05:18Z").unwrap()), "2026-11-30T11:05:18.000Z");
    assert_eq!(settle(from_number(1_796_036_718.5).unwrap()), "2026-11-30T11:05:18.500Z");
    assert_eq!(settle(from_number(1_796_036_718_500.0).unwrap()), "2026-11-30T11:05:18.500Z");
    assert_eq!(from_number(12.0), None);
    assert_eq!(from_number(f64::NAN), None);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some((stamp, end)) = leading(&line) {
            prop_assert!(end <= line.len());
            let _settled = ZONE.settle(stamp);
        }
    }

    #[test]
    fn what_looks_like_a_time_is_read_without_a_panic(line in "[\\[<]?[0-9]{1,13}[-/ :.][0-9A-Za-z]{1,4}[-/ :][0-9]{1,5}[T :][0-9:.,]{0,12} ?[-+Z]?[0-9:]{0,5}") {
        if let Some((stamp, _)) = leading(line.as_bytes()) {
            let _settled = ZONE.settle(stamp);
        }
    }
}
