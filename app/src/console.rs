//! The terminal: results go to standard output; errors, hints and progress go to standard error, and progress bars only
//! if that is a terminal.

use crate::options::Common;
use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use report::TextStyle;
use report::text_style::{Ink, shortened};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::sync::OnceLock;
use std::time::Duration;

/// Whether `--ascii` was given.
static IS_ASCII_ASKED: OnceLock<bool> = OnceLock::new();

/// Whether `--quiet` was given.
static IS_QUIET_ASKED: OnceLock<bool> = OnceLock::new();

/// Stores the options for all output; called once, before anything is written.
pub fn set_up(common: &Common) {
    let _ = IS_ASCII_ASKED.set(common.ascii);
    let _ = IS_QUIET_ASKED.set(common.quiet);
    let choice = match common.color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Whether only ASCII is wanted, whatever the terminal can show.
fn is_ascii_wanted() -> bool {
    IS_ASCII_ASKED.get().copied().unwrap_or(false)
}

/// Whether only results and errors are wanted.
fn is_quiet() -> bool {
    IS_QUIET_ASKED.get().copied().unwrap_or(false)
}

/// What standard output can show.
pub fn text_style() -> TextStyle {
    let has_colour = AutoStream::choice(&stdout()) != ColorChoice::Never;
    TextStyle { width: width(stdout().is_terminal()), has_colour, is_ascii: is_ascii() }
}

/// What standard error can show; it has no colour.
pub fn error_style() -> TextStyle {
    TextStyle { width: width(stderr().is_terminal()), has_colour: false, is_ascii: is_ascii() }
}

/// What a file can show: it has no width and no colour.
pub fn file_style() -> TextStyle {
    TextStyle { is_ascii: is_ascii_wanted(), ..TextStyle::default() }
}

/// `COLUMNS`, else the width of the terminal; a file has no limit.
fn width(is_terminal: bool) -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || Some(ratatui::crossterm::terminal::size().ok()?.0.into());
    asked.or_else(|| if is_terminal { own() } else { None }).filter(|columns| *columns > 0)
}

/// Whether only ASCII can be shown: by `--ascii`, or by a locale that is set and does not name UTF-8 (`C`, `POSIX`).
fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let is_utf8 = |locale: &String| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    is_ascii_wanted() || locale.is_some_and(|locale| !is_utf8(&locale))
}

/// Writes a report to standard output, as the terminal can show it.
pub fn tell(text: &str) -> anyhow::Result<()> {
    print(&text_style().report(text))
}

/// Writes an error or a question to standard error, as the terminal can show it. A closed pipe is ignored.
pub fn alert(line: &str) {
    let _ = write!(stderr(), "{}", error_style().prose(line, Ink::Plain));
}

/// The same for progress and hints, which `--quiet` leaves out.
pub fn note(line: &str) {
    if !is_quiet() {
        alert(line);
    }
}

/// `alert` with the arguments of `format!`.
macro_rules! alert {
    ($($words:tt)*) => { $crate::console::alert(&format!($($words)*)) };
}

/// `note` with the arguments of `format!`.
macro_rules! note {
    ($($words:tt)*) => { $crate::console::note(&format!($($words)*)) };
}

/// Writes a result to standard output. A closed pipe is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same for bytes that need not be text.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// A progress bar, which is removed when it is dropped; hidden if standard error is not a terminal, and by `--quiet`.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    let is_shown = stderr().is_terminal() && !is_quiet();
    let bar = if is_shown { ProgressBar::new(length) } else { ProgressBar::hidden() };
    let bar = bar.with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars(if is_ascii() { "## " } else { "■■ " }));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A [`bar`] that counts, for example, runs: with the time so far and the time left, and then what else the template says.
pub fn counted(length: usize, what: &str, then: &str) -> ProgressBar {
    bar(length as u64, &format!("{{bar:24}} {{pos}}/{{len}} {what}, {{elapsed}} so far, {{eta}} left{then}"))
}

/// Does something that may take long, and shows meanwhile what it says of each of its steps.
pub fn while_told<T>(work: impl FnOnce(&dyn Fn(&str)) -> T) -> T {
    let bar = bar(0, "{spinner} {msg}");
    work(&|step| bar.set_message(fitted(step)))
}

/// A text on one line that is no wider than the terminal, for a bar's message.
pub fn fitted(text: &str) -> String {
    let look = error_style();
    // A line as wide as the terminal may take two lines.
    let most = look.columns().map_or(usize::MAX, |columns| columns - 1);
    shortened(&look.words(&text.replace('\n', " ")), most, &look.words("…"))
}

/// Shows what will be done and asks for confirmation; without a terminal the answer is no.
pub fn confirm(what: &str) -> bool {
    alert!("{what}");
    if !stdin().is_terminal() {
        alert!("can't ask for confirmation without a terminal: use --yes to continue");
        return false;
    }
    let _ = write!(stderr(), "continue? [y/N] ").and_then(|()| stderr().flush());
    let mut answer = String::new();
    stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
