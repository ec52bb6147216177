//! How well the search for runbooks finds the right one, and how long it takes.
//!
//! `WARRANT_RUNBOOK_DATA=DIR cargo bench --bench runbooks`. The directory holds `prometheus-operator/` and `openshift/` (the
//! runbooks of github.com/prometheus-operator/runbooks and github.com/openshift/runbooks) and `alerts_gold.json`: `alerts`,
//! each with `alert`, `summary`, `description` and `gold`, the right runbooks as `po/NAME` and `os/NAME`.
//!
//! The weights were set on the alerts whose name's SHA-256 ends in an even byte; the figures are of the odd half. For them
//! the runbook's own name is taken out of its text, as one word and in words, and out of its title and file name.

#![expect(clippy::unwrap_used, reason = "a bench that lacks its data has nothing to measure")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use regex::RegexBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::runbook::search::{Hit, Question, Why};

struct Alert {
    name: String,
    text: String,
    gold: Vec<String>,
}

fn main() {
    let Some(dir) = std::env::var_os("WARRANT_RUNBOOK_DATA").map(PathBuf::from) else {
        println!(
            "set WARRANT_RUNBOOK_DATA to a directory of runbooks with alerts_gold.json (see the head of this bench)"
        );
        return;
    };
    let files = runbooks(&dir);
    let alerts = alerts(&dir);
    println!("{} runbooks, {} alerts", files.len(), alerts.len());

    let named = load(files.iter().map(|(key, text)| (key.clone(), text.clone())));
    let stripped =
        load(files.iter().enumerate().map(|(at, (key, text))| (format!("r{at:04}"), without_name(key, text))));
    let keys: Vec<&str> = files.iter().map(|(key, _)| key.as_str()).collect();
    let key_of = |hit: &Hit<'_>| {
        let number = hit.runbook.id.strip_prefix('r').and_then(|digits| digits.parse::<usize>().ok());
        number.map_or_else(|| hit.runbook.id.clone(), |at| (*keys.get(at).unwrap()).to_owned())
    };
    for (half, remainder) in [("even (tuned on)", 0), ("odd", 1)] {
        let half_of: Vec<&Alert> = alerts.iter().filter(|alert| parity(&alert.name) == remainder).collect();
        println!("\n{half}: {} alerts", half_of.len());
        exact(&named, &half_of);
        by_words(&stripped, &half_of, &key_of);
    }
    timing(&files, &alerts);
}

/// The alert's name against the runbooks as they are.
fn exact(library: &Library, alerts: &[&Alert]) {
    let with_one: Vec<_> = alerts.iter().filter(|alert| !alert.gold.is_empty()).collect();
    let first = with_one.iter().filter(|alert| {
        let question = Question { text: &alert.text, alert: Some(&alert.name), service: None };
        let bare = Question { text: &alert.name, alert: None, service: None };
        [question, bare].into_iter().all(|question| {
            let hits = library.search(question);
            hits.first().is_some_and(|hit| hit.why == Why::ExactAlert && alert.gold.contains(&hit.runbook.id))
        })
    });
    println!("  exact name first: {} of {}", first.count(), with_one.len());
}

