//! What lint finds, and that nothing is wrong with the runbooks that come with the program.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::name::ToolName;
use warrant_kernel::domain::tool::{ArgSpec, ArgType};

use super::ToolForm;
use crate::runbook::library::Library;

fn arg(kind: ArgType, required: bool) -> ArgSpec {
    ArgSpec { kind, description: String::new(), required, default: None, min: None, max: None, values: Vec::new() }
}

/// The arguments that checks and remedies use, of the tools that they call.
fn tools(name: &ToolName) -> Option<ToolForm> {
    let service = ("service", arg(ArgType::Service, true));
    let window = [("since", arg(ArgType::Time, false)), ("until", arg(ArgType::Time, false))];
    let limit = ("limit", ArgSpec { min: Some(1), max: Some(1000), ..arg(ArgType::Int, false) });
    let regex = |most| ArgSpec { max: Some(most), ..arg(ArgType::Regex, false) };
    let level = ArgSpec { values: vec!["any".to_owned(), "error".to_owned()], ..arg(ArgType::Enum, false) };
    let interval = ArgSpec { min: Some(0), max: Some(30), ..arg(ArgType::Duration, false) };
    let args: Vec<(&str, ArgSpec)> = match name.as_str() {
        "search_logs" => {
            [service, ("pattern", regex(1000)), ("level", level), limit].into_iter().chain(window).collect()
        }
        "compare_logs" => [service].into_iter().chain(window).collect(),
        "recent_changes" => [("service", arg(ArgType::Service, false)), limit].into_iter().chain(window).collect(),
        "query_metrics" => {
            let query = ArgSpec { max: Some(2000), ..arg(ArgType::Query, true) };
            [("service", arg(ArgType::Service, false)), ("query", query)].into_iter().chain(window).collect()
        }
        "scrape_metrics" => vec![service, ("match", regex(200)), ("interval", interval)],
        "http_check" | "restart_service" => vec![service],
        "edit_config" | "edit_temp_config" => {
            let text = || arg(ArgType::Text, true);
            vec![("path", arg(ArgType::Path, true)), ("old_string", text()), ("new_string", text())]
        }
        _ => return None,
    };
    let writes = matches!(name.as_str(), "restart_service" | "edit_config" | "edit_temp_config");
    Some(ToolForm {
        args: args.into_iter().map(|(name, spec)| (name.to_owned(), spec)).collect::<BTreeMap<_, _>>(),
        risk: if writes { Risk::Write } else { Risk::Read },
    })
}

