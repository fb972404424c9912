//! For a terminal.

use super::{Sheet, number};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

pub(super) fn render(sheet: &Sheet<'_>) -> String {
    let figure = sheet.figure;
    let mut text = format!("## {}\n", figure.title);
    if sheet.quick {
        text.push_str("A quick try: these figures mean nothing.\n");
    }
    text.push_str(&format!("{}\n", sheet.machine.line()));
    for sentence in &figure.how {
        text.push_str(&format!("{sentence}\n"));
    }
    for panel in &figure.panels {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["", "median", "least", "most", "rounds"]);
        for s in &panel.series {
            let rounds = s.rounds.iter().map(|v| number(*v)).collect::<Vec<_>>().join(" ");
            table.add_row([s.name.clone(), number(s.median), number(s.least), number(s.most), rounds]);
        }
        for column in table.column_iter_mut().skip(1).take(3) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text.push_str(&format!("\n{} ({})\n{}\n", panel.title, panel.unit, table.trim_fmt()));
    }
    if !figure.goals.is_empty() {
        text.push('\n');
    }
    for goal in &figure.goals {
        let verdict = if goal.met { "met" } else { "MISSED" };
        text.push_str(&format!("{verdict}: {}: {}, wanted {}\n", goal.what, number(goal.got), goal.wanted));
    }
    text
}
