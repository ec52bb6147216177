//! A finished run, decided again from its own trace: the same to the letter, unless the program or its policies changed.

use serde_json::{Value, json};
use warrant::app::investigations::replay;
use warrant_kernel::domain::report::Outcome;

use super::{World, serve};
use crate::model_server::script::{Shape, Turn};

fn report(value: Value) -> Turn {
    Turn::calls([("r", "report", value)])
}

#[tokio::test]
async fn a_run_of_any_outcome_is_decided_the_same_again() {
    let empty = || json!({ "summary": "I found nothing.", "findings": [] });
    let on_one_source = |world: &World| {
        let mut draft = world.good_report();
        draft["findings"][1]["evidence"] = json!(["E3"]);
        draft["findings"][1]["claim"] = json!("The pool is exhausted.");
        draft["findings"][1]["at"] = json!(super::at(world.onset));
        draft
    };
    let quiet = World::new();
    let log = std::fs::read_to_string(quiet.path("logs/checkout.log")).unwrap();
    let well: Vec<&str> = log.lines().filter(|line| line.contains("info")).collect();
    std::fs::write(quiet.path("logs/checkout.log"), well.join("\n")).unwrap();
    let loud = World::new();
    let cases = [
        (&loud, loud.good_report(), Outcome::Confirmed),
        (&loud, on_one_source(&loud), Outcome::Likely),
        (&loud, empty(), Outcome::Inconclusive),
        (&quiet, empty(), Outcome::NoFault),
    ];
    for (world, draft, outcome) in cases {
        let calls = vec![
            Turn::calls([
                ("a", "list_services", json!({})),
                ("b", "list_files", json!({})),
                ("c", "nothing", json!({})),
            ]),
            // Beside another call, then for its form, then it counts.
            Turn::calls([("d", "report", draft.clone()), ("e", "list_services", json!({}))]),
            report(json!({ "summary": 1 })),
            report(draft.clone()),
            report(draft),
        ];
        let server = serve(calls).await;
        let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
        let (id, report, _) = world.report(&app).await;
        assert_eq!(report.outcome, outcome, "{}", report.outcome_reason);
        assert_eq!(replay(&app, id.as_str()).await.unwrap().1, [], "{outcome:?}");
    }
}

#[tokio::test]
async fn a_changed_policy_shows_as_a_difference_where_it_decides() {
    let world = World::new();
    let calls = Turn::calls([("a", "list_files", json!({})), ("b", "list_services", json!({}))]);
    let server = serve(vec![calls, report(world.good_report())]).await;
    let text = world.config_of(Shape::OpenAi, &server, "");
    let (id, ..) = world.report(&world.app(&text)).await;
    std::fs::create_dir(world.path("policies")).unwrap();
    let forbid = "@id(\"no-files\")\nforbid(principal, action == Action::\"list_files\", resource);";
    std::fs::write(world.path("policies/own.cedar"), forbid).unwrap();
    let policies = format!("{text}\n[policies]\ndirs = [\"{}\"]\n", world.path("policies").display());
    let differences = replay(&world.app(&policies), id.as_str()).await.unwrap().1;
    let shown: Vec<_> = differences.iter().map(|it| (it.what, it.recorded.as_str(), it.now.as_str())).collect();
    assert_eq!(shown, [("ruling", "Allow by reads-by-role", "Deny by no-files")]);
}

#[tokio::test]
async fn a_changed_catalog_shows_in_the_calls_of_the_sweep() {
    let world = World::new();
    let server = serve(vec![report(world.good_report())]).await;
    let text = world.config_of(Shape::OpenAi, &server, "");
    let (id, ..) = world.report(&world.app(&text)).await;
    let fewer = text.replace("logs = [{ source = \"files\", file = \"checkout.log\" }]", "");
    let calls = replay(&world.app(&fewer), id.as_str()).await.unwrap().1;
    assert!(calls.iter().any(|it| it.what == "call" && it.recorded.contains("compare_logs")), "{calls:?}");
    let more = text.replace("[services.checkout]", "[services.checkout]\nhealth = [\"http://127.0.0.1:9/\"]");
    let calls = replay(&world.app(&more), id.as_str()).await.unwrap().1;
    assert!(calls.iter().any(|it| it.now.contains("http_check")), "{calls:?}");
}
