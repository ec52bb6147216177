//! Arguments of a call, for every shipped tool: what is taken is an object of known fields, and written out again it is
//! taken as the same, so that what people are shown is what is carried out.

use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;
use warrant::app::builtin::TOOLS;
use warrant_kernel::call::arguments::{check, flight_key};
use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::call::tool::Services;
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::name::ServiceName;

use crate::input::Input;

struct Shop;

impl Services for Shop {
    fn names(&self) -> Vec<ServiceName> {
        ["checkout", "payments"].map(|name| name.parse().unwrap()).into()
    }
}

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let files = TOOLS.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
    let roles = ["explore", "general-purpose"].map(|name| name.parse().unwrap()).into();
    Definitions::load(files, &LoadContext { http_sources: &[].into(), roles: &roles }).unwrap()
});

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let nth = usize::from(input.byte()) % TOOLS.len();
    let raw = String::from_utf8_lossy(input.rest());
    let definition = DEFINITIONS.iter().nth(nth).unwrap();
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let Ok(taken) = check(definition, &raw, now, &Shop) else { return };
    let tool = definition.tool();
    let known = |name: &String| tool.args.contains_key(name);
    assert!(taken.given.keys().all(known) && taken.arguments.as_map().keys().all(known), "{:?}", taken.given);
    assert!(tool.args.iter().all(|(name, spec)| !spec.required || taken.given.contains_key(name)));
    assert_eq!(taken.case.is_some(), tool.risk != Risk::Read);
    if let Some(Value::Object(said)) = serde_json::from_str::<Value>(&raw).ok().filter(|_| tool.risk == Risk::Read) {
        assert!(said.keys().all(|name| taken.given.contains_key(name)), "a field was dropped from {raw:?}");
    }

    let mut again = taken.given.clone();
    if let Some(case) = &taken.case {
        again.insert("because".to_owned(), case.because.clone().into());
        again.insert("evidence".to_owned(), case.evidence.iter().map(ToString::to_string).collect::<Vec<_>>().into());
        again.extend(case.alternatives.iter().map(|text| ("alternatives".to_owned(), text.clone().into())));
        again.extend(case.otherwise.iter().map(|text| ("otherwise".to_owned(), text.clone().into())));
    }
    let again = Value::Object(again).to_string();
    let same =
        check(definition, &again, now, &Shop).unwrap_or_else(|problems| panic!("{again} from {raw:?}: {problems:?}"));
    assert_eq!(same, taken, "from {raw:?}");
    assert_eq!(flight_key(&tool.name, &same.given), flight_key(&tool.name, &taken.given));
}
