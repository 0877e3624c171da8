//! Tables with columns aligned by display width, not by bytes. A table that is too wide is split into parts, one below the
//! other. Each part begins with the column that names the rows, and nothing is left out.

use crate::markdown_text as md;
use crate::text_style::{Ink, TextStyle, shortened};
use unicode_width::UnicodeWidthStr;

/// The title of a column with the interval of the column before it. The two are never split.
pub const INTERVAL: &str = "95 %";

/// In a table that is split, names take at most this share of the width.
const NAME_SHARE: f64 = 0.35;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A header and rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<(&'static str, Side)>,
    /// The index of the column that names the rows.
    name: usize,
    rows: Vec<Vec<(String, Ink)>>,
}

impl Table {
    /// A table with this header. Its first column names the rows.
    pub fn new(head: &[(&'static str, Side)]) -> Self {
        Self { head: head.to_vec(), name: 0, rows: Vec::new() }
    }

    /// Lets the column with this title name the rows.
    pub fn named_by(self, title: &str) -> Self {
        Self { name: self.column(title).unwrap_or(0), ..self }
    }

    /// The column that names a row: the chosen one, else the first column of words; `None`: all columns are numbers.
    pub fn name_column(&self) -> Option<usize> {
        let is_words = |i: &usize| self.head.get(*i).is_some_and(|(_, side)| *side == Side::Left);
        Some(self.name).filter(is_words).or_else(|| (0..self.head.len()).find(is_words))
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| (cell, Ink::Plain)).collect());
    }

    /// Colours the cell of the last row in the column with this title.
    pub fn paint(&mut self, title: &str, ink: Ink) {
        let column = self.column(title);
        if let Some((_, own)) = self.rows.last_mut().zip(column).and_then(|(row, i)| row.get_mut(i)) {
            *own = ink;
        }
    }

    fn column(&self, title: &str) -> Option<usize> {
        self.head.iter().position(|(own, _)| *own == title)
    }

    /// The title and the alignment of each column.
    pub fn head(&self) -> &[(&'static str, Side)] {
        &self.head
    }

    /// The rows, each with a cell for every column.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = &str>> {
        self.rows.iter().map(|row| row.iter().map(|(cell, _)| cell.as_str()))
    }

    /// The table at its full width: two spaces between columns, no spaces at the end of a line.
    pub fn plain(&self) -> String {
        self.fit(&TextStyle::default())
    }

    /// The table for a terminal.
    pub fn fit(&self, style: &TextStyle) -> String {
        let mut lines = vec![self.head.iter().map(|(title, _)| (style.words(title), Ink::Plain)).collect()];
        let shown = |(cell, ink): &(String, Ink)| (style.words(&cell.replace('\n', " ")), *ink);
        lines.extend(self.rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>()));
        let mut widths = widths(&lines);
        let parts = match style.columns() {
            Some(columns) if total(&widths) > columns => {
                let most = (columns as f64 * NAME_SHARE) as usize;
                let sign = style.words("…");
                for line in &mut lines {
                    line[self.name].0 = shortened(&line[self.name].0, most, &sign);
                }
                widths[self.name] = widths[self.name].min(most);
                self.parts(&widths, columns)
            }
            _ => vec![(0..self.head.len()).collect()],
        };
        let text = |part: &Vec<usize>| -> String {
            lines.iter().map(|line| self.line(line, part, &widths, style)).collect()
        };
        parts.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    /// The columns of each part, from left to right, as many as fit.
    fn parts(&self, widths: &[usize], columns: usize) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![(0..=self.name).collect()];
        let mut next = self.name + 1;
        while next < self.head.len() {
            let is_pair = self.head.get(next + 1).is_some_and(|(title, _)| *title == INTERVAL);
            let group: Vec<usize> = (next..=next + usize::from(is_pair)).collect();
            next += group.len();
            let Some(part) = parts.last_mut() else { break };
            let with: Vec<usize> = part.iter().chain(&group).map(|i| widths[*i]).collect();
            if total(&with) > columns && part.len() > 1 {
                parts.push([vec![self.name], group].concat());
            } else {
                part.extend(group);
            }
        }
        parts
    }

    fn line(&self, cells: &[(String, Ink)], part: &[usize], widths: &[usize], style: &TextStyle) -> String {
        let mut out = String::new();
        for (n, i) in part.iter().enumerate() {
            let Some((cell, ink)) = cells.get(*i) else { continue };
            let space = " ".repeat(widths[*i].saturating_sub(cell.width()));
            let gap = if n > 0 { "  " } else { "" };
            let painted = style.paint(cell, *ink);
            out += &match self.head[*i].1 {
                Side::Left => format!("{gap}{painted}{space}"),
                Side::Right => format!("{gap}{space}{painted}"),
            };
        }
        out.trim_end().to_owned() + "\n"
    }

    /// The table as GitHub Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let head = line(self.head.iter().map(|(title, _)| (*title).to_owned()).collect());
        let rule = line(
            self.head
                .iter()
                .map(|(_, s)| if *s == Side::Right { "---:" } else { "---" }.to_owned())
                .collect(),
        );
        let rows = self.rows.iter().map(|row| line(row.iter().map(|(cell, _)| md::words(cell)).collect()));
        [head, rule].into_iter().chain(rows).collect()
    }
}

