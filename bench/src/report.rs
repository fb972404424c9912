//! A figure, written down as text, JSON and SVG.

mod svg;
mod text;

use crate::machine::Machine;
use crate::scale::Scale;
use crate::statistics::{median, spread};
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::Path;

/// Something measured.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// The name of its files.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// How it was measured, in sentences.
    pub(crate) how: Vec<String>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) goals: Vec<Goal>,
}

/// Values of one unit that can be compared.
#[derive(Debug, Serialize)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) series: Vec<Series>,
}

/// One value for each round.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) rounds: Vec<f64>,
}

/// What was aimed at, and what came out.
#[derive(Debug, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) got: f64,
    pub(crate) met: bool,
}

impl Panel {
    pub(crate) fn new(title: impl Into<String>, unit: &'static str) -> Panel {
        Panel { title: title.into(), unit, series: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(mut self, name: impl Into<String>, rounds: Vec<f64>) -> Panel {
        let (least, most) = spread(&rounds);
        self.series.push(Series { name: name.into(), median: median(&rounds), least, most, rounds });
        self
    }
}

impl Goal {
    pub(crate) fn at_least(what: impl Into<String>, bound: f64, got: f64) -> Goal {
        Goal { what: what.into(), wanted: format!("≥ {bound}"), got, met: got >= bound }
    }

    pub(crate) fn at_most(what: impl Into<String>, bound: f64, got: f64) -> Goal {
        Goal { what: what.into(), wanted: format!("≤ {bound}"), got, met: got <= bound }
    }
}

#[derive(Serialize)]
struct Sheet<'a> {
    machine: &'a Machine,
    /// Only a try: the figures mean nothing.
    quick: bool,
    #[serde(flatten)]
    figure: &'a Figure,
}

/// Writes `<name>.txt`, `.json` and `.svg` into `out`, and the text to the standard output.
pub(crate) fn write(figure: &Figure, machine: &Machine, scale: &Scale, out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
    let sheet = Sheet { machine, quick: scale.quick, figure };
    let text = text::render(&sheet);
    println!("{text}");
    let mut json = serde_json::to_string_pretty(&sheet)?;
    json.push('\n');
    for (ending, content) in [("txt", text), ("json", json), ("svg", svg::render(&sheet))] {
        let path = out.join(format!("{}.{ending}", figure.name));
        std::fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
    }
    println!("written to {}/{}.{{txt,json,svg}}\n", out.display(), figure.name);
    Ok(())
}

/// Three significant digits, and no more zeros than needed.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        "–".to_owned()
    } else if magnitude >= 100.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 1.0 || magnitude == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<_> = [312_345.6, 31.26, 0.987, 1.0, 0.0304, f64::NAN].map(number).into();
        assert_eq!(shown, ["312346", "31.3", "0.987", "1.00", "0.030", "–"]);
    }
}
