//! Block Kit, as far as it is used, in a form that can't exceed Slack's limits.
//!
//! Texts come in as [`Shown`] or [`Exact`] and in no other form. No block holds a `mrkdwn` text: words stand in rich text
//! or plain text, where Slack reads no marks at all; only [`Run`] makes a ping or a link. A text that has a limit is a
//! [`Text`], and what [`Text::fit`] leaves out it counts. What [`Page`] takes in is never cut: it becomes as many blocks as
//! it needs, and [`Message::split`] as many messages.

mod page;

mod message;

pub use message::{Message, View};
pub use page::Page;

#[cfg(test)]
pub(in crate::chat::slack) mod refuse;

#[cfg(test)]
pub(in crate::chat::slack) mod sketch;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::action::{Action, REASON};
use super::escape::{Exact, Link, Shown};

/// Most characters of one block of rich text, and of one part of it.
const PART: usize = 2_900;

/// Most buttons in a row.
const BUTTONS: usize = 5;

/// A text of at most so many characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MOST: usize>(Shown);

impl<const MOST: usize> Text<MOST> {
    /// The text, or as much of it as there is room for and how much is missing.
    #[must_use]
    pub fn fit(text: Shown) -> Self {
        if text.width() <= MOST {
            return Self(text);
        }
        let all = text.chars();
        // Room for the note below.
        let (head, _) = text.parted(MOST.saturating_sub(24));
        let missing = all - head.chars();
        let note = format!(" … {missing} more");
        Self(head.then_line(&note))
    }

    fn plain(&self) -> Value {
        json!({"type": "plain_text", "text": self.0.wire(), "emoji": false})
    }

    fn width(&self) -> usize {
        self.0.width()
    }
}

/// How words look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As all others.
    Plain,
    /// Bold.
    Bold,
    /// Slanted.
    Italic,
}

/// Words, or the one thing that stands between words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// Words.
    Words(Shown, Look),
    /// A link to a host of the config.
    Link(Link, Text<150>),
    /// A person, who is told of it.
    Person(UserId),
    /// A group, whose members are told of it.
    Group(GroupId),
}

impl Run {
    /// Words as all others.
    #[must_use]
    pub fn plain(words: Shown) -> Self {
        Self::Words(words, Look::Plain)
    }

    /// Words of our own, in bold.
    #[must_use]
    pub fn bold(words: &'static str) -> Self {
        Self::Words(Shown::own(words), Look::Bold)
    }

    fn width(&self) -> usize {
        match self {
            Self::Words(words, _) => words.width(),
            Self::Link(link, label) => link.as_str().len() + label.width(),
            Self::Person(UserId(id)) | Self::Group(GroupId(id)) => id.len(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Words(words, Look::Plain) => json!({"type": "text", "text": words.wire()}),
            Self::Words(words, Look::Bold) => json!({"type": "text", "text": words.wire(), "style": {"bold": true}}),
            Self::Words(words, Look::Italic) => {
                json!({"type": "text", "text": words.wire(), "style": {"italic": true}})
            }
            Self::Link(link, label) => json!({"type": "link", "url": link.as_str(), "text": label.0.wire()}),
            Self::Person(UserId(id)) => json!({"type": "user", "user_id": id}),
            Self::Group(GroupId(id)) => json!({"type": "usergroup", "usergroup_id": id}),
        }
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $first:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Reads an id in the one form in which Slack writes it; none for anything else.
            #[must_use]
            pub fn read(text: &str) -> Option<Self> {
                let mut letters = text.chars();
                let begins = letters.next().is_some_and(|first| $first.contains(first));
                let rest = letters.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
                (begins && rest && (2..=32).contains(&text.len())).then(|| Self(text.to_owned()))
            }

            /// As it is sent.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

ids! {
    /// A user.
    UserId, "UW";
    /// A user group.
    GroupId, "S";
    /// An uploaded file.
    FileId, "F";
}

/// A part of a block of rich text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(Vec<Run>),
    Quote(Vec<Run>),
    Exact(Vec<Exact>),
    Bullet(Vec<Run>),
}

impl Part {
    fn width(&self) -> usize {
        match self {
            Self::Words(runs) | Self::Quote(runs) | Self::Bullet(runs) => runs.iter().map(Run::width).sum(),
            Self::Exact(lines) => lines.iter().map(|line| line.width() + 1).sum(),
        }
    }

    fn value(&self) -> Value {
        let runs = |runs: &[Run]| runs.iter().map(Run::value).collect::<Vec<_>>();
        match self {
            Self::Words(words) => json!({"type": "rich_text_section", "elements": runs(words)}),
            Self::Quote(words) => json!({"type": "rich_text_quote", "elements": runs(words)}),
            Self::Exact(lines) => {
                let text = lines.iter().map(Exact::wire).collect::<Vec<_>>().join("\n");
                // An empty text is refused, and an empty line is one all the same.
                let text = json!({"type": "text", "text": if text.is_empty() { " " } else { &text }});
                json!({"type": "rich_text_preformatted", "elements": [text]})
            }
            Self::Bullet(words) => {
                let item = json!({"type": "rich_text_section", "elements": runs(words)});
                json!({"type": "rich_text_list", "style": "bullet", "elements": [item]})
            }
        }
    }
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// As all others.
    Usual,
    /// What one would mostly press.
    Primary,
    /// What one should think about.
    Danger,
}

/// A button. It carries ids and numbers, never words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    action: Action,
    label: Text<75>,
    value: String,
    weight: Weight,
}

impl Button {
    /// A button; its value is an id that was read or made by us, so it is short.
    pub fn new(action: Action, label: &'static str, value: &impl ToString, weight: Weight) -> Self {
        Self { action, label: Text::fit(Shown::own(label)), value: value.to_string(), weight }
    }

