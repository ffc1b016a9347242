//! Bars and curves as HTML and SVG.

use std::fmt::{self, Write};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 80.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 16.0;

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

/// Columns side by side, each as high as its count is of `most`. `label` is shown for the column that is
/// pointed at.
pub(super) fn columns(
    html: &mut String,
    columns: &[(i64, u64)],
    most: u64,
    label: impl Fn(i64, u64) -> String,
) -> fmt::Result {
    html.push_str("<div class=\"columns\">");
    for (at, count) in columns {
        let height = *count as f64 * 100.0 / most.max(1) as f64;
        let class = if *count > 0 { " class=\"some\"" } else { "" };
        write!(
            html,
            "<div{class} style=\"height:{height:.2}%\" title=\"{}\"></div>",
            label(*at, *count)
        )?;
    }
    html.push_str("</div>\n");
    Ok(())
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
    let x = |seconds: f64| LEFT + (seconds - first.0) / across * (WIDTH - LEFT);
    let y = |height: f64| TOP + (1.0 - height / most) * (HEIGHT - BOTTOM - TOP);
    write!(
        html,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>over time</title>\n"
    )?;
    for part in [0.0, 0.5, 1.0] {
        let (at, text) = (y(most * part), label(most * part));
        writeln!(
            html,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{WIDTH}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 8.0,
            at + 4.0
        )?;
    }
    let mut path = String::new();
    for (i, (seconds, height)) in points.iter().enumerate() {
        let step = if i == 0 { 'M' } else { 'L' };
        write!(path, "{step}{:.1} {:.1}", x(*seconds), y(*height))?;
    }
    let (start, end, floor) = (x(first.0), x(last.0), y(0.0));
    write!(
        html,
        "<path class=\"area\" d=\"{path}L{end:.1} {floor:.1}L{start:.1} {floor:.1}Z\"/>\n\
         <path class=\"curve\" d=\"{path}\"/>\n"
    )?;
    for (seconds, anchor) in [(first.0, "start"), (last.0, "end")] {
        writeln!(
            html,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{seconds:.2} s</text>",
            x(seconds),
            HEIGHT - 6.0
        )?;
    }
    html.push_str("</svg>\n");
    Ok(())
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
        assert!(html.contains("M80.0 196.0L900.0 16.0") && html.contains(">8</text>"), "{html}");
        assert!(!html.contains("NaN"));
    }

    #[test]
    fn bar_of_zero_has_no_width() {
        let mut html = String::new();
        bar(&mut html, 0, 0).unwrap();
        assert!(html.contains("width:0.00%"), "{html}");
    }
}
