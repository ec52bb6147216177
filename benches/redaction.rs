//! How fast and how well secrets are masked: 100 MB of log with 1,000 planted secrets of forty kinds and 1,000 decoys.
//!
//! `cargo bench --bench redaction [-- MEGABYTES]`. Time is that of the processor, so a busy machine disturbs little;
//! the best of three runs counts.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a bench that fails should stop")]

use std::time::Duration;

use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};

#[path = "../crates/kernel/src/redact/tests/planted.rs"]
#[expect(
    dead_code,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "shared with the kernel's tests, which use all of it"
)]
mod planted;

#[path = "../crates/kernel/src/redact/tests/ordinary.rs"]
mod ordinary;

use ordinary::{benign, decoy, line};
use planted::{Dice, KINDS, plant};

/// What a line of the log is.
enum Line {
    Benign,
    Decoy,
    Planted(String),
}

/// How long this process has been on a processor.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    Duration::from_nanos(text.split(' ').next().expect("three numbers").parse().expect("nanoseconds"))
}

fn since(start: Duration) -> Duration {
    cpu().saturating_sub(start)
}

fn main() {
    let megabytes: usize = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(100);
    let mut dice = Dice::new(2026);
    let (mut text, mut lines) = (String::new(), Vec::new());
    let every = megabytes * 1_000_000 / 2_000;
    let (mut special, mut next) = (0, every / 2);
    while text.len() < megabytes * 1_000_000 {
        if text.len() >= next && special < 2_000 {
            next += every;
            if special % 2 == 0 {
                let planted = plant(KINDS.get(special / 2 % 40).expect("forty kinds"), &mut dice);
                text.push_str(&line(&mut dice, &planted.phrase));
                lines.push(Line::Planted(planted.secret));
            } else {
                text.push_str(&decoy(&mut dice));
                lines.push(Line::Decoy);
            }
            special += 1;
        } else {
            text.push_str(&benign(&mut dice));
            lines.push(Line::Benign);
        }
        text.push('\n');
    }

    let start = cpu();
    let known =
        [KnownSecret::new("slack_token", "zq-known-secret-0815"), KnownSecret::new("model_key", "Rk3v9Lw2Xp7Tn5Bc")];
    let redactor = Redactor::new(RedactionKey::random().unwrap(), known).unwrap();
    println!("built in                {:?}", since(start));
    let start = cpu();
    redactor.redact_text("password=hunter2 Authorization: Bearer abcdef0123456789").unwrap();
    println!("first line              {:?}", since(start));

    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = cpu();
        let masked = redactor.redact_text(&text).unwrap();
        best = best.min(since(start));
        assert!(masked.count > 0);
    }
    println!(
        "log                     {:.0} MB/s a core ({} lines)",
        megabytes as f64 / best.as_secs_f64(),
        lines.len()
    );

    let masked = redactor.redact_text(&text).unwrap();
    let (mut planted, mut missed, mut decoys, mut touched) = (0, 0, 0, 0);
    for ((line, before), after) in lines.iter().zip(text.lines()).zip(masked.text.lines()) {
        match line {
            Line::Planted(secret) => {
                planted += 1;
                if after.contains(secret.as_str()) {
                    missed += 1;
                    println!("missed                  {before}");
                }
            }
            Line::Decoy => decoys += usize::from(before != after),
            Line::Benign => touched += usize::from(before != after),
        }
    }
    let benign = lines.iter().filter(|line| matches!(line, Line::Benign)).count();
    println!(
        "recall                  {:.4} ({} of {planted})",
        f64::from(planted - missed) / f64::from(planted),
        planted - missed
    );
    println!("decoys touched          {decoys} of 1000");
    println!("benign lines touched    {:.4} % ({touched} of {benign})", 100.0 * touched as f64 / benign as f64);

    let one_line = text.replace('\n', " ");
    let start = cpu();
    redactor.redact_text(&one_line).unwrap();
    println!("the same in one line    {:.0} MB/s", megabytes as f64 / since(start).as_secs_f64());
    for unit in [
        "token:",
        "password=",
        "://a:b",
        "eyJ",
        "%25",
        "\\u0070",
        "secret aws ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "YWJj",
        "Cookie: a=b;",
        "mysql ",
    ] {
        let nested = unit.repeat(4_000_000 / unit.len());
        let start = cpu();
        redactor.redact_text(&nested).unwrap();
        println!("4 MB of `{unit}`: {:.1} MB/s", 4.0 / since(start).as_secs_f64());
    }
}
