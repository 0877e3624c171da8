//! What siege is told: by its resource file first, by the command line then. The defaults are those of the file that
//! Debian installs, where no other is there.

use super::getopt::Takes::{Attached, Nothing, Value};
use super::getopt::{Item, Spec};
use super::rc;
use crate::Said;
use std::fmt::Write;

/// siege's options.
pub const OPTIONS: &[Spec] = &[
    ("version", 'V', Nothing),
    ("help", 'h', Nothing),
    ("verbose", 'v', Nothing),
    ("quiet", 'q', Nothing),
    ("config", 'C', Nothing),
    ("debug", 'D', Nothing),
    ("get", 'g', Nothing),
    ("print", 'p', Nothing),
    ("concurrent", 'c', Value),
    ("no-parser", 'N', Nothing),
    ("no-follow", 'F', Nothing),
    ("internet", 'i', Nothing),
    ("benchmark", 'b', Nothing),
    ("reps", 'r', Value),
    ("time", 't', Value),
    ("delay", 'd', Value),
    ("log", 'l', Attached),
    ("file", 'f', Value),
    ("rc", 'R', Value),
    ("mark", 'm', Value),
    ("header", 'H', Value),
    ("user-agent", 'A', Value),
    ("content-type", 'T', Value),
    ("json-output", 'j', Nothing),
];

/// Repetitions where nobody says how many: siege's own bound, which nobody lives to see.
pub const MAX_REPS: i64 = 10_301_062;

/// Repetitions `once`: every user goes through all URLs one time.
pub const ONCE: i64 = -1;

/// All that siege can be told and drome honours.
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
    /// Header fields, each with its line break.
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
            // As Debian's siege has it, which is no folder that exists.
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
    /// With an empty resource file: siege's own defaults, not those of Debian's file.
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

    /// What the command line says. `Err`: siege would end here, or does not get this from drome.
    pub fn apply(&mut self, items: &[Item]) -> Result<(), Said> {
        for item in items {
            if let Item::Option(letter, value) = item {
                self.option(*letter, value.as_deref())?;
            }
        }
        Ok(())
    }

    fn option(&mut self, letter: char, value: Option<&str>) -> Result<(), Said> {
        let text = value.unwrap_or_default();
        match letter {
            'D' => return Err(Said::refuse("siege", "-D (--debug)", "drome has no wire trace to print")),
            'C' => (self.config, self.get) = (true, false),
            'c' => self.users = atoi(text),
            'i' => self.internet = true,
            'b' => self.benchmark = true,
            'd' => self.delay_s = atof(text).max(0.0),
            'g' => self.get = true,
            'p' => (self.print, self.users, self.reps) = (true, 1, 1),
            'l' => {
                self.logging = true;
                if let Some(file) = value {
                    file.clone_into(&mut self.log_file);
                }
            }
            'm' => (self.mark, self.logging) = (Some(text.to_owned()), true),
            'q' => self.quiet = true,
            'v' => self.verbose = true,
            'r' if text.eq_ignore_ascii_case("once") => self.reps = ONCE,
            'r' => self.reps = atoi(text),
            't' => self.seconds = seconds(text),
            'f' => text.clone_into(&mut self.file),
            'A' => text.clone_into(&mut self.agent),
            'T' => text.clone_into(&mut self.content_type),
            'N' => self.parser = false,
            'F' => self.follow = false,
            'H' => self.header(text)?,
            'j' => self.json = true,
            _ => {}
        }
        Ok(())
    }

    /// Adds a header field, as long as there is room in siege.
    pub fn header(&mut self, field: &str) -> Result<(), Said> {
        if !field.contains(':') {
            return Err(rc::fatal("no ':' in http-header"));
        }
        if field.len() + self.extra.len() + 3 > 2048 {
            return Err(rc::fatal("header is too large"));
        }
        let _ = write!(self.extra, "{field}\r\n");
        Ok(())
    }

    /// Makes of contradictions what siege makes of them, and says so where it does.
    pub fn settle(&mut self) -> String {
        let mut said = String::new();
        if self.benchmark {
            self.delay_s = 0.0;
        }
        if self.seconds > 0 && self.reps > 0 && self.reps != MAX_REPS {
            let seconds = self.seconds;
            said.push_str(&rc::error("CONFIG conflict: selected time and repetition based testing"));
            let _ = writeln!(said, "defaulting to time-based testing: {seconds} seconds");
            self.reps = MAX_REPS;
        }
        self.users = self.users.max(1);
        if self.get {
            (self.users, self.reps, self.logging, self.seconds) = (1, 1, false, 0);
        }
        self.quiet |= self.json;
        self.verbose &= !self.quiet;
        said
    }
}

/// C's atoi: the number at the start, else 0.
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

/// `10S`, `5m`, `1h`; minutes where nothing says what. 0: no time.
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
