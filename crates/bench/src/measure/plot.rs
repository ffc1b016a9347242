//! A result as a picture: for each corpus and profile, bars for scanners on the fewest and the most threads, and
//! if there are several numbers of threads, a line for each stage over them. The scale is that of the stages:
//! the limits, several times as fast, are given as numbers.

use std::fmt::Write;
use std::ops::Range;

use super::result::{CorpusInfo, Document, StageRow};
use super::table::heading;
use uniqurl_engine::output::HtmlText;

const WIDTH: f64 = 1280.0;
const HEIGHT: f64 = 320.0;
const HEADING: f64 = 40.0;
/// Width of the column of a legend, right of its chart.
const LEGEND: f64 = 150.0;

/// Colours that red-green colour-blind people can distinguish, too.
const COLOURS: [&str; 7] =
    ["#56b4e9", "#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#505050"];

/// The picture, as SVG.
pub fn svg(document: &Document) -> String {
    let flags = &document.flags;
    let has_lines = flags.threads.len() > 1;
    let middle = if has_lines { WIDTH * 0.6 } else { WIDTH };
    let (mut panels, mut top) = (String::new(), HEADING);
    for corpus in &document.corpora {
        for profile in &flags.profile {
            let is_here =
                |row: &&StageRow| row.key.corpus == corpus.name && row.key.profile == *profile;
            let rows: Vec<&StageRow> = document.results.iter().filter(is_here).collect();
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
    corpus: &CorpusInfo,
    profile: &str,
    rows: &[&StageRow],
    place: (f64, f64, f64),
) -> String {
    let flags = &document.flags;
    let threads = &flags.threads;
    let mut numbers = vec![threads[0], threads[threads.len() - 1]];
    numbers.dedup();
    let series = numbers.iter().flat_map(|n| flags.backend.iter().map(move |name| (name, *n)));
    let series: Vec<_> = series.collect();
    let drawn = rows.iter().filter(|row| numbers.contains(&row.key.threads));
    let highest = highest(drawn, corpus);
    let caption = format!("{}, {profile}", corpus.name);
    let stages = flags.stage.len() as f64;
    let mut panel = Panel::new(place, &caption, -0.5..stages - 0.5, highest);
    panel.note(&limits(document, corpus, numbers[numbers.len() - 1]));
    let width = 0.84 / series.len() as f64;
    for ((i, (backend, n)), colour) in series.into_iter().enumerate().zip(COLOURS.iter().cycle()) {
        let noun = if n == 1 { "thread" } else { "threads" };
        panel.explain(&format!("{backend}, {n} {noun}"), colour, 10.0);
        let of_series =
            rows.iter().filter(|row| row.key.backend == *backend && row.key.threads == n);
        for row in of_series {
            let stage = flags.stage.iter().position(|stage| *stage == row.key.stage);
            let left = stage.unwrap_or(0) as f64 - 0.42 + i as f64 * width;
            panel.bar(left..left + width * 0.94, row, corpus, colour);
        }
    }
    for (x, stage) in flags.stage.iter().enumerate() {
        panel.under(x as f64, stage);
    }
    panel.svg
}

/// The limits as a text.
fn limits(document: &Document, corpus: &CorpusInfo, threads: usize) -> String {
    let is_here = |key: &super::plan::LimitKey| key.corpus == corpus.name && key.threads == threads;
    let limits = document.limits.iter().filter(|row| is_here(&row.key));
    let limits: Vec<_> =
        limits.map(|row| format!("{} {:.1}", row.key.limit, row.gb_per_second)).collect();
    let noun = if threads == 1 { "thread" } else { "threads" };
    format!("{} GB/s on {threads} {noun}", limits.join(", "))
}

/// The highest rate that has to be visible. Longer intervals are cut, so that bars stay readable.
fn highest<'r>(rows: impl Iterator<Item = &'r &'r StageRow>, corpus: &CorpusInfo) -> f64 {
    let (mut bar, mut end) = (0.0, 0.0);
    for row in rows {
        bar = f64::max(bar, row.gb_per_second);
        end = f64::max(end, corpus.rate(shortest(row)));
    }
    end.min(1.5 * bar)
}

/// The lower end of the interval, or the median.
fn shortest(row: &StageRow) -> f64 {
    row.seconds.low.unwrap_or(row.seconds.median)
}

fn lines(
    document: &Document,
    corpus: &CorpusInfo,
    rows: &[&StageRow],
    place: (f64, f64, f64),
) -> String {
    let flags = &document.flags;
    // They are listed slowest first.
    let Some(backend) = flags.backend.last() else { return String::new() };
    let at = |threads: usize| (threads as f64).log2();
    let of_stage = |stage: &String| -> Vec<&StageRow> {
        let rows = rows.iter().filter(|row| row.key.backend == *backend && row.key.stage == *stage);
        rows.copied().collect()
    };
    let series = flags.stage.iter().map(|stage| (stage, of_stage(stage)));
    // A stage that ran on one number of threads has no line.
    let series: Vec<_> = series.filter(|(_, rows)| rows.len() > 1).collect();
    let highest = highest(series.iter().flat_map(|(_, rows)| rows), corpus);
    let (first, last) = (at(flags.threads[0]), at(flags.threads[flags.threads.len() - 1]));
    let margin = (last - first) * 0.08;
    let caption = format!("{backend} by number of threads");
    let mut panel = Panel::new(place, &caption, first - margin..last + margin, highest);
    for ((stage, rows), colour) in series.iter().zip(COLOURS.iter().cycle()) {
        panel.explain(stage, colour, 2.0);
        let points: Vec<_> =
            rows.iter().map(|row| (at(row.key.threads), row.gb_per_second)).collect();
        panel.line(&points, colour, 2.0);
        for (row, point) in rows.iter().zip(points) {
            panel.whisker(point.0, row, corpus);
            panel.dot(point, colour);
        }
    }
    for threads in &flags.threads {
        panel.under(at(*threads), &threads.to_string());
    }
    panel.svg
}

/// A chart with rates at its left side, room for words below it, and its legend at its right side.
struct Panel {
    svg: String,
    /// The area that the values fill.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Range<f64>,
    highest: f64,
    /// The height of the next entry of the legend.
    legend: f64,
}

impl Panel {
    /// An empty panel, from its left end, right end and top.
    fn new((start, end, top): (f64, f64, f64), caption: &str, x: Range<f64>, highest: f64) -> Self {
        let (left, right) = (start + 64.0, end - 12.0 - LEGEND);
        let mut panel = Self {
            svg: String::new(),
            left,
            right,
            top: top + 52.0,
            bottom: top + HEIGHT - 34.0,
            x,
            // Above the longest whisker there is room for its number.
            highest: highest.max(1e-9) * 1.12,
            legend: top + 60.0,
        };
        panel.text((start + 12.0, top + 20.0), "font-size=\"16\"", caption);
        let step = step(highest.max(1e-9));
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
        let (x, y) = (self.right + 12.0, self.legend);
        self.rect((x, y - height / 2.0), (12.0, height), colour);
        self.text((x + 16.0, y + 4.5), "font-size=\"12\"", name);
        self.legend += 18.0;
    }

    /// A line of text under the caption.
    fn note(&mut self, text: &str) {
        let place = (self.left - 52.0, self.top - 16.0);
        self.text(place, "font-size=\"12\" fill=\"#505050\"", text);
    }

    /// A bar with its interval and its number.
    fn bar(&mut self, x: Range<f64>, row: &StageRow, corpus: &CorpusInfo, colour: &str) {
        let ((left, top), (right, bottom)) =
            (self.at(x.start, row.gb_per_second), self.at(x.end, 0.0));
        self.rect((left, top), (right - left, bottom - top), colour);
        let middle = (x.start + x.end) / 2.0;
        self.whisker(middle, row, corpus);
        let (x, y) = self.at(middle, corpus.rate(shortest(row)).min(self.highest / 1.12));
        let number = match row.gb_per_second {
            rate if rate < 10.0 => format!("{rate:.2}"),
            rate => format!("{rate:.0}"),
        };
        self.text((x, y - 4.0), "text-anchor=\"middle\" font-size=\"10\"", &number);
    }

    /// The 95 % interval, if there is one.
    fn whisker(&mut self, x: f64, row: &StageRow, corpus: &CorpusInfo) {
        if let (Some(low), Some(high)) = (row.seconds.low, row.seconds.high) {
            let top = self.highest / 1.12;
            let ends = [high, low].map(|seconds| (x, corpus.rate(seconds).min(top)));
            self.line(&ends, "black", 1.0);
        }
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
