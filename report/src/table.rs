//! Columns, aligned by what a terminal shows, not by bytes.

use unicode_width::UnicodeWidthStr;

/// A column's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head.
    pub fn new(head: &[(&'static str, Side)]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Each column's title and side.
    pub fn head(&self) -> &[(&'static str, Side)] {
        &self.head
    }

    /// The rows, each with a cell for every column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// For a terminal: two spaces between columns, nothing at a line's end.
    pub fn plain(&self) -> String {
        let titles: Vec<String> = self.head.iter().map(|(title, _)| (*title).to_owned()).collect();
        let widths = self.widths();
        let line = |cells: &Vec<String>| {
            let padded: Vec<String> =
                cells.iter().zip(&widths).zip(&self.head).map(|((c, w), (_, s))| pad(c, *w, *s)).collect();
            format!("{}\n", padded.join("  ").trim_end())
        };
        std::iter::once(&titles).chain(&self.rows).map(line).collect()
    }

    /// For Markdown as GitHub reads it.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let head = line(self.head.iter().map(|(title, _)| (*title).to_owned()).collect());
        let rule = line(
            self.head
                .iter()
                .map(|(_, s)| if *s == Side::Right { "---:" } else { "---" }.to_owned())
                .collect(),
        );
        let rows =
            self.rows.iter().map(|row| line(row.iter().map(|cell| cell.replace('|', "\\|")).collect()));
        [head, rule].into_iter().chain(rows).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let column = |i: usize| {
            let cells = self.rows.iter().filter_map(move |row| row.get(i)).map(|cell| cell.width());
            cells.chain([self.head[i].0.width()]).max().unwrap_or(0)
        };
        (0..self.head.len()).map(column).collect()
    }
}

fn pad(cell: &str, width: usize, side: Side) -> String {
    let space = " ".repeat(width.saturating_sub(cell.width()));
    match side {
        Side::Left => format!("{cell}{space}"),
        Side::Right => format!("{space}{cell}"),
    }
}
