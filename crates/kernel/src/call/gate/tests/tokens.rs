//! Tokens: who may have one made or taken back, and whom it proves.

use std::collections::BTreeSet;

use crate::call::gate::objection::Objection;
use crate::call::gate::sequencer::Sequencer;
use crate::call::gate::sequencer::tokens::{Issuer, Scope, Token};
use crate::call::gate::vote::{Claimant, Proof};

use super::world::World;

fn person(who: &str, proof: Proof) -> Issuer {
    Issuer::Person(Claimant { person: who.parse().unwrap(), proof })
}

fn all() -> BTreeSet<Scope> {
    Scope::ALL.into_iter().collect()
}

async fn issued(sequencer: &Sequencer, whose: &str, by: &Issuer) -> Result<String, &'static str> {
    let issued = sequencer.issue_token(&whose.parse().unwrap(), &all(), by).await;
    issued.map(|issued| issued.token).map_err(|objection| objection.code())
}

#[tokio::test]
async fn a_token_is_made_for_oneself_by_ones_own_user_or_by_the_operator() {
    let world = World::new();
    let sequencer = world.open().await;
    let bob = person("bob", Proof::Uid(7));
    assert!(issued(&sequencer, "bob", &bob).await.is_ok());
    assert_eq!(issued(&sequencer, "cid", &bob).await, Err("NOT_ELIGIBLE"));
    for proof in [Proof::Token("t".to_owned()), Proof::Demo] {
        assert_eq!(issued(&sequencer, "bob", &person("bob", proof)).await, Err("NOT_ELIGIBLE"));
    }
    let operator = Issuer::Operator(0);
    assert!(issued(&sequencer, "cid", &operator).await.is_ok());
    // Neither a bot nor whoever left gets one, nor does nobody.
    for (who, code) in [("alertbot", "NOT_ACTIVE"), ("gus", "NOT_ACTIVE"), ("mallory", "NO_SUCH_PERSON")] {
        assert_eq!(issued(&sequencer, who, &operator).await, Err(code), "{who}");
    }
    let told: Vec<_> = world.records().into_iter().filter(|(kind, _)| kind == "people_changed").collect();
    let by: Vec<_> = told.iter().map(|(_, fields)| fields["by"].as_str().unwrap().to_owned()).collect();
    assert_eq!(by, ["bob (uid 7)", "the operator (uid 0)"]);
    let kept = sequencer.tokens().await.unwrap();
    let mut whose: Vec<&str> = kept.iter().map(|token| token.person.as_str()).collect();
    whose.sort_unstable();
    assert_eq!(whose, ["bob", "cid"]);
}

#[tokio::test]
async fn a_token_proves_its_person_until_it_is_revoked_and_no_other_text_does() {
    let mut world = World::new();
    let sequencer = world.open().await;
    let (bob, cid) = (person("bob", Proof::Uid(7)), person("cid", Proof::Uid(8)));
    let made = sequencer.issue_token(&"bob".parse().unwrap(), &all(), &bob).await.unwrap();
    let id = made.kept.id.clone();
    assert!(!serde_json::to_string(&made.kept).unwrap().contains(&made.token), "it is not kept itself");
    drop(sequencer);
    world.restart();
    let sequencer = world.open().await;
    let proved = sequencer.bearer(&made.token, Scope::Approve).await.unwrap();
    assert_eq!((proved.person.as_str(), proved.proof), ("bob", Proof::Token(id.clone())));
    for text in ["", "x", id.as_str(), &made.token.to_uppercase(), &format!("{}0", made.token)] {
        assert_eq!(sequencer.bearer(text, Scope::Approve).await, Err(Objection::NoToken), "{text:?}");
    }
    assert_eq!(sequencer.revoke_token(&id, &cid).await.unwrap_err().code(), "NOT_ELIGIBLE");
    assert!(sequencer.bearer(&made.token, Scope::Approve).await.is_ok());
    assert_eq!(sequencer.revoke_token("none", &bob).await, Err(Objection::NoToken));
    let revoked = sequencer.revoke_token(&id, &bob).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(sequencer.bearer(&made.token, Scope::Approve).await, Err(Objection::NoToken));
    // Again changes nothing, and the operator may revoke anybody's.
    assert_eq!(sequencer.revoke_token(&id, &Issuer::Operator(0)).await.unwrap(), revoked);
    let second = sequencer.issue_token(&"bob".parse().unwrap(), &all(), &bob).await.unwrap();
    sequencer.revoke_token(&second.kept.id, &Issuer::Operator(0)).await.unwrap();
    assert_eq!(sequencer.bearer(&second.token, Scope::Approve).await, Err(Objection::NoToken));
}

#[tokio::test]
async fn wh_16_a_token_is_good_for_its_scopes_only_and_looks_after_itself_with_none() {
    let world = World::new();
    let sequencer = world.open().await;
    let bob = person("bob", Proof::Uid(7));
    for scopes in [&[][..], &[Scope::Read], &[Scope::Investigate, Scope::Approve], &Scope::ALL] {
        let scopes: BTreeSet<Scope> = scopes.iter().copied().collect();
        let made = sequencer.issue_token(&"bob".parse().unwrap(), &scopes, &bob).await.unwrap();
        for scope in Scope::ALL {
            match sequencer.bearer(&made.token, scope).await {
                Ok(by) => assert!(scopes.contains(&scope) && by.person.as_str() == "bob"),
                Err(objection) => {
                    assert!(!scopes.contains(&scope));
                    assert_eq!(objection, Objection::OutOfScope { token: made.kept.id.clone(), scope });
                }
            }
        }
        let Ok(holder) = sequencer.holder(&made.token).await else { panic!("{scopes:?}") };
        sequencer.revoke_token(&made.kept.id, &Issuer::Person(holder)).await.unwrap();
        assert_eq!(sequencer.holder(&made.token).await, Err(Objection::NoToken));
    }
}

#[test]
fn a_token_of_before_there_were_scopes_looks_and_decides() {
    let old = r#"{"id":"abc","person":"bob","issued_by":"bob (uid 7)","issued_at":"2026-03-01T12:00:00Z",
        "revoked_at":null,"digest":"00"}"#;
    let old: Token = serde_json::from_str(old).unwrap();
    let good: Vec<Scope> = Scope::ALL.into_iter().filter(|scope| old.is_good_for(*scope)).collect();
    assert_eq!(good, [Scope::Read, Scope::Approve]);
}
