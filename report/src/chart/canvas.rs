//! A drawing, built mark by mark. All coordinates are in pixels from the top left corner.

use super::Caption;
use super::theme;
use model::text::is_unprintable;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// The largest mean width of a letter in common fonts, as a share of the text size.
const LETTER: f64 = 0.62;

/// The size of all text except titles.
pub const TEXT: f64 = 12.0;

/// The factor by which the letters of a title are wider, because they are larger and bolder.
const TITLE: f64 = 1.3;

/// The height of a line of text.
const LINE: f64 = 16.0;

/// The margin on the left and on the right.
pub const MARGIN: f64 = 14.0;

/// The largest number of lines of the finding above a chart; the alternative text has all of it.
const FINDING_LINES: usize = 2;

/// The distance between the lines of a hatching.
const HATCH: f64 = 7.0;

/// How a text is aligned to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// A drawing in progress.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: f64,
    height: f64,
    marks: String,
}

impl Canvas {
    /// An empty drawing of this size.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, marks: String::new() }
    }

    /// Draws the title and the finding above the chart.
    pub fn head(&mut self, caption: &Caption) {
        let room = self.width - 2.0 * MARGIN;
        self.text((MARGIN, 18.0), Anchor::Start, room / TITLE, "ink title", &caption.title);
        for (i, line) in finding_lines(caption, self.width).iter().enumerate() {
            let y = 38.0 + LINE * i as f64;
            self.text((MARGIN, y), Anchor::Start, room, "faint", line);
        }
    }

    /// Draws a text, cut to `room` pixels; the full text appears on hover.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, room: f64, class: &str, text: &str) {
        let shown = cut(text, room);
        if shown.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let hover = if shown == text { String::new() } else { titled(text) };
        let (x, y, shown) = (n(x), n(y + TEXT * 0.35), escaped(&shown));
        let line = format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{shown}{hover}</text>\n"
        );
        self.marks.push_str(&line);
    }

    /// Draws a straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let ends = format!("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", n(x1), n(y1), n(x2), n(y2));
        self.marks.push_str(&format!("<line class=\"{class}\" {ends}/>\n"));
    }

    /// Draws straight lines from point to point, with a text on hover; nothing for fewer than two points.
    pub fn path(&mut self, points: &[(f64, f64)], class: &str, hover: &str) {
        if points.len() < 2 {
            return;
        }
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", n(*x), n(*y))).collect();
        let points = points.join(" ");
        let hover = titled(hover);
        self.marks.push_str(&format!("<polyline class=\"{class}\" points=\"{points}\">{hover}</polyline>\n"));
    }

    /// Draws many lines, each given by its two ends, as one mark.
    pub fn strokes(&mut self, lines: &[[(f64, f64); 2]], class: &str) {
        if lines.is_empty() {
            return;
        }
        let mut d = String::new();
        for [(x1, y1), (x2, y2)] in lines {
            let _ = write!(d, "M{} {}L{} {}", n(*x1), n(*y1), n(*x2), n(*y2));
        }
        self.marks.push_str(&format!("<path class=\"{class}\" d=\"{d}\"/>\n"));
    }

    /// Draws a cross, the mark of a failure.
    pub fn cross(&mut self, (x, y): (f64, f64), half: f64) {
        let falling = [(x - half, y - half), (x + half, y + half)];
        let rising = [(x - half, y + half), (x + half, y - half)];
        self.strokes(&[falling, rising], "cross");
    }

    /// Draws a rectangle, given by its upper left corner and its size; `opacity` from 0 to 1.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, opacity: f64) {
        let place = format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", n(x), n(y), n(width), n(height));
        let opacity = if opacity < 1.0 { format!(" fill-opacity=\"{opacity:.2}\"") } else { String::new() };
        self.marks.push_str(&format!("<rect class=\"{class}\" {place}{opacity}/>\n"));
    }

    /// Adds an invisible area with a text on hover.
    pub fn hover(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), words: &str) {
        let place = format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", n(x), n(y), n(width), n(height));
        self.marks.push_str(&format!("<rect class=\"hover\" {place}>{}</rect>\n", titled(words)));
    }

    /// Hatches a rectangle with slanted lines.
    pub fn hatch(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let mut lines = Vec::new();
        let mut along = HATCH / 2.0;
        while along < width + height {
            // The line of points whose distances from the left and from the top add up to `along`.
            let above = (x + along.min(width), y + (along - width).max(0.0));
            let below = (x + (along - height).max(0.0), y + along.min(height));
            lines.push([above, below]);
            along += HATCH;
        }
        self.strokes(&lines, "hatch");
    }

    /// Draws a disc with a text on hover.
    pub fn disc(&mut self, (x, y): (f64, f64), radius: f64, class: &str, hover: &str) {
        let place = format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", n(x), n(y), n(radius));
        self.marks.push_str(&format!("<circle class=\"{class}\" {place}>{}</circle>\n", titled(hover)));
    }

    /// The drawing as an SVG document.
    pub fn svg(&self, caption: &Caption) -> String {
        let (width, height) = (n(self.width), n(self.height));
        let (title, finding) = (escaped(&caption.title), escaped(&caption.finding));
        let style = theme::style();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}. {finding}\" \
             font-family=\"{}\" font-size=\"{TEXT}\">\n<desc>{finding}</desc>\n{style}\
             <rect class=\"paper\" x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            theme::FONTS,
            self.marks
        )
    }
}

