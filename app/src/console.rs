//! The terminal: results go to standard output, progress goes to standard error and only if that is a terminal. Also
//! the signals that ask drome to stop.

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressStyle};
use report::TextStyle;
use report::text_style::Ink;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A flag that SIGINT or SIGTERM sets; a second signal ends drome at once.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            crate::failure::INTERRUPTED.into(),
            Arc::clone(&stop),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Whether `--ascii` was given.
static IS_ASCII_ASKED: OnceLock<bool> = OnceLock::new();

/// Stores whether only ASCII is wanted; called once, before anything is written.
pub fn want_ascii(is_asked: bool) {
    let _ = IS_ASCII_ASKED.set(is_asked);
}

/// Whether only ASCII is wanted, whatever the terminal can show.
fn is_ascii_wanted() -> bool {
    IS_ASCII_ASKED.get().copied().unwrap_or(false)
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
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || Some(ratatui::crossterm::terminal::size().ok()?.0.into());
    said.or_else(|| if is_terminal { own() } else { None }).filter(|columns| *columns > 0)
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

/// Writes a line to standard error, as the terminal can show it. A closed pipe is ignored.
pub fn note(line: &str) {
    let _ = write!(stderr(), "{}", error_style().prose(line, Ink::Plain));
}

/// The same with the arguments of `format!`.
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

/// A progress bar; hidden if standard error is not a terminal.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = if stderr().is_terminal() { ProgressBar::new(length) } else { ProgressBar::hidden() };
    shape(&bar, template);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Gives a progress bar another template.
pub fn shape(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars(if is_ascii() { "## " } else { "■■ " }));
    }
}

/// Shows what will be done and asks for confirmation; without a terminal the answer is no.
pub fn confirm(what: &str) -> bool {
    note!("{what}");
    if !stdin().is_terminal() {
        note!("can't ask for confirmation without a terminal: use --yes to continue");
        return false;
    }
    let _ = write!(stderr(), "continue? [y/N] ").and_then(|()| stderr().flush());
    let mut answer = String::new();
    stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
