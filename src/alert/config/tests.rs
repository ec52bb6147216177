use super::Urgency::{AtOnce, Record, WhenFree};
use super::*;

fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("a-token-of-the-tests-17".to_owned()),
        "SHORT" => Some("hunter2".to_owned()),
        _ => None,
    }
}

fn checked(text: &str) -> Result<Checked, Vec<String>> {
    checked_with(text, &LimitsSection::default())
}

fn checked_with(text: &str, limits: &LimitsSection) -> Result<Checked, Vec<String>> {
    let routes: BTreeMap<String, RouteSection> = toml::from_str(text).unwrap();
    check(&routes, limits, &env)
}

#[test]
fn wh_10_a_route_without_authentication_is_off_and_start_says_so() {
    let checked = checked("[alertmanager]\n[pagerduty]\n[grafana]\nbearer_env = \"TOKEN\"").unwrap();
    assert_eq!(checked.routes.keys().collect::<Vec<_>>(), ["grafana"]);
    insta::assert_snapshot!(checked.warnings.join("\n"), @r"
    `[alerts.alertmanager]` has no authentication and is off: requests to /v1/alerts/alertmanager are answered with 404; set `bearer_env`, or `basic_user` with `basic_password_env`
    `[alerts.pagerduty]` has no authentication and is off: requests to /v1/alerts/pagerduty are answered with 404; set `secret_env` to the variable that holds the sender's signing secret
    ");
}

#[test]
fn what_is_wrong_is_named_with_what_to_write() {
    let text = r#"
        [mine]
        [eu.pointers]
        name = "title"
        [eu]
        kind = "generic"
        secret_env = "TOKEN"
        [alertmanager]
        bearer_env = "NOT_THERE"
        basic_user = "a:b"
        [opsgenie]
        secret_env = "TOKEN"
        [sentry]
        bearer_env = "TOKEN"
        [pagerduty]
        secret_env = "SHORT"
        timestamp_header = "X-Time"
        [grafana]
        timestamp_header = "X-Time"
        body_limit = 7
        [Zabbix]
        kind = "zabbix"
    "#;
    let limits = LimitsSection { window: Some("0s".to_owned()), storm: Some(0), ..LimitsSection::default() };
    let problems = checked_with(text, &limits).unwrap_err();
    insta::assert_snapshot!(problems.join("\n"), @r#"
    `[alerts.Zabbix]`: write a name of lower-case letters, digits, `-` and `_`
    `alerts.alertmanager.bearer_env`: `$NOT_THERE` is not set; set it to the secret, or leave `bearer_env` out
    `alerts.alertmanager.basic_password_env`: is missing beside `basic_user`
    `alerts.alertmanager.bearer_env`: stands beside `basic_user`; a request bears one `Authorization`: keep one of both
    `alerts.eu.signature_header`: is missing beside `secret_env`: name the header with the signature
    `alerts.eu.pointers.name`: `title` is no JSON pointer; begin it with `/`
    `alerts.grafana.timestamp_header`: means nothing without `secret_env`
    `alerts.grafana.body_limit`: write 1024 to 16777216 bytes
    `alerts.mine.kind`: `mine` is no kind; write one of alertmanager, grafana, pagerduty, opsgenie, sentry, sns, datadog, zabbix, generic
    `alerts.opsgenie.secret_env`: a sender of kind `opsgenie` does not sign; write `bearer_env`
    `alerts.pagerduty.secret_env`: `$SHORT` holds fewer than 16 characters; set a longer secret
    `alerts.pagerduty.timestamp_header`: a sender of kind `pagerduty` signs no time
    `alerts.sentry.kind`: Sentry signs and sends no `Authorization`; write `secret_env` alone
    `alerting.window` is `0s`; write 1s to 6h, as in `10m`
    `alerting.storm` is 0; write 1 to 1000
    "#);
}

#[test]
fn a_secret_that_is_named_and_not_set_stops_the_start() {
    let problems = checked("[alertmanager]\nbearer_env = \"NOT_THERE\"").unwrap_err();
    assert_eq!(
        problems,
        ["`alerts.alertmanager.bearer_env`: `$NOT_THERE` is not set; set it to the secret, or leave `bearer_env` out"]
    );
}

#[test]
fn unknown_keys_are_refused() {
    assert!(toml::from_str::<BTreeMap<String, RouteSection>>("[grafana]\nbearer = \"inline\"").is_err());
    assert!(toml::from_str::<LimitsSection>("windows = \"10m\"").is_err());
}

#[test]
fn words_for_severities_have_a_meaning_and_the_config_may_give_another() {
    let text = "[alertmanager]\nbearer_env = \"TOKEN\"\nseverities = { Warning = \"at_once\", critical = \"record\" }";
    let checked = checked(text).unwrap();
    let route = &checked.routes["alertmanager"];
    let told = ["critical", "warning", "PAGE", "info", "none", "chartreuse", ""].map(|word| route.urgency(word));
    assert_eq!(told, [Record, AtOnce, AtOnce, Record, Record, WhenFree, WhenFree]);
    assert!(Record < WhenFree && WhenFree < AtOnce);
}

#[test]
fn names_of_the_secrets_are_told_so_that_they_can_be_masked() {
    let text = "[a]\nkind = \"grafana\"\nsecret_env = \"S\"\nbearer_env = \"B\"\n[b]\nbasic_password_env = \"P\"";
    let routes: BTreeMap<String, RouteSection> = toml::from_str(text).unwrap();
    assert_eq!(secrets_env(&routes), ["B", "S", "P"]);
    let shown = format!(
        "{:?}",
        check(&toml::from_str("[grafana]\nsecret_env = \"TOKEN\"").unwrap(), &LimitsSection::default(), &env)
    );
    assert!(!shown.contains("of-the-tests"), "{shown}");
}
