//! Scans a text from left to right, for readers of reports. Every step moves forward, so the time is linear in the
//! length of the text.

use std::ops::Range;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The position, in bytes.
    pub at: usize,
}

impl<'a> Scan<'a> {
    /// A scan from this position of a text.
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The rest of the text.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips spaces, line breaks, and the marks of quoted mail. Returns whether a line ended.
    pub fn blanks(&mut self) -> bool {
        let mut is_new_line = false;
        for c in self.rest().chars() {
            match c {
                '\n' => is_new_line = true,
                // HTML may have non-breaking spaces.
                ' ' | '\t' | '\r' | '\u{a0}' => {}
                '>' if is_new_line => {}
                _ => break,
            }
            self.at += c.len_utf8();
        }
        is_new_line
    }

    /// Skips this word, if it comes next.
    pub fn word(&mut self, word: &str) -> bool {
        let is_here = self.rest().starts_with(word);
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    /// Reads a number, if one comes next: digits with an optional fraction and exponent.
    pub fn number(&mut self) -> Option<f64> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        let mut end = usize::from(bytes.first() == Some(&b'-'));
        end += match digits(end) {
            0 => return None,
            n => n,
        };
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let value = self.rest().get(..end)?.parse().ok()?;
        self.at += end;
        Some(value)
    }

    /// Matches a template and returns its numbers: `#` stands for a number, and a space for any number of spaces.
    pub fn template(&mut self, template: &str) -> Option<Vec<f64>> {
        let mut here = *self;
        let mut numbers = Vec::new();
        for part in template.split_inclusive([' ', '#']) {
            let word = part.trim_end_matches([' ', '#']);
            if !here.word(word) {
                return None;
            }
            if part.ends_with('#') {
                numbers.push(here.number()?);
            } else if part.ends_with(' ') {
                let from = here.at;
                here.blanks();
                if here.at == from {
                    return None;
                }
            }
        }
        *self = here;
        Some(numbers)
    }

    /// Reads the rest of this line, without its line break, if it is short enough to be a line of a report.
    pub fn line(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let near = &bytes[..bytes.len().min(LINE_BYTES)];
        let end =
            near.iter().position(|&b| b == b'\n').or((near.len() == bytes.len()).then_some(near.len()))?;
        self.at += end;
        Some(rest[..end].trim_end())
    }
}

/// The longest line of a report, in bytes.
const LINE_BYTES: usize = 400;

/// The ranges of the lines between two positions, the last first, without their line breaks.
pub fn lines_before(text: &str, from: usize, to: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = Some(from);
    std::iter::from_fn(move || {
        let at = end?;
        let before = text.get(to..at)?;
        let start = to + before.rfind('\n').map_or(0, |at| at + 1);
        end = (start > to).then(|| start - 1);
        Some(start..at)
    })
}

/// The command line of this program, if the line is one: after a shell's prompt or alone, with arguments that are
/// not prose.
pub fn command<'a>(line: &'a str, program: &str) -> Option<&'a str> {
    let bare = line.trim().trim_start_matches(['>', ' ']);
    // Any prompt is accepted.
    let prompt = ["$ ", "# ", "% "].iter().filter_map(|p| bare.find(p).map(|at| at + p.len())).min();
    let starts = [Some(0), prompt];
    let command = starts.iter().flatten().filter_map(|&at| bare.get(at..)).find(|command| {
        let named = command.split(' ').next().unwrap_or_default();
        named.rsplit('/').next() == Some(program)
    })?;
    let mut args = command.split_whitespace().skip(1).peekable();
    args.peek()?;
    // A command line contains an option or something like a URL; a sentence rarely does.
    let is_command = args.any(|arg| arg.starts_with('-') || arg.contains('/') || arg.contains(':'));
    let is_prose = command.ends_with(['.', ':']) && command.contains(", ");
    (is_command && !is_prose).then_some(command)
}

/// The last URL-like argument of a command line.
pub fn url(command: &str) -> Option<&str> {
    command
        .split_whitespace()
        .map(|arg| arg.trim_matches(['"', '\'', '`']))
        .rfind(|arg| arg.starts_with("http://") || arg.starts_with("https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_reports() {
        let number = |text| {
            let mut scan = Scan::new(text, 0);
            scan.number().map(|n| (n, scan.at))
        };
        assert_eq!(number("12 hits"), Some((12.0, 2)));
        assert_eq!(number("1.67544e+06 bytes"), Some((1_675_440.0, 11)));
        assert_eq!(number("5. End"), Some((5.0, 1)));
        assert_eq!(number("3em"), Some((3.0, 1)));
        assert_eq!(number("2e"), Some((2.0, 1)));
        assert_eq!((number(""), number("x"), number("-"), number(".5")), (None, None, None, None));
    }

    #[test]
    fn templates_have_numbers_and_blanks() {
        let template = |text| {
            let mut scan = Scan::new(text, 0);
            (scan.template("# a, # b"), scan.at)
        };
        assert_eq!(template("1 a,\t 2.5\n b c"), (Some(vec![1.0, 2.5]), 12));
        for other in ["", "1 a, b", "1 a,2 b", "x"] {
            assert_eq!(template(other), (None, 0), "{other}");
        }
    }

    #[test]
    fn commands_are_told_from_prose() {
        let siege = |line| command(line, "siege");
        assert_eq!(siege("me@pi:~/x$ siege -b -t10S URL"), Some("siege -b -t10S URL"));
        assert_eq!(siege("    $ /usr/bin/siege http://a/"), Some("/usr/bin/siege http://a/"));
        assert_eq!(siege("siege -c2 a"), Some("siege -c2 a"));
        for prose in ["siege", "siege is a tool", "the siege -c2", "siege -b, as said, is:", ""] {
            assert_eq!(siege(prose), None, "{prose}");
        }
    }

    #[test]
    fn lines_go_backwards_and_end() {
        let text = "a\nbc\n\nd";
        let lines = |from, to| lines_before(text, from, to).map(|r| &text[r]).collect::<Vec<_>>();
        assert_eq!(lines(text.len(), 0), ["d", "", "bc", "a"]);
        assert_eq!(lines(text.len(), 2), ["d", "", "bc"]);
        assert_eq!(lines(0, 0), [""]);
    }
}
