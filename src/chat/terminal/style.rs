//! Colour where it helps, none where it is not wanted: `NO_COLOR`, `TERM=dumb`, or no terminal.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// Whether and how to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// With colours.
    Colour,
    /// Without.
    Plain,
}

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A heading.
    Heading,
    /// Something certain and good, or a confirmed cause.
    Strong,
    /// Something bad.
    Bad,
    /// Something to be careful with.
    Careful,
    /// Something in the background.
    Faint,
    /// A line that comes.
    Added,
    /// A line that goes.
    Removed,
}

impl Paint {
    /// What suits this stream.
    #[must_use]
    pub fn for_stream(stream: &impl IsTerminal) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if stream.is_terminal() && !unwanted { Self::Colour } else { Self::Plain }
    }

    /// The text in the style of its role.
    #[must_use]
    pub fn paint(self, role: Role, text: &str) -> String {
        let style = match role {
            Role::Heading => Style::new().bold(),
            Role::Strong => AnsiColor::Green.on_default().bold(),
            Role::Bad => AnsiColor::Red.on_default().bold(),
            Role::Careful => AnsiColor::Yellow.on_default(),
            Role::Faint => Style::new().dimmed(),
            Role::Added => AnsiColor::Green.on_default(),
            Role::Removed => AnsiColor::Red.on_default(),
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("{style}{text}{style:#}"),
        }
    }
}

/// Columns to write in: the terminal's, between 40 and 100; 80 where there is none.
#[must_use]
pub fn columns() -> usize {
    const USUAL: usize = 80;
    terminal_size::terminal_size().map_or(USUAL, |(width, _)| usize::from(width.0).clamp(40, 100))
}
