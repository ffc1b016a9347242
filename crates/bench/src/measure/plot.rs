//! A result as a picture: for each corpus and profile, bars for the scanners on the fewest threads,
//! and where there are several numbers of threads, a line for each stage over them.

use super::result::{Document, Row};
use super::table::heading;
use plotters::chart::{ChartBuilder, ChartContext, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    BLACK, Color, DrawingArea, IntoDrawingArea, IntoFont, LineSeries, PathElement, RGBColor,
    Rectangle, SVGBackend, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

const WIDTH: u32 = 1100;
const HEIGHT: u32 = 320;
const HEADING: u32 = 40;
const FONT: (&str, i32) = ("sans-serif", 13);

/// Told apart by people who see red and green alike too.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xD5, 0x5E, 0x00),
];
const GREY: RGBColor = RGBColor(0x80, 0x80, 0x80);

/// The picture, as SVG.
pub fn svg(document: &Document) -> Result<String, String> {
    let mut text = String::new();
    draw(document, &mut text).map_err(|error| format!("the plot: {error}"))?;
    Ok(text)
}

fn draw(document: &Document, text: &mut String) -> Drawn {
    let flags = &document.flags;
    let panels: Vec<_> = flags
        .corpus
        .iter()
        .flat_map(|corpus| flags.profile.iter().map(move |profile| (corpus, profile)))
        .collect();
    let height = HEADING + HEIGHT * panels.len() as u32;
    let root = SVGBackend::with_string(text, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    root.draw(&Text::new(heading(document), (12, 14), FONT.into_font()))?;
    for (i, (corpus, profile)) in (0..).zip(panels) {
        let top = (HEADING + HEIGHT * i) as i32;
        let (width, height) = (WIDTH as i32, HEIGHT as i32);
        let rows = document.results.iter();
        let rows: Vec<&Row> =
            rows.filter(|row| row.corpus == *corpus && row.profile == *profile).collect();
        let scales = flags.threads.len() > 1;
        let middle = if scales { width * 3 / 5 } else { width };
        let bars_area = root.clone().shrink((0, top), (middle, height));
        bars(document, corpus, profile, &rows, &bars_area, &root)?;
        if scales {
            let area = root.clone().shrink((middle, top), (width - middle, height));
            lines(document, corpus, &rows, &area, &root)?;
        }
    }
    root.present()?;
    Ok(())
}

fn bars(
    document: &Document,
    corpus: &str,
    profile: &str,
    rows: &[&Row],
    area: &Area<'_>,
    root: &Area<'_>,
) -> Drawn {
    let flags = &document.flags;
    let threads = flags.threads[0];
    let rows: Vec<_> = rows.iter().filter(|row| row.threads == threads).collect();
    let limits =
        document.limits.iter().filter(|row| row.corpus == corpus && row.threads == threads);
    let highest = rows.iter().map(|row| rate(row, row.seconds.min));
    let highest = highest.chain(limits.clone().map(|row| row.gb_per_second)).fold(0.0, f64::max);
    let caption = format!("{corpus}, {profile}, {}", on(threads));
    let stages = flags.stage.len() as f64;
    let mut chart = chart(area, &caption, -0.5..stages - 0.5, highest)?;
    let width = 0.8 / flags.backend.len() as f64;
    for ((i, backend), colour) in flags.backend.iter().enumerate().zip(COLOURS.iter().cycle()) {
        let left = |row: &Row| {
            let stage = flags.stage.iter().position(|stage| *stage == row.stage).unwrap_or(0);
            stage as f64 - 0.4 + i as f64 * width
        };
        let own: Vec<_> = rows.iter().filter(|row| row.backend == *backend).collect();
        let bar = |row: &&&&Row| {
            let corners = [(left(row), 0.0), (left(row) + width * 0.9, row.gb_per_second)];
            Rectangle::new(corners, colour.filled())
        };
        chart
            .draw_series(own.iter().map(bar))?
            .label(backend.as_str())
            .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
        let whisker = |row: &&&&Row| {
            let x = left(row) + width * 0.45;
            let ends = vec![(x, rate(row, row.seconds.max)), (x, rate(row, row.seconds.min))];
            PathElement::new(ends, BLACK)
        };
        chart.draw_series(own.iter().map(whisker))?;
    }
    for (limit, colour) in limits.zip([GREY.stroke_width(1), GREY.stroke_width(3)]) {
        let ends = [(-0.5, limit.gb_per_second), (stages - 0.5, limit.gb_per_second)];
        chart
            .draw_series(LineSeries::new(ends, colour))?
            .label(limit.limit.as_str())
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 12, y)], colour));
    }
    legend(&mut chart)?;
    for (x, stage) in flags.stage.iter().enumerate() {
        under(&chart, x as f64, stage, root)?;
    }
    Ok(())
}

