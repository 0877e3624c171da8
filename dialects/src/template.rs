//! Finds the lines of a tool's report in any text by templates: `{}` matches a number, a space matches any white
//! space, and everything else matches itself. So a report may be indented, quoted, wrapped, or on one line. Each
//! byte of the text is examined at most as often as a template has bytes, so the time is linear in the length of
//! the text.

use std::ops::Range;

/// A template that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// The template's index in the list.
    pub line: usize,
    /// Where it was found, in bytes.
    pub at: Range<usize>,
    /// Its numbers; `None` for `nan` or `inf`. There are fewer than in the template if the text is cut off.
    pub values: Vec<Option<f64>>,
}

impl Sight {
    /// The number at this index, if there is one.
    pub fn get(&self, nth: usize) -> Option<f64> {
        self.values.get(nth).copied().flatten()
    }
}

/// A report: lines in the order of the list, with little between them. No line occurs twice, unless it may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The range from its first line to its last.
    pub at: Range<usize>,
    /// The lines that were found.
    pub sights: Vec<Sight>,
    /// Lines between them that are not understood.
    pub strange: Vec<String>,
}

/// The largest number of unknown lines between two lines of one report.
const MOST_BETWEEN: usize = 8;

/// The mark at the beginning of a template whose line may be repeated in one report.
pub const OFTEN: char = '\u{1}';

/// The reports in a text that consist of lines of this list.
pub fn reports(text: &str, list: &[&str]) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let mut from = 0;
    while let Some(sight) = next(text, from, list) {
        from = sight.at.end;
        if let Some(report) = reports.last_mut()
            && let Some(last) = report.sights.last()
            && (last.line < sight.line || (last.line == sight.line && list[sight.line].starts_with(OFTEN)))
            && let Some(between) = between(&text[last.at.end..sight.at.start])
        {
            report.at.end = sight.at.end;
            report.strange.extend(between);
            report.sights.push(sight);
            continue;
        }
        reports.push(Report { at: sight.at.clone(), sights: vec![sight], strange: Vec::new() });
    }
    reports
}

/// The text between two lines of one report; `None` if it shows that they belong to two reports.
pub fn between(text: &str) -> Option<Vec<String>> {
    let mut strange = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("## ") {
            return None;
        }
        if bare.bytes().any(|b| b.is_ascii_alphabetic() || !b.is_ascii()) {
            if strange.len() == MOST_BETWEEN {
                return None;
            }
            strange.push(bare.to_owned());
        }
    }
    Some(strange)
}

/// Finds the next line of the list in `text`, from a byte on.
pub fn next(text: &str, from: usize, list: &[&str]) -> Option<Sight> {
    let bytes = text.as_bytes();
    let firsts: Vec<u8> =
        list.iter().map(|template| template.trim_start_matches(OFTEN).as_bytes()[0]).collect();
    let is_start = |at: usize| at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    (from..bytes.len()).filter(|&at| firsts.contains(&bytes[at]) && is_start(at)).find_map(|at| {
        let found = |line: usize| {
            let (values, length) = matches(list[line].trim_start_matches(OFTEN), &bytes[at..])?;
            Some(Sight { line, at: at..at + length, values })
        };
        (0..list.len()).filter(|&line| firsts[line] == bytes[at]).find_map(found)
    })
}

/// The numbers of a template that matches the beginning of `text`, and the length of the match. If the text ends
/// first, only numbers that are certainly complete; `None` if it ends before the first number.
fn matches(template: &str, text: &[u8]) -> Option<(Vec<Option<f64>>, usize)> {
    let mut values = Vec::new();
    let mut at = 0;
    let mut pattern = template;
    while let Some(c) = pattern.chars().next() {
        if at == text.len() {
            let is_sure = !values.is_empty();
            return is_sure.then_some((values, at));
        }
        if let Some(rest) = pattern.strip_prefix("{}") {
            let (value, length) = number(&text[at..])?;
            at += length;
            if matches!(&text[at..], b"" | b".") {
                // The number may continue.
                return (!values.is_empty()).then_some((values, at));
            }
            values.push(value);
            pattern = rest;
            continue;
        }
        pattern = &pattern[c.len_utf8()..];
        if c == ' ' {
            let is_beside_number =
                pattern.starts_with("{}") || template[..template.len() - pattern.len()].ends_with("{} ");
            let blanks = text[at..].iter().take_while(|b| b.is_ascii_whitespace() || **b == b'*').count();
            if blanks == 0 && !is_beside_number {
                return None;
            }
            at += blanks;
            continue;
        }
        let mut buffer = [0; 4];
        let wanted = c.encode_utf8(&mut buffer).as_bytes();
        if text[at..].starts_with(wanted) {
            at += wanted.len();
        } else if c == '<' && text[at..].starts_with(b"&lt;") {
            at += 4;
        } else {
            return None;
        }
    }
    Some((values, at))
}

