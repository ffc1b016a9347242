//! A result as a picture: for each corpus and profile, bars for the scanners on the fewest threads,
//! and if there are several numbers of threads, a line for each stage over them.

use std::fmt::Write;
use std::ops::Range;

use super::result::{Document, StageRow};
use super::table::heading;
use uniqurl_engine::output::HtmlText;

const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 320.0;
const HEADING: f64 = 40.0;

/// Colours that red-green colour-blind people can distinguish, too.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
const GREY: &str = "#808080";

/// The picture, as SVG.
pub fn svg(document: &Document) -> String {
    let flags = &document.flags;
    let has_lines = flags.threads.len() > 1;
    let middle = if has_lines { WIDTH * 0.6 } else { WIDTH };
    let (mut panels, mut top) = (String::new(), HEADING);
    for corpus in &flags.corpus {
        for profile in &flags.profile {
            let rows = document.results.iter();
            let rows: Vec<&StageRow> =
                rows.filter(|row| row.corpus == *corpus && row.profile == *profile).collect();
            panels += &bars(document, corpus, profile, &rows, (0.0, middle, top));
            if has_lines {
                panels += &lines(document, corpus, &rows, (middle, WIDTH, top));
            }
            top += HEIGHT;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" \
         height=\"{top}\" font-family=\"sans-serif\" font-size=\"13\">\n<title>uniqurl bench</title>\n\
         <rect width=\"{WIDTH}\" height=\"{top}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\">{}</text>\n{panels}</svg>\n",
        HtmlText(heading(document))
    )
}

fn bars(
    document: &Document,
    corpus: &str,
    profile: &str,
    rows: &[&StageRow],
    place: (f64, f64, f64),
) -> String {
    let flags = &document.flags;
    let threads = flags.threads[0];
    let rows: Vec<_> = rows.iter().filter(|row| row.threads == threads).collect();
    let limits =
        document.limits.iter().filter(|row| row.corpus == corpus && row.threads == threads);
    let highest = rows.iter().map(|row| rate(row, row.seconds.min));
    let highest = highest.chain(limits.clone().map(|row| row.gb_per_second)).fold(0.0, f64::max);
    let noun = if threads == 1 { "thread" } else { "threads" };
    let caption = format!("{corpus}, {profile}, {threads} {noun}");
    let stages = flags.stage.len() as f64;
    let mut panel = Panel::new(place, &caption, -0.5..stages - 0.5, highest);
    let width = 0.8 / flags.backend.len() as f64;
    for ((i, backend), colour) in flags.backend.iter().enumerate().zip(COLOURS.iter().cycle()) {
        panel.explain(backend, colour, 10.0);
        for row in rows.iter().filter(|row| row.backend == *backend) {
            let stage = flags.stage.iter().position(|stage| *stage == row.stage).unwrap_or(0);
            let left = stage as f64 - 0.4 + i as f64 * width;
            let ((x, y), (end, bottom)) =
                (panel.at(left, row.gb_per_second), panel.at(left + width * 0.9, 0.0));
            panel.rect((x, y), (end - x, bottom - y), colour);
            let middle = left + width * 0.45;
            let whisker = [row.seconds.max, row.seconds.min].map(|s| (middle, rate(row, s)));
            panel.line(&whisker, "black", 1.0);
        }
    }
    for (limit, width) in limits.zip([1.0, 3.0]) {
        panel.explain(&limit.limit, GREY, width);
        let ends = [-0.5, stages - 0.5].map(|x| (x, limit.gb_per_second));
        panel.line(&ends, GREY, width);
    }
    for (x, stage) in flags.stage.iter().enumerate() {
        panel.under(x as f64, stage);
    }
    panel.svg
}

fn lines(document: &Document, corpus: &str, rows: &[&StageRow], place: (f64, f64, f64)) -> String {
    let flags = &document.flags;
    // They are listed slowest first.
    let Some(backend) = flags.backend.last() else { return String::new() };
    let at = |threads: usize| (threads as f64).log2();
    let of_stage = |stage: &String| {
        let rows = rows.iter().filter(|row| row.backend == *backend && row.stage == *stage);
        rows.map(|row| (at(row.threads), row.gb_per_second)).collect::<Vec<_>>()
    };
    let colours = COLOURS.iter().rev().cycle();
    let mut series: Vec<_> = flags
        .stage
        .iter()
        .zip(colours)
        .map(|(stage, colour)| (stage.as_str(), of_stage(stage), *colour, 2.0))
        .collect();
    let limits = document.limits.iter();
    let newlines = limits.filter(|row| row.corpus == corpus && row.limit == "newline count");
    let newlines = newlines.map(|row| (at(row.threads), row.gb_per_second)).collect();
    series.push(("newline count", newlines, GREY, 3.0));
    let rates = series.iter().flat_map(|(_, points, ..)| points).map(|point| point.1);
    let highest = rates.fold(0.0, f64::max);
    let (first, last) = (at(flags.threads[0]), at(flags.threads[flags.threads.len() - 1]));
    let margin = (last - first) * 0.05;
    let caption = format!("{backend} by number of threads");
    let mut panel = Panel::new(place, &caption, first - margin..last + margin, highest);
    for (name, points, colour, width) in &series {
        panel.explain(name, colour, *width);
        panel.line(points, colour, *width);
        points.iter().for_each(|point| panel.dot(*point, colour));
    }
    for threads in &flags.threads {
        panel.under(at(*threads), &threads.to_string());
    }
    panel.svg
}

/// A chart with rates at its left side, room for words below it, and its legend above it.
struct Panel {
    svg: String,
    /// The area that the values fill.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Range<f64>,
    highest: f64,
    /// Where the next entry of the legend begins.
    legend: f64,
}

impl Panel {
    /// An empty panel, from its left end, right end and top.
    fn new((start, end, top): (f64, f64, f64), caption: &str, x: Range<f64>, highest: f64) -> Self {
        let (left, right) = (start + 64.0, end - 12.0);
        let mut panel = Self {
            svg: String::new(),
            left,
            right,
            top: top + 52.0,
            bottom: top + HEIGHT - 34.0,
            x,
            highest: highest * 1.05,
            legend: start + 12.0,
        };
        panel.text((start + 12.0, top + 20.0), "font-size=\"16\"", caption);
        let step = step(highest);
        let decimals = (-step.log10()).ceil().max(0.0) as usize;
        for tick in (0..=6).map(|i| f64::from(i) * step).filter(|tick| *tick <= highest * 1.05) {
            let (_, y) = panel.at(0.0, tick);
            let colour = if tick == 0.0 { "black" } else { "#d0d0d0" };
            panel.rect((left, y), (right - left, 1.0), colour);
            let label = format!("{tick:.decimals$}");
            panel.text((left - 6.0, y + 4.0), "text-anchor=\"end\"", &label);
        }
        let (x, y) = (start + 24.0, (panel.top + panel.bottom) / 2.0);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\"");
        panel.text((x, y), &turned, "GB/s");
        panel
    }

    /// Where a value is drawn.
    fn at(&self, x: f64, rate: f64) -> (f64, f64) {
        let across = (x - self.x.start) / (self.x.end - self.x.start);
        let up = rate / self.highest;
        (self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }

    /// An entry of the legend, its mark as high as the line or bar is thick.
    fn explain(&mut self, name: &str, colour: &str, height: f64) {
        let (x, y) = (self.legend, self.top - 16.0);
        self.rect((x, y - height / 2.0), (12.0, height), colour);
        self.text((x + 16.0, y + 4.5), "font-size=\"12\"", name);
        // The width of the font is unknown; seven units for each letter are enough.
        self.legend += 28.0 + 7.0 * name.len() as f64;
    }

    /// A word under the horizontal axis.
    fn under(&mut self, x: f64, word: &str) {
        let (x, y) = self.at(x, 0.0);
        self.text((x, y + 18.0), "text-anchor=\"middle\"", word);
    }

    fn line(&mut self, points: &[(f64, f64)], colour: &str, width: f64) {
        self.svg += "<polyline points=\"";
        for (x, rate) in points {
            let (x, y) = self.at(*x, *rate);
            let _ = write!(self.svg, "{x:.1},{y:.1} ");
        }
        let _ =
            writeln!(self.svg, "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>");
    }

    fn dot(&mut self, (x, rate): (f64, f64), colour: &str) {
        let (x, y) = self.at(x, rate);
        let _ =
            writeln!(self.svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }

    fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
        let _ = writeln!(
            self.svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        );
    }

    fn text(&mut self, (x, y): (f64, f64), how: &str, text: &str) {
        let _ =
            writeln!(self.svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {how}>{}</text>", HtmlText(text));
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that fits into the height at most six times.
fn step(highest: f64) -> f64 {
    let power = 10f64.powf((highest / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| highest / step <= 6.0).unwrap_or(highest)
}

/// The rate in 10^9 bytes a second for a time other than the median.
fn rate(row: &StageRow, seconds: f64) -> f64 {
    row.gb_per_second * row.seconds.median / seconds
}
