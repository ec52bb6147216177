//! Draws a plot.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use plotters::prelude::{
    BitMapBackend, ChartBuilder, Circle, Color, DrawingArea, IntoDrawingArea, LineSeries, PathElement, RGBColor,
    Rectangle, WHITE,
};

use super::glyphs::{self, HIGH, WIDE};
use super::points::SERIES;
use super::{Chart, Plot, Series};

/// Columns of the picture.
pub(super) const WIDTH: u32 = 960;

/// Rows of the picture.
pub(super) const HEIGHT: u32 = 420;

/// Room around the field in which lines are drawn: above, below, left and right of it.
pub(super) const MARGINS: (u32, u32, u32, u32) = (20, 36, 100, 30);

/// Parts that each side is marked in, more or less: values are marked where they are round.
const TICKS: u8 = 4;

/// Dots of the picture for one dot of a character.
const SCALE: i32 = 2;

const GRID: RGBColor = RGBColor(225, 225, 225);
const INK: RGBColor = RGBColor(70, 70, 70);
const MARK: RGBColor = RGBColor(190, 0, 0);

/// Colours that colour-blind people tell apart, and their names.
pub(super) const COLOURS: [(RGBColor, &str); SERIES] = [
    (RGBColor(0, 114, 178), "blue"),
    (RGBColor(230, 159, 0), "orange"),
    (RGBColor(0, 158, 115), "green"),
    (RGBColor(213, 94, 0), "vermilion"),
    (RGBColor(204, 121, 167), "pink"),
    (RGBColor(86, 180, 233), "light blue"),
    (RGBColor(120, 94, 240), "violet"),
    (RGBColor(0, 0, 0), "black"),
];

/// Why there is no chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoChart {
    /// There is nothing to be drawn.
    #[error("the evidence has no points with a value")]
    NoPoints,
    /// It could not be drawn.
    #[error("the chart could not be drawn: {0}")]
    Draw(String),
    /// It could not be written.
    #[error("the chart could not be written as PNG: {0}")]
    Write(String),
}

/// What the field shows: from when, how long in seconds, and which values.
struct Field {
    since: Timestamp,
    seconds: f64,
    values: Range<f64>,
}

/// Draws a plot.
///
/// # Errors
/// [`NoChart`] where it has no point with a value, or where drawing fails.
pub fn draw(plot: &Plot) -> Result<Chart, NoChart> {
    let series = plot.series.get(..SERIES).unwrap_or(&plot.series);
    let field = Field::of(series).ok_or(NoChart::NoPoints)?;
    let mut pixels = vec![0; 3 * (WIDTH * HEIGHT) as usize];
    {
        let root = BitMapBackend::with_buffer(&mut pixels, (WIDTH, HEIGHT)).into_drawing_area();
        paint(&root, series, &plot.marks, &field).map_err(|error| NoChart::Draw(error.to_string()))?;
    }
    Ok(Chart {
        png: png(&pixels).map_err(|error| NoChart::Write(error.to_string()))?,
        says: says(plot, series, &field),
    })
}

impl Field {
    fn of(series: &[Series]) -> Option<Self> {
        let points = || series.iter().flat_map(|series| &series.points);
        let (since, until) = (points().map(|it| it.0).min()?, points().map(|it| it.0).max()?);
        let values = || points().filter_map(|it| it.1);
        let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        let room = if most > least { (most - least) * 0.05 } else { most.abs().max(1.0) * 0.5 };
        // Zero is shown where it is near, so that a small change does not look like a large one.
        let low = if least >= 0.0 && least <= most / 2.0 { 0.0 } else { least - room };
        Some(Self { since, seconds: until.duration_since(since).as_secs_f64().max(1.0), values: low..most + room })
    }

    fn at(&self, time: Timestamp) -> f64 {
        time.duration_since(self.since).as_secs_f64()
    }

    fn time(&self, part: f64) -> Option<Timestamp> {
        self.since.checked_add(SignedDuration::try_from_secs_f64(self.seconds * part).ok()?).ok()
    }
}

type Area<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;

