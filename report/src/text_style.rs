//! How text for people is rendered. This is the one place that knows of colours, of characters that not every terminal has,
//! and of line breaks.

use model::text::is_unprintable;
use unicode_width::UnicodeWidthStr;

/// What the output can show; the default is a file: lines of any length, no colour, all of Unicode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// The width in columns; `None`: lines are never broken.
    pub width: Option<usize>,
    /// Whether colours may be used.
    pub has_colour: bool,
    /// Whether only ASCII can be shown.
    pub is_ascii: bool,
}

/// What the colour of a text means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// Nothing: the default colour.
    #[default]
    Plain,
    /// Certainly better: green.
    Good,
    /// To be treated with caution: yellow.
    Doubt,
    /// Failed, or certainly worse: red.
    Bad,
}

impl Ink {
    /// The class of this colour on a page.
    pub fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("good"),
            Self::Doubt => Some("open"),
            Self::Bad => Some("bad"),
        }
    }

    fn code(self) -> Option<u8> {
        match self {
            Self::Plain => None,
            Self::Good => Some(32),
            Self::Doubt => Some(33),
            Self::Bad => Some(31),
        }
    }
}

/// Terminals are treated as at least this wide, so that figures stay in one piece.
const NARROWEST: usize = 20;

/// The narrowest column of prose that is still easy to read.
const LEAST: usize = 24;

impl TextStyle {
    /// The usable width, if it is limited.
    pub fn columns(&self) -> Option<usize> {
        self.width.map(|width| width.max(NARROWEST))
    }

    /// The text with every character that cannot be shown replaced. Control characters, which may come from a server's log, are
    /// replaced too, so that they move no cursor, and so are those that change the order of others.
    pub fn words(&self, text: &str) -> String {
        let shown = |c: char| match c {
            '\n' => c,
            '\t' => ' ',
            c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        let text: String = text.chars().map(shown).collect();
        if self.is_ascii { ascii(&text) } else { text }
    }

    /// The text in a colour if colours may be used. This must be the last step: it adds characters without width.
    pub fn paint(&self, text: &str, ink: Ink) -> String {
        match ink.code() {
            Some(code) if self.has_colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// A report whose lines, prose or rows of columns, have not been broken yet.
    pub fn report(&self, text: &str) -> String {
        let lines = self.words(text);
        let broken = lines.lines().flat_map(|line| {
            if line.trim_start().contains("  ") { self.broken_row(line) } else { self.broken(line) }
        });
        broken.map(|line| line + "\n").collect()
    }

    /// Lines of prose, each broken if it is too long, and ended by a line feed.
    pub fn prose(&self, text: &str, ink: Ink) -> String {
        let lines = self.words(text);
        let broken = lines.split('\n').flat_map(|line| self.broken(line));
        broken.map(|line| self.paint(&line, ink) + "\n").collect()
    }

    /// Breaks a line at spaces and indents what follows. A word that is too long stays whole.
    fn broken(&self, line: &str) -> Vec<String> {
        let Some(width) = self.columns().filter(|width| line.width() > *width) else {
            return vec![line.to_owned()];
        };
        let own = indent(line);
        filled(&words_of(line), " ", width, [own, own + 2])
    }

    /// Breaks a row of columns. If the last column is prose and there is room, it continues below itself; otherwise the columns
    /// that do not fit move to the next line.
    fn broken_row(&self, line: &str) -> Vec<String> {
        let Some(width) = self.columns().filter(|width| line.width() > *width) else {
            return vec![line.to_owned()];
        };
        let (head, last) = line.split_at(line.rfind("  ").map_or(0, |gap| gap + 2));
        let (taken, words) = (head.width(), words_of(last));
        let longest = words.iter().map(|word| word.width()).max().unwrap_or(0);
        if words.len() > 1 && taken + LEAST <= width && taken + longest <= width {
            let pieces = filled(&words, " ", width - taken, [0, 0]);
            let below = " ".repeat(taken);
            let begins = |i: usize| if i == 0 { head } else { &below };
            return pieces.iter().enumerate().map(|(i, piece)| begins(i).to_owned() + piece).collect();
        }
        let own = indent(line);
        let columns: Vec<String> =
            line.split("  ").map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect();
        let whole = columns.last().map_or(0, |last| own + 2 + last.width());
        if let [others @ .., _] = &columns[..]
            && taken + LEAST <= width
            && whole > width
        {
            // A word of the last column is too long for the column's place, and the whole column is too long for a line.
            let mut lines = filled(others, "  ", width, [own, own + 2]);
            lines.extend(filled(&words, " ", width, [own + 2, own + 2]));
            return lines;
        }
        filled(&columns, "  ", width, [own, own + 2])
    }
}

/// The number of leading spaces.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Fills lines of at most `width` columns with the pieces; the first line and the others have their own indents.
pub fn filled(pieces: &[String], joint: &str, width: usize, [first, others]: [usize; 2]) -> Vec<String> {
    let (mut lines, mut now) = (Vec::new(), " ".repeat(first));
    let mut is_empty = true;
    for piece in pieces {
        if !is_empty && now.width() + joint.width() + piece.width() > width {
            lines.push(std::mem::replace(&mut now, " ".repeat(others)));
            is_empty = true;
        }
        if !is_empty {
            now.push_str(joint);
        }
        now.push_str(piece);
        is_empty = false;
    }
    lines.push(now);
    lines
}

/// The words of a line; a figure and its unit count as one word.
fn words_of(line: &str) -> Vec<String> {
    const UNITS: [&str; 9] = ["ns", "µs", "us", "ms", "s", "B", "kB", "MB", "%"];
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ';', ':', '.', ')']));
        match words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(figure) => *figure += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// The text in ASCII: a substitute for each character that drome itself uses, a question mark for any other.
pub fn ascii(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            c if c.is_ascii() => out.push(c),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '±' => out.push_str("+-"),
            '–' | '−' | '‐' | '‑' | '─' | '━' => out.push('-'),
            '—' => out.push_str("--"),
            'µ' | 'μ' => out.push('u'),
            '×' => out.push('x'),
            '“' | '”' | '„' => out.push('"'),
            '‘' | '’' => out.push('\''),
            '…' => out.push_str("..."),
            '■' | '█' => out.push('#'),
            '→' => out.push_str("->"),
            '✓' => out.push_str("ok"),
            'τ' => out.push_str("tau"),
            '°' | '\u{200b}' => {}
            '\u{a0}' | '\u{202f}' | '\u{2009}' => out.push(' '),
            '·' | '•' => out.push('*'),
            _ => out.push('?'),
        }
        out
    })
}

