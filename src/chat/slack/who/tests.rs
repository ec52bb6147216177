//! Who is nobody, and for how long somebody is somebody.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;

/// Slack's users and groups, as a test changes them.
struct Slack {
    users: Mutex<BTreeMap<String, Value>>,
    groups: Mutex<BTreeMap<String, Vec<String>>>,
    error: Mutex<Option<CallError>>,
    asked: AtomicU32,
}

#[async_trait]
impl Api for Slack {
    async fn post(&self, _method: &'static str, _body: &Value) -> Result<Value, CallError> {
        Err(CallError::Refused("nothing is posted here".to_owned()))
    }

    async fn get(&self, method: &'static str, params: &[(&'static str, &str)]) -> Result<Value, CallError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(error) = self.error.lock().unwrap().clone() {
            return Err(error);
        }
        let (_, value) = params[0];
        match method {
            "users.info" => {
                let user = self.users.lock().unwrap().get(value).cloned();
                Ok(json!({ "ok": true, "user": user.ok_or_else(|| CallError::of_code("user_not_found"))? }))
            }
            "usergroups.users.list" => {
                let users = self.groups.lock().unwrap().get(value).cloned();
                Ok(json!({ "ok": true, "users": users.ok_or_else(|| CallError::of_code("no_such_subteam"))? }))
            }
            other => panic!("`{other}` is not asked"),
        }
    }
}

fn member(id: &str) -> Value {
    json!({
        "id": id, "team_id": "T1", "deleted": false, "is_bot": false, "is_restricted": false, "is_ultra_restricted": false,
    })
}

fn world(people: &str) -> (Arc<Slack>, Who) {
    let slack = Arc::new(Slack {
        users: Mutex::new(["U1", "U2", "U3", "U4"].map(|id| (id.to_owned(), member(id))).into()),
        groups: Mutex::new(BTreeMap::from([("S1".to_owned(), vec!["U2".to_owned()])])),
        error: Mutex::new(None),
        asked: AtomicU32::new(0),
    });
    let people = People::new(toml::from_str(people).unwrap()).unwrap();
    let ours = Ours { team: "T1".to_owned(), enterprise: None, app: "A1".to_owned() };
    let groups = BTreeMap::from([("sre".to_owned(), "S1".to_owned())]);
    let who = Who::new(slack.clone(), Arc::new(people), ours, groups);
    (slack, who)
}

const PEOPLE: &str = "[ann]\ngroups = [\"oncall\"]\nslack = [\"U1\"]\n[gone]\nslack = [\"U4\"]\nactive = false\n";

fn by(user: &str) -> By {
    let (team, app) = ("T1".to_owned(), "A1".to_owned());
    By { user: user.to_owned(), user_team: Some("T1".to_owned()), team, enterprise: None, app }
}

#[tokio::test]
async fn persons_of_the_config_come_before_user_groups() {
    let (slack, who) = world(PEOPLE);
    slack.groups.lock().unwrap().insert("S1".to_owned(), vec!["U1".to_owned(), "U2".to_owned()]);
    let ann = who.person(&by("U1"), Freshness::Cached).await.unwrap();
    assert_eq!((ann.person.as_str(), ann.groups.as_slice()), ("ann", ["oncall".to_owned()].as_slice()));
    assert_eq!(ann.proved, "Slack user U1 of T1, claimed by `[people.ann]`");
    let two = who.person(&by("U2"), Freshness::Cached).await.unwrap();
    assert_eq!((two.person.as_str(), two.groups.as_slice()), ("slack.U2", ["sre".to_owned()].as_slice()));
    assert_eq!(two.proved, "Slack user U2 of T1, in the user groups of sre");
    assert_eq!(two.proof, Proof::Slack { team: "T1".to_owned(), user: "U2".to_owned() });
    assert_eq!(who.members("sre", 10).await.unwrap(), ["U2"]);
    assert_eq!(who.members("oncall", 10).await.unwrap(), ["U1"]);
}

