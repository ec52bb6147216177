use proptest::prelude::*;

use super::masked;

fn mask(message: &str) -> String {
    let mut into = String::new();
    masked(message, &mut into);
    into
}

#[test]
fn values_become_holes_and_words_stay() {
    let cases = [
        ("took 12.5ms for 3 rows", "took <*> for <*> rows"),
        ("request 4f2c9a0e-8f0b-4c7e-9d21-0c2f51a7b9aa done", "request <*> done"),
        ("peer 10.11.34.11:45307 closed", "peer <*> closed"),
        ("peer [2001:db8::1]:443 closed", "peer [<*>]<*> closed"),
        ("user \"anna maria\" not found", "user <*> not found"),
        ("can't open 'a b.txt': denied", "can't open <*>: denied"),
        ("id=0xdeadbeef state=open", "id=<*> state=open"),
        ("sha deadbeefdeadbeefdeadbeef ok", "sha <*> ok"),
        ("  spaces \t between  ", "spaces between"),
        ("", ""),
    ];
    for (message, expected) in cases {
        assert_eq!(mask(message), expected, "{message}");
    }
}

proptest! {
    #[test]
    fn any_text_is_masked_without_a_digit_left(message in "\\PC{0,300}") {
        prop_assert!(!mask(&message).bytes().any(|byte| byte.is_ascii_digit()));
    }
}
