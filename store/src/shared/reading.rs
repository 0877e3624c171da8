//! Reads shared runs from what may be any bytes. Nothing is returned before the last byte was read and everything was checked.

use super::checks::Checks;
use super::digest::Digest;
use super::lines::{END, End, FROM, HEAD, Head, Opening};
use super::row::{Checked, Row};
use super::{LONGEST_LINE, MOST_BYTES, MOST_ENTRIES, SharedError, VERSION, text};
use model::Environment;
use model::origin::is_machine;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::io::{BufRead, Read};

/// The longest first line. Of a file without any line feed, no more is read.
const LONGEST_HEAD: u64 = 4096;

/// The name of a machine of which nothing is known.
const UNKNOWN: &str = "another machine";

/// A run that is shared, or whatever else a store has under a name.
#[derive(Clone, Debug)]
pub struct SharedEntry {
    /// Its name in the store.
    pub id: String,
    /// What lists call it: the study, or the title.
    pub title: String,
    /// The machine's name, or in few words what it is.
    pub machine: String,
    /// Its rows, each as the JSON of a [`Row`], in the order of the file: what a row refers to stands before it.
    pub rows: Vec<String>,
    /// The digest of its content.
    pub digest: String,
}

/// Reads a whole file.
pub fn read<R: BufRead>(from: R) -> Result<Vec<SharedEntry>, SharedError> {
    let mut reader = Reader { from, line: 0, bytes: 0, hash: Sha256::new() };
    reader.head()?;
    let (mut entries, mut open) = (Vec::new(), None::<Open>);
    let end = loop {
        let line = reader.next(LONGEST_LINE)?;
        let (kind, value) = parsed(&line).map_err(|why| reader.wrong(why))?;
        if kind == END {
            break whole::<End>(value).map_err(|why| reader.wrong(why))?;
        }
        reader.hash.update(&line);
        if kind == FROM {
            close(open.take(), &mut entries).map_err(|why| reader.wrong(why))?;
            open = Some(Open::of(value).map_err(|why| reader.wrong(why))?);
            continue;
        }
        let entry = open.as_mut().ok_or_else(|| reader.wrong("a row stands before any entry".to_owned()))?;
        entry.take(Value::from_iter([(kind, value)])).map_err(|why| reader.wrong(why))?;
    };
    close(open.take(), &mut entries).map_err(|why| reader.wrong(why))?;
    let lines = reader.line - 1;
    if (end.entries, end.lines, end.sha256)
        != (entries.len() as u64, lines, model::hex(reader.hash.clone().finalize()))
    {
        return Err(SharedError::Changed);
    }
    reader.ensure_over()?;
    Ok(entries)
}

/// The lines of a file.
struct Reader<R> {
    from: R,
    /// The number of lines that were read.
    line: u64,
    /// The number of bytes that were read.
    bytes: u64,
    /// Of all lines but the last.
    hash: Sha256,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    fn head(&mut self) -> Result<(), SharedError> {
        let line = self.next(LONGEST_HEAD).map_err(|error| match error {
            SharedError::Line { .. } => foreign(&[]),
            other => other,
        })?;
        let head = parsed(&line).ok().filter(|(kind, _)| kind == HEAD).map(|(_, value)| value);
        let Some(head) = head else { return Err(foreign(&line)) };
        // A newer form may have other keys.
        let version = head.get("version").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        if let Some(newer) = version.filter(|version| *version > VERSION) {
            return Err(SharedError::Newer(newer));
        }
        let head: Head = whole(head).map_err(|why| self.wrong(why))?;
        if head.version != VERSION {
            return Err(self.wrong(format!("there is no version {} of the form", head.version)));
        }
        self.hash.update(&line);
        Ok(())
    }

    /// Reads a line with its end; an empty one is the end of the file.
    fn next(&mut self, longest: u64) -> Result<Vec<u8>, SharedError> {
        let mut line = Vec::new();
        let most = longest.min(MOST_BYTES.saturating_sub(self.bytes));
        let read = (&mut self.from).take(most + 1).read_until(b'\n', &mut line).map_err(SharedError::Read)?;
        self.bytes += read as u64;
        self.line += 1;
        if self.line == 1 && (is_database(&line) || is_compressed(&line)) {
            return Err(foreign(&line));
        }
        if line.len() as u64 > most {
            let why = if self.bytes > MOST_BYTES { "the file is too large" } else { "it is too long" };
            return Err(self.wrong(why.to_owned()));
        }
        match (line.last().copied(), self.line) {
            (None, 1) => Err(SharedError::Foreign("it is empty")),
            (None, _) => Err(SharedError::Cut),
            // The last line may lack its end; that of any other is missing because the rest is.
            (Some(last), _) if last != b'\n' && self.line > 1 && !ends(&line) => Err(SharedError::Cut),
            _ => Ok(line),
        }
    }

