//! Amazon SNS: a message proves itself by a certificate of Amazon's, fetched from Amazon's own host alone.
//!
//! [`Verifier::verify`] is all of it. Nothing is fetched for a topic that the config does not name, and never from an address
//! that a message chooses freely: the host has to be that of the topic's region. A subscription is confirmed where the
//! config says so, by an address put together here; else it is told to the operator.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde_json::Value;
use x509_parser::pem::parse_x509_pem;

#[cfg(test)]
mod tests;

/// A certificate is a few kilobytes.
const LARGEST: usize = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(2);
/// Certificates kept; Amazon has one a region and changes it once in a while.
const MOST_KEPT: usize = 16;
/// An older message may have been handled and forgotten.
const OLDEST: SignedDuration = SignedDuration::from_hours(7 * 24);
const AHEAD: SignedDuration = SignedDuration::from_mins(15);

/// A topic, as its ARN names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    arn: String,
    region: String,
    domain: &'static str,
}

impl Topic {
    /// Reads an ARN, `arn:aws:sns:eu-west-1:123456789012:alarms`.
    #[must_use]
    pub fn parse(arn: &str) -> Option<Self> {
        let parts: Vec<&str> = arn.split(':').collect();
        let &["arn", partition, "sns", region, account, name] = parts.as_slice() else { return None };
        let domain = match partition {
            "aws" | "aws-us-gov" => "amazonaws.com",
            "aws-cn" => "amazonaws.com.cn",
            _ => return None,
        };
        let is_label =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let is_region = (5..=32).contains(&region.len()) && is_label(region);
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = (1..=256).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        (is_region && is_account && is_name).then(|| Self { arn: arn.to_owned(), region: region.to_owned(), domain })
    }

    fn host(&self) -> String {
        format!("sns.{}.{}", self.region, self.domain)
    }

    /// Whether an address is that of a certificate of this topic's region.
    fn certificate(&self, text: &str) -> Option<Url> {
        let url: Url = text.parse().ok()?;
        let name = url.path().strip_prefix("/SimpleNotificationService-")?.strip_suffix(".pem")?;
        let is_plain = url.scheme() == "https"
            && url.host_str() == Some(self.host().as_str())
            && url.port().is_none()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain.then_some(url)
    }

    fn confirmation(&self, token: &str) -> Option<Url> {
        let mut url: Url = format!("https://{}/", self.host()).parse().ok()?;
        let pairs = [("Action", "ConfirmSubscription"), ("TopicArn", &self.arn), ("Token", token)];
        url.query_pairs_mut().extend_pairs(pairs);
        Some(url)
    }
}

/// What subscriptions to a topic are answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscriptions {
    /// They are told to the operator.
    Told,
    /// They are confirmed, for the operator has named the topic.
    Confirmed,
}

/// Gets what is at an address of Amazon's. The seam for tests.
#[async_trait]
pub trait Amazon: Send + Sync {
    /// At most `LARGEST` bytes of a good answer, from that host and no other; none where there is none.
    async fn get(&self, url: Url) -> Option<Vec<u8>>;
}

/// Over the network.
#[derive(Debug, Default)]
pub struct Network;

#[async_trait]
impl Amazon for Network {
    async fn get(&self, url: Url) -> Option<Vec<u8>> {
        let none = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().https_only(true).redirect(none).timeout(PATIENCE).build().ok()?;
        let mut answer = client.get(url).send().await.ok()?.error_for_status().ok()?;
        let mut whole = Vec::new();
        while let Some(piece) = answer.chunk().await.ok()? {
            if whole.len() + piece.len() > LARGEST {
                return None;
            }
            whole.extend_from_slice(&piece);
        }
        Some(whole)
    }
}

/// What an authentic message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A notification.
    Notification,
    /// A subscription was to be confirmed, and what came of it.
    Subscription(&'static str),
}

