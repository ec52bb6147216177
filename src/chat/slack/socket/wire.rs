//! A WebSocket over the HTTP client that everything else goes through: the same certificates, the same way out.

use reqwest::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use reqwest::{StatusCode, Upgraded, Url};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::chat::slack::client::connector::chain;

/// The largest message that is read. Slack's are below 100 kB.
const MOST: usize = 2 << 20;

/// An open connection.
pub(super) type Wire = WebSocketStream<Upgraded>;

/// Opens a connection to an address that was checked: `wss`, or `ws` on this machine.
pub(super) async fn connect(http: &reqwest::Client, mut url: Url) -> Result<Wire, String> {
    let scheme = if url.scheme() == "wss" { "https" } else { "http" };
    url.set_scheme(scheme).map_err(|()| "the address of the connection is no address".to_owned())?;
    let key = generate_key();
    let asked = http
        .get(url)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_VERSION, "13")
        .header(SEC_WEBSOCKET_KEY, &key);
    let answer = asked.send().await.map_err(|error| chain(&error))?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("Slack answered {} in place of a connection", answer.status().as_u16()));
    }
    let accepted = answer.headers().get(SEC_WEBSOCKET_ACCEPT).map(|value| value.as_bytes().to_vec());
    if accepted.as_deref() != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
        return Err("what answered is no WebSocket".to_owned());
    }
    let stream = answer.upgrade().await.map_err(|error| chain(&error))?;
    let limits = WebSocketConfig::default().max_message_size(Some(MOST)).max_frame_size(Some(MOST));
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(limits)).await)
}
