//! Reads ab's reports in any text.

use super::lines::{Field, cut, lines, without_tags};
use super::values::Draft;
use crate::Found;

/// The largest number of unknown lines between two lines of a report. With more, the lines belong to two reports, or one report was cut
/// off.
const MOST_UNKNOWN_LINES: usize = 3;

/// The characters that pages put before quoted lines.
const QUOTES: [char; 4] = [' ', '\t', '>', '|'];

/// The reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    let mut reader = Reader { text_bytes: text.len(), ..Reader::default() };
    for (start, line) in lines(text) {
        let line = without_tags(line);
        for piece in cut(&line) {
            let (begin, end) = (start + piece.at.start, start + piece.at.end);
            let (text, value) = (&line[piece.at], &line[piece.value]);
            match piece.field {
                Some(field) => reader.labelled(field, begin, end, text, value),
                None => reader.plain(begin, end, text),
            }
        }
    }
    reader.finish();
    reader.found
}

/// The reports that were found so far, and the one that is being read.
#[derive(Default)]
struct Reader {
    found: Vec<Found>,
    draft: Option<Draft>,
    /// The command line directly above.
    command: Option<String>,
    text_bytes: usize,
}

impl Reader {
    /// Takes a piece that looks like part of a report.
    fn labelled(&mut self, field: Field, start: usize, end: usize, piece: &str, value: &str) {
        if !self.belongs(field) {
            if !field.is_telling() {
                return self.plain(start, end, piece);
            }
            let command = self.command.take();
            self.finish();
            self.draft = Some(Draft::new(start, command));
        }
        let Some(draft) = &mut self.draft else { return };
        // A number at the end of the text may be incomplete.
        let is_cut_off = end == self.text_bytes && value.ends_with(|c: char| c.is_ascii_digit());
        let used = if is_cut_off { None } else { draft.take(field, piece, value) };
        let Some(used) = used else {
            return self.plain(start, end, piece);
        };
        draft.understood(field, end - value.len() + used);
        let rest = &value[used..];
        if !rest.trim().is_empty() {
            self.plain(end - rest.len(), end, rest);
        }
    }

    /// Whether a piece continues the current report.
    fn belongs(&self, field: Field) -> bool {
        let Some(draft) = &self.draft else { return false };
        let is_row = matches!(field, Field::Connect | Field::Processing | Field::Waiting | Field::Total);
        if is_row && draft.last < Field::Times {
            return false;
        }
        field == Field::Aside || draft.last < field || (draft.last == field && field.repeats())
    }

    /// Takes any other text.
    fn plain(&mut self, start: usize, end: usize, text: &str) {
        let bare = text.trim_start_matches(QUOTES).trim_end();
        if bare.is_empty() || bare.starts_with("```") || bare.starts_with("~~~") {
            return;
        }
        if let Some(command) = command(bare) {
            self.finish();
            self.command = Some(command.to_owned());
            return;
        }
        let Some(draft) = &mut self.draft else {
            self.command = None;
            return;
        };
        let is_cut_off = end == self.text_bytes && bare.ends_with(|c: char| c.is_ascii_digit());
        let used = if is_cut_off { None } else { draft.more(bare) };
        match used {
            Some(used) => {
                let before = text.len() - text.trim_start_matches(QUOTES).len();
                draft.understood(draft.last, start + before + used);
                self.strange(bare[used..].trim());
            }
            None => self.strange(bare),
        }
    }

    /// Takes text that is not understood. It belongs to the report only if the report's next line is near.
    fn strange(&mut self, text: &str) {
        let Some(draft) = self.draft.as_mut().filter(|_| !text.is_empty()) else { return };
        if draft.pending.len() == MOST_UNKNOWN_LINES || text.starts_with('#') {
            return self.finish();
        }
        draft.pending.push(text.to_owned());
    }

    fn finish(&mut self) {
        self.command = None;
        self.found.extend(self.draft.take().and_then(Draft::finish));
    }
}

/// The command line of ab in a line of a shell, without the prompt.
fn command(line: &str) -> Option<&str> {
    let mut from = 0;
    for word in line.split_ascii_whitespace() {
        let at = from + line[from..].find(word)?;
        from = at + word.len();
        if word == "ab" || word.ends_with("/ab") {
            let has_target = line[from..].contains('/');
            return has_target.then(|| &line[at..]);
        }
        if !word.ends_with(['$', '#', '%', '>']) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_command_line_is_known_by_its_prompt_or_by_standing_alone() {
        assert_eq!(command("$ ab -n 1 http://a/"), Some("ab -n 1 http://a/"));
        assert_eq!(command("me@host:~$ ab http://a/"), Some("ab http://a/"));
        assert_eq!(command("/usr/bin/ab http://a/"), Some("/usr/bin/ab http://a/"));
        assert_eq!(command("root# ab --help"), None);
        assert_eq!(command("with ab http://a/ it is faster"), None);
    }
}