fn lint(checks: &str) -> String {
    let text = format!("+++\ntitle = \"T\"\n{checks}\n+++\n# T\n");
    let problems = Library::load(&[("t.md", &text)], &[]).lint(&tools);
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn check(call: &str) -> String {
    let expect = "expect = { at = \"/a\", is = \"gt\", value = 0 }";
    lint(&format!("[[checks]]\nid = \"c\"\nmeans = \"m\"\n{expect}\n{call}"))
}

#[test]
fn a_check_that_fits_is_fine() {
    assert_eq!(
        check(
            "tool = \"search_logs\"\nargs = { service = \"{service}\", pattern = '{service} \\d{3}', since = \"{since}\" }"
        ),
        ""
    );
    assert_eq!(check("tool = \"scrape_metrics\"\nargs = { service = \"{service}\", interval = \"5s\" }"), "");
}

#[test]
fn every_misfit_is_told_with_file_and_line() {
    assert_snapshot!(check("tool = \"search_log\""), @"runbooks/t.md:3: check `c`: there is no tool `search_log`; `warrant tools list` names them");
    assert_snapshot!(check("tool = \"http_check\""), @"runbooks/t.md:3: check `c`: `http_check` needs the argument `service`");
    assert_snapshot!(check("tool = \"http_check\"\nargs = { service = \"{service}\", url = \"x\" }"), @"runbooks/t.md:3: check `c`: `http_check` takes no argument `url`; it takes service");
    assert_snapshot!(check("tool = \"http_check\"\nargs = { service = \"billing\" }"), @"runbooks/t.md:3: check `c`: argument `service`: `billing`: write `{service}`; a runbook that names one service fits no other");
    assert_snapshot!(check("tool = \"http_check\"\nargs = { service = \"{srvice}\" }"), @"
    runbooks/t.md:3: check `c`: `{srvice}` is no placeholder; there are `{service}`, `{since}` and `{until}`
    runbooks/t.md:3: check `c`: argument `service`: `{srvice}`: write `{service}`; a runbook that names one service fits no other
    ");
    assert_snapshot!(check("tool = \"search_logs\"\nargs = { service = \"{service}\", pattern = \"(\", limit = 0, since = \"noon\", level = \"loud\" }"), @"
    runbooks/t.md:3: check `c`: argument `level`: `loud` is none of any, error
    runbooks/t.md:3: check `c`: argument `limit`: `0` is no whole number from 1 to 1000
    runbooks/t.md:3: check `c`: argument `pattern`: `(` is no regular expression
    runbooks/t.md:3: check `c`: argument `since`: `noon` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`
    ");
    assert_snapshot!(check("tool = \"scrape_metrics\"\nargs = { service = \"{service}\", interval = \"5m\" }"), @"runbooks/t.md:3: check `c`: argument `interval`: `5m` is no length from 0 to 30 seconds");
    assert_snapshot!(check("tool = \"recent_changes\"\nargs = { limit = \"many\" }"), @r#"runbooks/t.md:3: check `c`: argument `limit`: `"many"` is no whole number"#);
    let rises = "tool = \"http_check\"\nargs = { service = \"{service}\" }\nexpect = { at = \"/a\", is = \"rises\" }";
    assert_snapshot!(lint(&format!("[[checks]]\nid = \"c\"\nmeans = \" \"\n{rises}")), @"
    runbooks/t.md:3: check `c`: `means` is empty; say what it means when the check holds
    runbooks/t.md:3: check `c`: it compares with the window before, so an argument must hold `{since}`
    ");
    assert_snapshot!(lint("remedies = [{ do = \"\" }]"), @"runbooks/t.md:3: a remedy's `do` is empty; say what to do");
    assert_snapshot!(lint("unknown = 1"), @"runbooks/t.md:3: unknown field `unknown`, expected one of `title`, `alerts`, `services`, `symptoms`, `checks`, `remedies`, `changes`");
}

fn remedy(rest: &str) -> String {
    lint(&format!("[[remedies]]\ndo = \"mend it\"\n{rest}"))
}

#[test]
fn a_remedy_that_fits_is_fine() {
    let edit =
        "{ path = \"{change.path}\", old_string = \"{change.line_now}\", new_string = \"{change.line_before}\" }";
    let then = "then = [{ do = \"restart\", tool = \"restart_service\", args = { service = \"{service}\" } }]";
    assert_eq!(remedy(&format!("tool = \"edit_config\"\nargs = {edit}\n{then}")), "");
    assert_eq!(remedy("alternatives = [\"or that\"]"), "");
}

#[test]
fn every_misfit_of_a_remedy_is_told() {
    assert_snapshot!(remedy("tool = \"restart_servic\""), @"runbooks/t.md:3: remedy `mend it`: there is no tool `restart_servic`; `warrant tools list` names them");
    assert_snapshot!(remedy("tool = \"http_check\"\nargs = { service = \"{service}\" }"), @"runbooks/t.md:3: remedy `mend it`: `http_check` changes nothing; a remedy must");
    assert_snapshot!(remedy("tool = \"restart_service\"\nargs = { service = \"orders\", unit = \"{since}\" }"), @"
    runbooks/t.md:3: remedy `mend it`: `restart_service` takes no argument `unit`; it takes service
    runbooks/t.md:3: remedy `mend it`: `{since}` is no placeholder of a remedy; there are `{service}`, `{change.path}`, `{change.line_now}`, `{change.line_before}`, `{override.path}`, `{override.line_now}`, `{override.line_wanted}`
    runbooks/t.md:3: remedy `mend it`: argument `service`: `orders`: write `{service}`; a runbook that names one service fits no other
    ");
    assert_snapshot!(remedy("then = [{ do = \"x\", tool = \"restart_service\" }]"), @"runbooks/t.md:3: `then` goes with a write; name its `tool`, or remove `then`");
    assert_snapshot!(remedy("tool = \"restart_service\"\nwhen = \"down\""), @"runbooks/t.md:3: `when` names the check `down`, which is not there; name one of this runbook");
    let check = "[[checks]]\nid = \"c\"\nmeans = \"m\"\ntool = \"restart_service\"\nargs = { service = \"{service}\" }";
    assert_snapshot!(lint(&format!("{check}\nexpect = {{ at = \"/a\", is = \"gt\", value = 0 }}")), @"runbooks/t.md:3: check `c`: `restart_service` does not only read; a check must");
}

/// The runbooks that come with the program, as file names and texts.
fn shipped() -> Vec<(String, String)> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runbooks");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_shipped_runbooks_are_whole() {
    let files = shipped();
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let library = Library::load(&borrowed, &[]);
    let problems: Vec<String> = library.lint(&tools).iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(library.runbooks().len() >= 10);
    for runbook in library.runbooks() {
        let headings: Vec<&str> = runbook.sections.iter().map(|section| section.heading.as_str()).collect();
        assert_eq!(headings, ["Meaning", "Impact", "Diagnosis", "Mitigation"], "{}", runbook.id);
        assert!(runbook.checks.len() >= 3 && !runbook.remedies.is_empty(), "{}", runbook.id);
        assert!(!runbook.alerts.is_empty() && !runbook.symptoms.is_empty(), "{}", runbook.id);
        assert!(!runbook.change_words.is_empty(), "{}", runbook.id);
    }
}
