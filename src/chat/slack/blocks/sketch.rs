//! A message as lines for eyes, read from the JSON as it is sent: `#` a header, `( )` small print, `>` a quote, `|` lines to
//! the letter, `-` a list, `[ ]` buttons with what they carry.

use serde_json::Value;

/// Draws the blocks of a message or a view.
pub(in crate::chat::slack) fn sketch(value: &Value) -> String {
    let mut lines = Vec::new();
    if let Some(title) = value.get("title") {
        let submit = value.get("submit").map(|submit| format!(" [{}]", text(submit))).unwrap_or_default();
        lines.push(format!("== {}{submit} {} {}", text(title), value["callback_id"], value["private_metadata"]));
    }
    if let Some(notice) = value["text"].as_str() {
        lines.push(format!("notice: {}", seen(notice)));
    }
    for block in value["blocks"].as_array().unwrap() {
        draw(block, &mut lines);
    }
    lines.join("\n")
}

fn draw(block: &Value, lines: &mut Vec<String>) {
    let elements = block["elements"].as_array().cloned().unwrap_or_default();
    match block["type"].as_str().unwrap() {
        "header" => lines.push(format!("# {}", text(&block["text"]))),
        "divider" => lines.push("---".to_owned()),
        "context" => lines.push(format!("({})", elements.iter().map(text).collect::<Vec<_>>().join(" | "))),
        "actions" => lines.push(elements.iter().map(button).collect::<Vec<_>>().join(" ")),
        "rich_text" => elements.iter().for_each(|part| rich(part, lines)),
        "input" => lines.push(format!("? {} ({})", text(&block["label"]), text(&block["hint"]))),
        "image" => lines.push(format!("picture {}: {}", block["slack_file"]["id"], block["alt_text"])),
        other => panic!("a block `{other}`"),
    }
}

fn rich(part: &Value, lines: &mut Vec<String>) {
    let mark = match part["type"].as_str().unwrap() {
        "rich_text_section" => "",
        "rich_text_quote" => "> ",
        "rich_text_preformatted" => "| ",
        "rich_text_list" => "- ",
        other => panic!("a part `{other}`"),
    };
    let runs: String = part["elements"].as_array().unwrap().iter().map(run).collect();
    lines.extend(runs.lines().map(|line| format!("{mark}{line}")));
}

fn run(run: &Value) -> String {
    match run["type"].as_str().unwrap() {
        "text" => {
            let words = seen(run["text"].as_str().unwrap());
            match (run["style"]["bold"].as_bool(), run["style"]["italic"].as_bool()) {
                (Some(true), _) => format!("*{words}*"),
                (_, Some(true)) => format!("_{words}_"),
                _ => words,
            }
        }
        "link" => format!("<{}|{}>", run["url"].as_str().unwrap(), seen(run["text"].as_str().unwrap())),
        "user" => format!("@{}", run["user_id"].as_str().unwrap()),
        "usergroup" => format!("@{}", run["usergroup_id"].as_str().unwrap()),
        "rich_text_section" => run_all(run),
        other => panic!("a run `{other}`"),
    }
}

fn run_all(section: &Value) -> String {
    section["elements"].as_array().unwrap().iter().map(run).collect()
}

fn button(button: &Value) -> String {
    let style = button.get("style").map(|style| format!("!{}", style.as_str().unwrap())).unwrap_or_default();
    let (id, value) = (button["action_id"].as_str().unwrap(), button["value"].as_str().unwrap());
    format!("[{}{style} {id}={value}]", text(&button["text"]))
}

fn text(value: &Value) -> String {
    seen(value["text"].as_str().unwrap())
}

/// As a person sees it.
fn seen(sent: &str) -> String {
    sent.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
