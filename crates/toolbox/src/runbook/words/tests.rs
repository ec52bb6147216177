//! What counts as a word.

use proptest::prelude::*;

use super::{Kind, telling_words, words};

fn texts(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

#[test]
fn names_are_also_their_parts() {
    assert_eq!(texts("KubePodCrashLooping"), ["kubepodcrashlooping", "kube", "pod", "crash", "looping"]);
    assert_eq!(texts("HTTPErrorRate"), ["httperrorrate", "http", "error", "rate"]);
    assert_eq!(texts("disk_full-soon"), ["disk", "full", "soon"]);
}

#[test]
fn scripts_without_spaces_come_as_pairs() {
    assert_eq!(texts("磁盘空间 full 满"), ["磁盘", "盘空", "空间", "full", "满"]);
    assert_eq!(texts("ディスク不足"), ["ディ", "ィス", "スク", "ク不", "不足"]);
    assert_eq!(texts("ＤＩＳＫ"), ["disk"]);
}

#[test]
fn template_code_and_stop_words_tell_nothing() {
    let question =
        "Pod {{ $labels.namespace }}/{{ $labels.pod }} is at {{ printf \"%.2f\" $value }}% of $labels.limit 42 {{ open";
    let told: Vec<String> = telling_words(question).into_iter().map(|word| word.text).collect();
    assert_eq!(told, ["pod", "42"]);
}

#[test]
fn names_of_things_are_marked() {
    let marked: Vec<String> = words("node web-7 ip-10 failed now")
        .into_iter()
        .filter(|word| word.kind == Kind::Name)
        .map(|word| word.text)
        .collect();
    assert_eq!(marked, ["web", "7", "ip", "10"]);
}

proptest! {
    #[test]
    fn words_hold_letters_and_digits_only(text in any::<String>()) {
        for word in words(&text) {
            prop_assert!(!word.text.is_empty());
            prop_assert!(word.text.chars().all(|c| c.is_alphanumeric() || c == '\u{307}'), "{:?}", word);
        }
    }
}
