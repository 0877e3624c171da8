//! Text in Markdown, foreign text included: escaped words and sentences, code, lists.

use model::text::is_unprintable;

/// A text with all markup escaped, on one line.
pub fn words(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
    let mut out = String::with_capacity(text.len());
    for (i, c) in chars.iter().enumerate() {
        let (before, after) = (i.checked_sub(1).and_then(|i| chars.get(i)), chars.get(i + 1));
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_unprintable(*c) => out.push('\u{fffd}'),
            '\\' | '`' | '*' | '[' | ']' | '|' => out.extend(['\\', *c]),
            '<' if after.is_some_and(|c| c.is_alphabetic() || "/!?".contains(*c)) => out.push_str("\\<"),
            // Within a word it is no markup, and names often contain one.
            '_' if !(is_word(before) && is_word(after)) => out.push_str("\\_"),
            '~' if after == Some(&'~') || before == Some(&'~') => out.push_str("\\~"),
            '&' if after == Some(&'#') || is_word(after) => out.push_str("&amp;"),
            // At the start of a word it would notify a person who has nothing to do with it.
            '@' if !is_word(before) && is_word(after) => out.push_str("@\u{200b}"),
            c => out.push(*c),
        }
    }
    out
}

/// A sentence in which backquotes, set by drome only, mark commands. It may have several lines.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return lines(text, |line| unmarked(&words(line)));
    }
    let part = |(i, part): (usize, &&str)| {
        if i % 2 == 0 || part.is_empty() || part.contains('\n') { lines(part, words) } else { code(part) }
    };
    let whole: String = parts.iter().enumerate().map(part).collect();
    lines(&whole, unmarked)
}

/// Escapes what would make the line a heading, an item or a quotation.
fn unmarked(line: &str) -> String {
    let (blanks, text) = line.split_at(line.len() - line.trim_start_matches(' ').len());
    let after_number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        after_number.len() < text.len() && [". ", ") "].iter().any(|mark| after_number.starts_with(mark));
    match text {
        _ if text.starts_with(['#', '-', '+', '>', '=']) => format!("{blanks}\\{text}"),
        _ if is_numbered => {
            let number = &text[..text.len() - after_number.len()];
            format!("{blanks}{number}\\{after_number}")
        }
        _ => line.to_owned(),
    }
}

fn lines(text: &str, each: impl Fn(&str) -> String) -> String {
    text.split('\n').map(each).collect::<Vec<_>>().join("\n")
}

/// The character, or what stands for one that is not shown.
fn shown(c: char) -> char {
    if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }
}

/// The text as inline code, whatever it contains.
pub fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { shown(c) }).collect();
    let fence = "`".repeat(longest_run(&text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// The text as a fenced block, whatever it contains.
pub fn block(text: &str) -> String {
    let text: String = text.chars().map(|c| if c == '\n' { c } else { shown(c) }).collect();
    let text = text.as_str();
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A list; further lines of an item stay part of it.
pub fn items(all: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let further = |line: &str| format!("\n  {}", line.strip_prefix("    ").unwrap_or(line));
    all.into_iter().fold(String::new(), |out, item| {
        let prose = prose(item.as_ref());
        let (first, rest) = prose.split_once('\n').unwrap_or((&prose, ""));
        let rest: String = rest.lines().map(further).collect();
        format!("{out}- {first}{rest}\n")
    })
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_markup() {
        let cases = [
            ("a|b", "a\\|b"),
            ("<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert(1)>"),
            ("[x](javascript:y) ![z](u)", "\\[x\\](javascript:y) !\\[z\\](u)"),
            ("**bold** `code` \\", "\\*\\*bold\\*\\* \\`code\\` \\\\"),
            ("http_load _x_ ~~y~~ a&lt;b R&D &", "http_load \\_x\\_ \\~\\~y\\~\\~ a&amp;lt;b R&amp;D &"),
            ("two\nlines\x1b[2J", "two lines\u{fffd}\\[2J"),
            ("node@tuned @somebody", "node@tuned @\u{200b}somebody"),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn commands_in_a_sentence_stay_code() {
        assert_eq!(prose("`go <x>` is not on PATH | <b>"), "`go <x>` is not on PATH \\| \\<b>");
        assert_eq!(prose("one ` only <b>"), "one \\` only \\<b>");
        assert_eq!(prose("# not a heading"), "\\# not a heading");
        assert_eq!(code("a`b``"), "``` a`b`` ```");
        assert_eq!(block("x\n```\ny\n"), "````text\nx\n```\ny\n````\n");
        assert_eq!(prose("2. no item\n    - nor this"), "2\\. no item\n    \\- nor this");
        assert_eq!(items(&["a\n    b\nc".to_owned()]), "- a\n  b\n  c\n");
    }
}
