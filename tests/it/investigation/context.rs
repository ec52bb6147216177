//! A long conversation: old results shrink in one step and stay shrunk, and what they held can be seen and cited again.

use serde_json::{Value, json};
use warrant_kernel::domain::report::Outcome;

use super::{World, at, rules, told};
use crate::model_server::ModelServer;
use crate::model_server::script::{History, Pick, Rules, Script, Shape, Turn};

/// The tool results of a request, in order.
fn answers(body: &Value) -> Vec<String> {
    let mut all = told(body);
    all.retain(|text| text.starts_with("<data-"));
    all
}

#[tokio::test]
async fn old_results_shrink_in_one_step_stay_shrunk_and_are_read_again() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        let world = World::new();
        // Each answer is another one of about six thousand characters.
        let logs = |n: usize| {
            let arguments = json!({ "service": "checkout", "since": at(world.since), "limit": 60, "pattern": format!("(order|pool){{1,{n}}}") });
            Turn::calls([("l", "search_logs", arguments)])
        };
        let again = Turn::calls([("e", "read_evidence", json!({ "evidence": "E5", "rows": 3 }))]);
        let mut report = world.good_report();
        // A quote out of what has shrunk long ago.
        report["findings"][0]["evidence"] = json!(["E3", "E5"]);
        report["findings"][0]["quotes"] = json!([{ "evidence": "E5", "text": "order 99 taken" }]);
        let mut turns: Vec<Turn> = (1..=12).map(logs).collect();
        turns.push(again);
        turns.push(Turn::calls([("r", "report", report)]));
        // The server finds any earlier part that changed other than by growing shorter.
        let rules = Rules { history: History::MayShrink, ..rules() };
        let server = ModelServer::with(Script { turns, pick: Pick::InOrder }, rules, 0).await;
        let app = world.app(&world.config_of(shape, &server, "context_chars = 40000"));
        let (id, report, _) = world.report(&app).await;
        assert_eq!((report.outcome, report.unsupported.len()), (Outcome::Confirmed, 0), "{report:?}");

        let requests: Vec<Vec<String>> = server.requests().iter().map(|request| answers(&request.body)).collect();
        let mut steps = 0;
        for pair in requests.windows(2) {
            let changed: Vec<usize> = (0..pair[0].len()).filter(|n| pair[0][*n] != pair[1][*n]).collect();
            steps += usize::from(!changed.is_empty());
            assert!(changed.iter().all(|n| pair[1][*n].len() <= 700), "what shrinks is an envelope then: {changed:?}");
            let total: usize = pair[1].iter().map(String::len).sum();
            assert!(total < 40_000, "{total}");
        }
        assert!((1..=5).contains(&steps), "12 turns shrank in {steps} steps");
        let shrunk = &requests.last().unwrap()[0];
        assert!(shrunk.contains("`read_evidence` shows E5 again") && shrunk.contains("\"truncated\":true"), "{shrunk}");
        assert!(!shrunk.contains("order 99 taken"));
        assert!(requests.last().unwrap().last().unwrap().contains("order "));
        assert_eq!(warrant::app::investigations::replay(&app, id.as_str()).await.unwrap().1, []);
    }
}
