//! Laws and cases of the text format.

use insta::assert_debug_snapshot;
use proptest::prelude::*;

use super::delta::{Movement, Over, compare};
use super::family::{Measure, metrics};
use super::{About, Kind, MAX_SAMPLES, Page, Sample, parse};

fn names() -> impl Strategy<Value = String> {
    "[a-zA-Z_:][a-zA-Z0-9_:]{0,12}"
}

fn label_sets() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::btree_map("[a-zA-Z_][a-zA-Z0-9_]{0,8}", any::<String>(), 0..5)
        .prop_map(|labels| labels.into_iter().collect())
}

fn values() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("NaN is unequal to itself", |v| !v.is_nan()), Just(0.0), Just(f64::INFINITY)]
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Counter, Kind::Gauge, Kind::Histogram, Kind::Summary, Kind::Untyped])
}

fn pages() -> impl Strategy<Value = Page> {
    let sample = (names(), label_sets(), values()).prop_map(|(name, labels, value)| Sample { name, labels, value });
    // White space at the ends of a help text does not count in the format.
    let help = "([^ \t\r]([^\r]{0,20}[^ \t\r])?)?";
    let about = (prop::option::of(kinds()), prop::option::of(help))
        .prop_filter("a declaration says something", |(kind, help)| kind.is_some() || help.is_some())
        .prop_map(|(kind, help)| About { kind, help });
    (prop::collection::hash_map(names(), about, 0..5), prop::collection::vec(sample, 0..20))
        .prop_map(|(about, samples)| Page { about, samples, ..Page::default() })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(page in pages()) {
        prop_assert_eq!(parse(&page.to_string()), page);
    }

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        let page = parse(&text);
        let _moved = compare(&metrics(&page), metrics(&page), 1.0);
    }

    #[test]
    fn text_that_looks_like_a_page_is_survived(
        text in "(# (TYPE|HELP) a(_total)? (counter|histogram|gauge|x)\n|a(_bucket|_sum|_total)?\\{?(le=\"?[-+0-9Infa]*\"?,?)?\\}? [-+0-9eNan.]* ?[0-9]*\n){0,30}"
    ) {
        let page = parse(&text);
        let moved = compare(&metrics(&page), metrics(&page), 0.0);
        prop_assert!(moved.len() <= page.samples.len());
    }
}

#[test]
fn a_page_of_all_kinds_is_understood() {
    let page = parse(concat!(
        "# HELP http_requests_total All requests.\n# TYPE http_requests_total counter\n",
        "http_requests_total{code=\"200\",path=\"/a\\\"b\\\\c\\nd\",} 1027 1395066363000\n",
        "http_requests_total { code = \"500\" } 3 # {trace_id=\"x\"} 1\r\n",
        "# a comment\n\n# EOF\npool_in_use 7\nweird NaN\nbad{ 1\n9bad 1\nworse\n",
    ));
    assert_eq!((page.samples.len(), page.malformed, page.first_malformed), (4, 3, Some(10)));
    assert_debug_snapshot!(page.samples[0], @r#"
    Sample {
        name: "http_requests_total",
        labels: [
            (
                "code",
                "200",
            ),
            (
                "path",
                "/a\"b\\c\nd",
            ),
        ],
        value: 1027.0,
    }
    "#);
}

#[test]
fn rs_a_hostile_page_costs_no_more_than_its_limits() {
    let many: Vec<String> = (0..MAX_SAMPLES + 5).map(|n| format!("a{{n=\"{n}\"}} 1\n")).collect();
    let many = many.concat();
    let page = parse(&many);
    assert_eq!((page.samples.len(), page.beyond), (MAX_SAMPLES, 5));
    let long = format!("a{{b=\"{}\"}} 1\nc 1\n", "x".repeat(1_000_000));
    assert_eq!((parse(&long).malformed, parse(&long).samples.len()), (1, 1));
    let twice = parse("a{b=\"1\",b=\"2\"} 1\n");
    assert_eq!(twice.malformed, 1);
}

fn histogram(counts: [u32; 4], sum: f64) -> Vec<super::family::Metric> {
    let [one, two, three, all] = counts;
    metrics(&parse(&format!(
        "# TYPE t histogram\nt_bucket{{le=\"0.1\"}} {one}\nt_bucket{{le=\"0.5\"}} {two}\nt_bucket{{le=\"1\"}} {three}\n\
         t_bucket{{le=\"+Inf\"}} {all}\nt_sum {sum}\nt_count {all}\n"
    )))
}

#[test]
fn a_histogram_is_one_metric_with_the_mean_of_the_interval() {
    let moved = compare(&histogram([10, 10, 10, 10], 0.5), histogram([10, 20, 30, 30], 12.5), 2.0);
    assert_debug_snapshot!(moved, @r#"
    [
        Moved {
            name: "t",
            kind: Histogram,
            labels: [],
            movement: Distribution {
                count: Some(
                    30.0,
                ),
                rate: Some(
                    10.0,
                ),
                over: Interval,
                mean: Some(
                    0.6,
                ),
                p50: Some(
                    0.5,
                ),
                p99: Some(
                    0.99,
                ),
                reset: false,
            },
        },
    ]
    "#);
}

#[test]
fn without_traffic_the_mean_is_since_the_start() {
    let moved = compare(&histogram([4, 4, 4, 4], 0.2), histogram([4, 4, 4, 4], 0.2), 2.0);
    let Movement::Distribution { over, mean, rate, .. } = moved[0].movement else { panic!("not a distribution") };
    assert_eq!((over, mean, rate), (Over::Start, Some(0.05), Some(0.0)));
    assert!(!moved[0].stirred());
}

#[test]
fn a_reset_is_flagged_and_has_no_rate() {
    let look = |value: u32| metrics(&parse(&format!("# TYPE c counter\nc {value}\n")));
    let moved = compare(&look(100), look(3), 2.0);
    assert_eq!(moved[0].movement, Movement::Counter { value: 3.0, rate: None, reset: true });
    let moved = compare(&histogram([9, 9, 9, 9], 1.0), histogram([1, 1, 1, 1], 0.1), 2.0);
    assert!(moved[0].reset());
}

#[test]
fn names_tell_the_type_where_the_page_does_not() {
    let found = metrics(&parse("# TYPE foo counter\nfoo_total 3\nfoo_created 1.7e9\nbare_total 2\nbare 1\n"));
    let kinds: Vec<_> = found.iter().map(|metric| (metric.name.as_str(), metric.kind)).collect();
    assert_eq!(kinds, [("foo_total", Kind::Counter), ("bare_total", Kind::Counter), ("bare", Kind::Untyped)]);
}

#[test]
fn a_summary_keeps_the_quantiles_of_its_process() {
    let text = "# TYPE s summary\ns{quantile=\"0.5\"} 0.2\ns{quantile=\"0.99\"} 0.9\ns_sum 10\ns_count 20\n";
    let found = metrics(&parse(text));
    let Measure::Distribution(summary) = &found[0].measure else { panic!("not a distribution") };
    assert_eq!((found.len(), summary.quantile(0.99), summary.mean()), (1, Some(0.9), Some(0.5)));
}
