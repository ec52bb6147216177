//! What Slack refuses, read from its limits and from the JSON as it is sent; knows nothing of how that was made.

use serde_json::{Map, Value};

const LIMITS: &str = include_str!("../../../../tests/data/slack/limits.json");

/// Why Slack would refuse a message; empty where it takes it. What would ping, link or hide counts as a reason too.
pub(in crate::chat::slack) fn message(message: &Value) -> Vec<String> {
    let mut judge = Judge::new();
    let fields = judge.object("message", message);
    for (switch, off) in [("mrkdwn", Value::from(false)), ("parse", "none".into()), ("link_names", false.into())] {
        judge.must(fields.get(switch) == Some(&off), &format!("`{switch}` is not off"));
    }
    for switch in ["unfurl_links", "unfurl_media"] {
        judge.must(fields.get(switch) == Some(&Value::from(false)), &format!("`{switch}` is not off"));
    }
    judge.text("message.text_truncated_at", fields.get("text"));
    judge.must(!fields["text"].as_str().unwrap().is_empty(), "no text for notifications");
    judge.blocks("blocks_per_message", &fields["blocks"]);
    let most = judge.limit("undocumented_msg_blocks_too_long_about");
    let all = judge.total;
    judge.must(all <= most, &format!("{all} characters over all blocks"));
    judge.wrong
}

/// Why Slack would refuse a view.
pub(in crate::chat::slack) fn view(view: &Value) -> Vec<String> {
    let mut judge = Judge::new();
    let fields = judge.object("view", view);
    judge.must(fields["type"] == "modal", "no modal");
    judge.must(view.to_string().len() <= 250_000, "heavier than 250 kB");
    judge.must(fields["private_metadata"].as_str().unwrap().chars().count() <= 3_000, "long metadata");
    judge.must(fields["callback_id"].as_str().unwrap().len() <= 255, "long callback id");
    for name in ["title", "close", "submit"] {
        if let Some(text) = fields.get(name) {
            judge.plain(name, text, 24);
        }
    }
    let input = fields["blocks"].as_array().unwrap().iter().any(|block| block["type"] == "input");
    judge.must(!input || fields.contains_key("submit"), "an input and nothing to submit it with");
    judge.blocks("blocks_per_modal", &fields["blocks"]);
    judge.wrong
}

struct Judge {
    limits: Value,
    wrong: Vec<String>,
    total: usize,
}

impl Judge {
    fn new() -> Self {
        Self { limits: serde_json::from_str(LIMITS).unwrap(), wrong: Vec::new(), total: 0 }
    }

    fn limit(&self, name: &str) -> usize {
        usize::try_from(self.limits[name].as_u64().unwrap_or_else(|| panic!("no limit `{name}`"))).unwrap()
    }

    fn must(&mut self, holds: bool, otherwise: &str) {
        if !holds {
            self.wrong.push(otherwise.to_owned());
        }
    }

    fn object(&mut self, what: &str, value: &Value) -> Map<String, Value> {
        self.must(value.is_object(), &format!("{what} is no object"));
        value.as_object().cloned().unwrap_or_default()
    }

    fn fields(&mut self, value: &Value, known: &[&str]) {
        for (name, field) in value.as_object().unwrap() {
            self.must(known.contains(&name.as_str()), &format!("unknown field `{name}` in {}", value["type"]));
            self.must(!field.is_null(), &format!("`{name}` is null"));
        }
    }

    /// A text as Slack gets it: its three signs stand in entities only, nothing in it is hidden or moves what is around.
    fn text(&mut self, limit: &str, value: Option<&Value>) {
        let most = self.limit(limit);
        let Some(text) = value.and_then(Value::as_str) else {
            self.wrong.push(format!("no text for {limit}"));
            return;
        };
        self.safe(text, most);
    }

