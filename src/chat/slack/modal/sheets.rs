//! The kernel's pages of a card, cut so that each fits into one form. No line is left out and no part of a line.

use warrant_kernel::call::gate::card::Card;

use crate::chat::slack::escape::Exact;

/// Most characters of a sheet: a few blocks, and far from what a form may weigh.
const MOST: usize = 8_000;

/// Most characters of a line before it goes on in the next.
const LINE: usize = 2_000;

/// What stands in one form.
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) lines: Vec<Exact>,
}

/// All of them, in the order in which they are read. There is at least one.
pub(super) fn of(card: &Card) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for page in card.pages() {
        let (mut lines, mut used, mut on) = (Vec::new(), 0, false);
        for piece in page.lines.iter().flat_map(|line| Exact::of(line).parts(LINE)) {
            let width = piece.width() + 1;
            if used + width > MOST {
                sheets.push(sheet(&page.title, std::mem::take(&mut lines), on));
                (used, on) = (0, true);
            }
            used += width;
            lines.push(piece);
        }
        sheets.push(sheet(&page.title, lines, on));
    }
    sheets
}

fn sheet(title: &str, lines: Vec<Exact>, on: bool) -> Sheet {
    let title = if on { format!("{title}, continued") } else { title.to_owned() };
    Sheet { title, lines }
}
