//! For a page: one dot for each round, a stroke for the median, each panel on a scale of its own from zero.

use super::{Panel, Sheet, number};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const NAMES: f64 = 300.0;
const PLOT: f64 = 440.0;
const ROW: f64 = 24.0;
const COLOURS: [&str; 2] = ["#1f77b4", "#d1701a"];

pub(super) fn render(sheet: &Sheet<'_>) -> String {
    let figure = sheet.figure;
    let rows: usize = figure.panels.iter().map(|p| p.series.len() + 3).sum();
    let height = 80.0 + ROW * rows as f64;
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    label(&mut svg, 20.0, 30.0, "font-size=\"18\"", &figure.title);
    let quick = if sheet.quick { "QUICK TRY, no figures. " } else { "" };
    label(&mut svg, 20.0, 50.0, "font-size=\"10\" fill=\"#666\"", &format!("{quick}{}", sheet.machine.line()));
    let mut y = 80.0;
    for panel in &figure.panels {
        y = draw(&mut svg, panel, y);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws below `y`; returns where the next panel may begin.
fn draw(svg: &mut String, panel: &Panel, mut y: f64) -> f64 {
    let most = panel.series.iter().map(|s| s.most).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let top = if most > 0.0 { most * 1.05 } else { 1.0 };
    let x = |value: f64| NAMES + PLOT * (value / top).clamp(0.0, 1.0);
    label(svg, 20.0, y, "font-weight=\"bold\"", &format!("{} ({})", panel.title, panel.unit));
    y += ROW;
    for (index, s) in panel.series.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        label(svg, 20.0, y + 4.0, "", &s.name);
        let _ = writeln!(svg, "<line x1=\"{NAMES}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#ddd\"/>", NAMES + PLOT);
        for value in s.rounds.iter().filter(|v| v.is_finite()) {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\" fill-opacity=\"0.4\"/>",
                x(*value)
            );
        }
        if s.median.is_finite() {
            let at = x(s.median);
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"3\"/>",
                y - 8.0,
                y + 8.0
            );
        }
        label(svg, NAMES + PLOT + 14.0, y + 4.0, "", &number(s.median));
        y += ROW;
    }
    let axis = "font-size=\"10\" fill=\"#666\"";
    label(svg, NAMES, y, axis, "0");
    label(svg, NAMES + PLOT - 30.0, y, axis, &number(top));
    y + 2.0 * ROW
}

fn label(svg: &mut String, x: f64, y: f64, style: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {style}>{text}</text>");
}
