//! Texts, keys and numbers of a row that may come from anyone. Whatever a server wrote may be in it too.

use model::text::printable;
use serde_json::{Map, Value};

/// The longest text of a row, in bytes: the report of a tool, or a configuration file.
const LONGEST_TEXT: usize = 4 << 20;

/// The longest name, in bytes: as long as that of a file.
const LONGEST_NAME: usize = 255;

/// The longest part of a message that quotes what was read, in characters.
const LONGEST_QUOTE: usize = 200;

/// The key whose number is not limited: the seed of something random.
const SEED: &str = "seed";

/// The numbers of digits that the parts of a run's name may have: day, time, and something random, which was shorter in older runs.
const ID: [&[usize]; 3] = [&[8], &[6], &[16, 4]];

/// Whether a run may have this ID, such as `20261123-170000-1a2b3c4d5e6f7a8b`. The ID is part of the names of the run's lock file and folder,
/// so it must be safe in a file name.
pub fn is_id(id: &str) -> bool {
    let parts: Vec<&str> = id.split('-').collect();
    let is_part = |part: &str, nth: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (nth == 2 && (b'a'..=b'f').contains(&byte));
        ID[nth].contains(&part.len()) && part.bytes().all(is_digit)
    };
    parts.len() == ID.len() && parts.iter().enumerate().all(|(nth, part)| is_part(part, nth))
}

/// Whether this may be the name of a study, a contender or a workload.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
}

/// Replaces every character that a terminal acts upon or that is not seen: control characters but the line feed and the tabulator, and
/// marks of direction. Fails if a text is too long, or if that makes two keys the same.
pub fn clean(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => clean_text(text),
        Value::Array(all) => all.iter_mut().try_for_each(clean),
        Value::Object(fields) => clean_fields(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn clean_text(text: &mut String) -> Result<(), String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!("a text has {} bytes, more than the allowed {LONGEST_TEXT}", text.len()));
    }
    if text.chars().any(is_harmful) {
        *text = harmless(text);
    }
    Ok(())
}

fn clean_fields(fields: &mut Map<String, Value>) -> Result<(), String> {
    if fields.keys().any(|key| key.len() > LONGEST_TEXT || key.chars().any(is_harmful)) {
        for (mut key, value) in std::mem::take(fields) {
            clean_text(&mut key)?;
            if fields.insert(key, value).is_some() {
                return Err("two keys differ in control characters only".to_owned());
            }
        }
    }
    fields.values_mut().try_for_each(clean)
}

fn harmless(text: &str) -> String {
    text.chars().map(printable).collect()
}

fn is_harmful(c: char) -> bool {
    printable(c) != c
}

/// What was read, as a message can have it: on one line, harmless and short.
pub fn quoted(text: &str) -> String {
    let line: String =
        text.chars().take(LONGEST_QUOTE).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let more = if text.chars().nth(LONGEST_QUOTE).is_some() { "…" } else { "" };
    harmless(&line) + more
}

/// What is wrong with a value that can't be read, as a message can have it.
pub fn told(error: &serde_json::Error) -> String {
    match unknown_word(error) {
        Some(word) => {
            format!("this drome does not know the word `{word}`: use the drome that wrote it, or a newer one")
        }
        None => quoted(&error.to_string()),
    }
}

/// The word of which a value is one, as in an enum, where it is none of those that this drome knows.
pub fn unknown_word(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let (word, _) = text.strip_prefix("unknown variant `")?.split_once("`, expected ")?;
    Some(quoted(word))
}

/// The first key of what was read that is not in what is written of it: something that this drome does not know, and would lose.
pub fn unknown_key<'v>(read: &'v Value, written: &Value) -> Option<&'v str> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            read.iter().find_map(|(key, value)| match written.get(key) {
                Some(known) => unknown_key(value, known),
                None => (!is_nothing(value)).then_some(key.as_str()),
            })
        }
        (Value::Array(read), Value::Array(written)) => {
            read.iter().zip(written).find_map(|(value, known)| unknown_key(value, known))
        }
        _ => None,
    }
}

/// Whether a value may be left out where it is written.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The sum of all numbers without their signs, seeds left out. No sum of some of them is larger.
pub fn sum(value: &Value) -> u128 {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            // What is larger than any whole number becomes the largest.
            (None, Some(real)) => real.abs() as u128,
            (None, None) => 0,
        },
        Value::Array(all) => all.iter().map(sum).fold(0, u128::saturating_add),
        Value::Object(fields) => {
            let counted = fields.iter().filter(|(key, _)| *key != SEED);
            counted.map(|(_, value)| sum(value)).fold(0, u128::saturating_add)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_runs_name_is_as_drome_makes_it() {
        assert!(is_id("20261123-170000-1a2f") && is_id("20261123-170000-1a2f1a2f1a2f1a2f"));
        for wrong in [
            "",
            "20261123-170000",
            "20261123-170000-1a2",
            "20261123-170000-1a2f1a2f",
            "20261123-170000-1a2f1a2f1a2f1a2g",
            "20261123-170000-1A2f",
            "../1123-170000-1a2f",
            "20261123-170000-1a2f-",
            "2026112a-170000-1a2f",
            "20261123-17000/-1a2f",
        ] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn nothing_reaches_a_terminal_that_it_acts_upon() {
        let mut value = json!({"a\u{1b}": ["x\u{7}\u{9b}y\u{202e}", "two\nlines\t."], "b": {"\u{0}": null}});
        clean(&mut value).unwrap();
        assert_eq!(
            value,
            json!({"a\u{fffd}": ["x\u{fffd}\u{fffd}y\u{fffd}", "two\nlines\t."], "b": {"\u{fffd}": null}})
        );
        let again = value.clone();
        clean(&mut value).unwrap();
        assert_eq!(value, again);
        assert!(clean(&mut json!({"a\u{1}": 1, "a\u{2}": 2})).unwrap_err().contains("two keys"));
        assert!(
            clean(&mut json!(["x".repeat(LONGEST_TEXT + 1)])).unwrap_err().contains("more than the allowed")
        );
        assert_eq!(quoted("a\n\u{1b}[2J"), "a \u{fffd}[2J");
        assert_eq!(quoted(&"x".repeat(300)).chars().count(), LONGEST_QUOTE + 1);
    }

    #[test]
    fn a_key_that_would_be_lost_is_found_however_deep() {
        let written = json!({"a": [{"b": 1}]});
        assert_eq!(unknown_key(&json!({"a": [{"b": 2}]}), &written), None);
        assert_eq!(unknown_key(&json!({"a": [{"b": 2, "c": {"d": 1}}]}), &written), Some("c"));
        assert_eq!(unknown_key(&json!({"a": [], "e": null, "f": [], "g": false}), &written), None);
        assert_eq!(unknown_key(&json!({"e": 0}), &written), Some("e"));
    }

    #[test]
    fn numbers_are_summed_up_without_seeds() {
        assert_eq!(sum(&json!({"a": [1, -2, {"b": 3.5}], "seed": u64::MAX, "c": "9"})), 6);
        assert_eq!(sum(&json!([u64::MAX, u64::MAX])), 2 * u128::from(u64::MAX));
        assert_eq!(sum(&json!([1e300, 1])), u128::MAX);
    }
}
