//! Words that are taken out of a text: names of users in paths, and names that are given.

use super::REDACTED;

/// Folders that have a home folder for each user.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// A shorter name would be found in words that have nothing to do with it.
const SHORTEST: usize = 3;

/// Names that tell nothing, and that are words of a report.
const COMMON: [&str; 3] = ["root", "localhost", "runner"];

/// The words that are worth hiding, the longest first.
pub fn worth_hiding(mut words: Vec<String>) -> Vec<String> {
    words.iter_mut().for_each(|word| *word = word.trim_end_matches('/').to_owned());
    words.retain(|word| word.chars().count() >= SHORTEST && !COMMON.contains(&word.as_str()));
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    words
}

/// The text without these words, and without the users' names in paths of home folders.
pub fn scrubbed(text: &str, hidden: &[String]) -> String {
    let own = HOMES.iter().fold(text.to_owned(), |text, homes| without_users(&text, homes));
    hidden.iter().fold(own, |text, word| without(&text, word, REDACTED))
}

fn without_users(text: &str, homes: &str) -> String {
    let mut parts = text.split(homes);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !is_of_name(c)).unwrap_or(part.len());
        out.push_str(homes);
        if end > 0 {
            out.push_str(REDACTED);
        }
        out.push_str(&part[end..]);
    }
    out
}

/// The text with something else in place of a word, wherever it is not a part of another one.
pub fn without(text: &str, word: &str, instead: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(word) {
        let after = &rest[at + word.len()..];
        out.push_str(&rest[..at]);
        let is_whole = !out.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        out.push_str(if is_whole { instead } else { word });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_machines_are_taken_out_and_other_words_stay() {
        let names = ["jane", "box", "/srv/people/jane/", "root", "ab", "box.example.org"].map(str::to_owned);
        let hidden = worth_hiding(names.to_vec());
        assert_eq!(hidden, ["/srv/people/jane", "box.example.org", "jane", "box"]);
        for (text, expected) in [
            ("/home/bob/app and /Users/Ann.B/x", "/home/redacted/app and /Users/redacted/x"),
            ("/home/", "/home/"),
            ("/srv/people/jane/bin", "redacted/bin"),
            ("jane's box: janet, inbox, root", "redacted's redacted: janet, inbox, root"),
            ("http://box.example.org:80/", "http://redacted:80/"),
            ("box", "redacted"),
            ("boxbox box", "boxbox redacted"),
            ("", ""),
        ] {
            assert_eq!(scrubbed(text, &hidden), expected);
            assert_eq!(scrubbed(expected, &hidden), expected, "once is enough");
        }
    }
}
