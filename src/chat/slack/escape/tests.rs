//! Whatever a stranger writes stays words.

use proptest::prelude::*;

use super::{Exact, Hosts, Shown, parted};

/// What strangers try, and anything else.
pub(in crate::chat::slack) fn hostile() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "<!channel>",
        "<!here|here>",
        "<@U123ABC>",
        "<!subteam^S123|on-call>",
        "<#C1>",
        "@here",
        "@Channel",
        "@everyone",
        "<https://evil.example|Approve>",
        "<https://evil.example|https://good.example>",
        "https://evil.example/?d=secret",
        "![x](https://evil.example/x.png)",
        "[ok](http://evil.example)",
        "www.evil.example",
        "```",
        "``` \n*bold*",
        "*b*",
        "_i_",
        "~s~",
        "`c`",
        "> quote",
        "&lt;!here&gt;",
        "&amp;",
        "&",
        "\u{202E}",
        "\u{2066}",
        "\u{200B}",
        "\u{E0041}",
        "\u{1b}[2K\u{1b}[1A",
        "\u{1b}]8;;http://evil\u{7}",
        "\u{1b}]52;c;aGk=\u{7}",
        "\r\n",
        "\n",
        "\t",
        "✅ Approved by @lead",
        ":white_check_mark:",
        "}}]}\",\"type\":\"actions\"",
        "\u{FE0F}",
        "😀",
        "                    ",
    ]);
    prop::collection::vec(
        prop_oneof![3 => known.prop_map(str::to_owned), 1 => "\\PC{0,30}", 1 => any::<String>()],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

#[test]
fn sl_01_sl_02_nothing_pings_or_links() {
    insta::assert_snapshot!(
        Shown::line("<!channel> <@U1> <!subteam^S1> @here @CHANNEL <https://evil|Approve> www.evil.example a&b").wire(),
        @"&lt;!channel&gt; &lt;@U1&gt; &lt;!subteam^S1&gt; ＠here ＠CHANNEL &lt;https[:]//evil|Approve&gt; www[.]evil.example a&amp;b"
    );
    // Halves that are harmless are so together.
    assert_eq!(Shown::line("https:").then_line("//evil").wire(), "https[:]//evil");
    assert_eq!(Shown::line("@").then_line("here").wire(), "＠here");
    assert_eq!(Shown::line("mail@hereford.example").wire(), "mail＠hereford.example");
}

#[test]
fn sl_06_sl_07_what_can_not_be_seen_is_shown() {
    assert_eq!(Exact::of("\u{1b}[2K pay\u{202E}\u{E0041}\r").wire(), "\\u{1B}[2K pay\\u{202E}\\u{E0041}\\u{D}");
    assert_eq!(Shown::lines("a\u{200B}\nb").wire(), "a\\u{200B}\nb");
}

#[test]
fn sl_09_links_lead_to_hosts_of_the_config_only() {
    let hosts =
        Hosts::of(["https://grafana.example:3000/d/1", "http://Logs.Example/", "ftp://files.example", "nonsense"]);
    for good in ["https://grafana.example:3000/explore?q=1", "https://logs.example/x"] {
        assert_eq!(hosts.link(good).unwrap().as_str(), good);
    }
    for bad in [
        "https://evil.example/?d=secret",
        "https://grafana.example/",
        "https://grafana.example:3000@evil.example/",
        "https://user:word@logs.example/",
        "https://logs.example.evil.example/",
        "javascript:alert(1)",
        "ftp://files.example/",
        "//logs.example/",
        "logs.example",
        "https://lоgs.example/",
    ] {
        assert_eq!(hosts.link(bad), None, "{bad}");
    }
    // What would end the address in another reader is written as the standard has it.
    assert_eq!(hosts.link("https://logs.example/<a>").unwrap().as_str(), "https://logs.example/%3Ca%3E");
    assert_eq!(hosts.link("https://logs.example/a|Approve"), None);
    assert_eq!(hosts.link(&format!("https://logs.example/{}", "a".repeat(3_000))), None);
    assert_eq!(Hosts::none().link("https://logs.example/"), None);
}

#[test]
fn a_line_that_goes_on_says_so() {
    let parts: Vec<String> = Exact::of(&"a".repeat(25)).parts(10).iter().map(Exact::wire).collect();
    assert_eq!(parts, ["aaaaaaaaaa", "↪ aaaaaaaa", "↪ aaaaaaa"]);
    assert_eq!(Exact::of("").parts(10).len(), 1);
    assert_eq!(Exact::of("abcdef").short(4).wire(), "abcd … 2 more characters: see the whole");
}

proptest! {
    #[test]
    fn sl_01_sl_02_sl_06_no_text_does_anything(a in hostile(), b in hostile()) {
        for shown in [Shown::line(&a), Shown::lines(&a), Shown::line(&a).then_line(&b), Shown::lines(&a).and(&Shown::lines(&b))] {
            let wire = shown.wire();
            prop_assert!(!wire.contains(['<', '>']));
            prop_assert_eq!(wire.encode_utf16().count(), shown.width());
            let small = wire.to_lowercase();
            for bad in ["://", "www.", "@here", "@channel", "@everyone"] {
                prop_assert!(!small.contains(bad), "{}", wire);
            }
            for line in wire.lines() {
                prop_assert!(warrant_kernel::domain::visible::is_plain(line), "{:?}", line);
            }
        }
        prop_assert!(!Exact::of(&a).wire().contains(['\n', '<', '>']));
    }

    #[test]
    fn parting_loses_nothing(text in hostile(), most in 1usize..60) {
        let (mut rest, mut all, mut count) = (text.as_str(), String::new(), 0);
        while !rest.is_empty() {
            let (head, after) = parted(rest, most);
            prop_assert!(!head.is_empty());
            prop_assert!(head.chars().count() == 1 || Exact(head.to_owned()).width() <= most);
            all.push_str(head);
            rest = after;
            count += 1;
        }
        prop_assert_eq!(&all, &text);
        prop_assert!(count <= text.chars().count());
    }
}
