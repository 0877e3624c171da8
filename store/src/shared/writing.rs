//! Writes shared runs, row by row. Every row is checked as a reader will check it, so that what is written can be read.

use super::checks::Checks;
use super::lines::{END, End, FROM, HEAD, Head, Opening};
use super::row::{Checked, Row};
use super::{LONGEST_LINE, MOST_BYTES, SharedError, VERSION};
use sha2::{Digest as _, Sha256};
use std::io::Write;

/// A file that is being written.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    hash: Sha256,
    bytes: u64,
    lines: u64,
    entries: u64,
    checks: Checks,
}

impl<W: Write> Writer<W> {
    /// Begins a file; `drome`: the version of drome that writes it.
    pub fn begin(to: W, drome: &str) -> Result<Self, SharedError> {
        let mut own =
            Self { to, hash: Sha256::new(), bytes: 0, lines: 0, entries: 0, checks: Checks::default() };
        let head = Head { version: VERSION, drome: drome.to_owned() };
        own.line(line(HEAD, &head)?)?;
        Ok(own)
    }

    /// Begins an entry that this machine measured; `None`: the machine is not named.
    pub fn entry(&mut self, machine: Option<&str>) -> Result<(), SharedError> {
        self.checks = Checks::default();
        self.entries += 1;
        self.line(line(FROM, &Opening { machine: machine.map(str::to_owned) })?)
    }

    /// Adds a row to the entry.
    pub fn row(&mut self, row: &Row) -> Result<(), SharedError> {
        let what = || format!("row {} of the kind {}", self.lines + 1, row.kind());
        let wrong = |why| SharedError::Row { what: what(), why };
        let checked: Checked = row.checked().map_err(wrong)?;
        self.checks.take(&checked).map_err(wrong)?;
        self.line(checked.json)
    }

    /// Ends the file.
    pub fn end(mut self) -> Result<(), SharedError> {
        let end = End {
            entries: self.entries,
            lines: self.lines,
            sha256: model::hex(self.hash.clone().finalize()),
        };
        self.line(line(END, &end)?)?;
        self.to.flush().map_err(SharedError::Write)
    }

    fn line(&mut self, mut line: String) -> Result<(), SharedError> {
        line.push('\n');
        let length = line.len() as u64;
        self.bytes += length;
        if length > LONGEST_LINE {
            return Err(SharedError::LineTooLong);
        }
        if self.bytes > MOST_BYTES {
            return Err(SharedError::TooLarge);
        }
        self.lines += 1;
        self.hash.update(&line);
        self.to.write_all(line.as_bytes()).map_err(SharedError::Write)
    }
}

fn line<T: serde::Serialize>(kind: &str, value: &T) -> Result<String, SharedError> {
    let json = serde_json::to_string(value).map_err(|error| SharedError::Write(error.into()))?;
    Ok(format!("{{\"{kind}\":{json}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_nobody_could_read_is_refused_as_a_line() {
        let mut writer = Writer::begin(Vec::new(), "0.1.0").unwrap();
        let text = "a".repeat(LONGEST_LINE as usize);
        assert!(matches!(writer.line(text), Err(SharedError::LineTooLong)));
        assert!(writer.line("{\"ended\":1}".to_owned()).is_ok());
    }
}
