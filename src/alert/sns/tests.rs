use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair as RsaKeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use proptest::prelude::*;
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, date_time_ymd};
use serde_json::json;

use super::*;

const ARN: &str = "arn:aws:sns:us-west-2:123456789012:alarms";
const CERTIFICATE: &str = "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0a1b.pem";

/// Amazon with one certificate, and a memory of what it was asked for.
struct Double {
    pem: Vec<u8>,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Amazon for Double {
    async fn get(&self, url: Url) -> Option<Vec<u8>> {
        self.asked.lock().unwrap().push(url.to_string());
        Some(self.pem.clone())
    }
}

struct World {
    key: KeyPair,
    verifier: Verifier,
    asked: Arc<Mutex<Vec<String>>>,
}

fn now() -> Timestamp {
    "2026-11-30T08:00:05Z".parse().unwrap()
}

impl World {
    fn new(subscriptions: Subscriptions) -> Self {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap();
        let mut params = CertificateParams::new(vec!["sns.amazonaws.com".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2026, 12, 31));
        let pem = params.self_signed(&key).unwrap().pem().into_bytes();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let amazon = Double { pem, asked: Arc::clone(&asked) };
        let verifier = Verifier::new(vec![Topic::parse(ARN).unwrap()], subscriptions, Box::new(amazon));
        Self { key, verifier, asked }
    }

    /// The message, signed.
    fn signed(&self, mut message: Value) -> Vec<u8> {
        let kind = message["Type"].as_str().unwrap_or_default().to_owned();
        let text = super::signed(&kind, &|name: &str| message.get(name).and_then(Value::as_str)).unwrap_or_default();
        let key = RsaKeyPair::from_pkcs8(&self.key.serialize_der()).unwrap();
        let mut signature = vec![0; key.public_modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
        message["Signature"] = json!(STANDARD.encode(signature));
        message.to_string().into_bytes()
    }

    async fn verify(&self, body: &[u8]) -> Option<Message> {
        self.verifier.verify(body, now()).await
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn notification() -> Value {
    json!({
        "Type": "Notification", "MessageId": "m1", "TopicArn": ARN, "Subject": "ALARM", "Message": "{}",
        "Timestamp": "2026-11-30T08:00:00.000Z", "SignatureVersion": "2", "SigningCertURL": CERTIFICATE,
    })
}

fn confirmation() -> Value {
    json!({
        "Type": "SubscriptionConfirmation", "MessageId": "m2", "TopicArn": ARN, "Message": "You have chosen",
        "Token": "a token & more", "SubscribeURL": "https://evil.example/confirm", "Timestamp": "2026-11-30T08:00:00.000Z",
        "SignatureVersion": "2", "SigningCertURL": CERTIFICATE,
    })
}

fn with(mut message: Value, field: &str, value: &str) -> Value {
    message[field] = json!(value);
    message
}

#[tokio::test]
async fn wh_10_a_message_that_amazon_signed_is_taken_and_its_certificate_fetched_once() {
    let world = World::new(Subscriptions::Told);
    let body = world.signed(notification());
    assert_eq!(world.verify(&body).await, Some(Message::Notification));
    assert_eq!(world.verify(&body).await, Some(Message::Notification));
    assert_eq!(world.asked(), [CERTIFICATE]);
    let mut without = notification();
    without.as_object_mut().unwrap().remove("Subject");
    assert_eq!(world.verify(&world.signed(without)).await, Some(Message::Notification));
}

#[tokio::test]
async fn wh_10_forged_messages_are_refused_and_nothing_is_fetched_for_them() {
    let world = World::new(Subscriptions::Confirmed);
    let elsewhere = [
        "http://sns.us-west-2.amazonaws.com/SimpleNotificationService-0.pem",
        "https://sns.us-west-2.amazonaws.com.evil.example/SimpleNotificationService-0.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem",
        "https://evil.example/SimpleNotificationService-0.pem",
        "https://sns.us-west-2.amazonaws.com:8443/SimpleNotificationService-0.pem",
        "https://a@sns.us-west-2.amazonaws.com/SimpleNotificationService-0.pem",
        "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0.pem?x=1",
        "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-../x.pem",
        "https://sns.us-west-2.amazonaws.com/bucket/evil.pem",
        "https://127.0.0.1/SimpleNotificationService-0.pem",
        "not an address",
    ];
    for url in elsewhere {
        assert_eq!(world.verify(&world.signed(with(notification(), "SigningCertURL", url))).await, None, "{url}");
    }
    for (field, value) in [
        ("TopicArn", "arn:aws:sns:us-west-2:999999999999:alarms"),
        ("SignatureVersion", "1"),
        ("Type", "Other"),
        ("Timestamp", "2026-11-20T08:00:00.000Z"),
        ("Timestamp", "2026-11-30T09:00:00.000Z"),
        ("Timestamp", "soon"),
    ] {
        assert_eq!(world.verify(&world.signed(with(notification(), field, value))).await, None, "{field} {value}");
    }
    assert_eq!(world.asked(), Vec::<String>::new());
    // Signed for something else, by somebody else, or not at all.
    let good: Value = serde_json::from_slice(&world.signed(notification())).unwrap();
    for body in [
        with(good.clone(), "Message", "another"),
        with(good.clone(), "Signature", "AAAA"),
        with(good, "Signature", "%"),
    ] {
        assert_eq!(world.verify(body.to_string().as_bytes()).await, None);
    }
    let other = World::new(Subscriptions::Told);
    assert_eq!(world.verify(&other.signed(notification())).await, None);
    let later: Timestamp = "2027-01-02T08:00:00Z".parse().unwrap();
    let late = world.signed(with(notification(), "Timestamp", "2027-01-02T08:00:00.000Z"));
    assert_eq!(world.verifier.verify(&late, later).await, None, "the certificate has expired");
}

#[tokio::test]
async fn wh_10_a_subscription_is_told_and_confirmed_only_where_the_config_says_so() {
    let world = World::new(Subscriptions::Told);
    let told = world.verify(&world.signed(confirmation())).await;
    assert_eq!(told, Some(Message::Subscription("the subscription waits for the operator")));
    assert_eq!(world.asked(), [CERTIFICATE], "and nothing else");
    let world = World::new(Subscriptions::Confirmed);
    let confirmed = world.verify(&world.signed(confirmation())).await;
    assert_eq!(confirmed, Some(Message::Subscription("the subscription is confirmed")));
    // Not the address in the message.
    let address = "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aus-west-2%3A123456789012%3Aalarms&Token=a+token+%26+more";
    assert_eq!(world.asked(), [CERTIFICATE, address]);
}

#[test]
fn topics_are_arns_and_nothing_else() {
    for arn in [ARN, "arn:aws-cn:sns:cn-north-1:123456789012:a.fifo"] {
        assert!(Topic::parse(arn).is_some(), "{arn}");
    }
    for arn in [
        "",
        "alarms",
        "arn:aws:sqs:us-west-2:123456789012:a",
        "arn:aws:sns:evil.example/:123456789012:a",
        "arn:aws:sns:us-west-2:1:a",
        "arn:aws:sns:us-west-2:123456789012:",
        "arn:aws:sns:us-west-2:123456789012:a:b",
        "arn:aws:sns:US-WEST-2:123456789012:a",
    ] {
        assert!(Topic::parse(arn).is_none(), "{arn}");
    }
}

proptest! {
    #[test]
    fn no_certificate_panics_or_holds(bytes in proptest::collection::vec(any::<u8>(), 0..200), signature in ".{0,40}") {
        prop_assert!(!holds(&bytes, signature.as_bytes(), b"text", now()));
    }
}
