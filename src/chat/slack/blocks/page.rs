//! Blocks in the making: whatever is put in becomes as many blocks as it needs, and nothing is cut.

use super::{BUTTONS, Block, Button, FileId, Input, Kind, Look, PART, Part, Run, Text};
use crate::chat::slack::action::Action;
use crate::chat::slack::escape::{Exact, Shown};

/// Blocks, in the order in which they are put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page(Vec<Block>);

impl Page {
    /// An empty one.
    #[must_use]
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// The blocks.
    #[must_use]
    pub fn into_blocks(self) -> Vec<Block> {
        self.0
    }

    /// A large line at the top.
    pub fn header(&mut self, text: Text<150>) {
        self.0.push(Block(Kind::Header(text)));
    }

    /// A line between two parts.
    pub fn divider(&mut self) {
        self.0.push(Block(Kind::Divider));
    }

    /// Small print, at most ten pieces of it in a row.
    pub fn context(&mut self, texts: &[Text<400>]) {
        for row in texts.chunks(10) {
            self.0.push(Block(Kind::Context(row.to_vec())));
        }
    }

    /// A title, with small words behind it.
    pub fn title(&mut self, title: &'static str, aside: Shown) {
        let mut runs = vec![Run::bold(title)];
        if !aside.is_empty() {
            runs.push(Run::plain(Shown::own("  ")));
            runs.push(Run::Words(aside, Look::Italic));
        }
        self.say(runs);
    }

    /// Words.
    pub fn say(&mut self, runs: Vec<Run>) {
        self.parts(packed(runs).into_iter().map(Part::Words));
    }

    /// Somebody's words, set apart from ours.
    pub fn quote(&mut self, words: Shown) {
        self.parts(packed(vec![Run::plain(words)]).into_iter().map(Part::Quote));
    }

    /// One entry of a list.
    pub fn bullet(&mut self, runs: Vec<Run>) {
        self.parts(packed(runs).into_iter().map(Part::Bullet));
    }

    /// Lines to the letter. What is longer than a block goes on in the next, and a line that is says so.
    pub fn exact(&mut self, lines: &[Exact]) {
        let (mut part, mut used) = (Vec::new(), 0);
        for piece in lines.iter().flat_map(|line| line.parts(PART - 1)) {
            let width = piece.width() + 1;
            if used + width > PART {
                self.part(Part::Exact(std::mem::take(&mut part)));
                used = 0;
            }
            used += width;
            part.push(piece);
        }
        if !part.is_empty() {
            self.part(Part::Exact(part));
        }
    }

    /// Buttons in rows. A row bears each action once, as Slack wants it.
    pub fn buttons(&mut self, buttons: Vec<Button>) {
        let mut row: Vec<Button> = Vec::new();
        for button in buttons {
            let bears = |action: Action| row.iter().any(|other| other.action == action);
            if row.len() == BUTTONS || bears(button.action) {
                self.0.push(Block(Kind::Actions(std::mem::take(&mut row))));
            }
            row.push(button);
        }
        if !row.is_empty() {
            self.0.push(Block(Kind::Actions(row)));
        }
    }

    /// Asks for words. A form has one such question.
    pub fn ask(&mut self, label: &'static str, hint: &'static str) {
        let (label, hint) = (Text::fit(Shown::own(label)), Text::fit(Shown::own(hint)));
        self.0.push(Block(Kind::Input(Input { label, hint })));
    }

    /// An uploaded picture.
    pub fn image(&mut self, file: FileId, alt: Text<1000>) {
        self.0.push(Block(Kind::Image(file, alt)));
    }

    fn parts(&mut self, parts: impl Iterator<Item = Part>) {
        for part in parts {
            self.part(part);
        }
    }

    /// Joins a part to the block before it where that has room: a message may have fifty blocks and no more.
    fn part(&mut self, part: Part) {
        let room = PART.saturating_sub(self.0.last().map_or(PART, Block::width));
        match self.0.last_mut() {
            Some(Block(Kind::Rich(parts))) if part.width() <= room => parts.push(part),
            _ => self.0.push(Block(Kind::Rich(vec![part]))),
        }
    }
}

/// Runs in groups of which none is longer than a part. A link or a ping is never parted.
fn packed(runs: Vec<Run>) -> Vec<Vec<Run>> {
    let (mut groups, mut group, mut used) = (Vec::new(), Vec::new(), 0);
    for run in runs {
        let (look, mut rest) = match run {
            Run::Words(words, look) => (look, words),
            other => {
                if used + other.width() > PART {
                    groups.push(std::mem::take(&mut group));
                    used = 0;
                }
                used += other.width();
                group.push(other);
                continue;
            }
        };
        while rest.width() > 0 {
            if used >= PART {
                groups.push(std::mem::take(&mut group));
                used = 0;
            }
            let fits = rest.width() <= PART - used;
            let (head, after) = if fits { (rest, Shown::own("")) } else { rest.parted(PART - used) };
            // Not even one character may have found room.
            if used + head.width() > PART {
                groups.push(std::mem::take(&mut group));
                used = 0;
            }
            used += head.width();
            group.push(Run::Words(head, look));
            rest = after;
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}
