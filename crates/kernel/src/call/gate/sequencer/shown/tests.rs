//! How people's decisions are counted.

use crate::call::gate::approval::tests::approval;
use crate::call::gate::tests::world::{at, by};
use crate::call::gate::vote::{Vote, Whole};

use super::*;

#[test]
fn decisions_are_counted_with_the_time_they_took() {
    let mut figures = Figures::default();
    assert_eq!(figures.hasty_share(), None);
    // One vote after two seconds, one after three, a denial after ten; a low write that nobody was asked about.
    let mut voted = approval(Tier::High, 2);
    let vote = |second: i64| Vote { by: by("bob"), groups: Vec::new(), whole: Whole::Opened, at: at(second) };
    voted.votes = vec![vote(2), vote(3)];
    voted.state = State::Executed { at: at(20), verified: None };
    let mut denied = approval(Tier::Medium, 1);
    denied.state = State::Denied { by: "bob".parse().unwrap(), reason: "no".to_owned(), at: at(10) };
    for approval in [&voted, &denied, &approval(Tier::Low, 0)] {
        figures.add(&Figures::of(approval));
    }
    let counted = (figures.asked, figures.decisions, figures.hasty, figures.seconds, figures.executed);
    assert_eq!(counted, (2, 3, 1, 15, 1));
    assert!(figures.hasty_share().is_some_and(|share| (share - 1.0 / 3.0).abs() < 1e-9));
    assert_eq!(figures.times, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0], "a bound is part of what lies below it");
    figures.add(&Figures::of(&voted));
    let counted = (figures.asked, figures.decisions, figures.hasty, figures.seconds, figures.executed);
    assert_eq!(counted, (3, 5, 2, 20, 2));
    denied.state = State::Denied { by: "bob".parse().unwrap(), reason: "no".to_owned(), at: at(3_601) };
    assert_eq!(Figures::of(&denied).times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
}
