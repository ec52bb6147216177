//! `GET /openapi.json`: the API described, made of the table that makes the routes; and the routes of other parts beside it.

mod schemas;

mod webhooks;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use warrant_kernel::call::gate::sequencer::tokens::Scope;

use super::api::{Access, Gives, OPERATIONS, Operation, Verb};
use super::error::Code;

/// The route.
pub(super) async fn document() -> Response {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(whole);
    Json(&*DOCUMENT).into_response()
}

/// The document, for clients and for whoever publishes it.
#[must_use]
pub fn whole() -> Value {
    let mut paths = webhooks::all();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Value::Object(verbs) = path {
            verbs.insert(verb(operation.verb).to_owned(), described(operation));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Warrant",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": "Investigations of incidents, and people's decisions about the writes they ask for. Reads are fast. Writes need a warrant.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http", "scheme": "bearer",
                    "description": "A personal token: `warrant token new PERSON --scope SCOPE`. While there are none, \
                        requests of the same machine are answered without one, but for decisions.",
                },
            },
            "schemas": schemas::all(),
        },
    })
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
    }
}

fn described(operation: &Operation) -> Value {
    let mut described = json!({
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "parameters": parameters(operation),
        "responses": responses(operation),
        "security": security(operation.access),
    });
    if let (Some(schema), Value::Object(fields)) = (operation.takes, &mut described) {
        let body = json!({ "required": true, "content": { "application/json": { "schema": reference(schema) } } });
        fields.insert("requestBody".to_owned(), body);
    }
    described
}

fn operation_id(operation: &Operation) -> String {
    let words = operation.path.split(['/', '.']).filter(|part| !part.is_empty() && *part != "v1");
    let words = words.map(|part| part.trim_matches(['{', '}']));
    std::iter::once(verb(operation.verb)).chain(words).collect::<Vec<_>>().join("_")
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn parameters(operation: &Operation) -> Value {
    let mut parameters = Vec::new();
    if operation.path.contains("{id}") {
        parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }));
    }
    for (name, what) in operation.query {
        parameters.push(json!({
            "name": name, "in": "query", "required": false, "description": what, "schema": { "type": "string" },
        }));
    }
    if operation.gives == Gives::Events {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "the number of the last event that came", "schema": { "type": "string" },
        }));
    }
    parameters.into()
}

/// Which tokens are good for it; an empty requirement where it needs none at times.
fn security(access: Access) -> Value {
    let token = |scope: Scope| json!({ "token": [scope.as_str()] });
    match access {
        Access::Anybody => json!([]),
        Access::Token(Scope::Approve) => json!([token(Scope::Approve)]),
        Access::Near(scope) | Access::Token(scope) => json!([{}, token(scope)]),
    }
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    let (status, content) = match operation.gives {
        Gives::Json(status, schema) => (status, json!({ "application/json": { "schema": reference(schema) } })),
        Gives::Events => (200, json!({ "text/event-stream": { "schema": { "type": "string" } } })),
        Gives::Text => (200, json!({ "application/openmetrics-text": { "schema": { "type": "string" } } })),
    };
    responses.insert(status.to_string(), json!({ "description": "Done", "content": content }));
    for code in Code::ALL.into_iter().filter(|code| may_give(operation, *code)) {
        // `/readyz` says what is down in the words in which it says that nothing is.
        let schema = if operation.path == "/readyz" { reference("Ready") } else { reference("Error") };
        let content = json!({ "application/json": { "schema": schema } });
        let refused = json!({ "description": code.as_str(), "content": content });
        responses.insert(code.status().as_u16().to_string(), refused);
    }
    responses.into()
}

fn may_give(operation: &Operation, code: Code) -> bool {
    let named = operation.path.contains("{id}");
    let is_open = operation.access == Access::Anybody;
    match code {
        Code::Forbidden => operation.path != "/readyz",
        Code::Unavailable => operation.path != "/healthz" && operation.path != "/openapi.json",
        Code::Timeout | Code::Unauthenticated => !is_open,
        Code::Invalid => operation.takes.is_some() || !operation.query.is_empty() || operation.gives == Gives::Events,
        Code::NotFound => named || operation.takes.is_some(),
        Code::Conflict => named && operation.verb == Verb::Post,
        Code::TooLarge | Code::NotJson => operation.takes.is_some(),
        Code::TooMany => operation.gives == Gives::Events || operation.gives == Gives::Json(202, "Begun"),
        // The table has the methods that a path takes.
        Code::MethodNotAllowed => false,
    }
}
