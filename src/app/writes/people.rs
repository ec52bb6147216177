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
use crate::chat::terminal::keyboard::{Keyboard, Stdin};
use crate::chat::terminal::progress::Progress;

/// Lines of a page where the terminal does not say how many it has.
const USUAL_ROWS: usize = 24;

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
        let Some(screen) = screen else { return Ok(Self::nobody()) };
        if !Stdin::is_attended() {
            return Ok(Self::absent(screen));
        }
        let present = Claimant { person: app.requester().await?.person, proof: Proof::Uid(users::current()) };
        Ok(Self::asked(screen, Box::new(Stdin::new()), vec![present]))
    }

    /// Nobody; this screen says that a write waits.
    #[must_use]
    pub fn absent(screen: &Screen) -> Self {
        Self { approver: Arc::new(Absent::new(Arc::clone(screen))), attended: Attended::default() }
    }

    /// These persons, asked on this screen.
    #[must_use]
    pub fn asked<W: Write + Send + 'static>(
        screen: &Arc<Progress<W>>,
        keyboard: Box<dyn Keyboard>,
        persons: Vec<Claimant>,
    ) -> Self {
        let rows = terminal_size::terminal_size().map_or(USUAL_ROWS, |(_, height)| usize::from(height.0));
        let asking = TerminalApprover::new(Arc::clone(screen), keyboard, persons, Arc::new(SystemClock), rows);
        Self { attended: asking.attended(), approver: Arc::new(asking) }
    }
}
