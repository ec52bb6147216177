//! The body of a card, by a measure: what is shown, what is left out, and that it is told.

use warrant_kernel::call::gate::card::{Argument, Card};
use warrant_kernel::domain::plan::{DiffLine, Facts};

use super::Shows;
use super::words;
use crate::chat::slack::blocks::{Look, Page, Run};
use crate::chat::slack::escape::{Exact, Shown};
use crate::chat::words::origin;

/// How much stands on a message.
pub(super) struct Measure {
    /// Lines of the change, facts, arguments, notes and reasons: of each.
    lines: usize,
    /// Characters of a line.
    width: usize,
    /// Characters of one of the model's texts.
    words: usize,
    /// Lines of an excerpt; the rest stands in the whole and hides nothing of the plan.
    excerpt: usize,
}

impl Measure {
    /// The largest first. The first is that of the kernel's face, so what that shows is shown.
    pub(super) const ALL: [Self; 4] = [
        Self { lines: 24, width: 200, words: 1_500, excerpt: 4 },
        Self { lines: 24, width: 200, words: 1_500, excerpt: 0 },
        Self { lines: 10, width: 100, words: 500, excerpt: 0 },
        Self { lines: 3, width: 40, words: 120, excerpt: 0 },
    ];
}

/// Excerpts that are shown with so many lines; of more, one line each.
const FEW: usize = 3;

/// Excerpts that are shown at all.
const EXCERPTS: usize = 8;

/// A body in the making.
pub(super) struct Body<'a> {
    pub(super) page: Page,
    pub(super) shows: Shows,
    measure: &'a Measure,
}

impl<'a> Body<'a> {
    pub(super) fn new(measure: &'a Measure) -> Self {
        Self { page: Page::empty(), shows: Shows::All, measure }
    }

    /// All of it, in the order in which it is read.
    pub(super) fn tell(&mut self, card: &Card) {
        self.effect(card);
        self.change(card);
        self.facts("Holds now, or nothing is written", "another value is another plan", &card.bound);
        self.facts("Seen beside it", "may change without harm", &card.shown);
        self.list("To know", Shown::own(""), &card.notes);
        self.arguments(card);
        let policies = self.words(&card.policy_ids.join(", "), self.measure.width);
        self.list(
            match card.tier {
                warrant_kernel::domain::decision::Tier::Low => "Why low",
                warrant_kernel::domain::decision::Tier::Medium => "Why medium",
                warrant_kernel::domain::decision::Tier::High => "Why high",
            },
            policies,
            &card.tier_reasons,
        );
        self.case(card);
        self.evidence(card);
        self.who(card);
    }

    /// A line to the letter, as far as there is room.
    fn line(&mut self, mark: &'static str, text: &str) -> Exact {
        let line = Exact::marked(mark, text);
        let short = line.short(self.measure.width + mark.chars().count());
        if short != line {
            self.shows = Shows::NotAll;
        }
        short
    }

    /// Words, as far as there is room.
    fn words(&mut self, text: &str, most: usize) -> Shown {
        let over = text.chars().count().saturating_sub(most);
        if over == 0 {
            return Shown::lines(text);
        }
        self.shows = Shows::NotAll;
        let head: String = text.chars().take(most).collect();
        Shown::lines(&head).then_line(&format!(" … {over} more characters: see the whole"))
    }

