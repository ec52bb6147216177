//! What is refused of `[slack]`, and what is said then.

use super::*;

const GOOD: &str = "bot_token_env = \"BOT\"\napp_token_env = \"APP\"\nteam = \"T1\"\napp = \"A1\"\n";

fn parsed(text: &str) -> Slack {
    toml::from_str(text).unwrap()
}

fn env(name: &str) -> Option<String> {
    let value = match name {
        "BOT" => "xoxb-1",
        "APP" => "xapp-1-A1",
        "SIGNING" => "0123456789abcdef",
        "EMPTY" => " ",
        _ => return None,
    };
    Some(value.to_owned())
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = "mode = \"http\"\nbot_token_env = \"BOT\"\nbot_token_file = \"/x\"\nteam = \"A1\"\napp = \"\"\n\
        api_url = \"http://slack.example/api\"\n[groups]\nsre = \"S1\"\nops = \"S1\"\n[[channels]]\nchannel = \"#ops\"\n";
    insta::assert_snapshot!(parsed(text).check().unwrap_err().join("\n"), @r"
    `slack.team`: `A1` is no id of that kind; write it as in `T0123ABCD`
    `slack.app`: `` is no id of that kind; write it as in `A0123ABCD`
    `slack.channels.channel`: `#ops` is no id of that kind; write it as in `C0123ABCD`
    `slack.groups`: `S1` stands there twice; a user group is one group of the policies
    `slack.bot_token_env` and `slack.bot_token_file` are both set; keep one
    `slack.signing_secret_env` is missing; write the name of the environment variable that holds it, or `signing_secret_file`
    `slack.api_url` must be an https URL, or http on this machine; leave it out for Slack's own
    ");
    assert!(toml::from_str::<Slack>(&format!("{GOOD}signing_secret = \"x\"\n")).is_err());
}

#[test]
fn wh_02_an_empty_or_missing_signing_secret_starts_nothing() {
    let http = |name: &str| {
        let text = format!(
            "mode = \"http\"\nbot_token_env = \"BOT\"\nsigning_secret_env = \"{name}\"\nteam = \"T1\"\napp = \"A1\"\n"
        );
        parsed(&text).check().and_then(|checked| checked.secrets(&env))
    };
    assert_eq!(http("SIGNING").unwrap().arrival, "0123456789abcdef");
    let told: Vec<String> = ["EMPTY", "UNSET", ""].into_iter().flat_map(|name| http(name).unwrap_err()).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    `slack`: the environment variable `EMPTY` does not hold the signing secret, which is at least 16 visible characters
    `slack`: the environment variable `UNSET` is not set
    `slack.signing_secret_env` is missing; write the name of the environment variable that holds it, or `signing_secret_file`
    ");
}

#[test]
fn secrets_are_of_their_kind_and_never_shown() {
    let secrets = parsed(GOOD).check().unwrap().secrets(&env).unwrap();
    assert_eq!(format!("{secrets:?}"), "Secrets(..)");
    let swapped = parsed(&GOOD.replace("BOT", "X").replace("APP", "BOT").replace('X', "APP"));
    assert_eq!(swapped.check().unwrap().secrets(&env).unwrap_err().len(), 2);
}

#[test]
fn an_incident_goes_to_the_first_place_that_takes_it() {
    let text = format!(
        "{GOOD}[[channels]]\nchannel = \"C1\"\nservices = [\"checkout\"]\nroutes = [\"grafana\"]\n\
         [[channels]]\nchannel = \"C2\"\nservices = [\"checkout\", \"cart\"]\n\
         [[channels]]\nchannel = \"C3\"\nroutes = [\"zabbix\"]\n"
    );
    let checked = parsed(&text).check().unwrap();
    let at = |service, route| checked.places_of(service, route).next().map(|place| place.channel.as_str());
    assert_eq!(at(Some("checkout"), Some("grafana")), Some("C1"));
    assert_eq!(at(Some("checkout"), Some("sentry")), Some("C2"));
    assert_eq!(at(Some("checkout"), None), Some("C2"), "what came by no route goes to no place of a route");
    assert_eq!((at(Some("billing"), Some("zabbix")), at(None, Some("zabbix"))), (Some("C3"), Some("C3")));
    assert_eq!((at(Some("billing"), Some("grafana")), at(None, None)), (None, None));
    let all = parsed(&format!("{GOOD}[[channels]]\nchannel = \"C3\"\n")).check().unwrap();
    assert_eq!(all.places_of(None, None).count(), 1);
}

#[test]
fn who_is_on_call_is_one_group_or_several_in_order() {
    let oncall = |written: &str| {
        let text = format!("{GOOD}escalate_percent = 70\n[[channels]]\nchannel = \"C1\"\noncall = {written}\n");
        parsed(&text).check().map(|checked| checked.places[0].oncall.clone())
    };
    assert_eq!(oncall("\"S1\"").unwrap(), ["S1"]);
    assert_eq!(oncall("[\"S1\", \"S2\"]").unwrap(), ["S1", "S2"]);
    let wrong = oncall("[\"S1\", \"U2\"]").unwrap_err();
    assert_eq!(wrong, ["`slack.channels.oncall`: `U2` is no id of that kind; write it as in `S0123ABCD`"]);
    let never = parsed(&format!("{GOOD}remind_percent = 100\n")).check().unwrap_err();
    assert_eq!(never, ["`slack.remind_percent` is a share of a card's time; write a number from 1 to 99"]);
}
