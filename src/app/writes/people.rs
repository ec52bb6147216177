//! Who is asked about writes: the person at this terminal, or nobody, and then what needs one waits.

use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use warrant_kernel::call::gate::approver::{Approver, Nobody};
use warrant_kernel::call::gate::vote::{Claimant, Proof};

use crate::app::fault::Fault;
use crate::app::print::Screen;
use crate::app::{App, SystemClock};
use crate::chat::terminal::approver::{Absent, TerminalApprover};
use crate::chat::terminal::keyboard::{Keyboard, Stdin};

/// Lines of a page where the terminal does not say how many it has.
const USUAL_ROWS: usize = 24;

/// The person at this terminal where there is one, as the config names the user that they are.
///
/// # Errors
/// [`Fault::Usage`] where the user can't be a person, [`Fault::Failed`] where the system does not say who they are.
pub fn at_this_terminal(app: &App, screen: Option<&Screen>) -> Result<Arc<dyn Approver>, Fault> {
    let Some(screen) = screen else { return Ok(Arc::new(Nobody)) };
    if !Stdin::is_attended() {
        return Ok(Arc::new(Absent::new(Arc::clone(screen))));
    }
    let process = std::fs::metadata("/proc/self");
    let uid = process.map_err(|error| Fault::Failed(format!("can't tell which user this is: {error}")))?.uid();
    let present = Claimant { person: app.requester()?.person, proof: Proof::Uid(uid) };
    Ok(asking(screen, Box::new(Stdin::new()), vec![present]))
}

/// Asks these persons on this screen.
#[must_use]
pub fn asking(screen: &Screen, keyboard: Box<dyn Keyboard>, present: Vec<Claimant>) -> Arc<dyn Approver> {
    let rows = terminal_size::terminal_size().map_or(USUAL_ROWS, |(_, height)| usize::from(height.0));
    Arc::new(TerminalApprover::new(Arc::clone(screen), keyboard, present, Arc::new(SystemClock), rows))
}