    /// Fails if anything follows the last line.
    fn ensure_over(&mut self) -> Result<(), SharedError> {
        let mut more = [0; 1];
        loop {
            match self.from.read(&mut more) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(self.wrong("the file goes on after its last line".to_owned())),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(SharedError::Read(error)),
            }
        }
    }

    fn wrong(&self, why: String) -> SharedError {
        SharedError::Line { line: self.line, why }
    }
}

/// An entry that is being read.
struct Open {
    machine: Option<String>,
    checks: Checks,
    digest: Digest,
    about: Option<About>,
    rows: Vec<String>,
}

/// What the first row of an entry says about it.
struct About {
    id: String,
    title: String,
    machine: String,
}

impl Open {
    fn of(value: Value) -> Result<Self, String> {
        let Opening { machine } = whole(value)?;
        if let Some(name) = machine.as_deref().filter(|name| !is_machine(name)) {
            return Err(format!("`{}` can't be the name of a machine", text::quoted(name)));
        }
        let (checks, digest) = (Checks::default(), Digest::default());
        Ok(Self { machine, checks, digest, about: None, rows: Vec::new() })
    }

    fn take(&mut self, row: Value) -> Result<(), String> {
        let checked = Checked::of(row)?;
        self.checks.take(&checked)?;
        self.digest.add(&checked);
        if self.about.is_none() {
            self.about = About::of(&checked.row);
        }
        self.rows.push(checked.json);
        Ok(())
    }
}

impl About {
    /// What an entry is, by its first row.
    fn of(row: &Row) -> Option<Self> {
        let told = |id: &str, title: &str, environment: Option<&Environment>| {
            let machine = environment.map_or_else(|| UNKNOWN.to_owned(), described);
            Some(Self { id: id.to_owned(), title: title.to_owned(), machine })
        };
        match row {
            Row::Run(run) => told(&run.id, &run.name, Some(&run.environment)),
            Row::Import(import) => told(&import.id, &import.title, None),
            Row::Replays(replays) => told(&replays.id, &replays.name, Some(&replays.environment)),
            Row::Report(report) => told(&report.id, &report.title, None),
            Row::Ended(_) | Row::Heat(_) | Row::Start(_) | Row::Slice(_) => None,
        }
    }
}

/// A machine without a name, in few words.
fn described(environment: &Environment) -> String {
    let cpu = environment.cpu.as_deref().map_or("an unknown processor", str::trim);
    let words = format!("{cpu}, {} cores", environment.cores);
    if is_machine(&words) { words } else { UNKNOWN.to_owned() }
}

/// Ends an entry, if there is one.
fn close(open: Option<Open>, entries: &mut Vec<SharedEntry>) -> Result<(), String> {
    let Some(open) = open else { return Ok(()) };
    let about = open.about.filter(|_| open.checks.is_whole()).ok_or("the entry before has no rows")?;
    if entries.len() >= MOST_ENTRIES {
        return Err(format!("there are more than {MOST_ENTRIES} entries"));
    }
    if entries.iter().any(|entry| entry.id == about.id) {
        return Err(format!("{} is there twice", about.id));
    }
    let About { id, title, machine } = about;
    let machine = open.machine.unwrap_or(machine);
    entries.push(SharedEntry { id, title, machine, rows: open.rows, digest: open.digest.hex() });
    Ok(())
}

/// The kind of a line, and its value.
fn parsed(line: &[u8]) -> Result<(String, Value), String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(fields) = value else { return Err("it is not an object".to_owned()) };
    let mut fields = fields.into_iter();
    match (fields.next(), fields.next()) {
        (Some(only), None) => Ok(only),
        _ => Err("it must have one key, its kind".to_owned()),
    }
}

/// A line's value, every key of which must be known.
fn whole<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| text::told(&error))
}

/// Whether the line is the last one of a file.
fn ends(line: &[u8]) -> bool {
    parsed(line).is_ok_and(|(kind, _)| kind == END)
}

fn is_database(line: &[u8]) -> bool {
    line.starts_with(b"SQLite format 3\0")
}

fn is_compressed(line: &[u8]) -> bool {
    line.starts_with(&[0x1f, 0x8b])
}

/// The error for a file that has no shared runs, by its first line.
fn foreign(line: &[u8]) -> SharedError {
    SharedError::Foreign(match line {
        _ if is_database(line) => {
            "it is a database, and those of others are never opened; `drome push RUN FILE` writes runs to a file"
        }
        _ if is_compressed(line) => "it is compressed; unpack it first: `gunzip -c FILE | drome pull -`",
        _ => "`drome push RUN FILE` writes one",
    })
}
