use super::*;
use crate::model::testing::asked;

fn config(text: &str) -> ModelConfig {
    toml::from_str(text).unwrap()
}

fn built(name: &str, text: &str) -> Result<Built, String> {
    let env = |name: &str| match name {
        "OPENAI_API_KEY" | "KEY" => Some(" sk-1234567890 \n".to_owned()),
        "EMPTY" => Some(" ".to_owned()),
        "BAD" => Some("two words".to_owned()),
        _ => None,
    };
    build(name, &config(text), &env, Arc::new(|| 0.0)).map_err(|error| error.to_string())
}

const OPENAI: &str = "provider = \"openai\"\nmodel = \"m\"\n";

const ANTHROPIC: &str = "provider = \"anthropic\"\nmodel = \"m\"\napi_key_env = \"KEY\"\n";

#[test]
fn the_smallest_config_is_enough_and_the_key_is_known_to_the_redactor() {
    let model = built("main", OPENAI).unwrap();
    assert_eq!((model.model.name(), model.secrets), ("main", vec!["sk-1234567890".to_owned()]));
    let local = built("local", &format!("{OPENAI}base_url = \"http://127.0.0.1:11434/v1\"")).unwrap();
    assert_eq!(local.secrets, Vec::<String>::new());
}

#[test]
fn a_key_may_come_from_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "sk-from-a-file\n").unwrap();
    let text = format!("{OPENAI}api_key_file = \"{}\"", file.path().display());
    assert_eq!(built("main", &text).unwrap().secrets, ["sk-from-a-file"]);
    let missing = built("main", &format!("{OPENAI}api_key_file = \"/nowhere/key\"")).err().unwrap();
    assert_eq!(missing, "`[models.main]`: can't read `api_key_file` `/nowhere/key`");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let mut lines = Vec::new();
    let cases = [
        ("runbook", OPENAI.to_owned()),
        ("main", ANTHROPIC.replace("\"KEY\"", "\"MISSING\"")),
        ("main", ANTHROPIC.replace("\"KEY\"", "\"EMPTY\"")),
        ("main", ANTHROPIC.replace("\"KEY\"", "\"BAD\"")),
        ("main", ANTHROPIC.replace("api_key_env = \"KEY\"", "")),
        ("main", OPENAI.replace("\"m\"", "\" \"")),
        ("main", format!("{OPENAI}base_url = \"localhost:11434\"")),
        ("main", format!("{OPENAI}base_url = \"127.0.0.1\"")),
        ("main", format!("{OPENAI}base_url = \"https://me:pass@example.com/v1\"")),
        ("main", format!("{OPENAI}base_url = \"https://example.com/v1?key=pass\"")),
        ("main", format!("{OPENAI}api_key_env = \"KEY\"\napi_key_file = \"/k\"")),
        ("main", format!("{OPENAI}thinking_budget = 2048")),
        ("main", format!("{ANTHROPIC}thinking_budget = 1000")),
        ("main", format!("{ANTHROPIC}thinking_budget = 2048\nthinking = \"adaptive\"")),
        ("main", format!("{ANTHROPIC}thinking = \"adaptive\"\ntemperature = 0.5")),
        ("main", format!("{OPENAI}temperature = nan")),
        ("main", format!("{OPENAI}idle_timeout = \"soon\"")),
        ("main", format!("{OPENAI}idle_timeout = \"0s\"")),
        ("main", format!("{OPENAI}prices = {{ input = -1, cached = 0, output = 0 }}")),
    ];
    for (name, text) in cases {
        lines.push(built(name, &text).err().unwrap_or_else(|| panic!("this builds: {text}")));
    }
    let lines = lines.join("\n");
    assert!(!lines.contains("pass\"") && !lines.contains("me:pass") && !lines.contains("two words"));
    insta::assert_snapshot!(lines, @r#"
    `[models.runbook]`: `runbook` is the built-in model; choose another name
    `[models.main]`: the environment variable `MISSING` is not set; it holds the API key
    `[models.main]`: the environment variable `EMPTY` is not set; it holds the API key
    `[models.main]`: the API key from `$BAD` is empty, too long or has other than visible ASCII characters
    `[models.main]`: the environment variable `ANTHROPIC_API_KEY` is not set; it holds the API key
    `[models.main]`: `model` is empty; write the provider's name of the model
    `[models.main]`: `base_url` `localhost:11434` is not an http or https URL; write it as in `http://127.0.0.1:11434/v1`
    `[models.main]`: `base_url` `127.0.0.1` is not an http or https URL; write it as in `http://127.0.0.1:11434/v1`
    `[models.main]`: `base_url` `example.com/v1` holds a user or password; put the key into `api_key_env`
    `[models.main]`: `base_url` `https://example.com/v1` holds a query or fragment; leave it out
    `[models.main]`: `api_key_env` and `api_key_file` are both set; keep one
    `[models.main]`: `thinking` and `thinking_budget` are for `provider = "anthropic"` only
    `[models.main]`: `thinking_budget` must be between 1024 and 200000
    `[models.main]`: `thinking` and `thinking_budget` are both set; keep one
    `[models.main]`: `temperature` can't be set for a model that thinks
    `[models.main]`: `temperature` must be between 0 and 2
    `[models.main]`: `idle_timeout`: `soon` is not a duration; write `90s`, `15m`, `1h30m` or `2d`
    `[models.main]`: `idle_timeout` must be longer than nothing
    `[models.main]`: `prices` must be numbers from 0 up
    "#);
}

#[test]
fn unknown_keys_stop_the_start() {
    let error = toml::from_str::<ModelConfig>(&format!("{OPENAI}modle = 1")).unwrap_err().to_string();
    assert!(error.contains("unknown field `modle`"), "{error}");
    let error = toml::from_str::<ModelConfig>("provider = \"gemini\"\nmodel = \"m\"").unwrap_err().to_string();
    assert!(error.contains("expected `openai` or `anthropic`"), "{error}");
}

#[test]
fn prices_count_cached_tokens_apart() {
    let prices = Prices { input: 3.0, cached: 0.3, output: 15.0 };
    let cost = prices.cost(&Usage { input: 1_000_000, cached: 400_000, output: 100_000 });
    assert!((cost - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
    let odd = prices.cost(&Usage { input: 1, cached: 2, output: 0 });
    assert!(odd >= 0.0);
}

#[tokio::test]
async fn a_model_is_built_without_a_connection() {
    let text = format!("{OPENAI}base_url = \"http://127.0.0.1:9/v1\"\ntries = 1");
    let model = built("main", &text).unwrap().model;
    let error = asked(&*model, &tokio_util::sync::CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("no connection"));
}