/// The text unchanged if it is at most `most` columns wide; otherwise as much of its beginning as leaves room for `sign`, and then `sign`.
pub fn shortened(text: &str, most: usize, sign: &str) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if kept.width() + sign.width() > most {
            kept.pop();
            break;
        }
    }
    kept + sign
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLOURED: TextStyle = TextStyle { width: None, has_colour: true, is_ascii: false };

    #[test]
    fn colours_only_where_there_are_colours() {
        assert_eq!(COLOURED.paint("void", Ink::Bad), "\x1b[31mvoid\x1b[0m");
        assert_eq!([COLOURED.paint("x", Ink::Plain), COLOURED.paint("", Ink::Bad)], ["x", ""]);
        assert_eq!(TextStyle::default().paint("void", Ink::Bad), "void");
    }

    #[test]
    fn prose_is_broken_at_blanks_and_every_line_is_painted() {
        let style = TextStyle { width: Some(20), ..COLOURED };
        let text = style.prose("  one two three four five\nsix", Ink::Doubt);
        let [on, off] = ["\x1b[33m", "\x1b[0m"];
        assert_eq!(text, format!("{on}  one two three four{off}\n{on}    five{off}\n{on}six{off}\n"));
    }

    #[test]
    fn a_row_that_is_too_wide_goes_on_below_its_last_column_or_below_itself() {
        let style = TextStyle { width: Some(40), ..TextStyle::default() };
        assert_eq!(
            style.report("nginx     a server of files that is known to many\nshort     one\n"),
            "nginx     a server of files that is\n          known to many\nshort     one\n"
        );
        assert_eq!(
            style.report("  latency  p50 72 µs  p90 100 µs  p99 1.2 ms  max 3 ms"),
            "  latency  p50 72 µs  p90 100 µs\n    p99 1.2 ms  max 3 ms\n"
        );
    }

    #[test]
    fn all_that_drome_writes_has_its_ascii() {
        let text = "≥ 1–2 −3 µs ±4 × “x” … ■ → τ 82 °C";
        assert_eq!(ascii(text), ">= 1-2 -3 us +-4 x \"x\" ... # -> tau 82 C");
        assert_eq!(ascii("Größe 大"), "Gr??e ?");
    }

    #[test]
    fn a_servers_words_move_no_cursor() {
        assert_eq!(
            TextStyle::default().words("a\x1b[2Jb\rc\td\u{202e}e"),
            "a\u{fffd}[2Jb\u{fffd}c d\u{fffd}e"
        );
    }

    #[test]
    fn what_is_shortened_says_so() {
        assert_eq!(
            ["abcdef", "abcde", "大大大"].map(|text| shortened(text, 5, "…")),
            ["abcd…", "abcde", "大大…"]
        );
    }

    #[test]
    fn a_word_that_is_too_long_for_its_column_goes_where_it_fits() {
        let style = TextStyle { width: Some(40), ..TextStyle::default() };
        let long = "x".repeat(34);
        assert_eq!(style.report(&format!("name      a {long}")), format!("name\n  a {long}\n"));
        let prose = format!("name      some more words {long}");
        assert_eq!(style.report(&prose), format!("name\n  some more words\n  {long}\n"));
    }

    proptest! {
        #[test]
        fn broken_prose_has_the_same_words_and_fits(text in "[a-c ]{0,80}", width in 20_usize..60) {
            let style = TextStyle { width: Some(width), ..TextStyle::default() };
            let broken = style.prose(&text, Ink::Plain);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&broken), words(&text));
            for line in broken.lines() {
                prop_assert!(line.width() <= width || words(line).len() == 1, "{:?}", line);
            }
        }

        #[test]
        fn broken_rows_have_the_same_words_and_fit(text in "( {0,3}[a-c]{1,9}){1,14}", width in 20_usize..60) {
            let style = TextStyle { width: Some(width), ..TextStyle::default() };
            let broken = style.report(&text);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&broken), words(&text));
            // A column of several words that has no room of its own stays whole.
            let widest = text.trim().split("  ").map(|column| column.trim().width()).max().unwrap_or(0);
            for line in broken.lines() {
                prop_assert!(line.width() <= width.max(widest + 5), "{:?}", line);
            }
        }

        #[test]
        fn ascii_is_ascii(text in "\\PC{0,40}") {
            prop_assert!(ascii(&text).is_ascii());
        }
    }
}
