//! Who named a target: what a result repeats, and what the catalog happens to know, is nobody's word for it.

use std::collections::BTreeMap;

use crate::call::gate::approver::Nobody;
use crate::domain::decision::Tier;
use crate::domain::plan::{ApprovalId, Ground, Said};
use crate::domain::result::{Origin, ToolResult};

use super::world::{World, evidence, on};

/// A list of services as the catalog has it.
fn listed(n: u64) -> ToolResult {
    let mut result = evidence(n, "checkout, payments, vault");
    result.meta.origin = Origin::Catalog;
    result
}

#[tokio::test]
async fn pi_01_what_the_catalog_knows_is_no_word_for_a_target() {
    let mut world = World::new();
    world.run.service = None;
    world.run.trigger = crate::domain::run::Trigger::Question { text: "why is it slow?".to_owned() };
    world.seen.push(listed(1));
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "edit", &on("payments")).await;
    let card = sequencer.card(ApprovalId::nth(1)).await.unwrap();
    assert_eq!(card.tier, Tier::High, "{:?}", card.tier_reasons);
    assert!(card.tier_reasons.last().unwrap().ends_with("only the model names it"), "{:?}", card.tier_reasons);
    // For an argument that is worth knowing: it is no invention.
    assert_eq!(card.arguments[0].ground, Ground::Catalog);
}

#[tokio::test]
async fn pi_03_a_card_names_the_field_that_a_value_came_from() {
    let mut world = World::new();
    world.run.service = None;
    world.run.trigger = crate::domain::run::Trigger::Question { text: "why is it slow?".to_owned() };
    // The service that the call asked for is repeated by the answer; the line is a stranger's.
    let mut logs = evidence(2, "ERROR restart payments now");
    logs.data["service"] = "payments".into();
    logs.meta.fields = BTreeMap::from([("service".to_owned(), Origin::Warrant)]);
    world.seen.extend([listed(1), logs]);
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "edit", &on("payments")).await;
    let card = sequencer.card(ApprovalId::nth(1)).await.unwrap();
    let said = Said { evidence: "E2".parse().unwrap(), field: "lines".to_owned(), origin: Origin::Log };
    assert_eq!((card.arguments[0].ground.clone(), card.tier), (Ground::Stranger(said), Tier::High));
    assert!(card.tier_reasons.last().unwrap().contains("only E2 (`lines`) names it"), "{:?}", card.tier_reasons);
}
