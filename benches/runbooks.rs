//! How well the search for runbooks finds the right one, and how long it takes.
//!
//! `WARRANT_RUNBOOK_DATA=DIR cargo bench --bench runbooks`. The directory holds `prometheus-operator/` and `openshift/` (the
//! runbooks of github.com/prometheus-operator/runbooks and github.com/openshift/runbooks) and `alerts_gold.json`: `alerts`,
//! each with `alert`, `summary`, `description` and `gold`, the right runbooks as `po/NAME` and `os/NAME`. `alerts_more.json`
//! may hold further alerts in the same form.
//!
//! The figures are of the alerts whose name's SHA-256 ends in an odd byte. The weights were set on the others, whole and in
//! part, on further alerts, and on sentences of the runbooks themselves; these are called tuned on.
//!
//! The runbook's own name is taken out of its text, as one word and in words, and out of its title and file name. Taken
//! out as one word only it is easier; that is a row of its own.

#![expect(clippy::unwrap_used, reason = "a bench that lacks its data has nothing to measure")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use regex::RegexBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::runbook::search::{Hit, Question, Why};

#[derive(Clone)]
struct Alert {
    name: String,
    text: String,
    gold: Vec<String>,
}

impl Alert {
    /// The first line of the text, the summary, or what is below it.
    fn part(&self, which: usize) -> Self {
        let (summary, description) = self.text.split_once('\n').unwrap();
        Self { text: [summary, description].get(which).unwrap().to_string(), ..self.clone() }
    }
}

fn main() {
    let Some(dir) = std::env::var_os("WARRANT_RUNBOOK_DATA").map(PathBuf::from) else {
        println!(
            "set WARRANT_RUNBOOK_DATA to a directory of runbooks with alerts_gold.json (see the head of this bench)"
        );
        return;
    };
    let files = runbooks(&dir);
    let alerts = alerts_of(&dir.join("alerts_gold.json")).unwrap();
    println!("{} runbooks, {} alerts", files.len(), alerts.len());

    let named = load(files.iter().map(|(key, text)| (key.clone(), text.clone())));
    let stripped = load(numbered(&files, without_name));
    let one_word = load(numbered(&files, without_one_word));
    let keys: Vec<&str> = files.iter().map(|(key, _)| key.as_str()).collect();
    let key_of = |hit: &Hit<'_>| {
        let number = hit.runbook.id.strip_prefix('r').and_then(|digits| digits.parse::<usize>().ok());
        number.map_or_else(|| hit.runbook.id.clone(), |at| (*keys.get(at).unwrap()).to_owned())
    };
    for (half, remainder) in [("even (tuned on)", 0), ("odd", 1)] {
        let half_of: Vec<Alert> = alerts.iter().filter(|alert| parity(&alert.name) == remainder).cloned().collect();
        println!("\n{half}: {} alerts", half_of.len());
        exact(&named, &half_of);
        by_words("name taken out in words too", &stripped, &half_of, &key_of);
        by_words("name taken out as one word only", &one_word, &half_of, &key_of);
        if remainder == 0 {
            by_words(
                "summary alone",
                &stripped,
                &half_of.iter().map(|alert| alert.part(0)).collect::<Vec<_>>(),
                &key_of,
            );
            by_words(
                "description alone",
                &stripped,
                &half_of.iter().map(|alert| alert.part(1)).collect::<Vec<_>>(),
                &key_of,
            );
        }
    }
    println!("\nfurther (tuned on)");
    if let Some(further) = alerts_of(&dir.join("alerts_more.json")) {
        by_words("further alerts", &stripped, &further, &key_of);
    }
    let held_back: Vec<&String> =
        alerts.iter().filter(|alert| parity(&alert.name) == 1).flat_map(|alert| &alert.gold).collect();
    let (without, sentences) = first_sentences(&numbered(&files, without_name), &keys, &held_back);
    by_words("first sentences", &load(without), &sentences, &key_of);
    timing(&files, &alerts);
}

