//! `warrant serve` as a process: alerts, people in Slack and programs reach it, and it is killed and started again.

use std::collections::BTreeSet;

mod world;

mod story;

mod alerts;

mod shop;

mod whole;

mod left;

mod groups;

mod load;

mod files;

mod channels;

mod reload;

#[test]
fn the_routes_that_others_post_to_are_in_the_document_of_the_api() {
    let document = warrant::web::openapi::whole();
    let paths = document["paths"].as_object().unwrap().keys();
    let described: BTreeSet<&str> = paths
        .map(String::as_str)
        .filter(|path| path.starts_with("/slack/") || path.starts_with("/v1/alerts"))
        .collect();
    let mut answered = BTreeSet::from(warrant::chat::slack::http::PATHS);
    answered.insert(warrant::alert::front::PATH);
    assert_eq!(described, answered);
}