/// Summary and description against the runbooks without their names.
fn by_words(library: &Library, alerts: &[&Alert], key_of: &impl Fn(&Hit<'_>) -> String) {
    let (mut reciprocal, mut in_three, mut with_one, mut false_none) = (0.0, 0, 0, 0);
    let (mut without_one, mut right_none) = (0, 0);
    let (mut sure, mut unsure) = (Vec::new(), Vec::new());
    for alert in alerts {
        let question = Question { text: &alert.text, alert: None, service: None };
        let ranked = library.ranked(question);
        let none = library.search(question).is_empty();
        let confidence = ranked.first().map_or(0.0, |hit| hit.confidence);
        if alert.gold.is_empty() {
            without_one += 1;
            right_none += usize::from(none);
            unsure.push(confidence);
            continue;
        }
        with_one += 1;
        false_none += usize::from(none);
        sure.push(confidence);
        let rank = ranked.iter().position(|hit| alert.gold.contains(&key_of(hit)));
        if let Some(rank) = rank {
            reciprocal += 1.0 / (rank as f64 + 1.0);
            in_three += usize::from(rank < 3);
        }
        if std::env::var_os("SHOW").is_some() && rank != Some(0) && parity(&alert.name) == 0 {
            let first: Vec<String> = ranked.iter().take(3).map(key_of).collect();
            println!("    {} at {rank:?}: {first:?}", alert.name);
        }
    }
    let share = |count: usize, all: usize| count as f64 / all as f64;
    println!("  MRR {:.3}, recall@3 {:.3}", reciprocal / with_one as f64, share(in_three, with_one));
    println!(
        "  false none {false_none} of {with_one} ({:.1} %), right none {right_none} of {without_one} ({:.2})",
        100.0 * share(false_none, with_one),
        share(right_none, without_one)
    );
    sure.sort_by(f64::total_cmp);
    unsure.sort_by(f64::total_cmp);
    if std::env::var_os("SHOW").is_some() {
        println!("    lowest of those with one {:.2?}", sure.get(..6));
        println!("    of those with none {unsure:.2?}");
    }
}

fn timing(files: &[(String, String)], alerts: &[Alert]) {
    let began = Instant::now();
    let library = load(files.iter().cloned());
    let loaded = began.elapsed();
    let began = Instant::now();
    drop(library.search(Question { text: "disk", alert: None, service: None }));
    let indexed = began.elapsed();
    let began = Instant::now();
    for alert in alerts {
        drop(library.search(Question { text: &alert.text, alert: Some(&alert.name), service: None }));
    }
    let searched = began.elapsed() / u32::try_from(alerts.len()).unwrap();
    println!("\n{} runbooks: load {loaded:.1?}, index {indexed:.1?}, search {searched:.1?}", files.len());
}

fn load(files: impl Iterator<Item = (String, String)>) -> Library {
    let files: Vec<(String, String)> = files.collect();
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let library = Library::load(&borrowed, &[]);
    assert!(library.problems().is_empty(), "{:?}", library.problems());
    library
}

/// `po/NAME` or `os/NAME`, and the text.
fn runbooks(dir: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (key, from) in [("po", "prometheus-operator"), ("os", "openshift")] {
        let mut waiting = vec![dir.join(from)];
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                files.push((format!("{key}/{stem}"), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn alerts(dir: &Path) -> Vec<Alert> {
    let data: Value = serde_json::from_slice(&std::fs::read(dir.join("alerts_gold.json")).unwrap()).unwrap();
    let text = |alert: &Value, key: &str| alert[key].as_str().unwrap_or_default().to_owned();
    let gold = |alert: &Value| {
        alert["gold"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let alerts = data.get("alerts").unwrap().as_array().unwrap().iter();
    alerts
        .map(|alert| Alert {
            name: text(alert, "alert"),
            text: format!("{}\n{}", text(alert, "summary"), text(alert, "description")),
            gold: gold(alert),
        })
        .collect()
}

fn parity(name: &str) -> u8 {
    Sha256::digest(name.as_bytes()).last().unwrap() % 2
}

/// The text without the runbook's name, as one word and in words with any space between.
fn without_name(key: &str, text: &str) -> String {
    let name = key.rsplit('/').next().unwrap();
    let either = camel(name).iter().map(|part| regex::escape(part)).collect::<Vec<_>>().join(r"\s*");
    RegexBuilder::new(&either).case_insensitive(true).build().unwrap().replace_all(text, " ").into_owned()
}

/// The parts of a name in camel case.
fn camel(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| *letters.get(before).unwrap());
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || letters.get(at + 1).is_some_and(|after| after.is_lowercase())
            });
        if begins {
            parts.push(String::new());
        }
        parts.last_mut().unwrap().push(*c);
    }
    parts
}
