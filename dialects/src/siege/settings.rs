//! siege's settings: from its resource file first, then from the command line. Without a resource file, the
//! defaults are those of the file that Debian installs.

use super::{help, messages};
use crate::Printed;
use crate::command_line::{Item, Opt, checked, flag, maybe, try_flag, value};
use crate::number::atoi;
use std::fmt::Write;

/// siege's options, in its order. The letters for `no-parser` and `no-follow` are not in siege's help.
pub const OPTIONS: &[Opt<Settings>] = &[
    try_flag('V', "version", |_| Err(Printed::err(help::VERSION).exit(0))),
    try_flag('h', "help", |_| Err(help::help())),
    flag('v', "verbose", |s| s.verbose = true),
    flag('q', "quiet", |s| s.quiet = true),
    flag('C', "config", |s| (s.config, s.get) = (true, false)),
    try_flag('D', "debug", |_| Err(Printed::refuse("siege", "-D (--debug)", NO_TRACE))),
    flag('g', "get", |s| s.get = true),
    flag('p', "print", |s| (s.print, s.users, s.reps) = (true, 1, 1)),
    value('c', "concurrent", |s, text| s.users = atoi(text)),
    flag('N', "no-parser", |s| s.parser = false),
    flag('F', "no-follow", |s| s.follow = false),
    flag('i', "internet", |s| s.internet = true),
    flag('b', "benchmark", |s| s.benchmark = true),
    value('r', "reps", |s, text| s.reps = if text.eq_ignore_ascii_case("once") { ONCE } else { atoi(text) }),
    value('t', "time", |s, text| s.seconds = seconds(text)),
    value('d', "delay", |s, text| s.delay_s = atof(text).max(0.0)),
    maybe('l', "log", |s, file| {
        s.logging = true;
        file.into_iter().for_each(|file| file.clone_into(&mut s.log_file));
    }),
    value('f', "file", |s, text| text.clone_into(&mut s.file)),
    // The file was read before.
    value('R', RC, |_, _| {}),
    value('m', "mark", |s, text| (s.mark, s.logging) = (Some(text.to_owned()), true)),
    checked('H', "header", Settings::header),
    value('A', "user-agent", |s, text| text.clone_into(&mut s.agent)),
    value('T', "content-type", |s, text| text.clone_into(&mut s.content_type)),
    flag('j', "json-output", |s| s.json = true),
];

/// The option that names the resource file.
pub const RC: &str = "rc";

/// Why wire traces are not supported.
pub const NO_TRACE: &str = "drome has no wire trace to print";

/// The repetitions if none are given: siege's own limit, which is never reached in practice.
pub const MAX_REPS: i64 = 10_301_062;

/// The repetitions for `once`: every user goes through all URLs one time.
pub const ONCE: i64 = -1;

/// All settings of siege that drome supports.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "siege has as many switches, each independent of the others"
)]
pub struct Settings {
    pub verbose: bool,
    pub quiet: bool,
    pub color: bool,
    pub json: bool,
    pub get: bool,
    pub print: bool,
    pub config: bool,
    pub head: bool,
    pub parser: bool,
    pub follow: bool,
    pub cookies: bool,
    pub internet: bool,
    pub benchmark: bool,
    pub logging: bool,
    pub show_log: bool,
    pub csv: bool,
    pub timestamp: bool,
    pub full_url: bool,
    pub display_id: bool,
    pub escape: bool,
    pub zero_ok: bool,
    pub unique: bool,
    pub http11: bool,
    pub keep_alive: bool,
    pub log_file: String,
    pub mark: Option<String>,
    pub users: i64,
    pub limit: i64,
    pub reps: i64,
    pub seconds: u64,
    pub delay_s: f64,
    pub failures: u64,
    pub file: String,
    pub url: Option<String>,
    pub rc: String,
    pub agent: String,
    pub content_type: String,
    pub encoding: String,
    /// Additional header fields, each with its line break.
    pub extra: String,
    pub no_follow: Vec<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
}

impl Settings {
    /// The settings without a resource file: those of the file that Debian installs.
    pub fn of_debian() -> Self {
        Self {
            verbose: true,
            json: true,
            show_log: true,
            http11: true,
            users: 25,
            encoding: "gzip, deflate".to_owned(),
            ..Self::bare()
        }
    }

    /// The settings with an empty resource file: siege's own.
    pub fn bare() -> Self {
        Self {
            color: true,
            head: true,
            parser: true,
            follow: true,
            cookies: true,
            escape: true,
            zero_ok: true,
            unique: true,
            // This is the value in Debian's siege; the folder does not exist.
            log_file: "/var/log/log/siege.log".to_owned(),
            limit: 255,
            reps: MAX_REPS,
            failures: 1024,
            file: "/etc/siege/urls.txt".to_owned(),
            agent: "Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.0.7".to_owned(),
            content_type: "application/x-www-form-urlencoded".to_owned(),
            encoding: "*".to_owned(),
            ..Self::default()
        }
    }

    /// Applies the command line. `Err`: siege would end here, or drome does not support an option.
    pub fn apply(&mut self, items: &[Item<Self>]) -> Result<(), Printed> {
        // These end siege wherever they are.
        let end = items.iter().find(|item| item.is("version") || item.is("help"));
        for item in end.into_iter().chain(items) {
            if let Item::Option(option, value) = item {
                option.apply(self, value.as_deref())?;
            }
        }
        Ok(())
    }

    /// Adds a header field, if it fits into siege's buffer.
    pub fn header(&mut self, field: &str) -> Result<(), Printed> {
        if !field.contains(':') {
            return Err(messages::fatal("no ':' in http-header"));
        }
        if field.len() + self.extra.len() + 3 > 2048 {
            return Err(messages::fatal("header is too large"));
        }
        let _ = write!(self.extra, "{field}\r\n");
        Ok(())
    }

    /// Resolves contradictions as siege does, with siege's messages about them.
    pub fn settle(&mut self) -> String {
        let mut printed = String::new();
        if self.benchmark {
            self.delay_s = 0.0;
        }
        if self.seconds > 0 && self.reps > 0 && self.reps != MAX_REPS {
            let seconds = self.seconds;
            printed.push_str(&messages::error("CONFIG conflict: selected time and repetition based testing"));
            let _ = writeln!(printed, "defaulting to time-based testing: {seconds} seconds");
            self.reps = MAX_REPS;
        }
        self.users = self.users.max(1);
        if self.get {
            (self.users, self.reps, self.logging, self.seconds) = (1, 1, false, 0);
        }
        self.quiet |= self.json;
        self.verbose &= !self.quiet;
        printed
    }
}

/// C's atof, without exponents.
pub fn atof(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
    text[..end].parse().ok().filter(|value: &f64| value.is_finite()).unwrap_or(0.0)
}

/// Reads a time such as `10S`, `5m` or `1h`; without a unit, it is in minutes. 0 means no time.
pub fn seconds(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let n: u64 = text[..digits].parse().unwrap_or(0);
    let unit = text[digits..].chars().map(|c| c.to_ascii_lowercase()).find(|c| "smh".contains(*c));
    n.saturating_mul(match unit {
        Some('s') => 1,
        Some('h') => 3600,
        _ => 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_c_reads_them() {
        assert_eq!(["0.5", "2s", "x", "1e3", "1.2.3"].map(atof), [0.5, 2.0, 0.0, 1.0, 0.0]);
        let times = ["10S", "10s", "2m", "1H", "3", "S", "", "5xs", "é"];
        assert_eq!(times.map(seconds), [10, 10, 120, 3600, 180, 0, 0, 5, 0]);
    }
}
