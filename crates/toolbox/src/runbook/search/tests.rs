//! What a question finds.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::{Question, Why};
use crate::runbook::library::Library;

const PAGES: &[(&str, &str)] = &[
    (
        "KubePodCrashLooping",
        "# KubePodCrashLooping\n\n## Meaning\n\nPod dies and is restarted again and again.\n\n## Diagnosis\n\nRead the logs of the container.\n",
    ),
    (
        "NodeFilesystemFull",
        "# NodeFilesystemFull\n\n## Meaning\n\nThe filesystem has no space left on the device.\n\n## Mitigation\n\nRemove old logs.\n",
    ),
    (
        "certificate",
        "# Certificate expiry\n\n## Meaning\n\nThe TLS certificate of the endpoint expires soon and was not renewed.\n",
    ),
    ("queue", "# 队列积压\n\n## 含义\n\n消费者处理消息太慢，队列越来越长。\n\n## 处理\n\n增加消费者。\n"),
    ("latency", "# Latency\n\n## Meaning\n\nRequests of the API are answered late.\n"),
    (
        "billing-only",
        "+++\ntitle = \"Invoices late\"\nalerts = [\"InvoicesLate\"]\nservices = [\"billing\"]\nsymptoms = [\"invoices are not sent\"]\n+++\n# Invoices\n",
    ),
];

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::load(PAGES, &[]))
}

fn found(text: &str) -> Vec<&'static str> {
    let hits = library().search(Question { text, alert: None, service: None });
    hits.iter().map(|hit| hit.runbook.id.as_str()).collect()
}

#[test]
fn words_find_the_section_that_fits() {
    let question = Question { text: "there is no space left on the filesystem", alert: None, service: None };
    let hits = library().search(question);
    assert_eq!(hits[0].runbook.id, "NodeFilesystemFull");
    assert_eq!((hits[0].why, hits[0].section.unwrap().heading.as_str()), (Why::Words, "Meaning"));
}

#[test]
fn related_words_and_other_endings_find_it_too() {
    assert_eq!(found("x509: cert is expiring")[0], "certificate");
    assert_eq!(found("the disk is full")[0], "NodeFilesystemFull");
    assert_eq!(found("certificates of the endpoints were not renewed")[0], "certificate");
}

#[test]
fn chinese_finds_chinese_and_through_related_words_english() {
    assert_eq!(found("消息队列很长怎么办")[0], "queue");
    assert_eq!(found("磁盘空间不足")[0], "NodeFilesystemFull");
    assert_eq!(found("证书快要过期了")[0], "certificate");
    assert!(found("天气怎么样").is_empty());
}

#[test]
fn figures_and_what_any_alert_says_count_less() {
    let sure = |text: &str| library().ranked(Question { text, alert: None, service: None })[0].confidence;
    assert!(
        sure("no space left, 5% detected in the last minutes")
            > sure("no space left, guitar practised in the blue kitchen")
    );
}

#[test]
fn what_no_runbook_is_about_finds_none() {
    for text in
        ["", "?!", "the of and", "coffee machine on the third floor is broken", "payroll export is missing a column"]
    {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
}

#[test]
fn a_service_leaves_out_runbooks_for_others() {
    let ask = |service: &str| {
        let service = service.parse().unwrap();
        let question = Question { text: "invoices are not sent", alert: Some("InvoicesLate"), service: Some(&service) };
        library().search(question).iter().map(|hit| hit.runbook.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ask("billing")[0], "billing-only");
    assert!(!ask("search").contains(&"billing-only".to_owned()));
}

#[test]
fn ql_07_operators_and_paths_are_words() {
    let first = |text: &str| {
        let hits = library().ranked(Question { text, alert: None, service: None });
        hits.first().map(|hit| hit.runbook.id.as_str())
    };
    for text in [
        "filesystem\" OR space*",
        "NEAR(filesystem space)",
        "filesystem AND NOT space",
        "title:filesystem % _ ^space",
        "'; DROP TABLE runbooks; -- filesystem space",
        "../../etc/passwd filesystem space",
    ] {
        assert_eq!(first(text), Some("NodeFilesystemFull"), "{text}");
    }
}

#[test]
fn ql_07_a_query_of_a_mebibyte_is_capped() {
    let long = format!("filesystem space {}", "x7 ".repeat(400_000));
    let hits = library().ranked(Question { text: &long, alert: Some(&long), service: None });
    assert_eq!(hits.first().map(|hit| hit.runbook.id.as_str()), Some("NodeFilesystemFull"));
    let one_word = "é".repeat(600_000);
    assert!(found(&one_word).is_empty());
}

#[test]
fn equal_questions_have_equal_answers_to_the_last_bit() {
    let text = "filesystem space left, certificate expires, pods restart, requests late";
    let question = Question { text, alert: None, service: None };
    let scores = |library: &Library| library.ranked(question).iter().map(|hit| hit.score.to_bits()).collect::<Vec<_>>();
    let first = scores(library());
    for _ in 0..5 {
        assert_eq!(scores(&Library::load(PAGES, &[])), first);
    }
}

proptest! {
    #[test]
    fn no_question_is_too_strange(text in any::<String>(), alert in proptest::option::of(any::<String>())) {
        let hits = library().search(Question { text: &text, alert: alert.as_deref(), service: None });
        for hit in hits {
            prop_assert!(hit.score.is_finite() && hit.confidence.is_finite());
        }
    }

    #[test]
    fn an_exact_name_is_always_first(
        page in prop::sample::select(vec!["KubePodCrashLooping", "NodeFilesystemFull", "InvoicesLate"]),
        text in "[a-z ]{0,60}", spelling in 0..4, in_text in any::<bool>(),
    ) {
        let name = match spelling {
            0 => page.to_owned(),
            1 => page.to_uppercase(),
            2 => page.to_lowercase(),
            _ => page.replace("Pod", "_pod_").replace("File", "-file-"),
        };
        // In a text a name must look like one; as the alert's name any spelling will do.
        let (text, alert) = if in_text { (format!("{text} {page} {text}"), None) } else { (text, Some(name.as_str())) };
        let hits = library().search(Question { text: &text, alert, service: None });
        prop_assert!(hits[0].runbook.alerts.iter().any(|alert| alert == page));
        prop_assert_eq!(hits[0].why, Why::ExactAlert);
    }
}
