//! What a person types, a line at a time.
//!
//! The seam that tests and scripts stand in for. A line that was begun before a question was shown answers another
//! question, so [`Keyboard::forget`] comes before each that counts.

use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal};

use async_trait::async_trait;
use tokio::sync::mpsc;

/// Longest line; what a terminal hands over at once is shorter.
const LONGEST: usize = 4_096;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A person, who reads page by page and is asked again after a slip.
    Person,
    /// A script: it is shown all pages at once, and an answer that does not count is its last.
    Script,
}

/// A person at a keyboard, or a script.
#[async_trait]
pub trait Keyboard: Send {
    /// Who answers.
    fn pace(&self) -> Pace;

    /// The next line, without its end; `None` once there are no more. Dropping the future loses nothing: the line that
    /// comes then is the answer to the next call.
    async fn line(&mut self) -> Option<String>;

    /// Drops what was typed and not yet read.
    fn forget(&mut self);
}

/// Standard input.
pub struct Stdin {
    lines: Option<mpsc::Receiver<String>>,
    wanted: Option<std::sync::mpsc::Sender<()>>,
    /// Whether a line was asked for that has not come.
    asked: bool,
}

impl Stdin {
    /// Reads nothing until it is asked to, so what is piped into a program that asks nothing is left alone.
    #[must_use]
    pub fn new() -> Self {
        Self { lines: None, wanted: None, asked: false }
    }

    /// Whether there is a person who can answer: input and errors both go to a terminal.
    #[must_use]
    pub fn is_attended() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// A thread of its own: a read of a terminal can't be cancelled, and must not hold up the end of the program.
    fn begin(&mut self) {
        let (wanted, wants) = std::sync::mpsc::channel::<()>();
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            while wants.recv().is_ok() {
                let Some(line) = bounded(&mut input) else { return };
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        self.wanted = Some(wanted);
        self.lines = Some(lines);
    }
}

impl Default for Stdin {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Keyboard for Stdin {
    fn pace(&self) -> Pace {
        Pace::Person
    }

    async fn line(&mut self) -> Option<String> {
        if self.lines.is_none() {
            self.begin();
        }
        if !std::mem::replace(&mut self.asked, true) {
            self.wanted.as_ref()?.send(()).ok()?;
        }
        let line = self.lines.as_mut()?.recv().await;
        self.asked = false;
        line
    }

    fn forget(&mut self) {
        // Where this can't be done there is no terminal, and nothing was typed ahead.
        let _nothing_ahead = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// A line of at most [`LONGEST`] bytes; the rest of a longer one is dropped. What is not UTF-8 is replaced.
fn bounded(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let buffer = match input.fill_buf() {
            Ok([]) if line.is_empty() => return None,
            Ok([]) => break,
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        let room = LONGEST.saturating_sub(line.len());
        line.extend(buffer.iter().take(end.unwrap_or(used)).take(room));
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Some(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
}

/// Answers that were settled before.
#[derive(Debug, Clone)]
pub enum Script {
    /// One after the other; then none.
    Lines(VecDeque<String>),
    /// The same one always.
    Always(String),
}

impl Script {
    /// From the text of a file, one answer a line; `#` begins a remark.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self::Lines(lines.map(str::to_owned).collect())
    }
}

#[async_trait]
impl Keyboard for Script {
    fn pace(&self) -> Pace {
        Pace::Script
    }

    async fn line(&mut self) -> Option<String> {
        match self {
            Self::Lines(lines) => lines.pop_front(),
            Self::Always(line) => Some(line.clone()),
        }
    }

    fn forget(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_bounded_and_the_next_one_is_whole() {
        let text = format!("{}\nnext\r\nlast", "x".repeat(3 * LONGEST));
        let mut input = std::io::BufReader::with_capacity(7, text.as_bytes());
        assert_eq!(bounded(&mut input).map(|line| line.len()), Some(LONGEST));
        assert_eq!(bounded(&mut input).as_deref(), Some("next"));
        assert_eq!(bounded(&mut input).as_deref(), Some("last"));
        assert_eq!(bounded(&mut input), None);
    }

    #[tokio::test]
    async fn a_script_gives_its_lines_and_skips_remarks() {
        let mut script = Script::of("# the config\napprove\n\n deny no restart during checkout peak \n");
        assert_eq!(script.line().await.as_deref(), Some("approve"));
        assert_eq!(script.line().await.as_deref(), Some("deny no restart during checkout peak"));
        assert_eq!(script.line().await, None);
    }
}
