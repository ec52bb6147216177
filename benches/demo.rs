//! How often the demo's fault is found: many seeds of each fault, scored against what was injected.
//!
//! `cargo bench --bench demo [-- FAULT [SEEDS [AT_ONCE]]]`: 50 seeds of `pool` and `none`, 20 of each other fault, two
//! shops at once. A shop takes about fifteen seconds, so all of it takes about twenty minutes on an idle machine.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a bench that fails should stop")]
#![expect(clippy::disallowed_methods, reason = "it runs the program that is measured")]

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

/// The faults, with the seeds that are usually tried.
const FAULTS: [(&str, u64); 5] = [("pool", 50), ("upstream", 20), ("disk", 20), ("certificate", 20), ("none", 50)];

/// Words of which one must stand in the root cause, beside the service, where no configuration changed.
const MECHANISMS: [(&str, &[&str]); 3] = [
    ("upstream", &["longer", "slow", "timeout", "took"]),
    ("disk", &["space", "quota", "disk", "filesystem"]),
    ("certificate", &["certificate"]),
];

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// What is wrong with one run; nothing where it found what was injected.
fn judged(fault: &str, run: &Value) -> Option<String> {
    let cause = text(run, "/report/root_cause").unwrap_or("");
    let outcome = text(run, "/report/outcome").unwrap_or("?");
    if fault == "none" {
        return (outcome != "no_fault" || !cause.is_empty()).then(|| format!("{outcome}: {cause}"));
    }
    let key_of = |pointer: &str| text(run, pointer).map(|key| key.rsplit('.').next().unwrap_or(key).to_owned());
    let decoy = key_of("/injected/decoy/key").filter(|decoy| key_of("/injected/key").as_ref() != Some(decoy));
    if decoy.is_some_and(|decoy| cause.contains(&decoy)) {
        return Some(format!("names the decoy: {cause}"));
    }
    let service = text(run, "/injected/service").unwrap_or("?");
    let found = if fault == "pool" {
        let file = text(run, "/injected/file").unwrap_or("?");
        let line = run.pointer("/injected/line").and_then(Value::as_u64).unwrap_or(0);
        cause.contains(file) && cause.contains(&format!("line {line} "))
    } else {
        let words = MECHANISMS.iter().find(|(name, _)| *name == fault).map_or(&[][..], |(_, words)| *words);
        cause.contains(service) && words.iter().any(|word| cause.to_lowercase().contains(word))
    };
    (!found).then(|| format!("{outcome} ({service}): {cause} | {}", text(run, "/report/outcome_reason").unwrap_or("")))
}

fn measure(fault: &str, count: u64, at_once: u64) {
    let next = AtomicU64::new(1);
    let failures = Mutex::new(Vec::new());
    let outcomes = Mutex::new(std::collections::BTreeMap::<String, u64>::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > count {
                        break;
                    }
                    let output = Command::new(env!("CARGO_BIN_EXE_warrant"))
                        .args(["demo", "--json", "--fault", fault, "--seed", &seed.to_string()])
                        .output()
                        .expect("the program starts");
                    let miss = match serde_json::from_slice::<Value>(&output.stdout) {
                        Ok(run) => {
                            let outcome = text(&run, "/report/outcome").unwrap_or("?").to_owned();
                            *outcomes.lock().unwrap().entry(outcome).or_default() += 1;
                            judged(fault, &run)
                        }
                        Err(error) => Some(format!("no JSON: {error}: {}", String::from_utf8_lossy(&output.stderr))),
                    };
                    if let Some(miss) = miss {
                        println!("{fault} seed {seed}: {miss}");
                        failures.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let missed = u64::try_from(failures.lock().unwrap().len()).unwrap();
    println!("{fault}: {} of {count} right; outcomes {:?}", count - missed, outcomes.lock().unwrap());
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let only = args.first().map(String::as_str);
    let at_once = args.get(2).and_then(|count| count.parse().ok()).unwrap_or(2);
    for (fault, usual) in FAULTS.into_iter().filter(|(fault, _)| only.is_none_or(|only| only == *fault)) {
        measure(fault, args.get(1).and_then(|seeds| seeds.parse().ok()).unwrap_or(usual), at_once);
    }
}