fn lines(
    document: &Document,
    corpus: &str,
    rows: &[&Row],
    area: &Area<'_>,
    root: &Area<'_>,
) -> Drawn {
    let flags = &document.flags;
    // They are listed slowest first.
    let Some(backend) = flags.backend.last() else { return Ok(()) };
    let of_limit = document.limits.iter().filter(|row| row.corpus == corpus);
    let newlines: Vec<_> = of_limit.filter(|row| row.limit == "newline count").collect();
    let rows: Vec<_> = rows.iter().filter(|row| row.backend == *backend).collect();
    let highest = rows.iter().map(|row| row.gb_per_second);
    let highest = highest.chain(newlines.iter().map(|row| row.gb_per_second)).fold(0.0, f64::max);
    let at = |threads: usize| (threads as f64).log2();
    let (first, last) = (at(flags.threads[0]), at(flags.threads[flags.threads.len() - 1]));
    let margin = (last - first) * 0.05;
    let x = first - margin..last + margin;
    let mut chart = chart(area, &format!("threads, {backend}"), x, highest)?;
    for (stage, colour) in flags.stage.iter().zip(COLOURS.iter().rev().cycle()) {
        let own = rows.iter().filter(|row| row.stage == *stage);
        let points = own.map(|row| (at(row.threads), row.gb_per_second));
        let line = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(points, line).point_size(3))?
            .label(stage.as_str())
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 12, y)], line));
    }
    let points = newlines.iter().map(|row| (at(row.threads), row.gb_per_second));
    let line = GREY.stroke_width(3);
    chart
        .draw_series(LineSeries::new(points, line))?
        .label("newline count")
        .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 12, y)], line));
    legend(&mut chart)?;
    for threads in &flags.threads {
        under(&chart, at(*threads), &threads.to_string(), root)?;
    }
    Ok(())
}

/// An empty chart with rates at its left side and room for words below it.
fn chart<'a, 'b>(
    area: &'a Area<'b>,
    caption: &str,
    x: std::ops::Range<f64>,
    highest: f64,
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(22)
        .y_label_area_size(52)
        .build_cartesian_2d(x, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .light_line_style(WHITE)
        .label_style(FONT)
        .y_desc("GB/s")
        .draw()?;
    Ok(chart)
}

fn legend<'b: 'a, 'a>(chart: &mut Chart<'a, 'b>) -> Drawn {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .label_font(FONT)
        .draw()?;
    Ok(())
}

/// A word under the horizontal axis.
fn under(chart: &Chart<'_, '_>, x: f64, word: &str, root: &Area<'_>) -> Drawn {
    let (x, y) = chart.plotting_area().map_coordinate(&(x, 0.0));
    let centred = FONT.into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
    root.draw(&Text::new(word.to_owned(), (x, y + 6), centred))?;
    Ok(())
}

/// 10^9 bytes a second, where another time than the median counts.
fn rate(row: &Row, seconds: f64) -> f64 {
    row.gb_per_second * row.seconds.median / seconds
}

fn on(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}
