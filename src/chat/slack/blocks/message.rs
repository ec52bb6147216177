//! Messages and forms: blocks that fit together into what Slack takes at once.

use serde_json::{Value, json};

use super::{Block, Text};
use crate::chat::slack::action::Form;
use crate::chat::slack::escape::Shown;

/// Most blocks of a message.
const BLOCKS: usize = 50;

/// Most characters over all blocks of a message. Slack refuses a message of about 13,200 and does not say where it begins.
const MOST: usize = 12_000;

/// Most blocks of a form.
const FORM_BLOCKS: usize = 100;

/// A message that Slack takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    blocks: Vec<Block>,
    text: Text<300>,
}

impl Message {
    /// The blocks as one message, where they fit into one; `text` is what a notification says.
    #[must_use]
    pub fn one(blocks: Vec<Block>, text: Shown) -> Option<Self> {
        Self::fits(&blocks).then(|| Self { blocks, text: Text::fit(text) })
    }

    /// The blocks as so many messages as they need; none is left out. Each but the first says in its notification which it
    /// is.
    #[must_use]
    pub fn split(blocks: Vec<Block>, text: &Shown) -> Vec<Self> {
        let (mut messages, mut part, mut used) = (Vec::new(), Vec::new(), 0);
        for block in blocks {
            let width = block.width();
            if part.len() == BLOCKS || (used + width > MOST && !part.is_empty()) {
                messages.push(std::mem::take(&mut part));
                used = 0;
            }
            used += width;
            part.push(block);
        }
        if !part.is_empty() {
            messages.push(part);
        }
        let nth = |n: usize| match n {
            0 => text.clone(),
            n => text.clone().then_line(&format!(" ({})", n + 1)),
        };
        messages.into_iter().enumerate().map(|(n, blocks)| Self { blocks, text: Text::fit(nth(n)) }).collect()
    }

    /// A message of a few words.
    #[must_use]
    pub fn words(words: Text<2000>) -> Self {
        let mut page = super::Page::empty();
        page.say(vec![super::Run::plain(words.0.clone())]);
        Self { blocks: page.into_blocks(), text: Text::fit(words.0) }
    }

    /// Whether the blocks fit into one message.
    #[must_use]
    pub fn fits(blocks: &[Block]) -> bool {
        !blocks.is_empty() && blocks.len() <= BLOCKS && blocks.iter().map(Block::width).sum::<usize>() <= MOST
    }

    /// As it is sent; whoever sends it adds where to. Nothing in it is parsed, linked or unfurled by Slack.
    #[must_use]
    pub fn value(&self) -> Value {
        let blocks: Vec<Value> = self.blocks.iter().map(Block::value).collect();
        json!({
            "text": self.text.0.wire(),
            "blocks": blocks,
            "mrkdwn": false,
            "parse": "none",
            "link_names": false,
            "unfurl_links": false,
            "unfurl_media": false,
        })
    }
}

/// A form, or a page of the whole: a modal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    form: Form,
    title: Text<24>,
    submit: Option<Text<24>>,
    metadata: String,
    blocks: Vec<Block>,
}

impl View {
    /// A form. `metadata` are ids that were read or made by us.
    ///
    /// What does not fit is not shown: blocks beyond the hundredth are left out, so whoever makes long ones makes pages.
    pub(in crate::chat::slack) fn new(
        form: Form,
        title: &'static str,
        submit: Option<&'static str>,
        metadata: String,
        mut blocks: Vec<Block>,
    ) -> Self {
        blocks.truncate(FORM_BLOCKS);
        let fit = |text| Text::fit(Shown::own(text));
        Self { form, title: fit(title), submit: submit.map(fit), metadata, blocks }
    }

    /// As it is sent to `views.open`, `views.push` and `views.update`.
    #[must_use]
    pub fn value(&self) -> Value {
        let blocks: Vec<Value> = self.blocks.iter().map(Block::value).collect();
        let mut view = json!({
            "type": "modal",
            "callback_id": self.form.as_str(),
            "title": self.title.plain(),
            "close": Text::<24>::fit(Shown::own("Close")).plain(),
            "private_metadata": self.metadata,
            "blocks": blocks,
        });
        if let (Some(submit), Some(fields)) = (&self.submit, view.as_object_mut()) {
            fields.insert("submit".to_owned(), submit.plain());
        }
        view
    }
}
