//! Everything there is, in pages, one after the other.
//!
//! Only the last page says how to go on: who has seen it has been shown everything before it.

/// Fewest lines of a page.
const FEWEST: usize = 12;

/// Lines of a page where no terminal says how high it is.
const USUAL: usize = 40;

/// Text cut into pages.
#[derive(Debug, Clone)]
pub struct Pager {
    pages: Vec<String>,
    at: usize,
}

/// Whether everything has been shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// More pages follow.
    Part,
    /// This is the last page, and all before it were shown.
    Whole,
}

impl Pager {
    /// Pages of so many lines, the first of which is shown next.
    #[must_use]
    pub fn new(lines: &[String], rows: usize) -> Self {
        let pages: Vec<String> = lines.chunks(rows.max(FEWEST)).map(|page| page.join("\n")).collect();
        Self { pages, at: 0 }
    }

    /// The next page with its number under it; `None` after the last.
    pub fn next_page(&mut self) -> Option<(String, Shown)> {
        let page = self.pages.get(self.at)?;
        self.at += 1;
        let shown = if self.at == self.pages.len() { Shown::Whole } else { Shown::Part };
        Some((format!("{page}\n"), shown))
    }

    /// Goes back, so that the page before the last one shown is shown next.
    pub fn back(&mut self) {
        self.at = self.at.saturating_sub(2);
    }

    /// The number of the page last shown, and of all.
    #[must_use]
    pub fn place(&self) -> (usize, usize) {
        (self.at, self.pages.len())
    }
}

/// Lines that a page may have in this terminal, with room for the question beneath.
#[must_use]
pub fn rows() -> usize {
    terminal_size::terminal_size().map_or(USUAL, |(_, height)| usize::from(height.0).saturating_sub(3).max(FEWEST))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whoever goes forward to the last page has been shown every line, in order, and once.
        #[test]
        fn the_last_page_comes_after_every_line(count in 1_usize..200, rows in 0_usize..60) {
            let lines: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
            let mut pager = Pager::new(&lines, rows);
            let mut seen = String::new();
            loop {
                let (page, shown) = pager.next_page().unwrap();
                seen.push_str(&page);
                if shown == Shown::Whole {
                    break;
                }
            }
            prop_assert!(pager.next_page().is_none());
            prop_assert_eq!(seen.lines().collect::<Vec<_>>(), lines);
        }
    }

    #[test]
    fn back_shows_the_page_before() {
        let lines: Vec<String> = (0..36).map(|n| n.to_string()).collect();
        let mut pager = Pager::new(&lines, 12);
        let first = pager.next_page().unwrap().0;
        pager.next_page();
        pager.back();
        assert_eq!(pager.next_page().unwrap(), (first, Shown::Part));
        assert_eq!(pager.place(), (1, 3));
    }
}
