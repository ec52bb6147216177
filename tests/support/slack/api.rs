//! The Web API: who may call, in which form, and what each method that is no message answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::limits::of_view;
use super::state::{Call, Fault, Inner, OpenView};
use super::{APP_TOKEN, BOT, BOT_TOKEN, Shared, TEAM, chat};

/// What a method answers: the fields of a good answer, or the error.
pub type Answered = Result<Value, String>;

/// How long a trigger lives.
const TRIGGER: Duration = Duration::from_secs(3);

pub fn word<'v>(body: &'v Value, key: &str) -> &'v str {
    body.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub async fn call(
    State(shared): State<Arc<Shared>>,
    Path(method): Path<String>,
    verb: Method,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let body = body(&method, &verb, query, &headers, &bytes);
    let mut inner = shared.lock();
    let fault = inner.faults.get_mut(&method).and_then(std::collections::VecDeque::pop_front);
    let (answered, after) = match (&fault, authorised(&inner, &method, &headers, &body)) {
        (Some(Fault::Limited(seconds)), _) => (Err("ratelimited".to_owned()), Some(*seconds)),
        (Some(Fault::Error(error)), _) => (Err((*error).to_owned()), None),
        (Some(Fault::Status(_)), _) => (Err("fault".to_owned()), None),
        (_, Err(error)) => (Err(error), None),
        (Some(Fault::DoneThenStatus(_)) | None, Ok(())) => match do_it(&mut inner, &shared, &method, &body) {
            Err(error) if error == "ratelimited" => (Err(error), Some(1)),
            answered => (answered, None),
        },
    };
    inner.calls.push(Call { method, body, at: Instant::now() });
    drop(inner);
    shared.changed();
    if let Some(Fault::Status(status) | Fault::DoneThenStatus(status)) = fault {
        return StatusCode::from_u16(status).unwrap().into_response();
    }
    let mut fields = match answered {
        Ok(fields) => fields,
        // Slack's word is the part before the colon; what is behind it is for whoever reads the test.
        Err(error) => json!({ "error": error.split(':').next(), "detail": error }),
    };
    let good = fields.get("error").is_none();
    fields.as_object_mut().unwrap().insert("ok".to_owned(), json!(good));
    match after {
        Some(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", seconds.to_string())], axum::Json(fields)).into_response()
        }
        None => ([("x-oauth-scopes", "chat:write,commands")], axum::Json(fields)).into_response(),
    }
}

/// Methods that read take parameters only; JSON in their body is not looked at, as with Slack.
fn body(method: &str, verb: &Method, query: HashMap<String, String>, headers: &HeaderMap, bytes: &[u8]) -> Value {
    let reads = matches!(
        method,
        "users.info"
            | "usergroups.users.list"
            | "conversations.info"
            | "conversations.history"
            | "conversations.replies"
            | "files.info"
            | "files.getUploadURLExternal"
    );
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut fields: Map<String, Value> = query.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
    if *verb == Method::POST && kind.starts_with("application/json") && !reads {
        if let Ok(Value::Object(json)) = serde_json::from_slice(bytes) {
            fields.extend(json);
        }
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        let mut url = reqwest::Url::parse("form:").unwrap();
        url.set_query(Some(&String::from_utf8_lossy(bytes)));
        fields.extend(url.query_pairs().map(|(key, value)| (key.into_owned(), Value::String(value.into_owned()))));
    }
    Value::Object(fields)
}

fn authorised(inner: &Inner, method: &str, headers: &HeaderMap, body: &Value) -> Result<(), String> {
    let header = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let given = header.unwrap_or_else(|| word(body, "token"));
    let wanted = if method == "apps.connections.open" { APP_TOKEN } else { BOT_TOKEN };
    let error = match given {
        "" => "not_authed",
        _ if inner.revoked => "token_revoked",
        given if given == wanted => return Ok(()),
        APP_TOKEN | BOT_TOKEN => "not_allowed_token_type",
        _ => "invalid_auth",
    };
    Err(error.to_owned())
}

