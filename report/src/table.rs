//! Tables with columns aligned by display width, not by bytes. A table that is too wide is split into parts, one below the
//! other. Each part begins with the column that names the rows, and nothing is left out.

use crate::chips::Chip;
use crate::markdown_text as md;
use crate::text_style::{Ink, TextStyle, shortened};
use crate::units;
use maud::Markup;
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
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<(String, Side)>,
    /// The index of the column that names the rows.
    name: usize,
    rows: Vec<Vec<(String, Ink)>>,
    /// What a page calls the table.
    caption: Option<&'static str>,
    /// The chips of each row, which only a page shows.
    chips: Vec<Vec<Chip>>,
    /// What a page draws for each row, in a column after the names.
    lane: Option<Lane>,
    /// What a page draws for each row in the column with this index.
    drawn: Option<(usize, Vec<Markup>)>,
    /// Whether the cells of each column are code.
    are_code: Vec<bool>,
    narrowed: Option<Narrowed>,
    /// Whether the rows can be filtered on a page.
    pub has_filter: bool,
    /// Whether it has so many rows that it scrolls vertically on a page.
    pub is_tall: bool,
}

/// A column of drawings, which only a page has.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Its title.
    pub title: String,
    /// The labels of the axis.
    pub axis: Markup,
    /// The drawing of each row.
    pub rows: Vec<Markup>,
}

/// A column whose cells are shortened where the width is limited: its index, the largest number of characters, and how.
type Narrowed = (usize, usize, fn(&str, usize) -> String);

/// A table to which columns are being added: what its rows are made from, and the columns so far. What follows a column refers to it.
#[must_use]
pub struct Rows<'r, T> {
    rows: Vec<&'r T>,
    table: Table,
}

impl<T> Rows<'_, T> {
    /// Adds a column of words.
    pub fn text(self, title: impl Into<String>, cell: impl Fn(&T) -> String) -> Self {
        self.known(title, |row| Some(cell(row)))
    }

    /// Adds a column of words, of which some may be unknown.
    pub fn known(self, title: impl Into<String>, cell: impl Fn(&T) -> Option<String>) -> Self {
        self.column(title.into(), Side::Left, cell)
    }

    /// Adds a column of numbers.
    pub fn number(self, title: impl Into<String>, cell: impl Fn(&T) -> String) -> Self {
        self.figure(title, |row| Some(cell(row)))
    }

    /// Adds a column of numbers, of which some may be unknown.
    pub fn figure(self, title: impl Into<String>, cell: impl Fn(&T) -> Option<String>) -> Self {
        self.column(title.into(), Side::Right, cell)
    }

    fn column(mut self, title: String, side: Side, cell: impl Fn(&T) -> Option<String>) -> Self {
        self.table.head.push((title, side));
        self.table.are_code.push(false);
        for (cells, row) in self.table.rows.iter_mut().zip(&self.rows) {
            cells.push((cell(row).unwrap_or_else(|| units::UNKNOWN.to_owned()), Ink::Plain));
        }
        self
    }

    /// Colours the cells of the column.
    pub fn ink(mut self, ink: impl Fn(&T) -> Ink) -> Self {
        for (cells, row) in self.table.rows.iter_mut().zip(&self.rows) {
            if let Some((_, own)) = cells.last_mut() {
                *own = ink(row);
            }
        }
        self
    }

    /// Shows the cells of the column as code.
    pub fn code(mut self) -> Self {
        if let Some(is_code) = self.table.are_code.last_mut() {
            *is_code = true;
        }
        self
    }

    /// Leaves out the column if none of its cells says anything.
    pub fn if_any(mut self) -> Self {
        let says = |cells: &Vec<(String, Ink)>| {
            cells.last().is_some_and(|(cell, _)| !cell.is_empty() && cell != units::UNKNOWN)
        };
        if !self.table.rows.iter().any(says) {
            self.table.head.pop();
            self.table.are_code.pop();
            self.table.rows.iter_mut().for_each(|cells| drop(cells.pop()));
        }
        self
    }

    /// The table. Its first column names the rows.
    pub fn table(self) -> Table {
        self.table
    }
}

