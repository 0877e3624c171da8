//! siege's settings: from its resource file first, then from the command line. Without a resource file, the
//! defaults are those of the file that Debian installs.

use super::messages;
use crate::Printed;
use crate::getopt::{Item, Table, Value};
use std::fmt::Write;

/// siege's options. The letters for `no-parser` and `no-follow` are not in siege's help.
pub const OPTIONS: Table = Table {
    short: &[
        ('V', "version", Value::None),
        ('h', "help", Value::None),
        ('v', "verbose", Value::None),
        ('q', "quiet", Value::None),
        ('C', "config", Value::None),
        ('D', "debug", Value::None),
        ('g', "get", Value::None),
        ('p', "print", Value::None),
        ('c', "concurrent", Value::Needed),
        ('N', "no-parser", Value::None),
        ('F', "no-follow", Value::None),
        ('i', "internet", Value::None),
        ('b', "benchmark", Value::None),
        ('r', "reps", Value::Needed),
        ('t', "time", Value::Needed),
        ('d', "delay", Value::Needed),
        ('l', "log", Value::Maybe),
        ('f', "file", Value::Needed),
        ('R', "rc", Value::Needed),
        ('m', "mark", Value::Needed),
        ('H', "header", Value::Needed),
        ('A', "user-agent", Value::Needed),
        ('T', "content-type", Value::Needed),
        ('j', "json-output", Value::None),
    ],
    long: &[
        ("version", Value::None),
        ("help", Value::None),
        ("verbose", Value::None),
        ("quiet", Value::None),
        ("config", Value::None),
        ("debug", Value::None),
        ("get", Value::None),
        ("print", Value::None),
        ("concurrent", Value::Needed),
        ("no-parser", Value::None),
        ("no-follow", Value::None),
        ("internet", Value::None),
        ("benchmark", Value::None),
        ("reps", Value::Needed),
        ("time", Value::Needed),
        ("delay", Value::Needed),
        ("log", Value::Maybe),
        ("file", Value::Needed),
        ("rc", Value::Needed),
        ("mark", Value::Needed),
        ("header", Value::Needed),
        ("user-agent", Value::Needed),
        ("content-type", Value::Needed),
        ("json-output", Value::None),
    ],
};

/// The repetitions if none are given: siege's own limit, which is never reached in practice.
pub const MAX_REPS: i64 = 10_301_062;

/// The repetitions for `once`: every user goes through all URLs one time.
pub const ONCE: i64 = -1;

/// All settings of siege that drome supports.
#[derive(Clone, Debug, PartialEq)]
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            verbose: true,
            quiet: false,
            color: true,
            json: true,
            get: false,
            print: false,
            config: false,
            head: true,
            parser: true,
            follow: true,
            cookies: true,
            internet: false,
            benchmark: false,
            logging: false,
            show_log: true,
            csv: false,
            timestamp: false,
            full_url: false,
            display_id: false,
            escape: true,
            zero_ok: true,
            unique: true,
            http11: true,
            keep_alive: false,
            // This is the value in Debian's siege; the folder does not exist.
            log_file: "/var/log/log/siege.log".to_owned(),
            mark: None,
            users: 25,
            limit: 255,
            reps: MAX_REPS,
            seconds: 0,
            delay_s: 0.0,
            failures: 1024,
            file: "/etc/siege/urls.txt".to_owned(),
            url: None,
            rc: String::new(),
            agent: "Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.0.7".to_owned(),
            content_type: "application/x-www-form-urlencoded".to_owned(),
            encoding: "gzip, deflate".to_owned(),
            extra: String::new(),
            no_follow: Vec::new(),
            certificate: None,
            key: None,
        }
    }
}

impl Settings {
    /// The settings with an empty resource file: siege's own defaults, not those of Debian's file.
    pub fn bare() -> Self {
        Self {
            verbose: false,
            json: false,
            show_log: false,
            limit: 255,
            users: 0,
            http11: false,
            encoding: "*".to_owned(),
            ..Self::default()
        }
    }

    /// Applies the command line. `Err`: siege would end here, or drome does not support an option.
    pub fn apply(&mut self, items: &[Item]) -> Result<(), Printed> {
        for item in items {
            if let Item::Option(name, value) = item {
                self.option(name, value.as_deref())?;
            }
        }
        Ok(())
    }

    fn option(&mut self, name: &str, value: Option<&str>) -> Result<(), Printed> {
        let text = value.unwrap_or_default();
        match name {
            "debug" => {
                return Err(Printed::refuse("siege", "-D (--debug)", "drome has no wire trace to print"));
            }
            "config" => (self.config, self.get) = (true, false),
            "concurrent" => self.users = atoi(text),
            "internet" => self.internet = true,
            "benchmark" => self.benchmark = true,
            "delay" => self.delay_s = atof(text).max(0.0),
            "get" => self.get = true,
            "print" => (self.print, self.users, self.reps) = (true, 1, 1),
            "log" => {
                self.logging = true;
                if let Some(file) = value {
                    file.clone_into(&mut self.log_file);
                }
            }
            "mark" => (self.mark, self.logging) = (Some(text.to_owned()), true),
            "quiet" => self.quiet = true,
            "verbose" => self.verbose = true,
            "reps" if text.eq_ignore_ascii_case("once") => self.reps = ONCE,
            "reps" => self.reps = atoi(text),
            "time" => self.seconds = seconds(text),
            "file" => text.clone_into(&mut self.file),
            "user-agent" => text.clone_into(&mut self.agent),
            "content-type" => text.clone_into(&mut self.content_type),
            "no-parser" => self.parser = false,
            "no-follow" => self.follow = false,
            "header" => self.header(text)?,
            "json-output" => self.json = true,
            _ => {}
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

/// C's atoi: the number at the beginning, or 0.
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value: i64 = digits[..end].parse().unwrap_or(if end > 0 { i64::from(i32::MAX) } else { 0 });
    if text.starts_with('-') { -value } else { value }.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
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
        assert_eq!(["5x", " -3", "x", "", "99999999999"].map(atoi), [5, -3, 0, 0, i64::from(i32::MAX)]);
        assert_eq!(["0.5", "2s", "x", "1e3", "1.2.3"].map(atof), [0.5, 2.0, 0.0, 1.0, 0.0]);
        let times = ["10S", "10s", "2m", "1H", "3", "S", "", "5xs", "é"];
        assert_eq!(times.map(seconds), [10, 10, 120, 3600, 180, 0, 0, 5, 0]);
    }
}
