//! Printing data: a table for people, JSON for programs.

use crate::args::Format;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Where data goes, and in which form.
pub(crate) struct Output {
    format: Format,
    out: BufWriter<StdoutLock<'static>>,
}

/// Data of one kind, row by row.
pub(crate) trait Row: Serialize {
    /// The heads of the columns.
    const HEAD: &'static [&'static str];
    /// The cells of this row, as many as heads.
    fn cells(&self) -> Vec<String>;
}

impl Output {
    pub(crate) fn to_stdout(format: Format) -> Output {
        Output { format, out: BufWriter::new(io::stdout().lock()) }
    }

    /// How data is printed.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// One JSON object on a line of its own.
    pub(crate) fn object(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        writeln!(self.out)
    }

    /// A line of text for people.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Rows: a table, one document `{"<name>":[…]}`, or an object per line. They are out before anything is said
    /// about them on stderr.
    pub(crate) fn rows<R: Row>(&mut self, name: &str, rows: &[R]) -> io::Result<()> {
        match self.format {
            Format::Table => self.table(rows),
            Format::Json => self.object(&BTreeMap::from([(name, rows)])),
            Format::Jsonl => rows.iter().try_for_each(|row| self.object(row)),
        }?;
        self.finish()
    }

    fn table<R: Row>(&mut self, rows: &[R]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(R::HEAD);
        table.add_rows(rows.iter().map(Row::cells));
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table.lines().try_for_each(|line| writeln!(self.out, "{}", line.trim_end()))
    }

    /// Brings out what is still buffered.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where the log of libraries goes: nowhere, unless asked for.
pub(crate) fn log_to_stderr(verbose: bool) {
    if verbose {
        // A second call could only come from a test.
        let _ = tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).try_init();
    }
}