#[tokio::test]
async fn ap_13_guests_bots_and_whoever_nobody_knows_are_nobody() {
    let (slack, who) = world(PEOPLE);
    let changed = |key: &str, value: Value| {
        let mut user = member("U1");
        user[key] = value;
        slack.users.lock().unwrap().insert("U1".to_owned(), user);
    };
    let mut told = Vec::new();
    for (key, value) in [
        ("is_restricted", json!(true)),
        ("is_ultra_restricted", json!(true)),
        ("is_bot", json!(true)),
        ("deleted", json!(true)),
        ("is_stranger", json!(true)),
        ("team_id", json!("T2")),
        ("team_id", Value::Null),
        ("id", json!("U9")),
        // What is not said is not so.
        ("is_restricted", Value::Null),
        ("is_bot", json!("false")),
    ] {
        changed(key, value.clone());
        told.push(format!("{key}={value}: {}", who.person(&by("U1"), Freshness::Now).await.unwrap_err()));
    }
    for user in ["U3", "U4", "U9", "", "U1 or 1=1", "USLACKBOT"] {
        told.push(format!("`{user}`: {}", who.person(&by(user), Freshness::Now).await.unwrap_err()));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    is_restricted=true: guests can't use Warrant; nothing was done
    is_ultra_restricted=true: guests can't use Warrant; nothing was done
    is_bot=true: bots can't use Warrant; nothing was done
    deleted=true: this account is not active any more; nothing was done
    is_stranger=true: people of other workspaces can't use Warrant here; nothing was done
    team_id="T2": people of other workspaces can't use Warrant here; nothing was done
    team_id=null: Warrant can't find out who you are at the moment (Slack could not be reached: its answer has no `team_id`); nothing was done. Try again in a minute
    id="U9": Warrant can't find out who you are at the moment (Slack could not be reached: its answer is of another user); nothing was done. Try again in a minute
    is_restricted=null: Warrant can't find out who you are at the moment (Slack could not be reached: its answer has no `is_restricted`); nothing was done. Try again in a minute
    is_bot="false": Warrant can't find out who you are at the moment (Slack could not be reached: its answer has no `is_bot`); nothing was done. Try again in a minute
    `U3`: Warrant does not know you; ask whoever runs it to add your Slack id `U3` to its people. Nothing was done
    `U4`: this account is not active any more; nothing was done
    `U9`: Warrant does not know you; ask whoever runs it to add your Slack id `U9` to its people. Nothing was done
    ``: Warrant does not know you; ask whoever runs it to add your Slack id `` to its people. Nothing was done
    `U1 or 1=1`: Warrant does not know you; ask whoever runs it to add your Slack id `` to its people. Nothing was done
    `USLACKBOT`: Warrant does not know you; ask whoever runs it to add your Slack id `USLACKBOT` to its people. Nothing was done
    "#);
}

#[tokio::test]
async fn ap_14_people_of_another_workspace_or_app_are_nobody() {
    let (_, who) = world(PEOPLE);
    let good = by("U1");
    who.person(&good, Freshness::Now).await.unwrap();
    let other = || "X1".to_owned();
    for bad in [
        By { team: other(), ..good.clone() },
        By { app: other(), ..good.clone() },
        By { enterprise: Some(other()), ..good.clone() },
    ] {
        assert_eq!(who.person(&bad, Freshness::Now).await, Err(Stranger::NotOurs));
    }
    let guest = By { user_team: Some(other()), ..good };
    assert_eq!(who.person(&guest, Freshness::Now).await, Err(Stranger::OtherWorkspace));
}

#[tokio::test]
async fn in_an_organisation_people_of_its_other_workspaces_may_be_in_ours() {
    let (slack, mut who) = world(PEOPLE);
    who.ours.enterprise = Some("E1".to_owned());
    let mut user = member("U1");
    user["team_id"] = json!("T2");
    let asked = By { enterprise: Some("E1".to_owned()), user_team: Some("T2".to_owned()), ..by("U1") };
    for (enterprise, teams, good) in
        [("E1", json!(["T2", "T1"]), true), ("E1", json!(["T2"]), false), ("E2", json!(["T2", "T1"]), false)]
    {
        user["enterprise_user"] = json!({ "enterprise_id": enterprise, "teams": teams });
        slack.users.lock().unwrap().insert("U1".to_owned(), user.clone());
        assert_eq!(who.person(&asked, Freshness::Now).await.is_ok(), good, "{enterprise} {teams}");
    }
}

#[tokio::test]
async fn nobody_passes_for_a_person_by_the_name_that_slack_gives() {
    let (slack, who) = world("[\"slack.U2\"]\ngroups = [\"admins\"]\n");
    assert_eq!(who.person(&by("U2"), Freshness::Now).await, Err(Stranger::Unknown("U2".to_owned())));
    // And whom the config claims by now is not whom only Slack knew.
    let (_, later) = world("[bob]\nslack = [\"U2\"]\n");
    let two: PersonId = "slack.U2".parse().unwrap();
    assert_eq!(later.standing(&two, Freshness::Now).await, Err(DirectoryError::Nobody(two)));
    assert!(slack.asked.load(Ordering::SeqCst) > 0);
}

#[tokio::test(start_paused = true)]
async fn ap_11_membership_is_remembered_for_a_minute_and_asked_for_at_execution() {
    let (slack, who) = world(PEOPLE);
    let two: PersonId = "slack.U2".parse().unwrap();
    who.person(&by("U2"), Freshness::Cached).await.unwrap();
    assert_eq!(slack.asked.load(Ordering::SeqCst), 2);
    slack.groups.lock().unwrap().insert("S1".to_owned(), Vec::new());
    tokio::time::sleep(Duration::from_secs(59)).await;
    who.person(&by("U2"), Freshness::Cached).await.unwrap();
    assert_eq!(slack.asked.load(Ordering::SeqCst), 2);
    assert_eq!(who.standing(&two, Freshness::Now).await, Err(DirectoryError::Nobody(two.clone())));
    // What was found out at execution holds for the next click too.
    assert!(who.person(&by("U2"), Freshness::Cached).await.is_err());
    slack.groups.lock().unwrap().insert("S1".to_owned(), vec!["U2".to_owned()]);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(who.standing(&two, Freshness::Cached).await.unwrap().groups, ["sre"]);
    slack.users.lock().unwrap().get_mut("U2").unwrap()["deleted"] = json!(true);
    assert!(!who.standing(&two, Freshness::Now).await.unwrap().active);
}

#[tokio::test(start_paused = true)]
async fn ap_12_while_slack_cannot_be_asked_everybody_is_nobody() {
    let (slack, who) = world(PEOPLE);
    let two: PersonId = "slack.U2".parse().unwrap();
    who.person(&by("U2"), Freshness::Cached).await.unwrap();
    for error in [
        CallError::Transport("no connection".to_owned()),
        CallError::RateLimited { after: Duration::from_secs(30) },
        CallError::NotAuthed("token_revoked".to_owned()),
        CallError::Refused("missing_scope".to_owned()),
    ] {
        *slack.error.lock().unwrap() = Some(error);
        for user in ["U1", "U2"] {
            assert!(matches!(who.person(&by(user), Freshness::Now).await, Err(Stranger::Unreachable(_))));
            // What was true before is forgotten: it could not be found out when it was asked.
            assert!(matches!(who.person(&by(user), Freshness::Cached).await, Err(Stranger::Unreachable(_))));
        }
        assert!(matches!(who.standing(&two, Freshness::Now).await, Err(DirectoryError::Unavailable(_))));
    }
    let ann: PersonId = "ann".parse().unwrap();
    assert_eq!(who.standing(&ann, Freshness::Now).await.unwrap().groups, ["oncall"], "the config knows her");
}
