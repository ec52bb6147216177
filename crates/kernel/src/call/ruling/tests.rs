//! The tier that stands in a decision.

use super::*;

#[test]
fn the_tier_is_what_is_asked_raised_by_the_floor_and_high_where_nothing_states_it() {
    let (low, medium, high) = (Some(Tier::Low), Some(Tier::Medium), Some(Tier::High));
    for risk in [Risk::Write, Risk::Network, Risk::Dangerous] {
        for (action, floor, tier) in [
            (Action::Ask(Tier::Low), None, low),
            (Action::Ask(Tier::Low), medium, medium),
            (Action::Ask(Tier::High), low, high),
            (Action::Allow, low, low),
            (Action::Deny, medium, medium),
            (Action::Allow, None, high),
            (Action::Deny, None, high),
        ] {
            assert_eq!(tier_of(risk, action, floor), tier, "{risk:?} {action:?} {floor:?}");
        }
    }
    for looks in [Risk::Read, Risk::Shell] {
        assert_eq!(tier_of(looks, Action::Allow, high), None);
    }
}