/// The height of title and finding in pixels; the chart begins below.
pub fn head_height(caption: &Caption, width: f64) -> f64 {
    34.0 + LINE * finding_lines(caption, width).len() as f64
}

fn finding_lines(caption: &Caption, width: f64) -> Vec<String> {
    let mut lines = wrapped(&caption.finding, width - 2.0 * MARGIN);
    if lines.len() > FINDING_LINES {
        // The rest goes into the last line, where it is cut.
        let rest = lines.split_off(FINDING_LINES - 1).join(" ");
        lines.push(rest);
    }
    lines
}

/// The text in lines of whole words, none wider than `room` unless a single word is.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line) + length(" ") + length(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The largest width of a text in pixels. Combining marks count as letters, since not every font combines them.
pub fn length(text: &str) -> f64 {
    text.chars().map(|c| c.width().unwrap_or(1).max(1) as f64).sum::<f64>() * TEXT * LETTER
}

/// The beginning of the text that fits into `room` pixels, with `…` in place of the rest.
pub fn cut(text: &str, room: f64) -> String {
    if length(text) <= room {
        return text.to_owned();
    }
    let mut shown = String::new();
    for c in text.chars() {
        if length(&format!("{shown}{c}…")) > room {
            break;
        }
        shown.push(c);
    }
    shown.truncate(shown.trim_end().len());
    if length("…") <= room {
        shown.push('…');
    }
    shown
}

/// A coordinate, rounded to a tenth of a pixel.
fn n(x: f64) -> String {
    let x = if x.is_finite() { x } else { 0.0 };
    let text = format!("{x:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn titled(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(words)) }
}

/// A text, escaped for XML; characters that XML does not allow, and those that are not shown, are left out.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if is_unprintable(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escaped("<b a=\"x\">&\u{1}\n"), "&lt;b a=&quot;x&quot;&gt;&amp; ");
    }

    #[test]
    fn a_text_that_does_not_fit_is_cut_and_shown_whole_on_hover() {
        let mut canvas = Canvas::new(100.0, 100.0);
        canvas.text((0.0, 0.0), Anchor::Start, 60.0, "ink", "a name that is long");
        let svg = canvas.svg(&Caption::new("t", "f"));
        assert!(svg.contains(">a name…<title>a name that is long</title></text>"), "{svg}");
        assert_eq!(
            (cut("abc", 0.0), cut("abc", 8.0), cut("abc", 30.0)),
            (String::new(), "…".into(), "abc".into())
        );
    }

    #[test]
    fn a_long_finding_takes_two_lines_and_is_cut_there() {
        let caption = Caption::new("t", "word ".repeat(60));
        assert_eq!(finding_lines(&caption, 400.0).len(), 2);
        assert_eq!(head_height(&caption, 400.0) - head_height(&Caption::new("t", ""), 400.0), 32.0);
        let mut canvas = Canvas::new(400.0, 100.0);
        canvas.head(&caption);
        assert!(canvas.svg(&caption).contains("word…<title>"));
    }

    #[test]
    fn a_hatching_stays_within_its_rectangle() {
        let mut canvas = Canvas::new(100.0, 100.0);
        canvas.hatch((10.0, 20.0), (30.0, 12.0));
        let numbers = canvas.marks.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|t| !t.is_empty());
        let numbers: Vec<f64> = numbers.map(|t| t.parse().unwrap()).collect();
        assert!(numbers.len() >= 20, "{}", canvas.marks);
        for place in numbers.chunks(2) {
            assert!((10.0..=40.0).contains(&place[0]) && (20.0..=32.0).contains(&place[1]), "{place:?}");
        }
    }
}