impl Table {
    /// A table with a row for each of these, and no columns yet.
    pub fn of<'r, T>(rows: impl IntoIterator<Item = &'r T>) -> Rows<'r, T> {
        let rows: Vec<&T> = rows.into_iter().collect();
        let table = Self {
            chips: vec![Vec::new(); rows.len()],
            rows: vec![Vec::new(); rows.len()],
            ..Self::default()
        };
        Rows { rows, table }
    }

    /// Names the table on a page, below the name of its section.
    pub fn called(self, caption: &'static str) -> Self {
        Self { caption: Some(caption), ..self }
    }

    /// What a page calls the table.
    pub fn caption(&self) -> &'static str {
        self.caption.unwrap_or("figures")
    }

    /// Lets a reader of a page filter the rows.
    pub fn filterable(self) -> Self {
        Self { has_filter: true, ..self }
    }

    /// Draws something for each row after its name, on a page.
    pub fn with_lane(self, lane: Lane) -> Self {
        Self { lane: Some(lane), ..self }
    }

    /// Draws something for each row before the cell in the column with this title, on a page.
    pub fn drawn(self, title: &str, rows: Vec<Markup>) -> Self {
        Self { drawn: self.column(title).map(|i| (i, rows)), ..self }
    }

    /// The column of drawings, if there is one.
    pub fn lane(&self) -> Option<&Lane> {
        self.lane.as_ref()
    }

    /// What a page draws in a cell.
    pub fn drawing(&self, row: usize, column: usize) -> Option<&Markup> {
        let (own, rows) = self.drawn.as_ref()?;
        rows.get(row).filter(|_| *own == column)
    }

    /// Gives each row its chips.
    pub fn with_chips(self, chips: impl IntoIterator<Item = Vec<Chip>>) -> Self {
        Self { chips: chips.into_iter().collect(), ..self }
    }

    /// Lets the column with this title name the rows.
    pub fn named_by(self, title: &str) -> Self {
        Self { name: self.column(title).unwrap_or(0), ..self }
    }

    /// Lets a column's cells have at most `most` characters where the width is limited.
    pub fn narrowed(self, title: &str, most: usize, shortened: fn(&str, usize) -> String) -> Self {
        Self { narrowed: self.column(title).map(|i| (i, most, shortened)), ..self }
    }

    /// The column that names a row: the chosen one, else the first column of words; `None`: all columns are numbers.
    pub fn name_column(&self) -> Option<usize> {
        let is_words = |i: &usize| self.head.get(*i).is_some_and(|(_, side)| *side == Side::Left);
        Some(self.name).filter(is_words).or_else(|| (0..self.head.len()).find(is_words))
    }

    /// The chips of each row.
    pub fn chips(&self) -> impl Iterator<Item = &[Chip]> {
        self.chips.iter().map(Vec::as_slice)
    }

    fn column(&self, title: &str) -> Option<usize> {
        self.head.iter().position(|(own, _)| own == title)
    }

    /// The title and the alignment of each column.
    pub fn head(&self) -> &[(String, Side)] {
        &self.head
    }

    /// Whether the cells of a column are shown as code.
    pub fn is_code(&self, column: usize) -> bool {
        self.are_code.get(column).is_some_and(|is_code| *is_code)
    }

    /// The rows, each with a cell and its colour for every column.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[(String, Ink)]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// The table for a terminal: two spaces between columns, no spaces at the end of a line.
    pub fn fit(&self, style: &TextStyle) -> String {
        let mut lines = vec![self.head.iter().map(|(title, _)| (style.words(title), Ink::Plain)).collect()];
        let narrowed = self.narrowed.filter(|_| style.columns().is_some());
        // What is left out is marked before the characters are those that the terminal has.
        let shown = |(i, (cell, ink)): (usize, &(String, Ink))| {
            let cell = cell.replace('\n', " ");
            let narrow = narrowed.filter(|(narrow, ..)| *narrow == i);
            let cell = narrow.map_or_else(|| cell.clone(), |(_, most, shortened)| shortened(&cell, most));
            (style.words(&cell), *ink)
        };
        lines.extend(self.rows.iter().map(|row| row.iter().enumerate().map(shown).collect::<Vec<_>>()));
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
            let is_pair = self.head.get(next + 1).is_some_and(|(title, _)| title == INTERVAL);
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
        let head = line(self.head.iter().map(|(title, _)| md::prose(title)).collect());
        let rule = line(
            self.head
                .iter()
                .map(|(_, s)| if *s == Side::Right { "---:" } else { "---" }.to_owned())
                .collect(),
        );
        let cell = |((cell, _), is_code): (&(String, Ink), &bool)| {
            if *is_code { md::code(cell) } else { md::words(cell) }
        };
        let rows = self.rows.iter().map(|row| line(row.iter().zip(&self.are_code).map(cell).collect()));
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
        let rows = [
            ["1", "a server with a long name", "1,234", "1,200–1,300", "server"],
            ["2", "b", "≥ 900", "880–920", "client"],
        ];
        Table::of(&rows)
            .number("rank", |row| row[0].to_owned())
            .text("who", |row| row[1].to_owned())
            .number("rate", |row| row[2].to_owned())
            .number(INTERVAL, |row| row[3].to_owned())
            .text("bound", |row| row[4].to_owned())
            .ink(|row| if row[4] == "client" { Ink::Doubt } else { Ink::Plain })
            .text("remarks", |_| String::new())
            .if_any()
            .figure("page", |_| None)
            .if_any()
            .table()
            .named_by("who")
    }

    #[test]
    fn a_row_is_named_by_the_chosen_column_else_by_the_first_of_words() {
        let numbers = || Table::of::<()>(&[]).figure("rank", |()| None);
        let by = |table: Table| table.name_column();
        let all = || numbers().known("letters", |()| None).known("who", |()| None).table();
        assert_eq!(by(all().named_by("who")), Some(2));
        assert_eq!(by(all()), Some(1));
        assert_eq!(by(numbers().table()), None);
    }

    #[test]
    fn what_is_too_wide_comes_in_parts_that_each_name_their_rows() {
        let style = |columns| TextStyle { width: Some(columns), ..TextStyle::default() };
        assert_eq!(table().fit(&style(80)), table().fit(&TextStyle::default()));
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
        assert_eq!(
            coloured.replace("\x1b[33m", "").replace("\x1b[0m", ""),
            table().fit(&TextStyle::default())
        );
        assert!(coloured.contains("\x1b[33mclient\x1b[0m"), "{coloured}");
        let short = table().narrowed("who", 6, |text, most| crate::text_style::shortened(text, most, "…"));
        let short = short.fit(&TextStyle { width: Some(80), is_ascii: true, ..TextStyle::default() });
        assert!(short.is_ascii() && short.contains(" a ser...   1,234"), "{short}");
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
