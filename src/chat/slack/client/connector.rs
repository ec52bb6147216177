//! How Slack's Web API is reached: over the one HTTP client of this program, with bounds on time and on what is answered.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use slack_morphism::errors::{
    SlackClientApiError, SlackClientError, SlackClientHttpError, SlackClientSystemError, SlackRateLimitError,
    map_serde_error,
};
use slack_morphism::multipart_form::FileMultipartData;
use slack_morphism::{
    ClientResult, SlackApiToken, SlackClientApiCallContext, SlackClientHttpConnector, SlackClientId, SlackClientSecret,
};

/// The longest that a call may take.
const LONGEST: Duration = Duration::from_secs(10);
/// The largest answer that is read.
const MOST: usize = 4 << 20;

/// The client's way to Slack.
#[derive(Debug, Clone)]
pub struct Connector {
    http: reqwest::Client,
    api_url: String,
}

/// An HTTP client for Slack at `api_url`, and for nobody else.
///
/// # Errors
/// Why none could be made, in words.
pub fn http_client(api_url: &str) -> Result<reqwest::Client, String> {
    // One protocol: the socket's connection begins as a request that asks for another.
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(5))
        .redirect(Policy::none())
        .http1_only()
        .pool_idle_timeout(Duration::from_mins(1));
    if api_url.starts_with("http://") {
        // Only this machine is reached so, and there is no certificate to be looked at.
        builder = builder.no_proxy().tls_certs_only([]);
    }
    builder.build().map_err(|error| chain(&error))
}

/// An error and what it came from, in one line and without the address.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = Vec::new();
    let mut at = Some(error);
    while let Some(error) = at {
        told.push(match error.downcast_ref::<reqwest::Error>() {
            Some(error) if error.is_timeout() => "it took too long".to_owned(),
            Some(error) if error.is_connect() => "no connection".to_owned(),
            Some(_) => "the request failed".to_owned(),
            None => error.to_string(),
        });
        at = error.source();
    }
    told.dedup();
    told.join(": ").chars().take(200).collect()
}

/// Reads an answer's body, at most `most` bytes of it.
///
/// # Errors
/// Where it is longer, or breaks off.
pub async fn bounded(mut answer: reqwest::Response, most: usize) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| chain(&error))? {
        if read.len() + chunk.len() > most {
            return Err(format!("it is longer than {most} bytes"));
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

impl Connector {
    /// To the API at `api_url`, which has no slash at its end.
    #[must_use]
    pub fn new(http: reqwest::Client, api_url: String) -> Self {
        Self { http, api_url }
    }

    async fn send<RS: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        token: Option<&SlackApiToken>,
    ) -> ClientResult<RS> {
        let mut request = request.timeout(LONGEST);
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {}", token.token_value.0));
            let mut value = value.map_err(|_| failed("the token can't be sent".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let answer = request.send().await.map_err(|error| failed(chain(&error)))?;
        let status = answer.status();
        if status == StatusCode::TOO_MANY_REQUESTS {
            let after = answer.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
            return Err(SlackClientError::RateLimitError(
                SlackRateLimitError::new().opt_retry_after(after.map(Duration::from_secs)),
            ));
        }
        if !status.is_success() {
            return Err(SlackClientError::HttpError(SlackClientHttpError::new(status)));
        }
        let body = bounded(answer, MOST).await.map_err(failed)?;
        decode(&body)
    }
}

/// An answer of the API is JSON that says whether it is good; one of where files are put is a word.
fn decode<RS: DeserializeOwned>(body: &[u8]) -> ClientResult<RS> {
    let value = match serde_json::from_slice::<Value>(body) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) | Err(_) if body.starts_with(b"OK") => Value::Object(serde_json::Map::new()),
        Ok(_) => return Err(failed("its answer is not the JSON it should be".to_owned())),
        Err(error) => return Err(map_serde_error(error, None)),
    };
    if value.get("ok").and_then(Value::as_bool) == Some(false) {
        let code = value.get("error").and_then(Value::as_str).unwrap_or("unsaid");
        return Err(SlackClientError::ApiError(SlackClientApiError::new(code.to_owned())));
    }
    serde_json::from_value(value).map_err(|error| map_serde_error(error, None))
}

fn failed(message: String) -> SlackClientError {
    SlackClientError::SystemError(SlackClientSystemError::new().with_message(message))
}

fn not_spoken<'a, RS: Send + 'a>() -> BoxFuture<'a, ClientResult<RS>> {
    std::future::ready(Err(failed("this way of calling Slack is not used".to_owned()))).boxed()
}

impl SlackClientHttpConnector for Connector {
    fn http_get_uri<'a, RS>(
        &'a self,
        full_uri: Url,
        context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: for<'de> serde::de::Deserialize<'de> + Send + 'a,
    {
        self.send(self.http.get(full_uri), context.token).boxed()
    }

    fn http_get_with_client_secret<'a, RS>(
        &'a self,
        _full_uri: Url,
        _client_id: &'a SlackClientId,
        _client_secret: &'a SlackClientSecret,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: for<'de> serde::de::Deserialize<'de> + Send + 'a,
    {
        not_spoken()
    }

    fn http_post_uri<'a, RQ, RS>(
        &'a self,
        full_uri: Url,
        request_body: &'a RQ,
        context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RQ: serde::ser::Serialize + Send + Sync,
        RS: for<'de> serde::de::Deserialize<'de> + Send + 'a,
    {
        self.send(self.http.post(full_uri).json(request_body), context.token).boxed()
    }

    fn http_post_uri_multipart_form<'a, 'p, RS, PT, TS>(
        &'a self,
        _full_uri: Url,
        _file: Option<FileMultipartData<'p>>,
        _params: &'p PT,
        _context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: for<'de> serde::de::Deserialize<'de> + Send + 'a,
        PT: IntoIterator<Item = (&'p str, Option<TS>)> + Clone,
        TS: AsRef<str> + 'p + Send,
    {
        not_spoken()
    }

    fn http_post_uri_binary<'a, 'p, RS>(
        &'a self,
        full_uri: Url,
        content_type: String,
        data: &'a [u8],
        _context: SlackClientApiCallContext<'a>,
    ) -> BoxFuture<'a, ClientResult<RS>>
    where
        RS: for<'de> serde::de::Deserialize<'de> + Send + 'a,
    {
        // The address is the permission; the token has no business there.
        let request = self.http.post(full_uri).header("content-type", content_type).body(data.to_vec());
        self.send(request, None).boxed()
    }

    fn create_method_uri_path(&self, method_relative_uri: &str) -> ClientResult<Url> {
        Ok(format!("{}/{method_relative_uri}", self.api_url).parse()?)
    }
}