/// A number as printf writes it, and its length in bytes.
fn number(text: &[u8]) -> Option<(Option<f64>, usize)> {
    let sign = usize::from(text.first() == Some(&b'-'));
    if [&b"nan"[..], b"inf"].iter().any(|word| text[sign..].starts_with(word)) {
        return Some((None, sign + 3));
    }
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let value = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    (whole > 0).then_some((Some(value), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[&str] = &["\u{1}tick {}", "Sum: {} a {} b", "Most <={} end"];

    fn values(text: &str) -> Vec<Vec<Option<f64>>> {
        reports(text, LIST).iter().flat_map(|r| r.sights.iter().map(|s| s.values.clone())).collect()
    }

    #[test]
    fn however_it_is_laid_out() {
        let all = vec![vec![Some(1.5)], vec![Some(2.0), Some(3.0)], vec![Some(4.0)]];
        for text in [
            "tick 1.5\nSum: 2 a 3 b\nMost <=4 end\n",
            "  > tick 1.5\r\n  > Sum: 2 a 3 b\r\n  > Most <=4 end\r\n",
            "x tick 1.5 Sum: 2 a 3 b Most <=4 end y",
            "tick 1.5\nSum: 2 a\n  3 b\nMost &lt;=4 end",
            "tick **1.5** Sum: 2a 3 b Most <=4 end",
        ] {
            assert_eq!(values(text), all, "{text:?}");
        }
    }

    #[test]
    fn what_breaks_off_is_read_as_far_as_it_is_sure() {
        assert_eq!(values("Sum: 2 a 3 b"), [[Some(2.0), Some(3.0)]]);
        assert_eq!((values("tick 1\n"), values("tick 1")), (vec![vec![Some(1.0)]], vec![]));
        for text in ["Sum: 2 a 3", "Sum: 2 a", "Sum: 2 "] {
            assert_eq!(values(text), [[Some(2.0)]], "{text:?}");
        }
        for text in
            ["Sum: 2", "Sum: ", "Su", "Sum: x", "Sum: 2 c 3", "Summary: 2 a 3 b", "Most <=. end", "Sum: - a"]
        {
            assert_eq!(values(text), Vec::<Vec<_>>::new(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(values("Sum: -nan a inf b"), [[None, None]]);
        assert_eq!(values("Sum: -2.50 a 1e b"), Vec::<Vec<_>>::new());
    }

    #[test]
    fn order_and_nearness_make_a_report() {
        let count = |text: &str| reports(text, LIST).iter().map(|r| r.sights.len()).collect::<Vec<_>>();
        assert_eq!(count("tick 1 tick 2 Sum: 1 a 1 b Sum: 1 a 1 b tick 3 Most <=1 end"), [3, 1, 2]);
        assert_eq!(count("tick 1\n## x\nSum: 1 a 1 b\n```\nMost <=1 end"), [1, 1, 1]);
        assert_eq!(count(&format!("tick 1\n{}Sum: 1 a 1 b", "word\n".repeat(8))), [2]);
        assert_eq!(count(&format!("tick 1\n{}Sum: 1 a 1 b", "word\n".repeat(9))), [1, 1]);
        let report = &reports("a tick 1\n what ?\n\n 1:2\nMost <=2 end b", LIST)[0];
        assert_eq!((report.at.clone(), report.strange.clone()), (2..35, vec!["what ?".to_owned()]));
    }

    #[test]
    fn time_is_linear() {
        for unit in ["tick ", "Sum: 1 a ", "tick  \n", "Most <=1", "Sum: 11", "\u{e4}Most <="] {
            let text = unit.repeat(200_000);
            assert!(reports(&text, LIST).len() <= text.len());
        }
    }
}
