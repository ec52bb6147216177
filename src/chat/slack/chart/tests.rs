//! The picture shows the points and nothing else.

use proptest::prelude::*;
use serde_json::json;

use super::paint::{COLOURS, HEIGHT, MARGINS, WIDTH, short};
use super::*;
use crate::chat::slack::report::tests::{report, run};
use crate::chat::slack::status::tests::{asked, event, found, opened, state};
use warrant_kernel::domain::report::{FindingKind, Report};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_769_860_800 + seconds).unwrap()
}

fn plot(series: Vec<Series>) -> Plot {
    Plot { evidence: "E5".parse().unwrap(), query: "rate(errors[1m])".to_owned(), series, marks: vec![at(300)] }
}

fn series(name: &str, points: &[(i64, Option<f64>)]) -> Series {
    Series { name: name.to_owned(), points: points.iter().map(|(time, value)| (at(*time), *value)).collect() }
}

struct Picture(Vec<u8>);

impl Picture {
    fn of(chart: &Chart) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(&chart.png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (WIDTH, HEIGHT, png::ColorType::Rgb));
        Self(pixels)
    }

    fn is(&self, x: f64, y: f64, colour: usize) -> bool {
        let plotters::style::RGBColor(red, green, blue) = COLOURS[colour].0;
        (-2..=2).any(|dx: i32| {
            (-2..=2).any(|dy: i32| {
                let near = |place: f64, by: i32| format!("{:.0}", place + f64::from(by)).parse::<usize>().unwrap();
                let from = 3 * (near(y, dy) * usize::try_from(WIDTH).unwrap() + near(x, dx));
                self.0[from..from + 3] == [red, green, blue]
            })
        })
    }
}

/// Where a point should be, by hand.
fn place(part_of_time: f64, part_of_values: f64) -> (f64, f64) {
    let (above, below, left, right) = MARGINS;
    let (wide, high) = (f64::from(WIDTH - left - right), f64::from(HEIGHT - above - below));
    (f64::from(left) + wide * part_of_time, f64::from(above) + high * (1.0 - part_of_values))
}

#[test]
fn known_points_are_where_they_should_be() {
    let chart = draw(&plot(vec![
        series("a", &[(0, Some(0.0)), (150, Some(100.0)), (300, Some(50.0)), (450, None), (600, Some(20.0))]),
        series("b", &[(0, Some(80.0)), (600, Some(80.0))]),
    ]));
    let chart = chart.unwrap();
    let picture = Picture::of(&chart);
    // From 0 to 100 and a twentieth above.
    let y = |value: f64| value / 105.0;
    for (time, value) in [(0.001, 0.0), (0.25, 100.0), (0.5, 50.0), (0.125, 50.0), (1.0, 20.0)] {
        let (px, py) = place(time, y(value));
        assert!(picture.is(px, py, 0), "{time} {value}");
    }
    let (px, py) = place(0.7, y(80.0));
    assert!(picture.is(px, py, 1));
    // In the gap there is no line.
    for part in 1..8 {
        let time = 0.55 + 0.05 * f64::from(part);
        for value in 0..100 {
            let (px, py) = place(time, y(f64::from(value)));
            assert!(!picture.is(px, py, 0), "{time} {value}");
        }
    }
    insta::assert_snapshot!(chart.says, @r"E5 rate(errors[1m]), 12:00:00Z to 12:10:00Z. blue: a, 0 to 100; orange: b, 80 to 80; a red line is when the cause began");
}

#[test]
fn points_are_read_as_the_metric_tools_write_them() {
    let row = |points| json!({"labels": {"service": "checkout", "code": "500"}, "summary": {}, "points": points});
    let data = json!({"query": "q", "series": [
        row(json!([["2026-01-31T12:00:00Z", 3], ["2026-01-31T12:01:00Z", "NaN"], ["2026-01-31T12:02:00Z", 0.5], ["nonsense", 1], 7])),
        row(json!([])),
        {"labels": {}},
    ]});
    let found = series_of(&data);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "service=checkout, code=500");
    let values: Vec<Option<f64>> = found[0].points.iter().map(|point| point.1).collect();
    assert_eq!(values, [Some(3.0), None, Some(0.5)]);
    for strange in [json!(null), json!({"series": 3}), json!({"series": [1, {"points": {}}]})] {
        assert_eq!(series_of(&strange), []);
    }
}

#[test]
fn what_the_findings_rest_on_is_drawn_in_their_order_and_once() {
    use warrant_kernel::domain::name::EvidenceId;
    use warrant_kernel::domain::report::Finding;

    let row = json!({"labels": {}, "points": [["2026-01-31T12:00:00Z", 3]]});
    let mut state = state(vec![opened(run())]);
    for n in 1..=6 {
        state.apply(&event(2 * n, asked(n, "query_metrics", "{}")));
        let data = if n == 2 { json!({"lines": ["x"]}) } else { json!({"query": format!("q{n}"), "series": [row]}) };
        state.apply(&event(2 * n + 1, found(n, data)));
    }
    let finding = |kind, evidence: &[u64], at: Option<&str>| Finding {
        kind,
        claim: String::new(),
        evidence: evidence.iter().map(|n| EvidenceId::nth(*n)).collect(),
        quotes: Vec::new(),
        at: at.map(str::to_owned),
    };
    let findings = vec![
        finding(FindingKind::Symptom, &[4, 2, 9], Some("2026-01-31T12:00:07Z")),
        finding(FindingKind::Cause, &[4, 1, 5, 6], Some("2026-01-31T12:00:05Z")),
    ];
    let plots = decisive(&Report { findings, ..report() }, &state);
    let drawn: Vec<(String, &str, usize)> =
        plots.iter().map(|plot| (plot.evidence.to_string(), plot.query.as_str(), plot.marks.len())).collect();
    assert_eq!(drawn, [("E4".to_owned(), "q4", 1), ("E1".to_owned(), "q1", 1), ("E5".to_owned(), "q5", 1)]);
}

#[test]
fn nothing_to_draw_is_said() {
    assert_eq!(draw(&plot(Vec::new())), Err(NoChart::NoPoints));
    assert_eq!(draw(&plot(vec![series("a", &[(0, None)])])), Err(NoChart::NoPoints));
    assert!(draw(&plot(vec![series("a", &[(0, Some(7.0))])])).is_ok());
}

#[test]
fn values_are_written_short() {
    let written: Vec<String> =
        [0.0, 0.25, -0.5, 3.0, 2.125, 42.0, 1234.0, 20_480.0, 3.2e6, 5e9, 1e300, 1e-9].into_iter().map(short).collect();
    assert_eq!(written, ["0", "0.25", "-0.5", "3", "2.12", "42", "1234", "20.5k", "3.2M", "5G", "1.0e300", "1.0e-9"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_point_breaks_it(points in prop::collection::vec((-4_000_000_000i64..4_000_000_000, prop::option::of(-1e300..1e300)), 1..40), flat in any::<bool>()) {
        let points: Vec<(i64, Option<f64>)> = points.into_iter().map(|(time, value)| (time, if flat { value.map(|_| 1e300) } else { value })).collect();
        let mut one = series("a", &points);
        one.points.sort_by_key(|point| point.0);
        let any = one.points.iter().any(|point| point.1.is_some());
        prop_assert_eq!(draw(&plot(vec![one])).is_ok(), any);
    }
}
