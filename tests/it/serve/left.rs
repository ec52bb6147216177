//! A process that is killed between the last yes and the write: the next one carries it out, and the card says so.

use warrant::app::sequencer::hold::Hold;
use warrant::chat::terminal::approver::Attended;
use warrant_kernel::call::gate::vote::{Claim, Claimant, Proof, Whole};
use warrant_kernel::domain::plan::ApprovalId;

use super::world::{OPS, Serving, button, config, slack, text};
use crate::investigation::writes::{edit, file, read, report};
use crate::investigation::{World, serve_all};
use crate::model_server::script::Turn;
use crate::slack_server::{BOT, TEAM};

#[tokio::test]
async fn cr_05_what_was_approved_before_a_kill_is_carried_out_by_the_next_start_and_its_card_says_so() {
    let (world, slack) = (World::new(), slack().await);
    let edited = edit("checkout.toml", "max_connections = 8", "max_connections = 32");
    // A report that waits, and one that knows.
    let turns = vec![read("checkout.toml"), Turn::calls([("w1", "edit_config", edited)]), report(&world)];
    let server = serve_all(turns).await;
    let config = config(&world, &server, &slack);
    let serving = Serving::start(&world, &config).await;
    slack.until("a socket", |inner| (!inner.sockets.is_empty()).then_some(())).await;
    let envelope = slack.writes("U0ANN", OPS, None, &format!("<@{BOT}> why does checkout fail?"));
    slack.acked(&envelope).await;
    let card = slack
        .until("a card", |inner| {
            let card = inner.messages.iter().find(|message| button(message, "warrant.approve").is_some())?;
            Some(card.ts.clone())
        })
        .await;
    serving.kill().await;

    // A process that took the vote down and went no further.
    let app = world.app(&config);
    let hold = Hold::take(&app, Attended::default()).await.unwrap();
    let id = ApprovalId::nth(1);
    let shown = hold.sequencer().card(id).await.unwrap();
    let by = Claimant {
        person: "bob".parse().unwrap(),
        proof: Proof::Slack { team: TEAM.to_owned(), user: "U0BOB".to_owned() },
    };
    let claim = Claim { by, revision: shown.revision, digest_prefix: shown.digest_prefix, whole: Whole::Opened };
    hold.sequencer().vote(id, &claim).await.unwrap();
    hold.end().await;
    assert!(file(&world).contains("max_connections = 8\n"), "{}", file(&world));

    let serving = Serving::start(&world, &config).await;
    slack
        .until("the end of the card", |inner| {
            let shown = inner.messages.iter().find(|message| message.ts == card)?;
            (button(shown, "warrant.revoke").is_none() && text(shown).contains("bob")).then_some(())
        })
        .await;
    assert!(file(&world).contains("max_connections = 32\n"), "{}", file(&world));
    let approvals = serving.get("/v1/approvals").await;
    assert_eq!(approvals["approvals"][0]["state"]["is"], "executed", "{approvals}");
    assert_eq!(approvals["approvals"].as_array().unwrap().len(), 1, "{approvals}");
    serving.end().await;
}
