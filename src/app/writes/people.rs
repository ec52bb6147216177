//! Who is asked about writes: the person at this terminal, or nobody, and then what needs one waits.

use std::io::Write;
use std::sync::Arc;

use warrant_kernel::call::gate::approver::{Approver, Nobody};
use warrant_kernel::call::gate::vote::{Claimant, Proof};
use warrant_toolbox::tools::process::users;

use crate::app::fault::Fault;
use crate::app::print::Screen;
use crate::app::{App, SystemClock};
use crate::chat::terminal::approver::{Absent, Attended, TerminalApprover};
use crate::chat::terminal::keyboard::{Keyboard, Script, Stdin};
use crate::chat::terminal::progress::Progress;
use crate::chat::terminal::style::Paint;

/// Lines of a page where the terminal does not say how many it has.
const USUAL_ROWS: usize = 24;

/// Answers that were settled before, for scripts and tests.
#[derive(Debug, Clone)]
pub struct Answers(Script);

impl Answers {
    /// From the text of a file, one answer a line; `#` begins a remark.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(Script::of(text))
    }

    /// The same one always.
    #[must_use]
    pub fn always(line: &str) -> Self {
        Self(Script::Always(line.to_owned()))
    }
}

/// Who is present.
#[derive(Clone)]
pub struct Present {
    /// Asks them.
    pub approver: Arc<dyn Approver>,
    /// What they are being asked.
    pub attended: Attended,
}

impl Present {
    /// Nobody, and nobody who could be told so.
    #[must_use]
    pub fn nobody() -> Self {
        Self { approver: Arc::new(Nobody), attended: Attended::default() }
    }

    /// The person at this terminal where there is one, as the config names the user that they are.
    ///
    /// # Errors
    /// [`Fault::Usage`] where the user can't be a person.
    pub async fn at_this_terminal(app: &App, screen: Option<&Screen>) -> Result<Self, Fault> {
        let present = Claimant { person: app.requester().await?.person, proof: Proof::Uid(users::current()) };
        Ok(Self::here(screen, vec![present]))
    }

    /// These persons, at this terminal where there is one; without it, what needs them waits.
    #[must_use]
    pub fn here(screen: Option<&Screen>, persons: Vec<Claimant>) -> Self {
        match screen {
            None => Self::nobody(),
            Some(screen) if Stdin::is_attended() => Self::asked(screen, Box::new(Stdin::new()), persons),
            Some(screen) => Self::absent(screen),
        }
    }

    /// These persons, in whose place a script answers; what they are asked is shown where there is a screen.
    #[must_use]
    pub fn scripted(answers: &Answers, screen: Option<&Screen>, persons: Vec<Claimant>) -> Self {
        let keyboard = Box::new(answers.0.clone());
        match screen {
            Some(screen) => Self::asked(screen, keyboard, persons),
            None => Self::asked(&Arc::new(Progress::new(std::io::sink(), Paint::Plain, 80)), keyboard, persons),
        }
    }

    fn absent(screen: &Screen) -> Self {
        Self { approver: Arc::new(Absent::new(Arc::clone(screen))), attended: Attended::default() }
    }

    fn asked<W: Write + Send + 'static>(
        screen: &Arc<Progress<W>>,
        keyboard: Box<dyn Keyboard>,
        persons: Vec<Claimant>,
    ) -> Self {
        let rows = terminal_size::terminal_size().map_or(USUAL_ROWS, |(_, height)| usize::from(height.0));
        let asking = TerminalApprover::new(Arc::clone(screen), keyboard, persons, Arc::new(SystemClock), rows);
        Self { attended: asking.attended(), approver: Arc::new(asking) }
    }
}