    fn safe(&mut self, text: &str, most: usize) {
        let units = text.encode_utf16().count();
        self.total += units;
        self.must(units <= most, &format!("{units} characters where {most} may stand: {text:.60}"));
        self.must(!text.contains(['<', '>']), &format!("a bare sign in {text:.80}"));
        for after in text.split('&').skip(1) {
            let entity = ["amp;", "lt;", "gt;"].iter().any(|entity| after.starts_with(entity));
            self.must(entity, &format!("a bare `&` in {text:.80}"));
        }
        let hides = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                    | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0000}'..='\u{E007F}')
        };
        self.must(!text.contains(hides), &format!("something hidden in {text:?}"));
    }

    fn plain(&mut self, name: &str, value: &Value, most: usize) {
        self.fields(value, &["type", "text", "emoji"]);
        self.must(value["type"] == "plain_text", &format!("`{name}` is {} and no plain text", value["type"]));
        self.must(value["emoji"] == false, &format!("emoji in `{name}`"));
        let text = value["text"].as_str().unwrap_or_default();
        self.must(!text.is_empty(), &format!("`{name}` is empty"));
        self.safe(text, most);
        self.words(text);
    }

    /// Words outside of preformatted parts: no address and no ping that a client might act upon.
    fn words(&mut self, text: &str) {
        let small = text.to_lowercase();
        for bad in ["://", "www.", "@here", "@channel", "@everyone"] {
            self.must(!small.contains(bad), &format!("`{bad}` in {text:.80}"));
        }
    }

    fn blocks(&mut self, most: &str, blocks: &Value) {
        let blocks = blocks.as_array().unwrap();
        let limit = self.limit(most);
        self.must((1..=limit).contains(&blocks.len()), &format!("{} blocks where {limit} may be", blocks.len()));
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Value) {
        match block["type"].as_str().unwrap() {
            "header" => {
                self.fields(block, &["type", "text"]);
                let most = self.limit("header.text");
                self.plain("header", &block["text"], most);
            }
            "divider" => self.fields(block, &["type"]),
            "context" => {
                self.fields(block, &["type", "elements"]);
                let elements = self.elements(block, "context.elements");
                for element in &elements {
                    self.plain("context", element, 2_000);
                }
            }
            "actions" => {
                self.fields(block, &["type", "elements"]);
                let elements = self.elements(block, "actions.elements");
                let mut ids: Vec<&str> = elements.iter().map(|it| it["action_id"].as_str().unwrap()).collect();
                ids.sort_unstable();
                ids.dedup();
                self.must(ids.len() == elements.len(), "an action id twice in one block");
                for button in &elements {
                    self.button(button);
                }
            }
            "rich_text" => {
                self.fields(block, &["type", "elements"]);
                for part in block["elements"].as_array().unwrap() {
                    self.part(part);
                }
            }
            "input" => self.input(block),
            "image" => {
                self.fields(block, &["type", "slack_file", "alt_text"]);
                let alt = block["alt_text"].as_str().unwrap_or_default();
                self.must(!alt.is_empty(), "no alternative to a picture");
                self.safe(alt, 2_000);
            }
            other => self.wrong.push(format!("a block `{other}`")),
        }
    }

    fn elements(&mut self, block: &Value, limit: &str) -> Vec<Value> {
        let elements = block["elements"].as_array().cloned().unwrap_or_default();
        let most = self.limit(limit);
        self.must((1..=most).contains(&elements.len()), &format!("{} elements: {limit}", elements.len()));
        elements
    }

    fn button(&mut self, button: &Value) {
        self.fields(button, &["type", "action_id", "text", "value", "style"]);
        let most = self.limit("button.text");
        self.plain("button", &button["text"], most);
        let (id, value) = (button["action_id"].as_str().unwrap(), button["value"].as_str().unwrap());
        let (ids, values) = (self.limit("action_id"), self.limit("button.value"));
        self.must((1..=ids).contains(&id.len()), "a long action id");
        self.must((1..=values).contains(&value.len()), "a long value");
        let style = button.get("style").map_or("primary", |style| style.as_str().unwrap());
        self.must(matches!(style, "primary" | "danger"), "no style");
    }

    fn input(&mut self, block: &Value) {
        self.fields(block, &["type", "block_id", "label", "hint", "element"]);
        self.plain("label", &block["label"], 2_000);
        self.plain("hint", &block["hint"], 2_000);
        let element = &block["element"];
        self.fields(element, &["type", "action_id", "multiline", "min_length", "max_length"]);
        self.must(element["type"] == "plain_text_input", "an input of another kind");
        let (least, most) = (element["min_length"].as_u64().unwrap(), element["max_length"].as_u64().unwrap());
        self.must(least <= most && most <= 3_000, "an input without sense");
    }

    fn part(&mut self, part: &Value) {
        match part["type"].as_str().unwrap() {
            "rich_text_section" | "rich_text_quote" => {
                self.fields(part, &["type", "elements"]);
                for run in part["elements"].as_array().unwrap() {
                    self.run(run);
                }
            }
            "rich_text_list" => {
                self.fields(part, &["type", "style", "elements"]);
                for item in part["elements"].as_array().unwrap() {
                    self.part(item);
                }
            }
            "rich_text_preformatted" => {
                self.fields(part, &["type", "elements"]);
                for run in part["elements"].as_array().unwrap() {
                    self.fields(run, &["type", "text"]);
                    self.must(run["type"] == "text", "more than text in a preformatted part");
                    self.must(run["text"] != "", "an empty text");
                    self.safe(run["text"].as_str().unwrap_or_default(), 3_000);
                }
            }
            other => self.wrong.push(format!("a part `{other}`")),
        }
    }

    fn run(&mut self, run: &Value) {
        match run["type"].as_str().unwrap() {
            "text" => {
                self.fields(run, &["type", "text", "style"]);
                let text = run["text"].as_str().unwrap();
                self.must(!text.is_empty(), "an empty run");
                self.safe(text, 3_000);
                self.words(text);
            }
            "link" => {
                self.fields(run, &["type", "url", "text"]);
                let url = run["url"].as_str().unwrap();
                self.total += url.len();
                self.must(url.starts_with("https://") || url.starts_with("http://"), "a link to somewhere else");
                self.safe(run["text"].as_str().unwrap(), 3_000);
                self.words(run["text"].as_str().unwrap());
            }
            "user" => self.must(run["user_id"].as_str().unwrap().starts_with(['U', 'W']), "nobody is pinged"),
            "usergroup" => self.must(run["usergroup_id"].as_str().unwrap().starts_with('S'), "no group is pinged"),
            other => self.wrong.push(format!("a run `{other}`")),
        }
    }
}
