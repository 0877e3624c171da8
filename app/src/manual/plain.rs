//! Converts Markdown to plain text, to show a page of docs/ in a terminal. It supports what those pages use:
//! headings, paragraphs, lists, tables, blocks of code, links.

use super::topics::TOPICS;
use report::text_style::filled;
use unicode_width::UnicodeWidthStr;

/// The indentation of blocks of code and rows of tables.
const INDENT: &str = "    ";

/// The smallest width of a column.
const NARROWEST: usize = 10;

/// A page as plain text, with prose wrapped at `width`.
pub fn plain(markdown: &str, width: usize) -> String {
    let mut page = Page { out: String::new(), width, paragraph: String::new(), hang: 0, rows: Vec::new() };
    let (mut is_code, mut is_comment) = (false, false);
    for line in markdown.lines() {
        is_comment |= line.starts_with("<!--");
        if is_comment {
            is_comment = !line.contains("-->");
            continue;
        }
        if line.trim_start().starts_with("```") {
            page.end();
            is_code = !is_code;
            if !is_code {
                page.out.push('\n');
            }
        } else if is_code {
            page.out.push_str(format!("{INDENT}{line}").trim_end());
            page.out.push('\n');
        } else {
            page.line(line);
        }
    }
    page.end();
    page.out.trim_end().to_owned() + "\n"
}

struct Page {
    out: String,
    width: usize,
    /// The current paragraph or list item so far.
    paragraph: String,
    /// The indentation of its lines after the first.
    hang: usize,
    /// The current table so far.
    rows: Vec<Vec<String>>,
}

impl Page {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.end();
        } else if let Some(heading) = line.strip_prefix('#') {
            self.end();
            let text = inline(heading.trim_start_matches('#').trim());
            let is_title = !heading.starts_with('#');
            self.out.push_str(&if is_title { text.to_uppercase() } else { text });
            self.out.push_str("\n\n");
        } else if trimmed.starts_with('|') {
            if self.rows.is_empty() {
                self.end();
            }
            self.row(trimmed);
        } else if let Some(marker) = marker(line) {
            // No empty line between list items that follow each other directly.
            self.flush();
            self.hang = marker;
            trimmed.clone_into(&mut self.paragraph);
        } else {
            if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph.push_str(trimmed);
        }
    }

    fn row(&mut self, line: &str) {
        let bare = line.trim_matches('|').replace("\\|", "\u{1}");
        let cells: Vec<String> =
            bare.split('|').map(|cell| inline(&cell.replace('\u{1}', "|")).trim().to_owned()).collect();
        let is_rule =
            cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':')) && !cell.is_empty());
        if !is_rule {
            self.rows.push(cells);
        }
    }

    /// Ends the current block, with an empty line after it.
    fn end(&mut self) {
        let is_open = !self.paragraph.is_empty() || !self.rows.is_empty();
        self.flush();
        if is_open {
            self.out.push('\n');
        }
    }

    fn flush(&mut self) {
        if !self.paragraph.is_empty() {
            let text = inline(&std::mem::take(&mut self.paragraph));
            self.out.push_str(&wrapped(&text, self.width, self.hang));
        }
        self.hang = 0;
        let rows = std::mem::take(&mut self.rows);
        self.out.push_str(&table(&rows, self.width));
    }
}

/// The indentation of a list item's text, if the line is one.
fn marker(line: &str) -> Option<usize> {
    let first = line.split_whitespace().next()?;
    let is_number =
        first.strip_suffix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    (first == "-" || is_number).then(|| first.len() + 1)
}

/// A table with its columns side by side. If it is wider than the terminal, the widest columns shrink and their
/// cells wrap.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let room = width.saturating_sub(INDENT.len() + 2 * columns).max(NARROWEST * columns);
    while widths.iter().sum::<usize>() > room {
        if let Some(largest) = widths.iter_mut().max() {
            *largest -= 1;
        }
    }
    rows.iter().map(|row| cells(row, &widths)).collect()
}

/// One row of a table.
fn cells(row: &[String], widths: &[usize]) -> String {
    let lines = |(cell, width): (&String, &usize)| -> Vec<String> {
        wrapped(cell, *width, 0).lines().map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = row.iter().zip(widths).map(lines).collect();
    let mut out = String::new();
    for i in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        let mut line = INDENT.to_owned();
        for (cell, width) in all.iter().zip(widths) {
            let part = cell.get(i).map_or("", String::as_str);
            line.push_str(part);
            line.push_str(&" ".repeat(width.saturating_sub(part.width()) + 2));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Wraps words at `width`; `hang` indents all lines but the first.
fn wrapped(text: &str, width: usize, hang: usize) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    filled(&words, " ", width, [0, hang]).join("\n") + "\n"
}

/// Removes the marks of code and emphasis, and adds its target to every link.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        out.push_str(&if i % 2 == 1 { part.to_owned() } else { part.replace("**", "").replace('*', "") });
    }
    links(&out)
}

fn links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, name, target, after)) = next_link(rest) {
        let before = before.strip_suffix('!').unwrap_or(before);
        out.push_str(before);
        out.push_str(name);
        let target = led(target);
        if !target.is_empty() && target != name {
            out.push_str(&format!(" ({target})"));
        }
        rest = after;
    }
    out + rest
}

/// `before[name](target)after`.
fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let open = text[..middle].rfind('[')?;
    let close = middle + text[middle..].find(')')?;
    Some((&text[..open], &text[open + 1..middle], &text[middle + 2..close], &text[close + 1..]))
}

/// The target of a link for a reader without a browser; a topic is shown as its command.
fn led(target: &str) -> String {
    let page = target.split('#').next().unwrap_or_default();
    match TOPICS.iter().find(|topic| topic.page == page) {
        Some(topic) => format!("drome help {}", topic.name),
        None if target.contains("://") => target.to_owned(),
        None if page.is_empty() => String::new(),
        None => page.strip_prefix("../").map_or_else(|| format!("docs/{page}"), str::to_owned),
    }
}