/// The alert's name against the runbooks as they are.
fn exact(library: &Library, alerts: &[Alert]) {
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
fn by_words(label: &str, library: &Library, alerts: &[Alert], key_of: &impl Fn(&Hit<'_>) -> String) {
    let (mut reciprocal, mut in_three, mut with_one, mut false_none) = (0.0, 0_u32, 0_u32, 0);
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
            in_three += u32::from(rank < 3);
        }
        if std::env::var_os("SHOW").is_some() && rank.is_none_or(|rank| rank > 2) && parity(&alert.name) == 0 {
            let first: Vec<String> = ranked.iter().take(3).map(key_of).collect();
            println!("    {} at {rank:?}: {first:?}", alert.name);
        }
    }
    println!(
        "  {label}: MRR {:.3}, recall@3 {:.3} ({in_three} of {with_one}), false none {false_none}, right none {right_none} of {without_one}",
        reciprocal / f64::from(with_one),
        f64::from(in_three) / f64::from(with_one),
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

fn load(files: impl IntoIterator<Item = (String, String)>) -> Library {
    let files: Vec<(String, String)> = files.into_iter().collect();
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let library = Library::load(&borrowed, &[]);
    assert!(library.problems().is_empty(), "{:?}", library.problems());
    library
}

/// The runbooks with numbers for file names and `change` made to each text.
fn numbered(files: &[(String, String)], change: fn(&str, &str) -> String) -> Vec<(String, String)> {
    files.iter().enumerate().map(|(at, (key, text))| (format!("r{at:04}"), change(key, text))).collect()
}

/// The runbooks without the first sentence of what they are about, and these sentences as questions: of all runbooks but
/// those that the alerts held back look for.
fn first_sentences(
    files: &[(String, String)],
    keys: &[&str],
    held_back: &[&String],
) -> (Vec<(String, String)>, Vec<Alert>) {
    let library = load(files.to_vec());
    let (mut without, mut sentences) = (files.to_vec(), Vec::new());
    for ((id, text), key) in without.iter_mut().zip(keys) {
        let sections = &library.get(id).unwrap().sections;
        let Some(lead) = sections.iter().find(|section| !section.text.is_empty()) else { continue };
        let first = lead.text.split_inclusive(". ").next().unwrap().to_owned();
        let words = first.split_whitespace().map(regex::escape).collect::<Vec<_>>().join(r"[\s`*_]+");
        *text = RegexBuilder::new(&words).build().unwrap().replace(text, " ").into_owned();
        if held_back.iter().any(|name| name == key) || first.len() < 20 {
            continue;
        }
        let name = key.rsplit('/').next().unwrap();
        let gold = keys.iter().filter(|other| other.rsplit('/').next() == Some(name));
        let gold = gold.map(|other| (*other).to_owned()).collect();
        sentences.push(Alert { name: name.to_owned(), text: first, gold });
    }
    (without, sentences)
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

fn alerts_of(file: &Path) -> Option<Vec<Alert>> {
    let data: Value = serde_json::from_slice(&std::fs::read(file).ok()?).unwrap();
    let text = |alert: &Value, key: &str| alert[key].as_str().unwrap_or_default().to_owned();
    let gold = |alert: &Value| {
        alert["gold"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let alerts = data.get("alerts").unwrap().as_array().unwrap().iter();
    let alerts = alerts.map(|alert| Alert {
        name: text(alert, "alert"),
        text: format!("{}\n{}", text(alert, "summary"), text(alert, "description")),
        gold: gold(alert),
    });
    Some(alerts.collect())
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

/// The text without the runbook's name as one word.
fn without_one_word(key: &str, text: &str) -> String {
    let name = regex::escape(key.rsplit('/').next().unwrap());
    RegexBuilder::new(&name).case_insensitive(true).build().unwrap().replace_all(text, " ").into_owned()
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