    fn value(&self) -> Value {
        let mut button = json!({
            "type": "button",
            "action_id": self.action.as_str(),
            "text": self.label.plain(),
            "value": self.value,
        });
        let style = match self.weight {
            Weight::Usual => None,
            Weight::Primary => Some("primary"),
            Weight::Danger => Some("danger"),
        };
        if let (Some(style), Some(fields)) = (style, button.as_object_mut()) {
            fields.insert("style".to_owned(), style.into());
        }
        button
    }
}

/// What a person is asked to write.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Input {
    label: Text<300>,
    hint: Text<300>,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Header(Text<150>),
    Rich(Vec<Part>),
    Context(Vec<Text<400>>),
    Divider,
    Actions(Vec<Button>),
    Input(Input),
    Image(FileId, Text<1000>),
}

impl Block {
    /// What it takes of the limit over all blocks of a message.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.0 {
            Kind::Header(text) => text.width(),
            Kind::Rich(parts) => parts.iter().map(Part::width).sum(),
            Kind::Context(texts) => texts.iter().map(Text::width).sum(),
            Kind::Divider => 0,
            Kind::Actions(buttons) => buttons.iter().map(|button| button.label.width() + button.value.len()).sum(),
            Kind::Input(input) => input.label.width() + input.hint.width(),
            Kind::Image(_, alt) => alt.width(),
        }
    }

    /// As it is sent.
    #[must_use]
    pub fn value(&self) -> Value {
        match &self.0 {
            Kind::Header(text) => json!({"type": "header", "text": text.plain()}),
            Kind::Rich(parts) => {
                let parts: Vec<Value> = parts.iter().map(Part::value).collect();
                json!({"type": "rich_text", "elements": parts})
            }
            Kind::Context(texts) => {
                let texts: Vec<Value> = texts.iter().map(Text::plain).collect();
                json!({"type": "context", "elements": texts})
            }
            Kind::Divider => json!({"type": "divider"}),
            Kind::Actions(buttons) => {
                let buttons: Vec<Value> = buttons.iter().map(Button::value).collect();
                json!({"type": "actions", "elements": buttons})
            }
            Kind::Input(input) => json!({
                "type": "input",
                "block_id": REASON,
                "label": input.label.plain(),
                "hint": input.hint.plain(),
                "element": {
                    "type": "plain_text_input",
                    "action_id": REASON,
                    "multiline": true,
                    "min_length": 3,
                    "max_length": 2000,
                },
            }),
            Kind::Image(file, alt) => json!({
                "type": "image",
                "slack_file": {"id": file.as_str()},
                "alt_text": alt.0.wire(),
            }),
        }
    }
}
