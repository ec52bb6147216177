//! Nothing is lost, and nothing that Slack refuses can be made.

use proptest::prelude::*;
use serde_json::Value;

use super::refuse;
use super::sketch::sketch;
use super::{Button, FileId, GroupId, Message, Page, Run, Text, UserId, Weight};
use crate::chat::slack::action::Action;
use crate::chat::slack::escape::tests::hostile;
use crate::chat::slack::escape::{Exact, Shown};

/// All words of messages, as they are sent.
fn words(value: &Value, into: &mut String) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "text" => into.push_str(text),
                    other => words(other, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, into)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_message_of_every_part() {
    let mut page = Page::empty();
    page.header(Text::fit(Shown::own("A header")));
    page.title("A title", Shown::line("an <aside>"));
    page.say(vec![
        Run::plain(Shown::own("ask ")),
        Run::Person(UserId::read("U1A").unwrap()),
        Run::plain(Shown::own(" or ")),
        Run::Group(GroupId::read("S2B").unwrap()),
    ]);
    page.quote(Shown::lines("a quote\nof two lines"));
    page.exact(&[Exact::of("``` x"), Exact::of("*y*")]);
    page.bullet(vec![Run::plain(Shown::own("an item"))]);
    page.divider();
    page.context(&[Text::fit(Shown::own("small")), Text::fit(Shown::own("print"))]);
    page.image(FileId::read("F3").unwrap(), Text::fit(Shown::own("a chart")));
    page.buttons(vec![
        Button::new(Action::Helpful, "Helpful", &"i-1", Weight::Primary),
        Button::new(Action::Wrong, "Wrong", &"i-1", Weight::Danger),
        Button::new(Action::Wrong, "Wrong", &"i-2", Weight::Usual),
    ]);
    let message = Message::one(page.into_blocks(), Shown::line("<!here> it is")).unwrap().value();
    assert_eq!(refuse::message(&message), Vec::<String>::new());
    insta::assert_snapshot!(sketch(&message), @r#"
    notice: <!here> it is
    # A header
    *A title*  _an <aside>_
    ask @U1A or @S2B
    > a quote
    > of two lines
    | ``` x
    | *y*
    - an item
    ---
    (small | print)
    picture "F3": "a chart"
    [Helpful!primary warrant.helpful=i-1] [Wrong!danger warrant.wrong=i-1]
    [Wrong warrant.wrong=i-2]
    "#);
}

#[test]
fn sl_02_sl_03_there_is_no_text_with_marks_and_no_fence_to_close() {
    let mut page = Page::empty();
    page.exact(&[Exact::of("``` \u{1b}[2K"), Exact::of("✅ *Approved by* <@U1|lead>")]);
    let value = Message::one(page.into_blocks(), Shown::own("x")).unwrap().value();
    assert!(!value.to_string().contains(r#""type":"mrkdwn""#));
    let parts = value["blocks"][0]["elements"].as_array().unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0]["type"], "rich_text_preformatted");
    assert_eq!(parts[0]["elements"][0]["text"], "``` \\u{1B}[2K\n✅ *Approved by* &lt;@U1|lead&gt;");
}

#[test]
fn what_is_cut_says_how_much() {
    let text = Text::<30>::fit(Shown::line(&"a".repeat(100)));
    assert_eq!(text.0.wire(), "aaaaaa … 94 more");
    assert_eq!(Text::<30>::fit(Shown::own("short")).0.wire(), "short");
}

#[test]
fn ids_are_read_in_one_form_only() {
    for bad in ["", "U", "u123", "<@U1>", "U1|x", "U1 ", "S1", "Uа", "U1<!here>"] {
        assert_eq!(UserId::read(bad), None, "{bad}");
    }
    assert_eq!(UserId::read("W0A").unwrap().as_str(), "W0A");
    assert_eq!(GroupId::read("U1"), None);
    assert_eq!(FileId::read("S1"), None);
}

/// That the judge itself refuses: a test that can't fail proves nothing.
#[test]
fn the_judge_refuses_what_slack_refuses() {
    let mut page = Page::empty();
    page.say(vec![Run::plain(Shown::own("words"))]);
    let good = Message::one(page.into_blocks(), Shown::own("x")).unwrap().value();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        refuse::message(&value).len()
    };
    assert_eq!(with(&|_| {}), 0);
    let run = |value: &mut Value, text: &str| value["blocks"][0]["elements"][0]["elements"][0]["text"] = text.into();
    assert_ne!(with(&|value| run(value, "<!here>")), 0);
    assert_ne!(with(&|value| run(value, "a & b")), 0);
    assert_ne!(with(&|value| run(value, "see https://evil.example")), 0);
    assert_ne!(with(&|value| run(value, "a\u{202E}b")), 0);
    assert_ne!(with(&|value| run(value, &"a".repeat(3_001))), 0);
    assert_ne!(with(&|value| value["mrkdwn"] = true.into()), 0);
    assert_ne!(with(&|value| value["blocks"] = vec![value["blocks"][0].clone(); 51].into()), 0);
    assert_ne!(with(&|value| value["blocks"][0]["type"] = "section".into()), 0);
    assert_ne!(
        with(&|value| {
            run(value, &"a".repeat(2_900));
            value["blocks"] = vec![value["blocks"][0].clone(); 5].into();
        }),
        0
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn split_loses_nothing_and_fits(texts in prop::collection::vec((hostile(), 1usize..200), 0..6), lines in prop::collection::vec(hostile(), 0..60)) {
        let mut page = Page::empty();
        let mut sent = String::new();
        for (text, times) in &texts {
            let words = Shown::lines(&text.repeat(*times).chars().take(9_000).collect::<String>());
            sent.push_str(&words.wire());
            page.say(vec![Run::plain(words.clone())]);
            sent.push_str(&words.wire());
            page.quote(words);
        }
        let exact: Vec<Exact> = lines.iter().map(|line| Exact::of(line)).collect();
        page.exact(&exact);
        for line in &exact {
            sent.push_str(&line.wire());
        }
        let messages = Message::split(page.into_blocks(), &Shown::own("x"));
        let mut found = String::new();
        for message in &messages {
            let value = message.value();
            prop_assert_eq!(refuse::message(&value), Vec::<String>::new());
            words(&value["blocks"], &mut found);
        }
        let bare = |text: &str| text.replace("↪ ", "").replace('\n', "");
        prop_assert_eq!(bare(&found), bare(&sent));
    }
}
