//! The schemas of what routes take and give (JSON Schema 2020-12, as `OpenAPI` 3.1 has it).
//!
//! Our own objects are closed: a field that stands in an answer and not here fails the test that holds the two together.

use serde_json::{Map, Value, json};

use crate::web::error::Code;

/// An object with these fields and no others; all but those in `optional` are there.
fn closed(fields: &Value, optional: &[&str]) -> Value {
    let names = fields.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.filter(|name| !optional.contains(&name.as_str())).collect();
    json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": false })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn or_null(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn of(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn words(most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most })
}

/// All of them, by name.
pub(super) fn all() -> Value {
    let mut all = Map::new();
    for part in [taken(), about_investigations(), about_approvals(), about_the_server()] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    all.into()
}

fn taken() -> Value {
    let whole = json!({ "enum": ["opened", "not_opened"],
        "description": "whether the person went through all pages; needed where the card says so" });
    let seen = json!({
        "revision": number(), "digest_prefix": text(), "whole": whole,
    });
    let mut denying = seen.clone();
    if let Value::Object(fields) = &mut denying {
        fields.insert("reason".to_owned(), words(4_000));
    }
    json!({
        "NewInvestigation": closed(
            &json!({
                "question": words(4_000),
                "service": or_null("string"),
                "since": { "type": ["string", "null"], "description": "RFC 3339, or as in `30m`" },
                "role": or_null("string"),
            }),
            &["service", "since", "role"],
        ),
        "Steering": closed(&json!({ "text": words(4_000) }), &[]),
        "Approving": closed(&seen, &[]),
        "Denying": closed(&denying, &[]),
        "Because": closed(&json!({ "reason": words(4_000) }), &[]),
    })
}

fn about_investigations() -> Value {
    let brief = json!({
        "id": text(), "question": text(), "service": or_null("string"), "requester": or_null("string"),
        "opened_at": time(), "ended_at": or_null("string"),
        "outcome": { "enum": ["confirmed", "likely", "no_fault", "inconclusive", null] }, "running": { "type": "boolean" },
    });
    let spent = |kind: &str| closed(&json!({ "used": or_null(kind), "limit": or_null(kind) }), &[]);
    let mut whole = brief.clone();
    if let (Value::Object(whole), Value::Object(more)) = (
        &mut whole,
        json!({
            "state": { "enum": ["running", "waiting", "paused", "ended"] },
            "trigger": { "enum": ["question", "alert"] },
            "role": text(), "channel": text(), "since": time(),
            "budget": closed(
                &json!({ "turns": spent("integer"), "tokens": spent("integer"), "wall_s": spent("integer"),
                    "cost": spent("number") }),
                &[],
            ),
            "reads": number(), "writes": number(), "last_event": number(),
            "pending_approvals": list(&text()),
            "report": { "oneOf": [{ "type": "null" }, of("Report")] },
        }),
    ) {
        whole.extend(more);
    }
    let optional = [
        "state",
        "trigger",
        "role",
        "channel",
        "since",
        "budget",
        "reads",
        "writes",
        "last_event",
        "pending_approvals",
        "report",
    ];
    json!({
        "Begun": closed(&json!({ "id": text(), "events": text() }), &[]),
        "Taken": closed(&json!({ "id": text() }), &[]),
        "Brief": closed(&brief, &[]),
        "Investigations": closed(&json!({ "investigations": list(&of("Brief")), "next": or_null("string") }), &[]),
        "Investigation": closed(&whole, &optional),
        "Report": report(),
    })
}

