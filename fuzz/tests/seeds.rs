//! Every target takes its seeds, and what was found with it before; in whole, and cut at any place.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use std::path::PathBuf;

use warrant_fuzz::TARGETS;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let files = std::fs::read_dir(&directory).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn every_target_takes_its_seeds() {
    for target in TARGETS.iter().filter(|target| target.name != "canary") {
        let seeds = seeds(target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in seeds {
            (target.run)(&seed);
            for end in (0..seed.len()).step_by(seed.len() / 8 + 1) {
                (target.run)(&seed[..end]);
            }
        }
    }
}

#[test]
#[should_panic(expected = "the canary is found")]
fn the_law_of_the_canary_is_false() {
    let canary = warrant_fuzz::named("canary").unwrap();
    (canary.run)(b"2026-11-30T02:14:07Z ERROR pool exhausted");
}
