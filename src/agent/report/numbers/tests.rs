use proptest::prelude::*;

use super::*;

fn one(text: &str) -> Written {
    let found = stated(text).numbers;
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found[0]
}

fn holds(claim: &str, evidence: &str) -> bool {
    let evidence = stated(evidence).numbers;
    stated(claim).numbers.iter().all(|claimed| agrees(*claimed, &evidence))
}

#[test]
fn rounded_to_the_digits_given() {
    for (claim, evidence, expected) in [
        ("3 errors", "2.96", true),
        ("3.0 errors", "2.96", true),
        ("2.9 errors", "2.96", false),
        ("2.96 errors", "2.96", true),
        ("2.960 errors", "2.96", true),
        ("2.961 errors", "2.96", false),
        ("12%", "0.1234", true),
        ("12.3 percent", "0.1234", true),
        ("12.4%", "0.1234", false),
        ("12%", "12", true),
        ("12", "0.1234", false),
        ("1,234 errors", "1234", true),
        ("-3", "-3", true),
        ("fell by 3", "-3", true),
        ("0.12", "0.125", true),
        ("0.13", "0.125", true),
        ("0", "0.4", true),
        ("250ms", "250", true),
        ("40 errors of 100", "40 errors, 100 orders", true),
        ("40 errors of 101", "40 errors, 100 orders", false),
    ] {
        assert_eq!(holds(claim, evidence), expected, "{claim} from {evidence}");
    }
}

#[test]
fn names_and_times_are_no_numbers() {
    let found =
        stated("E7 of p99 in v1.2 on node-3 at 12:30 and 2026-11-30T12:30:05.123Z, [secret:x:1a2b3c], 10.0.0.7");
    assert_eq!(found.numbers, []);
    assert_eq!(found.times, ["12:30", "2026-11-30T12:30:05.123Z"]);
    // A number of bytes that could be read as a day is a number.
    assert_eq!(stated("20150228 and 2015-02-28").numbers.len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "\\PC{0,200}") {
        let found = stated(&text);
        prop_assert!(found.numbers.iter().all(|number| number.value.is_finite()));
    }

    #[test]
    fn a_number_agrees_with_itself_however_it_is_rounded(value in -1e9f64..1e9, decimals in 0usize..9) {
        let claim = one(&format!("{value:.decimals$}"));
        prop_assert!(agrees(claim, &[one(&format!("{value:.9}"))]), "{claim:?}");
    }

    #[test]
    fn a_percentage_agrees_with_its_share(value in 0f64..1.0, decimals in 0usize..5) {
        let claim = one(&format!("{:.decimals$}%", value * 100.0));
        // The noise of the multiplication decides where the share lies right between two roundings.
        let scale = 10f64.powi(i32::try_from(decimals).unwrap());
        prop_assume!(((value * 100.0 * scale).fract() - 0.5).abs() > 1e-6);
        prop_assert!(agrees(claim, &[one(&format!("{value:.12}"))]), "{claim:?} of {value}");
    }

    #[test]
    fn a_number_off_by_a_whole_unit_of_its_last_digit_does_not_agree(value in -1_000_000i64..1_000_000, off in 1i64..1000, decimals in 0usize..4) {
        let scale = 10f64.powi(i32::try_from(decimals).unwrap());
        #[expect(clippy::cast_precision_loss, reason = "a million is far below 2^53")]
        let (known, wrong) = (value as f64 / scale, (value + off) as f64 / scale);
        let known = Written { value: known, decimals: u32::try_from(decimals).unwrap(), percent: false };
        let wrong = Written { value: wrong, ..known };
        prop_assert!(!agrees(wrong, &[known]));
        prop_assert!(agrees(known, &[known]));
    }

    #[test]
    fn more_evidence_never_unsays_a_number(claim in -1e6f64..1e6, evidence in proptest::collection::vec(-1e6f64..1e6, 0..5), more in -1e6f64..1e6) {
        let written = |value| Written { value, decimals: 1, percent: false };
        let mut all: Vec<Written> = evidence.into_iter().map(written).collect();
        let before = agrees(written(claim), &all);
        all.push(written(more));
        prop_assert!(!before || agrees(written(claim), &all));
    }
}
