//! Templates taken apart, and where they match in a text. Each byte of a text is looked at most as often as templates begin with
//! it, so the time is linear in the length of the text.

use super::field::{Kind, Taken, unit_ns};
use crate::statistic::statistic;

/// The longest line that is read as one, in bytes.
const LONGEST: usize = 1000;

/// A form of a line, taken apart.
pub struct Form {
    /// The line's index among the tool's.
    pub line: usize,
    parts: Vec<Part>,
}

enum Part {
    Text(&'static str),
    Space,
    Dots,
    Field { name: &'static str, kind: Kind },
}

/// A line that was found.
pub struct Seen {
    /// Its index among the tool's.
    pub line: usize,
    pub start: usize,
    pub end: usize,
    /// What was read, by the names of figures.
    pub fields: Vec<(String, Taken)>,
}

impl Form {
    /// The parts of a template.
    pub fn new(line: usize, template: &'static str) -> Self {
        let (mut parts, mut rest) = (Vec::new(), template);
        while let Some(first) = rest.chars().next() {
            let length = match (first, rest.find('}')) {
                (' ', _) => {
                    parts.push(Part::Space);
                    1
                }
                ('…', _) => {
                    parts.push(Part::Dots);
                    first.len_utf8()
                }
                ('{', Some(end)) if !rest.starts_with("{ ") => {
                    let (name, kind) = rest[1..end].split_once(':').unwrap_or((&rest[1..end], ""));
                    parts.push(Part::Field { name, kind: Kind::named(kind) });
                    end + 1
                }
                _ => {
                    let after = first.len_utf8();
                    let end = rest[after..].find([' ', '…', '{']).map_or(rest.len(), |at| after + at);
                    parts.push(Part::Text(&rest[..end]));
                    end
                }
            };
            rest = &rest[length..];
        }
        Self { line, parts }
    }

    /// The longest words that every match has.
    pub fn longest_words(&self) -> &'static str {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Text(words) => Some(*words),
            _ => None,
        });
        words.max_by_key(|words| words.len()).unwrap_or("")
    }

    /// Whether the template may match where a text has this byte, after this one.
    fn begins(&self, byte: u8, before: Option<u8>) -> bool {
        match self.parts.first() {
            Some(Part::Text(text)) => {
                text.as_bytes()[0] == byte && before.is_none_or(|b| !b.is_ascii_alphanumeric())
            }
            // A number in a word, such as an address, begins no line.
            _ => {
                byte.is_ascii_digit()
                    && before.is_none_or(|b| b.is_ascii_whitespace() || b >= 0x80 || b">\"`*|".contains(&b))
            }
        }
    }
}

/// The bytes that lines begin with.
pub struct Beginnings {
    /// Of those lines that may begin a report.
    pub first: [bool; 256],
    /// Of all lines.
    pub any: [bool; 256],
}

impl Beginnings {
    /// The bytes that these forms begin with, given which lines may begin a report.
    pub fn of(forms: &[Form], may_begin: impl Fn(usize) -> bool) -> Self {
        let mut all = Self { first: [false; 256], any: [false; 256] };
        for form in forms {
            let bytes = match form.parts.first() {
                Some(Part::Text(text)) => text.as_bytes()[0]..=text.as_bytes()[0],
                _ => b'0'..=b'9',
            };
            for byte in bytes.map(usize::from) {
                all.any[byte] = true;
                all.first[byte] |= may_begin(form.line);
            }
        }
        all
    }
}

/// The next line of any template in a text, from a byte on; `beginnings` are the bytes that it may begin with.
pub fn next(
    text: &str,
    from: usize,
    forms: &[Form],
    beginnings: &[bool; 256],
    columns: &[Option<String>],
) -> Option<Seen> {
    let bytes = text.as_bytes();
    let may_begin = |at: &usize| beginnings[usize::from(bytes[*at])] && text.is_char_boundary(*at);
    (from..bytes.len()).filter(may_begin).find_map(|at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let of_form = |form: &Form| {
            let form = Some(form).filter(|form| form.begins(bytes[at], before))?;
            let (end, fields) =
                Match { text, start: at, at, columns, key: None, fields: Vec::new() }.all(&form.parts)?;
            Some(Seen { line: form.line, start: at, end, fields })
        };
        forms.iter().find_map(of_form)
    })
}

/// The state of a match.
struct Match<'t> {
    text: &'t str,
    start: usize,
    at: usize,
    columns: &'t [Option<String>],
    key: Option<String>,
    fields: Vec<(String, Taken)>,
}