fn report() -> Value {
    let anything = json!({ "type": "object" });
    closed(
        &json!({
            "outcome": { "enum": ["confirmed", "likely", "no_fault", "inconclusive"] },
            "outcome_reason": text(), "summary": text(), "root_cause": or_null("string"),
            "findings": list(&json!({
                "type": "object", "required": ["kind", "claim", "evidence"],
                "properties": { "kind": { "enum": ["symptom", "cause", "context"] }, "claim": text(),
                    "evidence": list(&json!({ "type": "string", "pattern": "^E[0-9]+$" })) },
            })),
            "unsupported": list(&closed(&json!({ "claim": text(), "why": text() }), &[])),
            "ruled_out": list(&anything), "impact": or_null("string"), "timeline": list(&anything),
            "writes": list(&anything), "next_steps": list(&text()), "not_seen": list(&text()),
            "evidence": list(&closed(&json!({ "evidence": text(), "call": text(), "source": or_null("string") }), &[])),
            "written_by": text(), "partial": { "type": "boolean" }, "volatile": { "type": "boolean" },
        }),
        &["writes"],
    )
}

fn about_approvals() -> Value {
    let state = json!({
        "type": "object", "required": ["is"],
        "properties": { "is": { "enum": ["open", "approved", "denied", "expired", "revoked", "superseded", "consumed",
            "executed", "not_executed", "unknown"] } },
    });
    let tier = json!({ "enum": ["low", "medium", "high"] });
    let listed = closed(
        &json!({
            "approval": text(), "state": of("ApprovalState"), "tier": tier, "tool": text(), "target": text(),
            "service": or_null("string"), "effect": text(), "requester": text(), "investigation": text(),
            "requested_at": time(), "expires_at": time(), "quorum": number(), "approved": list(&text()),
        }),
        &[],
    );
    let card = json!({
        "type": "object",
        "required": ["approval", "revision", "digest_prefix", "state", "requester", "investigation", "tool", "target",
            "effect", "arguments", "bound", "diff", "size", "tier", "tier_reasons", "case", "electorate", "requested_at",
            "expires_at", "needs_whole"],
        "properties": {
            "approval": text(), "revision": number(), "digest_prefix": text(), "state": of("ApprovalState"),
            "requester": text(), "investigation": text(), "tool": text(), "target": { "type": "object" },
            "effect": text(), "arguments": list(&json!({ "type": "object" })), "bound": { "type": "object" },
            "diff": { "type": "array" }, "size": { "type": "object" }, "tier": tier, "tier_reasons": list(&text()),
            "case": { "type": "object", "description": "why, in the model's words: show it as such" },
            "electorate": { "type": "object" }, "requested_at": time(), "expires_at": time(),
            "needs_whole": { "type": "boolean" },
        },
    });
    let page = closed(&json!({ "title": text(), "lines": list(&text()) }), &[]);
    let approve = json!({ "enum": ["on_the_face", "after_the_last_page", "not_offered"] });
    json!({
        "ApprovalState": state,
        "Listed": listed,
        "Approvals": closed(&json!({ "approvals": list(&of("Listed")), "next": or_null("string") }), &[]),
        "Card": card,
        "Approval": closed(&json!({ "card": of("Card"), "pages": list(&page), "approve": approve }), &[]),
        "Decided": closed(
            &json!({ "approval": text(), "state": of("ApprovalState"), "revision": number(), "approved": list(&text()),
                "quorum": number() }),
            &[],
        ),
    })
}

fn about_the_server() -> Value {
    let codes: Vec<&str> = Code::ALL.into_iter().map(Code::as_str).collect();
    let check = closed(
        &json!({
            "name": text(), "state": { "enum": ["up", "degraded", "down", "off"] },
            "weight": { "enum": ["decides", "informs"] }, "detail": text(),
        }),
        &[],
    );
    json!({
        "Alive": closed(&json!({ "alive": { "const": true }, "version": text() }), &[]),
        "Ready": closed(&json!({ "ready": { "type": "boolean" }, "checks": list(&check) }), &[]),
        "Document": { "type": "object", "required": ["openapi", "info", "paths", "components"] },
        "AlertsTaken": closed(&json!({ "received": number(), "known": number(), "note": text() }), &["note"]),
        "Error": closed(
            &json!({ "error": closed(&json!({ "code": { "enum": codes }, "reason": text(), "message": text() }), &[]) }),
            &[],
        ),
    })
}