/// Tells messages of the topics of one route from forged ones.
pub struct Verifier {
    topics: Vec<Topic>,
    subscriptions: Subscriptions,
    amazon: Box<dyn Amazon>,
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Verifier {
    /// For these topics.
    #[must_use]
    pub fn new(topics: Vec<Topic>, subscriptions: Subscriptions, amazon: Box<dyn Amazon>) -> Self {
        Self { topics, subscriptions, amazon, kept: Mutex::default() }
    }

    /// Whether the headers name one of the topics, before a byte of the body is read.
    #[must_use]
    pub fn expects(&self, headers: &HeaderMap) -> bool {
        let named = headers.get("x-amz-sns-topic-arn").and_then(|arn| arn.to_str().ok());
        self.topics.iter().any(|topic| named == Some(topic.arn.as_str()))
    }

    /// What a body is; none where it is not one of Amazon's for these topics, or can't be shown to be.
    pub async fn verify(&self, body: &[u8], now: Timestamp) -> Option<Message> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let topic = self.topics.iter().find(|topic| Some(topic.arn.as_str()) == field("TopicArn"))?;
        let at: Timestamp = field("Timestamp")?.parse().ok()?;
        if now.duration_since(at) > OLDEST || at.duration_since(now) > AHEAD {
            return None;
        }
        let kind = field("Type")?;
        let signed = signed(kind, &field)?;
        // Version 1 is SHA-1, which does not tell a message from one made to look like it.
        let signature = STANDARD.decode(field("Signature").filter(|_| field("SignatureVersion") == Some("2"))?).ok()?;
        let certificate = self.certificate(topic.certificate(field("SigningCertURL")?)?).await?;
        if !holds(&certificate, &signature, signed.as_bytes(), now) {
            return None;
        }
        match kind {
            "Notification" => Some(Message::Notification),
            "SubscriptionConfirmation" => Some(Message::Subscription(self.subscribe(topic, field("Token")?).await)),
            _ => Some(Message::Subscription("the subscription has ended")),
        }
    }

    async fn subscribe(&self, topic: &Topic, token: &str) -> &'static str {
        match self.subscriptions {
            Subscriptions::Told => {
                tracing::warn!(
                    topic = topic.arn,
                    "SNS asks to confirm a subscription; to confirm it, set `confirm_subscriptions = true` and let SNS ask again"
                );
                "the subscription waits for the operator"
            }
            Subscriptions::Confirmed => {
                let confirmed = match topic.confirmation(token) {
                    Some(url) => self.amazon.get(url).await.is_some(),
                    None => false,
                };
                if confirmed {
                    tracing::info!(topic = topic.arn, "the subscription is confirmed");
                    return "the subscription is confirmed";
                }
                tracing::warn!(topic = topic.arn, "a subscription could not be confirmed; let SNS ask again");
                "the subscription could not be confirmed"
            }
        }
    }

    async fn certificate(&self, url: Url) -> Option<Vec<u8>> {
        let key = url.to_string();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(kept) = kept {
            return Some(kept);
        }
        let pem = self.amazon.get(url).await?;
        let (_, found) = parse_x509_pem(&pem).ok()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, found.contents.clone());
        Some(found.contents)
    }
}

/// What is signed of a message: names and values of certain fields, a line each.
fn signed<'v>(kind: &str, field: &impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let names: &[&str] = match kind {
        "Notification" => &["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
        "SubscriptionConfirmation" | "UnsubscribeConfirmation" => {
            &["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        }
        _ => return None,
    };
    let mut text = String::new();
    for name in names {
        match field(name) {
            Some(value) => text.extend([name, "\n", value, "\n"]),
            None if *name == "Subject" => {}
            None => return None,
        }
    }
    Some(text)
}

fn holds(certificate: &[u8], signature: &[u8], signed: &[u8], now: Timestamp) -> bool {
    let Ok((_, certificate)) = x509_parser::parse_x509_certificate(certificate) else { return false };
    let validity = certificate.validity();
    let now = now.as_second();
    if now < validity.not_before.timestamp() || now > validity.not_after.timestamp() {
        return false;
    }
    let key = certificate.public_key().subject_public_key.data.as_ref();
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key).verify(signed, signature).is_ok()
}
