//! What Slack refuses of blocks: too long, too many, unknown, twice.

use std::collections::HashSet;

use serde_json::Value;

fn limit(name: &str) -> usize {
    let limits: Value = serde_json::from_str(include_str!("../../data/slack/limits.json")).unwrap();
    usize::try_from(limits.get(name).and_then(Value::as_u64).unwrap_or_else(|| panic!("no limit `{name}`"))).unwrap()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

struct Checker {
    blocks: HashSet<String>,
    actions: HashSet<String>,
    all: usize,
    markdown: usize,
}

/// The error that Slack answers to a message; none where it takes it.
pub fn of_message(body: &Value) -> Option<String> {
    let blocks = body.get("blocks");
    // Clients that send forms send lists as texts.
    let parsed = blocks.and_then(Value::as_str).map(|text| serde_json::from_str::<Value>(text).unwrap_or_default());
    let blocks = parsed.as_ref().or(blocks);
    if text(body, "/text").is_empty() && blocks.is_none() && body.get("attachments").is_none() {
        return Some("no_text".to_owned());
    }
    if text(body, "/text").chars().count() > limit("message.text_truncated_at") {
        return Some("msg_too_long".to_owned());
    }
    match blocks {
        None => None,
        Some(Value::Array(blocks)) if blocks.len() <= limit("blocks_per_message") => {
            let (error, all) = of_blocks(blocks);
            error.map(|why| format!("invalid_blocks: {why}")).or_else(|| {
                (all > limit("undocumented_msg_blocks_too_long_about")).then(|| "msg_blocks_too_long".to_owned())
            })
        }
        Some(_) => Some("invalid_blocks: no list, or too many".to_owned()),
    }
}

/// The error that Slack answers to a modal; none where it takes it.
pub fn of_view(view: &Value) -> Option<String> {
    let blocks = list(view, "blocks");
    let wrong = |why: &str| Some(format!("invalid_arguments: {why}"));
    let short = |pointer: &str| text(view, pointer).chars().count() <= 24;
    if text(view, "/type") != "modal"
        || text(view, "/title/type") != "plain_text"
        || text(view, "/title/text").is_empty()
    {
        return wrong("no modal with a title");
    }
    if !(short("/title/text") && short("/submit/text") && short("/close/text")) {
        return wrong("title, submit and close have 24 characters at most");
    }
    if blocks.len() > limit("blocks_per_modal") || text(view, "/private_metadata").chars().count() > 3_000 {
        return wrong("too many blocks, or too much metadata");
    }
    if blocks.iter().any(|block| text(block, "/type") == "input") && view.get("submit").is_none_or(Value::is_null) {
        return wrong("an input needs a submit");
    }
    of_blocks(blocks).0.map(|why| format!("invalid_arguments: {why}"))
}

fn of_blocks(blocks: &[Value]) -> (Option<String>, usize) {
    let mut checker = Checker { blocks: HashSet::new(), actions: HashSet::new(), all: 0, markdown: 0 };
    let wrong =
        blocks.iter().enumerate().find_map(|(n, block)| checker.block(block).err().map(|why| format!("{n}: {why}")));
    (wrong, checker.all)
}

impl Checker {
    fn counted(&mut self, what: &str, said: &str, most: usize) -> Result<(), String> {
        let length = said.chars().count();
        self.all += length;
        if said.is_empty() || length > most {
            return Err(format!("{what} has {length} characters, of 1 to {most}"));
        }
        Ok(())
    }

    fn text(&mut self, what: &str, object: &Value, most: usize, kinds: &[&str]) -> Result<(), String> {
        if !kinds.contains(&text(object, "/type")) {
            return Err(format!("{what} is of type `{}`", text(object, "/type")));
        }
        self.counted(what, text(object, "/text"), most)
    }

    fn block(&mut self, block: &Value) -> Result<(), String> {
        let id = text(block, "/block_id");
        if id.len() > limit("block_id") || !id.is_empty() && !self.blocks.insert(id.to_owned()) {
            return Err(format!("the block id `{id}` is too long or there twice"));
        }
        let both = ["plain_text", "mrkdwn"];
        match text(block, "/type") {
            "section" => {
                let fields = list(block, "fields");
                if fields.len() > limit("section.fields") || block.get("text").is_none() && fields.is_empty() {
                    return Err("a section has a text, or one to ten fields".to_owned());
                }
                if let Some(said) = block.get("text") {
                    self.text("a section's text", said, limit("section.text"), &both)?;
                }
                for field in fields {
                    self.text("a field", field, limit("section.field.text"), &both)?;
                }
                block.get("accessory").map_or(Ok(()), |element| self.element(element))
            }
            "header" => {
                self.text("a header", block.get("text").unwrap_or(&Value::Null), limit("header.text"), &["plain_text"])
            }
            "context" => {
                let elements = list(block, "elements");
                if elements.is_empty() || elements.len() > limit("context.elements") {
                    return Err("a context has one to ten elements".to_owned());
                }
                let texts = elements.iter().filter(|element| text(element, "/type") != "image");
                texts.into_iter().try_for_each(|said| self.text("a context's text", said, limit("section.text"), &both))
            }
            "actions" => {
                let elements = list(block, "elements");
                if elements.is_empty() || elements.len() > limit("actions.elements") {
                    return Err("actions have one to twenty-five elements".to_owned());
                }
                elements.iter().try_for_each(|element| self.element(element))
            }
            "input" => {
                self.text("a label", block.get("label").unwrap_or(&Value::Null), 2_000, &["plain_text"])?;
                self.element(block.get("element").unwrap_or(&Value::Null))
            }
            "markdown" => {
                self.markdown += text(block, "/text").chars().count();
                if self.markdown > limit("markdown_block_cumulative") {
                    return Err("too much markdown".to_owned());
                }
                self.counted("markdown", text(block, "/text"), limit("markdown_block_cumulative"))
            }
            "rich_text" => {
                if list(block, "elements").is_empty() {
                    return Err("rich text has no elements".to_owned());
                }
                self.all += rich(block);
                Ok(())
            }
            "divider" => Ok(()),
            "image" => {
                let alt = text(block, "/alt_text");
                let from = block.get("image_url").is_some() || block.get("slack_file").is_some();
                if from {
                    self.counted("an image's alternative", alt, 2_000)
                } else {
                    Err("an image of nothing".to_owned())
                }
            }
            other => Err(format!("there is no block `{other}`")),
        }
    }

    fn element(&mut self, element: &Value) -> Result<(), String> {
        let id = text(element, "/action_id");
        if id.len() > limit("action_id") || !id.is_empty() && !self.actions.insert(id.to_owned()) {
            return Err(format!("the action id `{id}` is too long or there twice"));
        }
        if text(element, "/value").chars().count() > limit("button.value") {
            return Err("a value has 2,000 characters at most".to_owned());
        }
        if let Some(said) = element.pointer("/confirm/text") {
            self.text("a confirmation", said, limit("confirm.text"), &["plain_text", "mrkdwn"])?;
        }
        match text(element, "/type") {
            "button" => {
                let style = text(element, "/style");
                if !matches!(style, "" | "primary" | "danger") {
                    return Err(format!("there is no style `{style}`"));
                }
                self.text(
                    "a button",
                    element.get("text").unwrap_or(&Value::Null),
                    limit("button.text"),
                    &["plain_text"],
                )
            }
            "plain_text_input" | "static_select" | "radio_buttons" | "checkboxes" | "overflow" | "users_select" => {
                Ok(())
            }
            other => Err(format!("there is no element `{other}`")),
        }
    }
}

/// The characters of rich text.
fn rich(value: &Value) -> usize {
    match value {
        Value::Array(parts) => parts.iter().map(rich).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| match field {
                Value::String(said) if name == "text" => said.chars().count(),
                Value::Array(_) | Value::Object(_) => rich(field),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
            })
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
