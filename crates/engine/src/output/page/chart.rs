//! Bars and curves as HTML and SVG.

use std::fmt::{self, Write};

use crate::output::Grouped;

/// The size of a drawing, which the page stretches.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// A cell with a bar as long as `count` is of `most`.
pub(super) fn bar(html: &mut String, count: u64, most: u64) -> fmt::Result {
    let width = count as f64 * 100.0 / most.max(1) as f64;
    write!(html, "<td class=\"chart\"><div class=\"bar\" style=\"width:{width:.2}%\"></div></td>")
}

/// One bar of all counts, each in the colour of its class.
pub(super) fn parts(html: &mut String, counts: &[(&str, u64)]) -> fmt::Result {
    html.push_str("<div class=\"whole\">");
    for (class, count) in counts.iter().filter(|(_, count)| *count > 0) {
        write!(html, "<div class=\"{class}\" style=\"flex:{count}\"></div>")?;
    }
    html.push_str("</div>\n");
    Ok(())
}

/// Counts over time, from the start to the end that `ends` name. Each bar has a count, the part of it that the
/// line shows, and a title.
pub(super) fn over_time(
    html: &mut String,
    bars: Vec<(u64, u64, String)>,
    has_line: bool,
    ends: &[String; 2],
) -> fmt::Result {
    let most = round_up(bars.iter().map(|(count, ..)| *count).max().unwrap_or(0));
    let half = if most.is_multiple_of(2) { Grouped(most / 2).to_string() } else { String::new() };
    let labels = [Grouped(most).to_string(), half, "0".to_owned()];
    let step = WIDTH / bars.len().max(1) as f64;
    let height = |count: u64| count as f64 / most as f64 * HEIGHT;
    frame(html, &labels, ends, |svg| {
        for (i, (count, _, title)) in bars.iter().enumerate().filter(|(_, bar)| bar.0 > 0) {
            let (x, tall) = (i as f64 * step, height(*count));
            writeln!(
                svg,
                "<rect class=\"some\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{tall:.2}\">\
                 <title>{title}</title></rect>",
                x + step * 0.05,
                HEIGHT - tall,
                step * 0.9,
            )?;
        }
        if !has_line {
            return Ok(());
        }
        let middles = bars
            .iter()
            .enumerate()
            .map(|(i, (_, part, _))| ((i as f64 + 0.5) * step, HEIGHT - height(*part)));
        writeln!(svg, "<path class=\"part\" d=\"{}\"/>", path(middles))
    })
}

/// A curve over time, from points of seconds and heights. Fewer than two points are none.
pub(super) fn curve(
    html: &mut String,
    points: &[(f64, f64)],
    label: impl Fn(f64) -> String,
) -> fmt::Result {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(()) };
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    // A single point makes no curve.
    if points.len() < 2 || most <= 0.0 {
        return Ok(());
    }
    let across = (last.0 - first.0).max(f64::MIN_POSITIVE);
    let labels = [most, most / 2.0, 0.0].map(label);
    let ends = [first, last].map(|(seconds, _)| format!("{seconds:.2} s"));
    frame(html, &labels, &ends, |svg| {
        let line = path(points.iter().map(|(seconds, height)| {
            ((seconds - first.0) / across * WIDTH, (1.0 - height / most) * HEIGHT)
        }));
        writeln!(
            svg,
            "<path class=\"area\" d=\"{line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z\"/>\n\
             <path class=\"curve\" d=\"{line}\"/>"
        )
    })
}

/// A drawing with the values of its grid beside it, from the top down, and its two ends below. The page
/// stretches the drawing to its width, and leaves the text as it is, so that it stays readable where the page
/// is narrow.
fn frame(
    html: &mut String,
    labels: &[String; 3],
    [start, end]: &[String; 2],
    draw: impl FnOnce(&mut String) -> fmt::Result,
) -> fmt::Result {
    let [top, middle, bottom] = labels;
    write!(
        html,
        "<div class=\"plot\">\n<div class=\"values\"><span>{top}</span><span>{middle}</span>\
         <span>{bottom}</span></div>\n\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">\n\
         <path class=\"grid\" d=\"M0 0H{WIDTH}M0 {}H{WIDTH}M0 {HEIGHT}H{WIDTH}\"/>\n",
        HEIGHT / 2.0
    )?;
    draw(html)?;
    write!(
        html,
        "</svg>\n<div class=\"ends\"><span>{start}</span><span>{end}</span></div>\n</div>\n"
    )
}

/// A path through points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (i, (x, y)) in points.enumerate() {
        let step = if i == 0 { 'M' } else { 'L' };
        write!(path, "{step}{x:.1} {y:.1}").expect("a String takes all of it");
    }
    path
}

/// The next number of one digit and zeros, or of 1 and zeros.
fn round_up(count: u64) -> u64 {
    let digits = count.max(1).ilog10();
    let unit = 10_u64.pow(digits);
    count.max(1).div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_needs_two_points() {
        let label = |height: f64| height.to_string();
        for points in [&[][..], &[(1.0, 5.0)], &[(1.0, 0.0), (2.0, 0.0)]] {
            let mut html = String::new();
            curve(&mut html, points, label).unwrap();
            assert_eq!(html, "");
        }
        let mut html = String::new();
        curve(&mut html, &[(1.0, 0.0), (2.0, 8.0)], label).unwrap();
        assert!(
            html.contains("M0.0 100.0L1000.0 0.0") && html.contains("<span>8</span>"),
            "{html}"
        );
        assert!(!html.contains("NaN"));
    }

    #[test]
    fn bar_of_zero_has_no_width() {
        let mut html = String::new();
        bar(&mut html, 0, 0).unwrap();
        assert!(html.contains("width:0.00%"), "{html}");
    }

    #[test]
    fn bars_and_their_line_share_one_scale() {
        let mut html = String::new();
        let bar = |count, part| (count, part, format!("{count}"));
        let bars = vec![bar(30, 15), bar(0, 0), bar(40, 0), bar(5, 5)];
        over_time(&mut html, bars, true, &["a".into(), "b".into()]).unwrap();
        assert!(html.contains("<span>40</span><span>20</span><span>0</span>"), "{html}");
        assert!(
            html.contains("y=\"25.00\" width=\"225.00\" height=\"75.00\"><title>30<"),
            "{html}"
        );
        assert!(html.contains("M125.0 62.5L375.0 100.0L625.0 100.0L875.0 87.5"), "{html}");
        assert_eq!(html.matches("<rect").count(), 3);
    }

    #[test]
    fn scale_ends_at_a_round_number() {
        for (count, end) in [(0, 1), (1, 1), (9, 9), (10, 10), (11, 20), (999, 1000), (1234, 2000)]
        {
            assert_eq!(round_up(count), end);
        }
        assert!(round_up(u64::MAX) >= u64::MAX / 10);
    }
}