    /// As many items as there is room for; says how many there are not.
    fn some<'b, T>(&mut self, items: &'b [T], most: usize) -> (&'b [T], Option<String>) {
        let shown = items.get(..most).unwrap_or(items);
        if shown.len() == items.len() {
            return (shown, None);
        }
        self.shows = Shows::NotAll;
        (shown, Some(format!("… {} of {} shown: see the whole", shown.len(), items.len())))
    }

    fn effect(&mut self, card: &Card) {
        self.page.title("What will happen", Shown::own(""));
        let target = &card.target;
        let mut lines = vec![self.line("", &card.effect), self.line("tool         ", card.tool.as_str())];
        let place = format!("{} {} ({})", target.kind.as_str(), target.name, target.source);
        lines.push(self.line("target       ", &place));
        for (mark, value) in [
            ("service      ", target.service.as_ref().map(ToString::to_string)),
            ("environment  ", target.environment.as_ref().map(ToString::to_string)),
            ("owner        ", target.owner.as_ref().map(ToString::to_string)),
        ] {
            lines.extend(value.map(|value| self.line(mark, &value)));
        }
        self.page.exact(&lines);
    }

    fn change(&mut self, card: &Card) {
        if card.diff.is_empty() {
            return;
        }
        let (diff, rest) = self.some(&card.diff, self.measure.lines);
        let size = &card.size;
        let digest: String = size.sha256.chars().take(12).collect();
        let aside = format!("{} added, {} removed, sha256 {digest}", size.added, size.removed);
        self.page.title("The change", Shown::line(&aside));
        let mut lines: Vec<Exact> = diff
            .iter()
            .map(|line| match line {
                DiffLine::Hunk(text) => self.line("@ ", text),
                DiffLine::Context(text) => self.line("  ", text),
                DiffLine::Removed(text) => self.line("- ", text),
                DiffLine::Added(text) => self.line("+ ", text),
            })
            .collect();
        lines.extend(rest.map(|rest| Exact::of(&rest)));
        self.page.exact(&lines);
    }

    fn facts(&mut self, title: &'static str, aside: &'static str, facts: &Facts) {
        if facts.is_empty() {
            return;
        }
        self.page.title(title, Shown::own(aside));
        let facts: Vec<(&String, &String)> = facts.iter().collect();
        let (some, rest) = self.some(&facts, self.measure.lines);
        // The name is no part of the value, for whose length there is a measure.
        let mut lines = Vec::new();
        for (name, value) in some {
            let line = Exact::of(&format!("{name} = {value}"));
            let short = line.short(self.measure.width + name.chars().count() + 3);
            if short != line {
                self.shows = Shows::NotAll;
            }
            lines.push(short);
        }
        lines.extend(rest.map(|rest| Exact::of(&rest)));
        self.page.exact(&lines);
    }

    fn list(&mut self, title: &'static str, aside: Shown, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.page.title(title, aside);
        let (some, rest) = self.some(items, self.measure.lines);
        for item in some {
            let words = self.words(item, self.measure.width * 2);
            self.page.bullet(vec![Run::plain(words)]);
        }
        if let Some(rest) = rest {
            self.page.say(vec![Run::plain(Shown::line(&rest))]);
        }
    }

    /// Where a value comes from stands before it: what stands behind it could be part of it.
    fn arguments(&mut self, card: &Card) {
        if card.arguments.is_empty() {
            return;
        }
        self.page.title("Arguments", Shown::own("and where each comes from"));
        let (some, rest) = self.some(&card.arguments, self.measure.lines);
        let mut lines = Vec::new();
        for argument in some {
            self.argument(argument, &mut lines);
        }
        lines.extend(rest.map(|rest| Exact::of(&rest)));
        self.page.exact(&lines);
    }

    fn argument(&mut self, argument: &Argument, lines: &mut Vec<Exact>) {
        lines.push(self.line("", &format!("{} [{}]", argument.name, words::ground(&argument.ground))));
        let (some, rest) = self.some(&argument.value, self.measure.lines);
        lines.extend(some.iter().map(|line| self.line("  │ ", line)));
        lines.extend(rest.map(|rest| Exact::marked("  ", &rest)));
    }

    fn case(&mut self, card: &Card) {
        self.page.title("The model's case", Shown::own("its own words; nothing above rests on them"));
        let case = &card.case;
        for (title, text) in [
            ("", Some(case.because.as_str())),
            ("What else could be done, it says", case.alternatives.as_deref()),
            ("If nothing is done, it says", case.otherwise.as_deref()),
        ] {
            if !title.is_empty() {
                self.page.say(vec![Run::Words(Shown::own(title), Look::Italic)]);
            }
            let words = text.map_or_else(|| Shown::own("(nothing)"), |text| self.words(text, self.measure.words));
            self.page.quote(words);
        }
    }

    fn evidence(&mut self, card: &Card) {
        let cited: Vec<String> = card.case.evidence.iter().map(ToString::to_string).collect();
        let cited = if cited.is_empty() { "none".to_owned() } else { cited.join(", ") };
        let cited = self.words(&cited, self.measure.width);
        self.page.title("Evidence it cites", cited);
        // Many are named rather than shown, or what they are cited for would be out of sight.
        let lines = if card.excerpts.len() > FEW { self.measure.excerpt.min(1) } else { self.measure.excerpt };
        for excerpt in card.excerpts.iter().take(EXCERPTS).filter(|_| lines > 0) {
            let of = format!("{} {}", excerpt.evidence, excerpt.tool);
            let mut label = Shown::line(&of).then(" · ").then(words::trust(excerpt.origin));
            label = label.then(origin(excerpt.origin));
            let shown = excerpt.lines.get(..lines).unwrap_or(&excerpt.lines);
            if shown.len() < excerpt.of {
                label = label.then_line(&format!(", {} of {} lines", shown.len(), excerpt.of));
            }
            self.page.say(vec![Run::Words(label, Look::Italic)]);
            let shown: Vec<Exact> = shown.iter().map(|line| Exact::marked("┆ ", line).short(202)).collect();
            self.page.exact(&shown);
        }
    }

    fn who(&mut self, card: &Card) {
        self.page.title("Who decides", Shown::own(""));
        let so_far = &card.so_far;
        let electorate = &card.electorate;
        let for_whom = format!("for {} in investigation {}", card.requester, card.investigation);
        let counts = format!("{} turns, {} calls, {} ruled out", so_far.turns, so_far.reads, so_far.ruled_out.len());
        let plan = format!("{} revision {}", card.digest_prefix, card.revision);
        let votes = format!("{} of {}", electorate.approved.len(), electorate.quorum);
        // Ours, and short; that the list of names is cut hides nothing of the plan.
        let may = Exact::marked("may approve  ", &electorate.who_may).short(self.measure.width.max(120) + 13);
        self.page.exact(&[
            Exact::marked("asked        ", &for_whom),
            Exact::marked("up to here   ", &counts),
            may,
            Exact::marked("votes        ", &votes),
            Exact::marked("this plan    ", &plan),
        ]);
    }
}
