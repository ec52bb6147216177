//! Slack's Web API, as far as it is used: bodies are our own JSON, errors are typed by what follows from them.
//!
//! Nothing is retried and nothing is paced here; that is the outbox's, which knows what is still wanted.

pub mod error;

pub mod connector;

pub mod files;

use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Value, json};
use slack_morphism::{SlackApiToken, SlackApiTokenValue, SlackClient};

use connector::{Connector, http_client};
use error::CallError;

/// Calls Slack. The seam that tests stand in for.
#[async_trait]
pub trait Api: Send + Sync {
    /// Calls a method that takes JSON.
    ///
    /// # Errors
    /// [`CallError`].
    async fn post(&self, method: &'static str, body: &Value) -> Result<Value, CallError>;

    /// Calls a method that takes parameters.
    ///
    /// # Errors
    /// [`CallError`].
    async fn get(&self, method: &'static str, params: &[(&'static str, &str)]) -> Result<Value, CallError>;
}

/// Who we are, as Slack says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// The workspace.
    pub team: String,
    /// The organisation.
    pub enterprise: Option<String>,
    /// The bot's user.
    pub user: String,
    /// The bot.
    pub bot: Option<String>,
}

/// The client.
#[derive(Debug)]
pub struct Client {
    slack: SlackClient<Connector>,
    bot: SlackApiToken,
    http: reqwest::Client,
    api: Url,
}

impl Client {
    /// A client of the API at `api_url` (without a slash at its end) with the bot's token.
    ///
    /// # Errors
    /// Why none could be made, in words.
    pub fn new(api_url: &str, bot_token: &str) -> Result<Self, String> {
        let api = Url::parse(api_url).map_err(|_| "`slack.api_url` is no URL".to_owned())?;
        let http = http_client(api_url)?;
        let connector = Connector::new(http.clone(), api_url.to_owned());
        Ok(Self { slack: SlackClient::new(connector), bot: token(bot_token), http, api })
    }

    async fn ask(&self, method: &str, params: &[(&'static str, Option<&str>)]) -> Result<Value, CallError> {
        let params = params.to_vec();
        let session = self.slack.open_session(&self.bot);
        Ok(session.http_session_api.http_get(method, &params, None).await?)
    }

    /// Whether an address is of the API itself, as everything is of a Slack on this machine.
    fn is_api(&self, url: &Url) -> bool {
        let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
        self.api.scheme() == "http" && matches!(url.scheme(), "http" | "ws") && place(url) == place(&self.api)
    }

    /// Who we are. What the first call at start asks, since it proves the token.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn me(&self) -> Result<Me, CallError> {
        let answer = self.post("auth.test", &json!({})).await?;
        let optional = |key| text(&answer, key).ok();
        Ok(Me {
            team: text(&answer, "team_id")?,
            enterprise: optional("enterprise_id"),
            user: text(&answer, "user_id")?,
            bot: optional("bot_id"),
        })
    }

    /// Where the next connection is to be opened, by the app's token.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn connection(&self, app_token: &str) -> Result<Url, CallError> {
        let app = token(app_token);
        let session = self.slack.open_session(&app);
        let answer: Value = session.http_session_api.http_post("apps.connections.open", &json!({}), None).await?;
        let stranger = || CallError::Refused("socket_not_at_slack".to_owned());
        let url = Url::parse(&text(&answer, "url")?).map_err(|_| stranger())?;
        let at_slack = url.scheme() == "wss" && url.host_str().is_some_and(|host| host.ends_with(".slack.com"));
        if at_slack || self.is_api(&url) { Ok(url) } else { Err(stranger()) }
    }

    /// The HTTP client, for the connection that [`Client::connection`] named.
    pub(super) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Says something to one person only, where it was asked. It is gone when they reload, so nothing depends on it.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn whisper(&self, channel: &str, user: &str, thread: Option<&str>, said: &str) -> Result<(), CallError> {
        let text = json!({ "type": "plain_text", "text": said, "emoji": false });
        let mut body = json!({
            "channel": channel, "user": user, "text": said, "blocks": [{ "type": "section", "text": text }],
        });
        if let (Some(thread), Some(body)) = (thread, body.as_object_mut()) {
            body.insert("thread_ts".to_owned(), json!(thread));
        }
        self.post("chat.postEphemeral", &body).await.map(drop)
    }

    /// Opens a modal for a click.
    ///
    /// # Errors
    /// [`CallError::TriggerExpired`] three seconds after the click.
    pub async fn open_view(&self, trigger: &str, view: &Value) -> Result<(), CallError> {
        self.post("views.open", &json!({ "trigger_id": trigger, "view": view })).await.map(drop)
    }

    /// Puts a modal on top of the one that was clicked in.
    ///
    /// # Errors
    /// [`CallError::TriggerExpired`] three seconds after the click.
    pub async fn push_view(&self, trigger: &str, view: &Value) -> Result<(), CallError> {
        self.post("views.push", &json!({ "trigger_id": trigger, "view": view })).await.map(drop)
    }

    /// Puts another content into an open modal, if it is still as `hash` says.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn update_view(&self, id: &str, hash: Option<&str>, view: &Value) -> Result<(), CallError> {
        self.post("views.update", &json!({ "view_id": id, "hash": hash, "view": view })).await.map(drop)
    }

    /// Goes into a public channel.
    ///
    /// # Errors
    /// [`CallError::ChannelGone`] where there is none to go into.
    pub async fn join(&self, channel: &str) -> Result<(), CallError> {
        self.post("conversations.join", &json!({ "channel": channel })).await.map(drop)
    }

    /// Looks at a channel: an error says why nothing can be posted there.
    ///
    /// # Errors
    /// [`CallError::ChannelGone`].
    pub async fn look_at(&self, channel: &str) -> Result<(), CallError> {
        let answer = self.get("conversations.info", &[("channel", channel)]).await?;
        let is = |key| answer.pointer(key).and_then(Value::as_bool).unwrap_or(false);
        if is("/channel/is_archived") {
            return Err(CallError::ChannelGone("is_archived".to_owned()));
        }
        if is("/channel/is_member") || is("/channel/is_im") {
            return Ok(());
        }
        Err(CallError::ChannelGone("not_in_channel".to_owned()))
    }
}

#[async_trait]
impl Api for Client {
    async fn post(&self, method: &'static str, body: &Value) -> Result<Value, CallError> {
        let session = self.slack.open_session(&self.bot);
        Ok(session.http_session_api.http_post(method, body, None).await?)
    }

    async fn get(&self, method: &'static str, params: &[(&'static str, &str)]) -> Result<Value, CallError> {
        let params: Vec<(&'static str, Option<&str>)> =
            params.iter().map(|(name, value)| (*name, Some(*value))).collect();
        self.ask(method, &params).await
    }
}

fn token(value: &str) -> SlackApiToken {
    SlackApiToken::new(SlackApiTokenValue(value.to_owned()))
}

/// A text of an answer that can't do without it.
fn text(answer: &Value, key: &str) -> Result<String, CallError> {
    let found = answer.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    found.map(str::to_owned).ok_or_else(|| CallError::Transport(format!("its answer has no `{key}`")))
}
