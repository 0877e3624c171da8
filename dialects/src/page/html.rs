//! Converts HTML to equivalent Markdown: headings, code, tables and their rows are kept, and all other tags are
//! removed. It never fails and examines every byte once, whatever the input. Markdown stays unchanged, except for
//! tags outside of code.

use crate::text::lines;
use std::borrow::Cow;

/// Tags that begin a line of their own.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "hr",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "blockquote",
    "dl",
    "dt",
    "dd",
    "figure",
    "figcaption",
    "details",
    "summary",
    "body",
    "html",
    "head",
    "title",
    "thead",
    "tbody",
    "tfoot",
    "caption",
    "form",
    "aside",
];

/// Tags that are removed without a replacement.
const INLINE: &[&str] = &[
    "a", "b", "i", "u", "s", "em", "strong", "span", "small", "big", "sub", "sup", "kbd", "samp", "var",
    "tt", "font", "img", "center", "abbr", "mark", "q", "cite", "del", "ins", "label", "col", "colgroup",
    "link", "meta", "input", "button", "iframe", "svg", "path", "wbr", "picture", "source",
];

/// Elements whose content is removed, and their end tags.
const HIDDEN: &[(&str, &str)] =
    &[("script", "</script"), ("style", "</style"), ("noscript", "</noscript"), ("template", "</template")];

/// The text of a page.
pub fn text(source: &str) -> Cow<'_, str> {
    if !source.contains(['<', '&']) {
        return Cow::Borrowed(source);
    }
    let mut stripper = Stripper { is_html: is_html(source), ..Stripper::default() };
    if stripper.is_html {
        stripper.strip(source);
    } else {
        for (is_code, lines) in lines::segments(source) {
            if is_code && stripper.hidden.is_none() {
                stripper.out.push_str(lines);
            } else {
                stripper.strip(lines);
            }
        }
    }
    Cow::Owned(stripper.out)
}

/// Whether the whole page is HTML, which shows near its beginning.
fn is_html(source: &str) -> bool {
    let head = source[..source.floor_char_boundary(4096)].to_ascii_lowercase();
    ["<!doctype html", "<html", "<body", "<head>"].iter().any(|mark| head.contains(mark))
        || head.trim_start().starts_with("<pre") // What is left of a page that was cut out of its frame.
        || head.trim_start().starts_with("<div")
}

#[derive(Default)]
struct Stripper {
    out: String,
    is_html: bool,
    /// The end tag of the element whose content is being removed.
    hidden: Option<&'static str>,
    is_pre: bool,
    is_heading: bool,
    is_table: bool,
    is_cell: bool,
    /// The cells in this row so far.
    cells: usize,
    /// The rows in this table so far.
    rows: usize,
}

impl Stripper {
    fn strip(&mut self, source: &str) {
        let mut rest = source;
        // If none was found once, there is none later either.
        let mut has_end = true;
        loop {
            if let Some(end) = self.hidden {
                let Some(at) = find_ignoring_case(rest, end) else {
                    self.keep_lines(rest);
                    return;
                };
                self.keep_lines(&rest[..at]);
                rest = &rest[at + end.len()..];
                if !end.ends_with('>') {
                    rest = rest.find('>').map_or("", |close| &rest[close + 1..]);
                }
                self.hidden = None;
            }
            let Some(at) = rest.find(['<', '&']) else {
                self.show(rest);
                return;
            };
            self.show(&rest[..at]);
            rest = &rest[at..];
            let taken = if rest.starts_with('&') { self.entity(rest) } else { self.tag(rest, &mut has_end) };
            if taken == 0 {
                self.show(&rest[..1]);
            }
            rest = &rest[taken.max(1)..];
        }
    }

    /// Keeps the line breaks of removed text, so that lines stay lines.
    fn keep_lines(&mut self, hidden: &str) {
        let lines = hidden.bytes().filter(|byte| *byte == b'\n').count();
        self.out.extend(std::iter::repeat_n('\n', lines));
    }

    fn show(&mut self, text: &str) {
        let is_one_line = (self.is_heading || self.is_cell) && !self.is_pre;
        if self.is_table && !self.is_cell && !self.is_pre && text.trim().is_empty() {
            return; // What only sets the cells of the source apart.
        }
        if is_one_line {
            self.out.extend(text.chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
        } else {
            self.out.push_str(text);
        }
    }

    /// The length of a character reference at the beginning, in bytes.
    fn entity(&mut self, rest: &str) -> usize {
        let head = &rest.as_bytes()[..rest.len().min(12)];
        let Some(end) = head.iter().position(|byte| *byte == b';') else { return 0 };
        let name = &rest[1..end];
        let shown = match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" | "#160" | "#xa0" | "#xA0" => ' ',
            "micro" => 'µ',
            "ndash" => '–',
            "mdash" => '—',
            "hellip" => '…',
            "plusmn" => '±',
            _ => match number(name).and_then(char::from_u32) {
                Some(shown) => shown,
                None => return 0,
            },
        };
        self.out.push(shown);
        end + 1
    }

