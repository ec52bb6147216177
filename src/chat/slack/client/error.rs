//! Why Slack did not do what it was asked, by what follows from it.

use std::time::Duration;

use slack_morphism::errors::SlackClientError;

/// How long to wait where Slack says only that there was too much.
const UNSAID: Duration = Duration::from_secs(30);
/// No answer makes us wait longer: the clock of whoever said so may be wrong.
const LONGEST: Duration = Duration::from_mins(10);

/// Why a call failed. Its text is fit for people: no token, no body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Too much; not before this has passed.
    #[error("Slack takes no more for {} s", after.as_secs())]
    RateLimited {
        /// How long to wait.
        after: Duration,
    },
    /// The token is not, or no longer, good.
    #[error("Slack refused the token (`{0}`); install the app anew and give its token")]
    NotAuthed(String),
    /// Nothing can be posted there: archived, unknown, or we are not in it.
    #[error("nothing can be posted to the channel (`{0}`); invite the app or name another channel")]
    ChannelGone(String),
    /// The click is too old for a modal, or had one.
    #[error("the click was too long ago for Slack to open a view")]
    TriggerExpired,
    /// Anything else that Slack refuses; the same call would be refused again.
    #[error("Slack refused the call: `{0}`")]
    Refused(String),
    /// It may or may not have been done.
    #[error("Slack could not be reached: {0}")]
    Transport(String),
}

impl CallError {
    /// By Slack's own word for it.
    #[must_use]
    pub fn of_code(code: &str) -> Self {
        let said: String = code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
        match code {
            "ratelimited" | "rate_limited" | "message_limit_exceeded" => Self::RateLimited { after: UNSAID },
            "invalid_auth"
            | "not_authed"
            | "account_inactive"
            | "token_revoked"
            | "token_expired"
            | "not_allowed_token_type"
            | "org_login_required"
            | "app_uninstalled" => Self::NotAuthed(said),
            "is_archived"
            | "not_in_channel"
            | "channel_not_found"
            | "channel_is_archived"
            | "is_inactive"
            | "restricted_action_read_only_channel" => Self::ChannelGone(said),
            "trigger_expired"
            | "expired_trigger_id"
            | "trigger_exchanged"
            | "exchanged_trigger_id"
            | "invalid_trigger_id" => Self::TriggerExpired,
            "internal_error"
            | "fatal_error"
            | "service_unavailable"
            | "request_timeout"
            | "team_added_to_org"
            | "accesslimited" => Self::Transport(said),
            _ => Self::Refused(said),
        }
    }

    /// What a 429 means. `after` is what its `Retry-After` said.
    #[must_use]
    pub fn limited(after: Option<Duration>) -> Self {
        Self::RateLimited { after: after.unwrap_or(UNSAID).clamp(Duration::from_secs(1), LONGEST) }
    }
}

impl From<SlackClientError> for CallError {
    fn from(error: SlackClientError) -> Self {
        // Their texts hold the bodies of answers, which are not for the log.
        match error {
            SlackClientError::ApiError(refused) => Self::of_code(&refused.code),
            SlackClientError::RateLimitError(limited) => Self::limited(limited.retry_after),
            SlackClientError::HttpError(answered) => {
                let status = answered.status_code.as_u16();
                if answered.status_code.is_server_error() {
                    Self::Transport(format!("it answered {status}"))
                } else {
                    Self::Refused(format!("http_{status}"))
                }
            }
            SlackClientError::ProtocolError(_) => Self::Transport("its answer is not the JSON it should be".to_owned()),
            SlackClientError::SystemError(failed) => {
                Self::Transport(failed.message.unwrap_or_else(|| "the call failed".to_owned()))
            }
            SlackClientError::HttpProtocolError(_)
            | SlackClientError::EndOfStream(_)
            | SlackClientError::SocketModeProtocolError(_) => Self::Transport("the call failed".to_owned()),
        }
    }
}