impl Match<'_> {
    /// Where the match ends, and its fields; only the certain ones where the text ends before the template does.
    fn all(mut self, parts: &[Part]) -> Option<(usize, Vec<(String, Taken)>)> {
        // The rows of a table that ends early may be of another one, and a number alone of any line.
        let is_row = parts.iter().any(|part| matches!(part, Part::Field { kind: Kind::End, .. }));
        let mut has_words = false;
        for (i, part) in parts.iter().enumerate() {
            let needs_text = !matches!(part, Part::Field { kind, .. } if kind.has_no_text());
            let rest = &self.text[self.at..];
            let is_cut = match part {
                Part::Text(words) => words.starts_with(rest) && *words != rest,
                _ => rest.is_empty() && needs_text,
            };
            if is_cut && i > 0 {
                return self.cut_short(has_words && !is_row);
            }
            let beside = |i: Option<usize>| matches!(i.and_then(|i| parts.get(i)), Some(Part::Field { kind, .. }) if kind.is_number());
            let next = match parts.get(i + 1) {
                Some(Part::Text(text)) => text.chars().next(),
                _ => None,
            };
            match part {
                Part::Text(words) => {
                    self.words(words)?;
                    has_words = true;
                }
                Part::Space => self.space(beside(i.checked_sub(1)) || beside(Some(i + 1)))?,
                Part::Dots => {
                    let rest = &self.text[self.at..];
                    self.at += rest.len() - rest.trim_start_matches('.').len();
                }
                Part::Field { name, kind } => {
                    if !self.field(name, *kind, next)? {
                        return self.cut_short(has_words && !is_row);
                    }
                }
            }
        }
        Some(self.done())
    }

    /// What was read before the text ended, if it can be nothing else.
    fn cut_short(self, is_sure: bool) -> Option<(usize, Vec<(String, Taken)>)> {
        (is_sure && !self.fields.is_empty()).then(|| self.done())
    }

    fn words(&mut self, words: &str) -> Option<()> {
        let rest = &self.text[self.at..];
        let after = rest.strip_prefix(words).or_else(|| {
            // On a page, `<` may be written as a reference to it.
            rest.strip_prefix("&lt;")?.strip_prefix(words.strip_prefix('<')?)
        })?;
        self.at += rest.len() - after.len();
        Some(())
    }

    /// Skips white space, and what tables and marks of emphasis put in its place.
    fn space(&mut self, may_lack: bool) -> Option<()> {
        let rest = &self.text[self.at..];
        let after = rest.trim_start_matches(is_blank);
        let after = if rest[..rest.len() - after.len()].contains('\n') {
            after.trim_start_matches(['>', ' '])
        } else {
            after
        };
        self.at += rest.len() - after.len();
        (may_lack || after.len() < rest.len()).then_some(())
    }

    fn put(&mut self, name: &str, taken: Taken) {
        self.fields.push((name.to_owned(), taken));
    }

    /// The end and the fields, whose names are complete. The key may follow its figure; without a key, a figure is not kept.
    fn done(mut self) -> (usize, Vec<(String, Taken)>) {
        for (name, _) in &mut self.fields {
            if name.contains('*') {
                *name = self.key.as_ref().map_or_else(String::new, |key| name.replace('*', key));
            }
        }
        (self.at, self.fields)
    }

    /// Reads a field; `Some(false)` if the end of the text may have cut it short.
    fn field(&mut self, name: &'static str, kind: Kind, next: Option<char>) -> Option<bool> {
        let rest = &self.text[self.at..];
        let line = line_of(rest);
        match kind {
            Kind::Word | Kind::Key | Kind::Url => {
                let end = line.find(|c: char| c.is_whitespace() || Some(c) == next).unwrap_or(line.len());
                let word = Some(&line[..end]).filter(|word| !word.is_empty())?;
                if kind == Kind::Url && !word.contains("://") {
                    return None;
                }
                self.at += end;
                if kind == Kind::Key {
                    let is_code = word.len() <= 3 && word.bytes().all(|b| b.is_ascii_alphanumeric());
                    self.key = Some(word.to_owned()).filter(|_| is_code);
                    self.key.as_ref()?;
                } else {
                    self.put(name, Taken::Text(word.to_owned()));
                }
            }
            Kind::Rest => {
                let line = match next.and_then(|next| line.find(next)) {
                    Some(end) => &line[..end],
                    // What follows is not on this line.
                    None if next.is_some() => return None,
                    None => line.trim_end(),
                };
                let words: String = line.trim().chars().take(200).collect();
                self.at += line.len();
                if name == "*" {
                    self.key = Some(words).filter(|words| words.chars().any(char::is_alphabetic));
                    self.key.as_ref()?;
                } else {
                    self.put(name, Taken::Text(words));
                }
            }
            Kind::Percentile => {
                let (Taken::Number { value, .. }, length, _) = Kind::Number(1.0).quantity(rest)? else {
                    return None;
                };
                self.at += length;
                self.key = match value {
                    100.0 => Some("max".to_owned()),
                    _ if value > 100.0 => return None,
                    _ => statistic(&format!("p{value}")),
                };
            }
            Kind::Columns => {
                let cells = line.split(is_blank).filter(|cell| !cell.is_empty());
                let columns: Vec<Option<String>> = cells.map(statistic).collect();
                columns.iter().flatten().next()?;
                self.put(name, Taken::Columns(columns));
                self.at += line.len();
            }
            Kind::Row(kind) => return self.row(name, *kind),
            Kind::Pairs => return self.pairs(name),
            Kind::Nothing => self.put(name, Taken::Text(String::new())),
            Kind::Line => self.put(name, Taken::Text(self.text[self.start..self.at].to_owned())),
            Kind::Section => self.put(name, Taken::Section),
            Kind::End => {
                let next = rest.trim_start_matches(' ').chars().next()?;
                return (!next.is_ascii_digit()).then_some(true);
            }
            Kind::MaybeTime => {
                let Some(unit) = unit_ns(rest) else {
                    return self.quantity(&name.replace("_ns", ""), Kind::Hundredths, next);
                };
                self.put("unit", Taken::Number { value: unit, resolution: unit });
                return self.quantity(name, Kind::Time, next);
            }
            _ => return self.quantity(name, kind, next),
        }
        Some(true)
    }

    fn quantity(&mut self, name: &str, kind: Kind, next: Option<char>) -> Option<bool> {
        let (taken, length, is_cut) = kind.quantity(&self.text[self.at..])?;
        self.at += length;
        // 2xx is no number.
        let is_word = next.is_none() && self.text[self.at..].starts_with(char::is_alphabetic);
        if is_word && matches!(kind, Kind::Number(_)) {
            return None;
        }
        if is_cut {
            return Some(false);
        }
        self.put(name, taken);
        Some(true)
    }

    /// Reads a value for each column; they are on one line.
    fn row(&mut self, name: &str, kind: Kind) -> Option<bool> {
        for (i, column) in self.columns.iter().enumerate() {
            let rest = &self.text[self.at..];
            let cell = rest.trim_start_matches(|c: char| is_blank(c) && c != '\n');
            let Some((taken, length, is_cut)) = kind.quantity(cell) else { return (i > 0).then_some(true) };
            self.at += rest.len() - cell.len() + length;
            if is_cut {
                return Some(false);
            }
            if let Some(column) = column {
                self.put(&format!("{name}_{column}"), taken);
            }
        }
        (!self.columns.is_empty()).then_some(true)
    }

    /// Reads `avg=1.2ms min=3µs p(90)=4ms`.
    fn pairs(&mut self, name: &str) -> Option<bool> {
        let mut is_any = false;
        loop {
            let rest = &self.text[self.at..];
            let pair = rest.trim_start_matches([' ', '\t']);
            let Some((key, _)) =
                line_of(pair).split_once('=').filter(|(key, _)| key.len() < 12 && !key.contains([' ', '\n']))
            else {
                return is_any.then_some(true);
            };
            let value = &pair[key.len() + 1..];
            let Some((taken, length, is_cut)) = Kind::Go.quantity(value) else {
                return is_any.then_some(true);
            };
            self.at += rest.len() - value.len() + length;
            if is_cut {
                return Some(false);
            }
            is_any = true;
            if let Some(statistic) = statistic(key) {
                self.put(&format!("{name}_{statistic}"), taken);
            }
        }
    }
}

/// The line at the beginning; of a very long one, only a part, so that time stays linear.
fn line_of(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(LONGEST)];
    near.find('\n').map_or(near, |end| &near[..end])
}

/// White space, and what tables and marks of emphasis put in its place.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '|' | '\u{2500}'..='\u{257f}')
}
