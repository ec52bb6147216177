//! Who is who.

use super::directory::{Directory, DirectoryError, Freshness};
use super::*;

fn people(text: &str) -> People {
    People::new(toml::from_str(text).unwrap()).unwrap()
}

fn user(uid: u32, name: &str) -> User<'_> {
    User { uid, name: (!name.is_empty()).then_some(name) }
}

#[test]
fn a_user_is_whoever_claims_it() {
    let people = people("[ann]\ngroups = [\"sre\"]\nusers = [\"a.smith\", \"a.smith\"]\n[bob]\nuids = [1001]\n");
    let ann = people.requester(user(1000, "a.smith")).unwrap();
    assert_eq!((ann.person.as_str(), ann.groups), ("ann", vec!["sre".to_owned()]));
    assert_eq!(people.person(user(1001, "whatever")).unwrap().as_str(), "bob");
    let other = people.requester(user(1002, "carol")).unwrap();
    assert_eq!((other.person.as_str(), other.groups), ("carol", Vec::new()));
    assert_eq!(people.requester(user(1003, "")).unwrap().person.as_str(), "uid-1003");
}

#[test]
fn nobody_passes_for_a_person_by_the_name_of_their_user() {
    let people = people("[ann]\nusers = [\"a.smith\"]\n[bob]\nuids = [1001]\n");
    let told = [
        people.requester(user(1000, "ann")).unwrap_err(),
        people.requester(user(1000, "$(id)")).unwrap_err(),
        people.person(user(1000, "ann")).unwrap_err(),
        people.person(user(1001, "a.smith")).unwrap_err(),
    ];
    insta::assert_snapshot!(told.map(|error| error.to_string()).join("\n"), @r#"
    `[people.ann]` does not claim the user `ann`; if they are the same, write `users = ["ann"]` there
    nobody claims the user `$(id)`, and that is no name for a person; write `users = ["$(id)"]` under one
    nobody claims the user 1000; write `uids = [1000]` under a person, or give them a token
    `[people.bob]` claims the user 1001, and `[people.ann]` its name; one of them only
    "#);
}

#[test]
fn root_is_not_everybody() {
    let claimed = people("[ann]\nusers = [\"a.smith\"]\nuids = [1000]\n");
    assert_eq!(claimed.person(user(0, "root")), Err(NobodyError::Unclaimed(0)));
    assert_eq!(claimed.requester(user(0, "root")).unwrap().groups, Vec::<String>::new());
    let claimed = people("[ann]\nuids = [0]\n");
    assert_eq!(claimed.person(user(0, "root")).unwrap().as_str(), "ann");
}

#[test]
fn ap_07_a_user_belongs_to_one_person() {
    let told = ["users = [\"shared\"]", "uids = [1000]"].map(|claim| {
        let text = format!("[ann]\n{claim}\n[bob]\n{claim}\n");
        People::new(toml::from_str(&text).unwrap()).unwrap_err().to_string()
    });
    insta::assert_snapshot!(told.join("\n"), @r"
    `[people.ann]` and `[people.bob]` both claim the user `shared`; whoever shares one proves who they are by a token, and claims none
    `[people.ann]` and `[people.bob]` both claim the user `1000`; whoever shares one proves who they are by a token, and claims none
    ");
}

#[tokio::test]
async fn whoever_left_and_whoever_is_a_bot_is_told_as_such() {
    let people = people(
        "[ann]\ngroups = [\"oncall\"]\n[bot]\ngroups = [\"oncall\"]\nhuman = false\n\
         [cy]\ngroups = [\"oncall\"]\nactive = false\nuids = [7]\n",
    );
    let mut told = Vec::new();
    for name in ["ann", "bot", "cy"] {
        let standing = Directory::standing(&people, &name.parse().unwrap(), Freshness::Now).await.unwrap();
        told.push((name, standing.active, standing.human));
    }
    assert_eq!(told, [("ann", true, true), ("bot", true, false), ("cy", false, true)]);
    let nobody: PersonId = "eve".parse().unwrap();
    let unknown = Directory::standing(&people, &nobody, Freshness::Cached).await;
    assert_eq!(unknown, Err(DirectoryError::Nobody(nobody)));
    assert_eq!(people.in_group("oncall").map(PersonId::as_str).collect::<Vec<_>>(), ["ann"]);
    assert_eq!(people.requester(user(7, "")).unwrap().groups, Vec::<String>::new());
}

#[test]
fn who_is_who_has_one_digest_whatever_the_order() {
    let one = people("[ann]\ngroups = [\"a\", \"b\"]\nuids = [2, 1]\n[bob]\n");
    let same = people("[bob]\n[ann]\ngroups = [\"b\", \"a\"]\nuids = [1, 2]\nactive = true\n");
    let other = people("[bob]\n[ann]\ngroups = [\"b\", \"a\"]\nuids = [1, 2]\nactive = false\n");
    assert_eq!(one.in_force(), same.in_force());
    assert_ne!(one.in_force().digest(), other.in_force().digest());
    insta::assert_snapshot!(one.in_force().text(), @r#"{"people":{"ann":{"active":true,"groups":["a","b"],"human":true,"uids":[1,2],"users":[]},"bob":{"active":true,"groups":[],"human":true,"uids":[],"users":[]}}}"#);
}