    /// The length of a tag at the beginning, in bytes.
    fn tag(&mut self, rest: &str, has_end: &mut bool) -> usize {
        if rest.starts_with("<!--") {
            self.hidden = Some("-->");
            return 4;
        }
        let is_close = rest[1..].starts_with('/');
        let name_at = 1 + usize::from(is_close);
        let name =
            rest[name_at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '!').next().unwrap_or("");
        if name.is_empty() || name.len() > 12 || !*has_end {
            return 0;
        }
        let Some(end) = rest.find('>') else {
            *has_end = false;
            return 0;
        };
        let name = name.to_ascii_lowercase();
        if self.act(&name, is_close) || self.is_html { end + 1 } else { 0 }
    }

    /// Applies a tag. Returns `false` if it is not a tag.
    fn act(&mut self, name: &str, is_close: bool) -> bool {
        if let Some((_, end)) = HIDDEN.iter().find(|(hidden, _)| *hidden == name) {
            self.hidden = (!is_close).then_some(*end);
            return true;
        }
        match name {
            "br" if self.is_heading || (self.is_cell && !self.is_pre) => self.out.push(' '),
            "br" => self.out.push('\n'),
            "pre" => self.pre(!is_close),
            "code" if !self.is_pre => self.out.push('`'),
            "code" | "!doctype" => {}
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(name, is_close),
            "table" => {
                self.row();
                self.rows = 0;
                self.is_table = !is_close;
            }
            "tr" => self.row(),
            "td" | "th" => self.cell(is_close),
            _ if BLOCKS.contains(&name) => {
                if !self.is_cell {
                    self.line();
                }
            }
            _ => return INLINE.contains(&name),
        }
        true
    }

    /// Begins a line.
    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn pre(&mut self, is_begin: bool) {
        if is_begin != self.is_pre {
            self.line();
            self.out.push_str("```\n");
            self.is_pre = is_begin;
        }
    }

    fn heading(&mut self, name: &str, is_close: bool) {
        self.pre(false);
        self.is_cell = false;
        self.is_heading = !is_close;
        self.line();
        if !is_close {
            let level = usize::from(name.as_bytes()[1] - b'0');
            self.out.push_str(&"#".repeat(level));
            self.out.push(' ');
        }
    }

    /// Begins or ends a row; a row before it is complete.
    fn row(&mut self) {
        if self.cells > 0 {
            self.out.push_str(" |\n");
            if self.rows == 0 {
                self.out.push_str(&"| --- ".repeat(self.cells));
                self.out.push_str("|\n");
            }
            self.rows += 1;
        }
        self.cells = 0;
        self.is_cell = false;
        self.line();
    }

    fn cell(&mut self, is_close: bool) {
        self.pre(false);
        self.is_cell = !is_close;
        if !is_close {
            self.out.push_str(if self.cells == 0 { "| " } else { " | " });
            self.cells += 1;
        }
    }
}

/// Reads the number of `#8211` or `#x2013`.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('#')?;
    match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    let (bytes, what) = (text.as_bytes(), what.as_bytes());
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == what[0]) {
        let at = from + at;
        if bytes.len() - at >= what.len() && bytes[at..at + what.len()].eq_ignore_ascii_case(what) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_page_becomes_headings_code_and_rows() {
        let page = "<!DOCTYPE html><html><head><title>Races</title><style>p{}</style></head><body>
<h2 id=x>\n  The &amp; <a href='#'>one</a>\n</h2><p>As <code>ab -n 1</code> says:<pre><code>Failed requests:  0
a &lt; b</code></pre><!-- <h1>not\nshown</h1> --><table><tr><th>server<th>Req/s</tr>
<tr><td>x</td>\n<td>12<br>3</td></tr></table><script>if (a<b) '<h1>';</script>end</body></html>";
        let result: Vec<String> =
            text(page).lines().map(|l| l.trim_end().to_owned()).filter(|l| !l.is_empty()).collect();
        let expected = [
            "Races",
            "##    The & one",
            "As `ab -n 1` says:",
            "```",
            "Failed requests:  0",
            "a < b",
            "```",
            "| server | Req/s |",
            "| --- | --- |",
            "| x | 12 3 |",
            "end",
        ];
        assert_eq!(result, expected);
    }

    #[test]
    fn markdown_stays_but_for_its_tags() {
        let page = "# A <b>b</b>\n<!-- gone\n    # this, too\n-->\n    <pre> in code\n1 < 2 <stdin> AT&T\n```\n&lt;\n```\n";
        let expected = "# A b\n\n\n\n    <pre> in code\n1 < 2 <stdin> AT&T\n```\n&lt;\n```\n";
        assert_eq!(text(page), expected);
        assert!(matches!(text("plain\n"), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_that_is_broken_stops_it() {
        for page in [
            "<",
            "<html",
            "<html><",
            "<html>&",
            "<html>&#99999999;",
            "<!--",
            "<html><script>",
            "<pre></h2></td>",
            "&é;",
            "<html><é>",
        ] {
            let _ = text(page);
        }
        assert_eq!(text("<html><pre>a<h2>b"), "```\na\n```\n## b");
    }
}
