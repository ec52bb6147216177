//! Queries of strangers: what is taken is sent in a form that is taken as itself; weighed over a window it keeps the window
//! and makes its step no finer; label values can't end their quotes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use warrant_toolbox::tools::sources::prometheus::Window;
use warrant_toolbox::tools::sources::prometheus::query::{Fitted, MAX_LENGTH, Query};
use warrant_toolbox::tools::sources::prometheus::selector::Selector;

use crate::input::Input;

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let hours = i64::from(input.byte()) + 1;
    let text = String::from_utf8_lossy(input.rest()).into_owned();
    selected(&text);
    let Ok(query) = Query::read(&text) else { return };
    let sent = query.text();
    if sent.len() <= MAX_LENGTH {
        let again = Query::read(sent).unwrap_or_else(|error| panic!("{sent:?} from {text:?}: {error}"));
        assert_eq!(again.text(), sent, "from {text:?}");
    }
    let until: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let window = Window::new(until - SignedDuration::from_hours(hours), until);
    match query.over(window) {
        Ok(Fitted::Whole(fitted)) => assert_eq!(fitted, window),
        Ok(Fitted::Raised(fitted)) => {
            assert!(fitted.step > window.step, "{fitted:?}");
            assert_eq!((fitted.since, fitted.until), (window.since, window.until));
            assert!(matches!(query.over(fitted), Ok(Fitted::Whole(same)) if same == fitted), "{sent:?}");
        }
        Err(_) => {}
    }
}

/// A query that we build around a value is read as one selector, whatever the value.
fn selected(value: &str) {
    let labels = BTreeMap::from([("job".to_owned(), value.to_owned())]);
    let selector = Selector::of(&labels).unwrap().unwrap().to_string();
    let quoted = selector.strip_prefix("{job=\"").and_then(|rest| rest.strip_suffix("\"}"));
    let inner = quoted.unwrap_or_else(|| panic!("{selector:?}"));
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        assert!(c != '"' && c != '\n', "{selector:?}");
        if c == '\\' {
            assert!(chars.next().is_some(), "{selector:?}");
        }
    }
}
