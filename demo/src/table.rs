//! The live table.

use crate::observe::LevelRow;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Rewrites itself on a terminal; elsewhere it is printed every ten seconds.
#[derive(Default)]
pub(crate) struct Screen {
    lines: usize,
    printed: Option<Duration>,
}

impl Screen {
    pub(crate) fn show(&mut self, rows: &[LevelRow], (sent, of): (usize, usize), elapsed: Duration) {
        let mut out = std::io::stdout().lock();
        if !out.is_terminal() {
            if self.printed.is_some_and(|at| elapsed < at + Duration::from_secs(10)) {
                return;
            }
            self.printed = Some(elapsed);
        }
        let text = format!("{:>3} s   sent {sent} of {of}\n{}\n", elapsed.as_secs(), render(rows));
        if out.is_terminal() && self.lines > 0 {
            let _ = write!(out, "\x1b[{}A\x1b[J", self.lines);
        }
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
        self.lines = text.lines().count();
    }
}

fn render(rows: &[LevelRow]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["level", "waiting", "due next", "released", "late p50", "p99", "max"]);
    for r in rows.iter().filter(|r| r.waiting + r.released > 0) {
        let ms = |ms: i64| if r.lateness.count == 0 { "-".to_owned() } else { format!("{ms} ms") };
        table.add_row([
            r.level.clone(),
            r.waiting.to_string(),
            r.next_due_ms.map_or("-".to_owned(), due),
            r.released.to_string(),
            ms(r.lateness.p50_ms),
            ms(r.lateness.p99_ms),
            ms(r.lateness.max_ms),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn due(ms: i64) -> String {
    match ms {
        ..=0 => "now".to_owned(),
        1..=119_999 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{} min", ms / 60_000),
    }
}
