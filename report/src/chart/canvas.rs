//! A drawing that grows mark by mark. All coordinates are pixels from the top left corner.

use super::Caption;

/// The largest share of the text's size that a letter is wide, on average over the fonts that readers have.
const LETTER: f64 = 0.62;

/// The size of all text.
pub const TEXT: f64 = 12.0;

/// Colours that the colour-blind can tell apart (Okabe and Ito, 2008), the darker first.
pub const HUES: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Beside its colour every line has a pattern of its own, for prints in grey.
pub const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// Where a text stands by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Begins there.
    Start,
    /// Has it in its middle.
    Middle,
    /// Ends there.
    End,
}

/// A drawing under way.
#[derive(Clone, Debug)]
pub struct Canvas {
    width: f64,
    height: f64,
    marks: String,
}

impl Canvas {
    /// An empty one of this size.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, marks: String::new() }
    }

    /// A text, cut to what fits into `room` pixels; the whole of it is shown to who points at it.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, room: f64, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let shown = cut(text, room);
        let hover = if shown == text { String::new() } else { format!("<title>{}</title>", escaped(text)) };
        let (x, y, shown) = (n(x), n(y + TEXT * 0.35), escaped(&shown));
        let line = format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{shown}{hover}</text>\n"
        );
        self.marks.push_str(&line);
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str, style: &str) {
        let ends = format!("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", n(x1), n(y1), n(x2), n(y2));
        self.marks.push_str(&format!("<line class=\"{class}\" {ends}{}/>\n", styled(style)));
    }

    /// Straight lines from point to point.
    pub fn path(&mut self, points: &[(f64, f64)], class: &str, style: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", n(*x), n(*y))).collect();
        let points = points.join(" ");
        self.marks.push_str(&format!("<polyline class=\"{class}\" points=\"{points}\"{}/>\n", styled(style)));
    }

    /// A rectangle, by its left upper corner and its size.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, style: &str) {
        let place = format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", n(x), n(y), n(width), n(height));
        self.marks.push_str(&format!("<rect class=\"{class}\" {place}{}/>\n", styled(style)));
    }

    /// A disc that says more to who points at it.
    pub fn disc(&mut self, (x, y): (f64, f64), radius: f64, class: &str, style: &str, hover: &str) {
        let place = format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", n(x), n(y), n(radius));
        let hover = escaped(hover);
        let style = styled(style);
        self.marks
            .push_str(&format!("<circle class=\"{class}\" {place}{style}><title>{hover}</title></circle>\n"));
    }

    /// The whole as a document of its own.
    pub fn svg(&self, caption: &Caption) -> String {
        let (width, height) = (n(self.width), n(self.height));
        let (title, finding) = (escaped(&caption.title), escaped(&caption.finding));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}. {finding}\" font-family=\"system-ui, sans-serif\" \
             font-size=\"{TEXT}\">\n<title>{title}</title>\n<desc>{finding}</desc>\n<style>{STYLE}</style>\n{PATTERNS}\
             <rect class=\"paper\" x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.marks
        )
    }
}

const STYLE: &str = "
.paper{fill:#fff}.ink{fill:#1a1a1a}.faint{fill:#5c5c5c}.rule{stroke:#d9d9d9;stroke-width:1}.axis{stroke:#5c5c5c;stroke-width:1}
.band{fill:#f3f4f6}.strip{fill:#e69f00;fill-opacity:.25}.ceiling{stroke:#d55e00;stroke-width:1.5;stroke-dasharray:6 3}
.dot{fill:#0072b2}.hollow{fill:#fff;stroke:#0072b2;stroke-width:1.5}.whisker{stroke:#0072b2;stroke-width:2}
.curve{fill:none;stroke-width:1.75}.hatch{fill:url(#hatch)}.leader{stroke:#8a8a8a;stroke-width:.75}.bold{font-weight:600}
@media (prefers-color-scheme:dark){.paper{fill:#14171a}.ink{fill:#eceff1}.faint{fill:#a9b1b7}.rule{stroke:#33393e}
.axis{stroke:#a9b1b7}.band{fill:#1d2226}.hollow{fill:#14171a}.dot{fill:#56b4e9}.whisker,.hollow{stroke:#56b4e9}}
";

const PATTERNS: &str = "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" stroke=\"#777\" stroke-width=\"2\" stroke-opacity=\".45\"/></pattern></defs>\n";

/// How many pixels a text takes at most.
pub fn length(text: &str) -> f64 {
    unicode_width::UnicodeWidthStr::width(text) as f64 * TEXT * LETTER
}

/// What fits into `room` pixels, with `…` for what does not.
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

/// A coordinate: a tenth of a pixel is enough.
fn n(x: f64) -> String {
    let x = if x.is_finite() { x } else { 0.0 };
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn styled(style: &str) -> String {
    if style.is_empty() { String::new() } else { format!(" style=\"{style}\"") }
}

/// A text as it may stand in XML; what XML has no place for is left out.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
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
        let svg = canvas.svg(&Caption { title: "t".to_owned(), finding: "f".to_owned() });
        assert!(svg.contains(">a name…<title>a name that is long</title></text>"), "{svg}");
        assert_eq!(
            (cut("abc", 0.0), cut("abc", 8.0), cut("abc", 30.0)),
            (String::new(), "…".into(), "abc".into())
        );
    }
}
