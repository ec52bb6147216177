//! Several models in one investigation.

use serde_json::json;
use warrant::agent::model::{Message, ModelError};
use warrant::model::fallback::List;

use super::{BOTH, Talk, model_at, serve, told};
use crate::model_server::ModelServer;
use crate::model_server::script::{Ending, History, Pick, Rules, Script, Shape, Turn};

fn thinking_call() -> Turn {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2lnbmVk" });
    Turn::calls([("toolu_1", "list_services", json!({}))]).thinking(vec![thinking])
}

/// A list of one model in each shape, the first behind `first`.
fn list(first: Shape, main_url: &str, second: Shape, spare_url: &str) -> List {
    let settings = |shape| if shape == Shape::Anthropic { "tries = 1\nthinking_budget = 1024" } else { "tries = 1" };
    let main = model_at("main", first, main_url, settings(first));
    List::new(main, vec![model_at("spare", second, spare_url, settings(second))])
}

#[tokio::test]
async fn lm_01_the_next_provider_goes_on_with_the_same_conversation() {
    for (first, second) in [(Shape::Anthropic, Shape::OpenAi), (Shape::OpenAi, Shape::Anthropic)] {
        let main = serve(vec![thinking_call(), Turn::status(500, &[], "")]).await;
        let spare = serve(vec![
            Turn::calls([("call:2", "search_logs", json!({})), ("call:3", "list_services", json!({}))]),
            Turn::text(["done"]),
        ])
        .await;
        let list = list(first, &main.base_url(first), second, &spare.base_url(second));
        let mut talk = Talk::new("what is wrong?");
        assert_eq!(talk.ask(&list).await.unwrap().model, "main");
        talk.answer_calls();
        assert_eq!(talk.ask(&list).await.unwrap().model, "spare");
        talk.answer_calls();
        // The first one rests now and is not asked.
        assert_eq!(talk.ask(&list).await.unwrap().text, "done");
        assert_eq!((main.requests().len(), spare.requests().len()), (2, 2));
        assert!(!spare.requests()[0].body.to_string().contains("c2lnbmVk"));
    }
}

#[tokio::test]
async fn a_provider_gets_its_own_thinking_back_after_another_one_spoke() {
    let (anthropic, openai) = (Shape::Anthropic, Shape::OpenAi);
    let main = serve(vec![thinking_call(), Turn::text(["done"])]).await;
    let spare = serve(vec![Turn::calls([("call:2", "search_logs", json!({}))])]).await;
    let settings = "tries = 1\nthinking_budget = 1024";
    let main_model = model_at("main", anthropic, &main.base_url(anthropic), settings);
    let mut talk = Talk::new("what is wrong?");
    talk.ask(&*main_model).await.unwrap();
    talk.answer_calls();
    talk.ask(&*model_at("spare", openai, &spare.base_url(openai), "")).await.unwrap();
    talk.answer_calls();
    assert_eq!(talk.ask(&*main_model).await.unwrap().text, "done");
    assert_eq!(main.requests()[1].body["messages"][1]["content"][0]["signature"], "c2lnbmVk");
}

#[tokio::test]
async fn lm_09_when_all_fail_the_error_names_each_and_nothing_is_an_answer() {
    let main = serve(vec![thinking_call(), Turn::status(401, &[], "")]).await;
    let spare = serve(vec![Turn::text(["half an ans"]).ending(Ending::NoFinish)]).await;
    let (first, second) = (Shape::Anthropic, Shape::OpenAi);
    let list = list(first, &main.base_url(first), second, &spare.base_url(second));
    let mut talk = Talk::new("what is wrong?");
    talk.ask(&list).await.unwrap();
    talk.answer_calls();
    let error = talk.ask(&list).await.unwrap_err();
    assert!(matches!(error, ModelError::Permanent { .. }));
    insta::assert_snapshot!(told(&error).replace(&main.base_url(first), "URL"), @r"
    permanent: main, spare: no model answered: main: status 401: URL/ refused the key in `$KEY`; check that it is whole and valid; spare: the answer ended without a finish reason, so it is not whole
    ");
    assert_eq!(talk.messages.len(), 3);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_not_handed_on() {
    let main = serve(vec![Turn::status(413, &[], "")]).await;
    let spare = serve(Vec::new()).await;
    let (first, second) = (Shape::Anthropic, Shape::OpenAi);
    let list = list(first, &main.base_url(first), second, &spare.base_url(second));
    let error = Talk::new("?").ask(&list).await.unwrap_err();
    assert_eq!(error, ModelError::ContextOverflow { model: "main".to_owned() });
}

#[tokio::test]
async fn the_server_finds_what_a_request_does_wrong() {
    let server = serve(vec![Turn::calls([("a", "list_services", json!({}))]); 5]).await;
    let model = model_at("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "tries = 1");
    let mut talk = Talk::new(&format!("my key is {}", super::KEY));
    talk.ask(&*model).await.unwrap();
    assert_eq!(server.take_violations(), ["request 1 (OpenAi): the secret `sk-s…` stands in it"]);
    let mut talk = Talk::new("what is wrong?");
    talk.ask(&*model).await.unwrap();
    talk.ask(&*model).await.unwrap();
    let unanswered = server.take_violations();
    assert!(unanswered.iter().any(|what| what.contains(r#"the calls ["a"] are followed by the results []"#)));
    talk.messages.truncate(2);
    talk.answer_calls();
    talk.ask(&*model).await.unwrap();
    assert_eq!(server.take_violations(), Vec::<String>::new());
    talk.messages[1] = Message::User { text: "what else?".to_owned() };
    talk.ask(&*model).await.unwrap();
    let changed = server.take_violations();
    assert!(changed.iter().any(|what| what.contains("part 1 changed")), "{changed:?}");
}

#[tokio::test]
async fn old_results_may_shrink_where_the_rules_say_so() {
    for (history, violations) in [(History::Fixed, 1), (History::MayShrink, 0)] {
        for shape in BOTH {
            let turns =
                vec![Turn::calls([("a", "list_services", json!({}))]), Turn::text(["so"]), Turn::text(["done"])];
            let rules = Rules { history, ..Rules::default() };
            let server = ModelServer::with(Script { turns, pick: Pick::InOrder }, rules, 0).await;
            let model = model_at("main", shape, &server.base_url(shape), "tries = 1");
            let mut talk = Talk::new("what is wrong?");
            talk.ask(&*model).await.unwrap();
            talk.answer_calls();
            talk.ask(&*model).await.unwrap();
            talk.say("go on");
            let Message::Answers { answers } = &mut talk.messages[2] else { panic!("the answers stand third") };
            answers[0].content = "{}".to_owned();
            talk.ask(&*model).await.unwrap();
            assert_eq!(server.take_violations().len(), violations);
        }
    }
}

#[tokio::test]
async fn many_conversations_share_a_server() {
    let turns = vec![Turn::calls([("a", "list_services", json!({}))]), Turn::text(["done"])];
    let rules = Rules { history: History::Unwatched, ..Rules::default() };
    let server = ModelServer::with(Script { turns, pick: Pick::ByTurn }, rules, 0).await;
    let model = model_at("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let one = || async {
        let mut talk = Talk::new("what is wrong?");
        assert_eq!(talk.ask(&*model).await.unwrap().calls.len(), 1);
        talk.answer_calls();
        assert_eq!(talk.ask(&*model).await.unwrap().text, "done");
    };
    futures_util::future::join_all((0..50).map(|_| one())).await;
}
