//! The groups that investigations of alerts are in, for policy to decide what they may read.

use warrant::app::fault::Fault;
use warrant::app::serve::settings;
use warrant_kernel::domain::event::Body;

use super::world::{BEARER, Serving, config, says, slack};
use crate::investigation::writes::report;
use crate::investigation::{World, serve};

const SECTION: &str = "[alerts.alertmanager]\n";

#[tokio::test]
async fn an_investigation_of_an_alert_is_in_the_groups_of_its_route() {
    let (world, slack) = (World::new(), slack().await);
    let server = serve(vec![report(&world)]).await;
    let text = config(&world, &server, &slack).replace(SECTION, &format!("{SECTION}groups = [\"oncall\"]\n"));
    let serving = Serving::start(&world, &text).await;
    assert_eq!(serving.alert(&["CheckoutDown"], "firing", BEARER).await, 200);
    slack.until("the report", |inner| says(inner, "cut the pool of checkout").map(drop)).await;
    serving.end().await;
    let app = world.app(&text);
    let id = warrant::app::investigations::list(&app, 9).await.unwrap().remove(0).id;
    let events = warrant::app::investigations::show(&app, id.as_str()).await.unwrap().1;
    let Some(Body::Opened { run, .. }) = events.first().map(|event| &event.body) else { panic!("{events:?}") };
    assert_eq!(
        (run.requester.person.as_str(), run.requester.groups.as_slice()),
        ("alerts", &["oncall".to_owned()][..])
    );
}

#[tokio::test]
async fn a_group_that_nobody_could_be_in_is_refused() {
    let (world, slack) = (World::new(), slack().await);
    let server = serve(Vec::new()).await;
    let text = config(&world, &server, &slack).replace(SECTION, &format!("{SECTION}groups = [\"oncal\"]\n"));
    let Err(Fault::Config { problems, .. }) = settings(&world.app(&text)) else { panic!("it was taken") };
    let told = problems.iter().find(|problem| problem.contains("groups")).unwrap();
    insta::assert_snapshot!(told, @"`alerts.alertmanager.groups`: nobody under `[people]`, and no group of `[slack.groups]`, is in `oncal`; there are: oncall");
}