fn paint(
    root: &Area<'_>,
    series: &[Series],
    marks: &[Timestamp],
    field: &Field,
) -> Result<(), Box<dyn std::error::Error>> {
    root.fill(&WHITE)?;
    let (above, below, left, right) = MARGINS;
    let mut chart = ChartBuilder::on(root)
        .margin_top(above)
        .margin_bottom(below)
        .margin_left(left)
        .margin_right(right)
        .build_cartesian_2d(0.0..field.seconds, field.values.clone())?;
    let Range { start: low, end: high } = field.values;
    for value in round_values(low, high) {
        let across = PathElement::new(vec![(0.0, value), (field.seconds, value)], GRID);
        chart.draw_series([across])?;
        let text = short(value);
        let (x, y) = chart.backend_coord(&(0.0, value));
        write(root, &text, x - width(&text) - 8, y - HIGH * SCALE / 2)?;
    }
    for tick in 0..=TICKS {
        let part = f64::from(tick) / f64::from(TICKS);
        let x = field.seconds * part;
        chart.draw_series([PathElement::new(vec![(x, low), (x, high)], GRID)])?;
        let text = field.time(part).map(|time| time.strftime("%H:%M:%SZ").to_string()).unwrap_or_default();
        let (x, y) = chart.backend_coord(&(x, low));
        let x = (x - width(&text) / 2).min(i32::try_from(WIDTH)? - width(&text));
        write(root, &text, x, y + 10)?;
    }
    for mark in marks {
        let x = field.at(*mark);
        if (0.0..=field.seconds).contains(&x) {
            chart.draw_series([PathElement::new(vec![(x, low), (x, high)], MARK)])?;
        }
    }
    for (series, (colour, _)) in series.iter().zip(COLOURS) {
        for run in series.points.split(|point| point.1.is_none()) {
            let line: Vec<(f64, f64)> = run.iter().filter_map(|(at, value)| Some((field.at(*at), (*value)?))).collect();
            if let [point] = line.as_slice() {
                chart.draw_series([Circle::new(*point, 2, colour.filled())])?;
            } else {
                chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            }
        }
    }
    root.present()?;
    Ok(())
}

/// Round values between two: multiples of 1, 2 or 5 times a power of ten.
fn round_values(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let rough = (high - low) / f64::from(TICKS);
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil();
    (0..=2 * TICKS).map(move |nth| (first + f64::from(nth)) * step).take_while(move |value| *value <= high)
}

fn width(text: &str) -> i32 {
    i32::try_from(text.len()).unwrap_or(0) * WIDE * SCALE
}

fn write(root: &Area<'_>, text: &str, x: i32, y: i32) -> Result<(), Box<dyn std::error::Error>> {
    for (column, row) in glyphs::dots(text) {
        let (x, y) = (x + column * SCALE, y + row * SCALE);
        root.draw(&Rectangle::new([(x, y), (x + SCALE, y + SCALE)], INK.filled()))?;
    }
    Ok(())
}

/// A value in a few characters.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    let plain = |value: f64, places: usize, unit: &str| {
        let text = format!("{value:.places$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        format!("{}{unit}", if text == "-0" { "0" } else { text })
    };
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-3..1e12).contains(&size) => format!("{value:.1e}"),
        _ if size >= 1e9 => plain(value / 1e9, 1, "G"),
        _ if size >= 1e6 => plain(value / 1e6, 1, "M"),
        _ if size >= 1e4 => plain(value / 1e3, 1, "k"),
        _ if size >= 100.0 => plain(value, 0, ""),
        _ if size >= 1.0 => plain(value, 2, ""),
        _ => plain(value, 4, ""),
    }
}

fn png(pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn says(plot: &Plot, series: &[Series], field: &Field) -> String {
    let clock = |at: Timestamp| at.strftime("%H:%M:%SZ").to_string();
    let until = field.time(1.0).map(clock).unwrap_or_default();
    let named = series.iter().zip(COLOURS).map(|(series, (_, colour))| {
        let values = || series.points.iter().filter_map(|point| point.1);
        match (values().reduce(f64::min), values().reduce(f64::max)) {
            (Some(least), Some(most)) => format!("{colour}: {}, {} to {}", series.name, short(least), short(most)),
            (None, _) | (_, None) => format!("{colour}: {}, no value", series.name),
        }
    });
    let named: Vec<String> = named.collect();
    let more = match plot.series.len().saturating_sub(series.len()) {
        0 => String::new(),
        more => format!("; {more} more are not drawn"),
    };
    let marks = if plot.marks.is_empty() { "" } else { "; a red line is when the cause began" };
    let query: String = plot.query.chars().take(200).collect();
    format!("{} {query}, {} to {until}. {}{more}{marks}", plot.evidence, clock(field.since), named.join("; "))
}
