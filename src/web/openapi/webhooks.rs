//! Routes that other parts of the program answer: senders of alerts post to them, and Slack. Each proves itself in its own way,
//! none by a token of ours; what their bodies look like is the senders' business.

use serde_json::{Map, Value, json};

/// A route to which others post.
struct Webhook {
    path: &'static str,
    summary: &'static str,
    /// The name of what stands in the path.
    parameter: Option<(&'static str, &'static str)>,
    takes: &'static str,
    /// What it answers, besides that it was taken.
    refuses: &'static [(u16, &'static str)],
}

const WEBHOOKS: [Webhook; 4] = [
    Webhook {
        path: "/v1/alerts/{name}",
        summary: "Alerts of one sender, by the name of its `[alerts.NAME]`; proved as that says",
        parameter: Some(("name", "the name of the route in the config")),
        takes: "application/json",
        refuses: &[
            (400, "There is no alert in the body"),
            (401, "The sender did not prove itself"),
            (404, "There is no such route, or it has no authentication and is off"),
            (408, "The body took too long"),
            (413, "The body is over the limit of the route"),
            (503, "It could not be kept now; send it again"),
        ],
    },
    slack("/slack/events", "Slack's events, signed by Slack; there where Slack posts over HTTP", "application/json"),
    slack(
        "/slack/interactivity",
        "What people press and fill in, signed by Slack; there where Slack posts over HTTP",
        "application/x-www-form-urlencoded",
    ),
    slack(
        "/slack/commands",
        "Slack's slash command, signed by Slack; there where Slack posts over HTTP",
        "application/x-www-form-urlencoded",
    ),
];

const fn slack(path: &'static str, summary: &'static str, takes: &'static str) -> Webhook {
    Webhook {
        path,
        summary,
        parameter: None,
        takes,
        refuses: &[
            (400, "It is not what Slack sends"),
            (401, "Slack did not sign it, or long ago"),
            (404, "Slack does not post over HTTP here"),
            (408, "The body took too long"),
            (413, "The body is over 1 MiB"),
            (503, "It could not be kept now; Slack sends it again"),
        ],
    }
}

/// The paths of all of them with what stands there.
pub(super) fn all() -> Map<String, Value> {
    WEBHOOKS.iter().map(|webhook| (webhook.path.to_owned(), json!({ "post": described(webhook) }))).collect()
}

fn described(webhook: &Webhook) -> Value {
    let words = webhook.path.split('/').filter(|part| !part.is_empty() && *part != "v1");
    let words = words.map(|part| part.trim_matches(['{', '}']));
    let id: Vec<&str> = std::iter::once("post").chain(words).collect();
    let parameters: Vec<Value> = webhook
        .parameter
        .iter()
        .map(|(name, what)| {
            json!({ "name": name, "in": "path", "required": true, "description": what, "schema": { "type": "string" } })
        })
        .collect();
    let taken = if webhook.parameter.is_some() {
        json!({ "description": "Kept, or known already",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/AlertsTaken" } } } })
    } else {
        json!({ "description": "Kept, or known already" })
    };
    let mut responses = Map::from_iter([("200".to_owned(), taken)]);
    responses.extend(webhook.refuses.iter().map(|(status, why)| (status.to_string(), json!({ "description": why }))));
    json!({
        "operationId": id.join("_"),
        "summary": webhook.summary,
        "parameters": parameters,
        "requestBody": { "required": true, "content": { webhook.takes: { "schema": {} } } },
        "responses": responses,
        "security": [],
    })
}