fn do_it(inner: &mut Inner, shared: &Shared, method: &str, body: &Value) -> Answered {
    match method {
        "auth.test" => Ok(json!({
            "url": "https://tests.slack.com/", "team": "Tests", "user": "warrant", "team_id": TEAM, "user_id": BOT,
            "bot_id": "B0BOT",
        })),
        "apps.connections.open" => {
            let ticket = format!("ticket-{}", inner.next());
            inner.tickets.push(ticket.clone());
            Ok(json!({ "url": format!("ws://{}/link?ticket={ticket}&app_id={}", shared.address, super::APP) }))
        }
        "chat.postMessage" => chat::post(inner, body),
        "chat.update" => chat::update(inner, body),
        "chat.postEphemeral" => chat::whisper(inner, body),
        "conversations.history" | "conversations.replies" => chat::history(inner, body),
        "conversations.info" => chat::info(inner, body),
        "conversations.join" => chat::join(inner, body),
        "users.info" => {
            let user = inner.users.get(word(body, "user")).ok_or("user_not_found")?;
            Ok(json!({ "user": user }))
        }
        "usergroups.users.list" => {
            let users = inner.groups.get(word(body, "usergroup")).ok_or("no_such_subteam")?;
            Ok(json!({ "users": users }))
        }
        "views.open" | "views.push" => {
            let user = trigger(inner, word(body, "trigger_id"))?;
            let id = format!("V{:07}", inner.next());
            show(inner, &id, user, body)
        }
        "views.update" => {
            let id = word(body, "view_id");
            let hash = word(body, "hash");
            let at = inner.views.iter().position(|view| view.id == id).ok_or("not_found")?;
            let open = inner.views.get(at).ok_or("not_found")?;
            if !hash.is_empty() && open.hash != hash {
                return Err("hash_conflict".to_owned());
            }
            let (id, user) = (open.id.clone(), open.user.clone());
            show(inner, &id, user, body)
        }
        "files.getUploadURLExternal" => {
            let id = format!("F{:07}", inner.next());
            let info = json!({
                "id": id, "name": word(body, "filename"), "size": word(body, "length").parse::<u64>().map_err(|_| "invalid_arguments")?,
            });
            inner.files.entry(id.clone()).or_default().info = info;
            Ok(json!({ "upload_url": format!("http://{}/upload/{id}", shared.address), "file_id": id }))
        }
        "files.completeUploadExternal" => {
            // Clients that send forms send lists as texts.
            let files = body.get("files").cloned().unwrap_or_default();
            let files = files.as_str().map(|text| serde_json::from_str(text).unwrap_or_default()).unwrap_or(files);
            let id = files.pointer("/0/id").and_then(Value::as_str).unwrap_or_default();
            let file = inner.files.get_mut(id).ok_or("file_not_found")?;
            if file.bytes.is_empty() {
                return Err("file_not_found".to_owned());
            }
            file.shared = Some(body.clone());
            if let Some(info) = file.info.as_object_mut() {
                info.insert("mimetype".to_owned(), json!("image/png"));
            }
            Ok(json!({ "files": [{ "id": id }] }))
        }
        "files.info" => {
            let file = inner.files.get(word(body, "file")).ok_or("file_not_found")?;
            Ok(json!({ "file": file.info }))
        }
        "reactions.add" => Ok(json!({})),
        _ => Err("unknown_method".to_owned()),
    }
}

fn trigger(inner: &mut Inner, id: &str) -> Result<String, String> {
    let trigger = inner.triggers.get_mut(id).ok_or("invalid_trigger_id")?;
    if trigger.made.elapsed() > TRIGGER {
        return Err("expired_trigger_id".to_owned());
    }
    if std::mem::replace(&mut trigger.used, true) {
        return Err("exchanged_trigger_id".to_owned());
    }
    Ok(trigger.user.clone())
}

fn show(inner: &mut Inner, id: &str, user: String, body: &Value) -> Answered {
    let view = body.get("view").cloned().unwrap_or_default();
    let view = view.as_str().map(|text| serde_json::from_str(text).unwrap_or_default()).unwrap_or(view);
    if let Some(error) = of_view(&view) {
        inner.violations.push(error.clone());
        return Err(error);
    }
    let hash = format!("{}.hash", inner.next());
    inner.views.retain(|open| open.id != id);
    inner.views.push(OpenView { id: id.to_owned(), hash: hash.clone(), view, user });
    Ok(json!({ "view": { "id": id, "hash": hash } }))
}

pub async fn upload(
    State(shared): State<Arc<Shared>>,
    Path(file): Path<String>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let mut inner = shared.lock();
    if headers.contains_key("authorization") {
        inner.violations.push("the bot's token was sent to where files are put".to_owned());
    }
    match inner.files.get_mut(&file) {
        Some(kept) if kept.info.get("size").and_then(Value::as_u64) == Some(bytes.len() as u64) => {
            kept.bytes = bytes.to_vec();
            format!("OK - {}", bytes.len()).into_response()
        }
        Some(_) => StatusCode::BAD_REQUEST.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub async fn download(State(shared): State<Arc<Shared>>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    let known =
        headers.get("authorization").is_some_and(|value| value.as_bytes() == format!("Bearer {BOT_TOKEN}").as_bytes());
    if !known {
        return ([("content-type", "text/html; charset=utf-8")], "<html>Sign in</html>").into_response();
    }
    match shared.lock().files.get(&file) {
        Some(kept) => ([("content-type", "text/plain")], kept.bytes.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
