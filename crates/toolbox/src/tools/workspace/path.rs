//! A path beneath a root, as text that has been looked at: relative, no tricks. Whether it exists and where its links
//! lead is found out when it is opened.

use std::fmt;

const MAX_PATH: usize = 4096;
const MAX_PART: usize = 255;

/// A relative path: parts joined by `/`, none of them `..`; empty for the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

/// A text that names no path beneath a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Begins with `/`.
    #[error("the path is absolute; write it relative to the workspace root")]
    Absolute,
    /// Holds a part that begins with `..`.
    #[error("the path holds a part that begins with `..`; write the whole path from the workspace root")]
    Upwards,
    /// Holds a control character or one that is not shown.
    #[error("the path holds a control or invisible character")]
    Character,
    /// A percent escape of `.`, `/` or NUL, or a look-alike of `/`.
    #[error("the path holds an escaped or imitated separator; write it as it stands on disk")]
    Disguised,
    /// A part ends with a dot or a space, or begins with a space.
    #[error("a part of the path ends with a dot or a space")]
    Trailing,
    /// More than 4,096 bytes, or a part of more than 255.
    #[error("the path is too long")]
    TooLong,
}

impl RelPath {
    /// The root itself.
    #[must_use]
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Looks at a path as it came in. `.` parts and doubled separators fall away.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > MAX_PATH {
            return Err(PathError::TooLong);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if text.chars().any(|c| c.is_control() || is_invisible(c)) {
            return Err(PathError::Character);
        }
        let folded = text.to_ascii_lowercase();
        if text.contains(['\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff0f}'])
            || ["%2e", "%2f", "%5c", "%00"].iter().any(|escape| folded.contains(escape))
        {
            return Err(PathError::Disguised);
        }
        let mut parts = Vec::new();
        for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part.starts_with("..") {
                return Err(PathError::Upwards);
            }
            if part.ends_with(['.', ' ']) || part.starts_with(' ') {
                return Err(PathError::Trailing);
            }
            if part.len() > MAX_PART {
                return Err(PathError::TooLong);
            }
            parts.push(part);
        }
        Ok(Self(parts.join("/")))
    }

    /// The path as text; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path in the form that the system calls want: `.` for the root.
    #[must_use]
    pub fn for_open(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// Whether `other` is this path or lies beneath it.
    #[must_use]
    pub fn covers(&self, other: &str) -> bool {
        self.0.is_empty() || other.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.for_open())
    }
}

/// Characters that take no room: a name may hold them and look like another name; some file systems ignore them.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}
