//! The command line directly before a report: alone on its line or after a prompt, with nothing between it and the report but lines that
//! the tool prints.

use super::{Draft, Format};
use crate::text::command::called;
use std::ops::Range;

/// How far before a report its command line may begin, in bytes.
const NEAR_BYTES: usize = 4096;

/// How a tool's command line is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Only as the page has it, wherever that is.
    Elsewhere,
    /// By these names of the program; the report begins behind it.
    Before(&'static [&'static str]),
    /// By this name of the program; the report begins with it.
    First(&'static [&'static str]),
}

impl Called {
    /// Looks for the command line of a report, and adds it.
    pub fn look_up(self, text: &str, floor: usize, format: &Format, draft: &mut Draft) {
        let (Self::Before(programs) | Self::First(programs)) = self else { return };
        let low = text.ceil_char_boundary(draft.start.saturating_sub(NEAR_BYTES).max(floor));
        let near = text.get(low..draft.start).unwrap_or_default();
        let Some((at, line)) = nearest(near, programs, format) else { return };
        // httperf repeats its command line with all options.
        let typed = if is_echo(&line) { nearest(&near[..at.start], programs, format) } else { None };
        let typed = typed.filter(|(_, line)| !is_echo(line));
        let url = line.split(' ').map(|word| word.trim_matches(['"', '\'', '`'])).rfind(is_url);
        draft.reading.url = draft.reading.url.take().or(url.map(str::to_owned));
        draft.called = Some(line.clone());
        let (at, line) = typed.unwrap_or((at, line));
        if matches!(self, Self::First(_)) {
            draft.start -= near.len() - at.start;
            draft.reading.command = Some(line.trim_start_matches("./").to_owned());
        } else {
            draft.reading.command = Some(line);
        }
    }
}

fn is_url(word: &&str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

fn is_echo(line: &str) -> bool {
    line.contains(" --client=")
}

/// The last command line in a text, and where it is, with its prompt.
fn nearest(text: &str, programs: &[&str], format: &Format) -> Option<(Range<usize>, String)> {
    const MOST_TRIES: usize = 16;
    let places = text.rmatch_indices(programs[0]).take(MOST_TRIES);
    let (at, end, line) = places.into_iter().find_map(|(place, _)| {
        let at = last_word(&text[..place]);
        // Code ends with the mark with which it begins.
        let is_code = text[..at].ends_with('`');
        let rest = if is_code { text[at..].split('`').next().unwrap_or_default() } else { &text[at..] };
        let (program, line, length) = called(rest)?;
        let is_its = programs.contains(&program.as_str());
        (is_its && (is_echo(&line) || is_prompted(&text[..at]))).then_some((at, at + length, line))
    })?;
    let is_nothing = |line: &str| {
        let bare = line.trim().trim_start_matches(['>', ' ']);
        !bare.contains(char::is_alphanumeric) || bare.starts_with("```") || format.is_ignored(bare)
    };
    let before = text[..at].trim_end_matches([' ', '\t']);
    let start = if before.ends_with(['$', '#', '%', '>']) { last_word(before) } else { at };
    text[end..].lines().all(is_nothing).then_some((start..end, line))
}

/// Where the last word begins.
fn last_word(text: &str) -> usize {
    let blank = text.char_indices().rfind(|(_, c)| c.is_whitespace() || *c == '`');
    blank.map_or(0, |(at, c)| at + c.len_utf8())
}

/// Whether a command line may follow: at the beginning of a line, in quotation marks, or after a prompt.
fn is_prompted(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end_matches([' ', '\t']);
    let is_first = line.trim_matches(['>', '`', ' ', '\t', '*', '|']).is_empty();
    is_first || line.ends_with(['$', '#', '%', '>', '`', '❯'])
}