fn widths(lines: &[Vec<(String, Ink)>]) -> Vec<usize> {
    let column = |i: usize| lines.iter().filter_map(|line| line.get(i)).map(|(cell, _)| cell.width()).max();
    (0..lines[0].len()).map(|i| column(i).unwrap_or(0)).collect()
}

/// The total width of the columns, with two spaces between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let head = [
            ("rank", Side::Right),
            ("who", Side::Left),
            ("rate", Side::Right),
            (INTERVAL, Side::Right),
            ("bound", Side::Left),
        ];
        let mut table = Table::new(&head).named_by("who");
        table.row(
            ["1", "a server with a long name", "1,234", "1,200–1,300", "server"].map(Into::into).to_vec(),
        );
        table.row(["2", "b", "≥ 900", "880–920", "client"].map(Into::into).to_vec());
        table.paint("bound", Ink::Doubt);
        table
    }

    #[test]
    fn a_row_is_named_by_the_chosen_column_else_by_the_first_of_words() {
        let head = [("rank", Side::Right), ("letters", Side::Left), ("who", Side::Left)];
        let by = |table: Table| table.name_column();
        assert_eq!(by(Table::new(&head).named_by("who")), Some(2));
        assert_eq!(by(Table::new(&head)), Some(1));
        assert_eq!(by(Table::new(&head[..1])), None);
    }

    #[test]
    fn what_is_too_wide_comes_in_parts_that_each_name_their_rows() {
        let style = |columns| TextStyle { width: Some(columns), ..TextStyle::default() };
        assert_eq!(table().fit(&style(80)), table().plain());
        let narrow = [
            "rank  who              rate         95 %",
            "   1  a server with…  1,234  1,200–1,300",
            "   2  b               ≥ 900      880–920",
            "",
            "who             bound",
            "a server with…  server",
            "b               client",
            "",
        ];
        assert_eq!(table().fit(&style(40)), narrow.join("\n"));
    }

    #[test]
    fn ascii_stays_aligned_and_colours_take_no_room() {
        let ascii = table().fit(&TextStyle { is_ascii: true, ..TextStyle::default() });
        let column = |line: &str| line.rfind("client").or(line.rfind("server")).or(line.rfind("bound"));
        assert!(ascii.is_ascii() && ascii.contains(">= 900"), "{ascii}");
        let columns: Vec<_> = ascii.lines().map(column).collect();
        assert!(columns.iter().all(|c| *c == columns[0]), "{ascii}");
        let coloured = table().fit(&TextStyle { has_colour: true, ..TextStyle::default() });
        assert_eq!(coloured.replace("\x1b[33m", "").replace("\x1b[0m", ""), table().plain());
        assert!(coloured.contains("\x1b[33mclient\x1b[0m"), "{coloured}");
    }

    #[test]
    fn no_figure_is_lost_at_any_width() {
        for width in 1..120 {
            let shown = table().fit(&TextStyle { width: Some(width), ..TextStyle::default() });
            for figure in ["1,234", "1,200–1,300", "server", "≥ 900", "880–920", "client"] {
                assert!(shown.contains(figure), "{width}: {shown}");
            }
            assert!(width < 40 || shown.lines().all(|line| line.width() <= width), "{width}: {shown}");
        }
    }
}
