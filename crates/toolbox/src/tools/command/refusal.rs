//! Why a command is not run. Each refusal says what would do.

use warrant_kernel::call::tool::ReadError;
use warrant_kernel::redact::guard::first_chars;

/// The stable word for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// There are no words.
    Empty,
    /// Too many words, or too long ones.
    TooLong,
    /// A word holds a control character.
    ControlChar,
    /// A word is an operator of a shell, and there is no shell.
    Operator,
    /// The program is none of those that may be run.
    ProgramNotAllowed,
    /// It may be run, and is not installed.
    NotInstalled,
    /// A flag is none of those that it takes here.
    FlagNotAllowed,
    /// A value is not of its type.
    ValueInvalid,
    /// A word is missing or too many.
    OperandNotAllowed,
    /// A path leads out of the workspace.
    PathOutsideWorkspace,
}

impl Reason {
    /// The word as the model sees it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "EMPTY",
            Self::TooLong => "TOO_LONG",
            Self::ControlChar => "CONTROL_CHAR",
            Self::Operator => "OPERATOR",
            Self::ProgramNotAllowed => "PROGRAM_NOT_ALLOWED",
            Self::NotInstalled => "NOT_INSTALLED",
            Self::FlagNotAllowed => "FLAG_NOT_ALLOWED",
            Self::ValueInvalid => "VALUE_INVALID",
            Self::OperandNotAllowed => "OPERAND_NOT_ALLOWED",
            Self::PathOutsideWorkspace => "PATH_OUTSIDE_WORKSPACE",
        }
    }
}

/// Why a command is not run, and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The stable word.
    pub reason: Reason,
    /// For the model.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::Invalid { reason: refusal.reason.as_str(), message: refusal.message }
    }
}

/// The first characters of a word, with control and invisible characters written out.
pub(super) fn shown(word: &str) -> String {
    let mut text: String = first_chars(word, 80).chars().flat_map(visible).collect();
    if word.chars().nth(80).is_some() {
        text.push('…');
    }
    text
}

fn visible(c: char) -> Vec<char> {
    let plain = c == ' ' || (!c.is_control() && !c.is_whitespace() && !('\u{200b}'..='\u{206f}').contains(&c));
    if plain { vec![c] } else { c.escape_default().collect() }
}
