use proptest::prelude::*;

use super::onset;

fn flat(length: usize, every: usize) -> Vec<u64> {
    (0..length).map(|bucket| u64::from(bucket % every == 0)).collect()
}

#[test]
fn a_rise_that_goes_on_is_found_to_the_bucket() {
    let mut counts = flat(1_800, 60);
    counts.iter_mut().skip(1_230).step_by(3).for_each(|count| *count += 2);
    assert_eq!(onset(&counts), Some(1_230));
}

#[test]
fn a_rise_that_has_ended_is_found_too() {
    let mut counts = vec![1; 200];
    counts[70..90].iter_mut().for_each(|count| *count = 9);
    assert_eq!(onset(&counts), Some(70));
}

#[test]
fn first_errors_ever_are_a_rise() {
    let mut counts = vec![0; 120];
    for bucket in [100, 103, 104, 109, 115] {
        counts[bucket] = 2;
    }
    assert_eq!(onset(&counts), Some(100));
}

#[test]
fn no_rise_is_told_where_there_is_none() {
    assert_eq!(onset(&[]), None);
    assert_eq!(onset(&[0; 50]), None);
    assert_eq!(onset(&[7; 300]), None);
    assert_eq!(onset(&flat(600, 20)), None);
    let one_burst = (0..100).map(|bucket| if bucket == 40 { 30 } else { 0 }).collect::<Vec<_>>();
    assert_eq!(onset(&one_burst), None, "one bucket is not sustained");
}

#[test]
fn a_fall_is_no_rise_at_the_end() {
    let counts: Vec<u64> = (0..200).map(|bucket| if bucket < 150 { 5 } else { 0 }).collect();
    assert!(onset(&counts).is_none_or(|start| start < 10));
}

proptest! {
    #[test]
    fn a_tenfold_rise_is_always_found_near_its_start(start in 100_usize..500, noise in prop::collection::vec(0_u64..3, 600)) {
        let mut counts = noise;
        counts.iter_mut().skip(start).for_each(|count| *count += 10);
        let found = onset(&counts);
        prop_assert!(found.is_some_and(|bucket| bucket.abs_diff(start) <= 1), "{found:?} for {start}");
    }

    #[test]
    fn hostile_counts_do_not_panic(counts in prop::collection::vec(0_u64..1_u64 << 40, 0..700)) {
        let found = onset(&counts);
        prop_assert!(found.is_none_or(|bucket| bucket < counts.len()));
    }
}
