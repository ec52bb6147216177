//! The few questions that a person at a terminal is asked. Enter takes what stands in brackets; `-` leaves it out.

use std::path::Path;

use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::visible::visible;

use super::look::usual_logs;
use super::{Logs, Look, Wanted, look, model};
use crate::app::fault::Fault;
use crate::app::print;
use crate::chat::terminal::keyboard::{Keyboard, Stdin};

/// Most services that are taken without being named.
const SHOWN: usize = 10;

/// Somebody who answers.
pub struct Asking<'a> {
    /// What they type.
    pub keyboard: &'a mut dyn Keyboard,
    /// Shows them a question.
    pub say: &'a mut dyn FnMut(&str),
}

/// As [`fill`], asking whoever sits at this terminal.
///
/// # Errors
/// As [`fill`], and where nobody does.
pub async fn at_terminal(wanted: &mut Wanted, root: &Path) -> Result<Look, Fault> {
    if !Stdin::is_attended() {
        let why = "there is no terminal to ask questions at; say --yes, with --service NAME and what else there is";
        return Err(Fault::Usage(why.to_owned()));
    }
    print::aside("Enter takes what stands in brackets, - leaves it out.");
    let (mut keyboard, mut say) = (Stdin::new(), print::question);
    fill(wanted, Some(Asking { keyboard: &mut keyboard, say: &mut say }), root).await
}

/// Fills in what was not said: by asking, or where nobody is to be asked, with what was found.
///
/// # Errors
/// [`Fault::Usage`] for an answer that makes no sense, or none, and where no service is named or found.
pub async fn fill(wanted: &mut Wanted, asking: Option<Asking<'_>>, root: &Path) -> Result<Look, Fault> {
    let mut found = look(wanted).await?;
    let mut asker = Asker { asking };
    let looked = (
        wanted.prometheus.clone().or_else(|| found.prometheus.clone()),
        wanted.alertmanager.clone().or_else(|| found.alertmanager.clone()),
    );
    wanted.prometheus = asker.ask("Prometheus", looked.0.as_deref()).await?;
    wanted.alertmanager = asker.ask("Alertmanager", looked.1.as_deref()).await?;
    let is_another = |said: &Option<String>, looked: &Option<String>| said.is_some() && said != looked;
    if is_another(&wanted.prometheus, &looked.0) || is_another(&wanted.alertmanager, &looked.1) {
        found = look(wanted).await?;
    }
    if wanted.services.is_empty() {
        let known: Vec<&str> = found.services.keys().map(ServiceName::as_str).take(SHOWN).collect();
        let more = found.services.len().saturating_sub(known.len());
        let known = Some(known.join(", ")).filter(|known| !known.is_empty());
        if more > 0 {
            let import = "`warrant catalog import prometheus main --into FILE` takes all over";
            found.notes.push(format!("the Prometheus knows {more} more services; {import}"));
        }
        let answer = asker.ask("Services, with commas between", known.as_deref()).await?.unwrap_or_default();
        for name in answer.split([',', ' ']).filter(|name| !name.is_empty()) {
            let name: ServiceName = name.parse().map_err(|error| Fault::Usage(format!("{error}")))?;
            if !wanted.services.contains(&name) {
                wanted.services.push(name);
            }
        }
    }
    if wanted.services.is_empty() {
        return Err(Fault::Usage("no service is named and none was found; name one with --service".to_owned()));
    }
    for service in wanted.services.clone() {
        if wanted.logs.iter().any(|logs| logs.service == service) {
            continue;
        }
        let usual = usual_logs(&service, root).map(|path| path.display().to_string());
        let answer = asker.ask(&format!("Log files of {service}, as in /var/log/app/*.log"), usual.as_deref()).await?;
        if let Some(answer) = answer {
            wanted.logs.push(Logs::of(&answer, std::slice::from_ref(&service))?);
        }
    }
    if wanted.model.is_none()
        && let Some(answer) = asker.ask("A model, as anthropic:MODEL or openai:MODEL", None).await?
    {
        wanted.model = Some(model(&answer)?);
    }
    found.units(&wanted.services, root);
    Ok(found)
}

struct Asker<'a> {
    asking: Option<Asking<'a>>,
}

impl Asker<'_> {
    /// What is answered; where nobody is asked, what is usual.
    async fn ask(&mut self, what: &str, usual: Option<&str>) -> Result<Option<String>, Fault> {
        let usual = usual.map(str::to_owned);
        let Some(Asking { keyboard, say }) = &mut self.asking else { return Ok(usual) };
        say(&format!("{what} [{}]: ", visible(usual.as_deref().unwrap_or("none"))));
        let line = keyboard.line().await;
        let line =
            line.ok_or_else(|| Fault::Usage("the questions were not answered; nothing was written".to_owned()))?;
        Ok(match line.trim() {
            "" => usual,
            "-" => None,
            answer => Some(answer.to_owned()),
        })
    }
}
