//! What comes back is read strictly.

use proptest::prelude::*;
use warrant_kernel::redact::{RedactionKey, Redactor};

use super::*;

proptest! {
    /// What is kept of a click goes through the redactor: an id that it took for a secret would be another card.
    #[test]
    fn what_buttons_and_forms_carry_is_no_secret(
        digest in "[0-9a-f]{12}", number in 1u64..1_000_000, revision in 1u32..100, page in prop::option::of(0u32..100),
    ) {
        let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
        let card = CardRef { approval: ApprovalId::nth(number), revision, digest_prefix: digest };
        let kept = Kept { card: card.clone(), page }.metadata();
        for text in [card.to_string(), kept] {
            prop_assert_eq!(&*redactor.redact_text(&text).unwrap().text, &text);
        }
    }
}

#[test]
fn all_words_are_read_back() {
    for action in Action::ALL {
        assert_eq!(action.as_str().parse::<Action>(), Ok(*action));
    }
    for form in Form::ALL {
        assert_eq!(form.as_str().parse::<Form>(), Ok(*form));
    }
    let error = "warrant.Approve".parse::<Action>().unwrap_err();
    assert_eq!(error.to_string(), "`warrant.Approve` is no button of ours");
}

#[test]
fn ap_24_a_card_is_read_back_as_it_was_sent_or_not_at_all() {
    let card = CardRef { approval: ApprovalId::nth(12), revision: 3, digest_prefix: "3fa90c12be77".to_owned() };
    assert_eq!(card.to_string(), "A12.3.3fa90c12be77");
    assert_eq!("A12.3.3fa90c12be77".parse(), Ok(card.clone()));
    for bad in [
        "",
        "A12",
        "A12.3",
        "A12.3.",
        "A12.3.xyz",
        "A12.03.3fa9",
        "A012.3.3fa9",
        "A12.+3.3fa9",
        "A12.3.3fa9.x",
        "a12.3.3fa9",
    ] {
        assert!(bad.parse::<CardRef>().is_err(), "{bad}");
    }
    for page in [None, Some(7)] {
        let kept = Kept { card: card.clone(), page };
        assert_eq!(kept.metadata().parse(), Ok(kept));
    }
    for bad in
        ["{}", r#"{"card":"A12.3.3fa9","whole":true}"#, &format!(r#"{{"card":"A1.1.ab"{}}}"#, " ".repeat(METADATA))]
    {
        assert!(bad.parse::<Kept>().is_err(), "{bad:.60}");
    }
}
