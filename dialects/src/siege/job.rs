//! A run of siege: what it prints at the beginning, for each transaction, and at the end.

use super::messages;
use super::rc;
use super::report::{self, LOG_HEAD, Line, Sums, TICK_NS};
use super::settings::Settings;
use crate::message::{find, head_and_body};
use crate::moment::Moment;
use crate::number::strerror;
use crate::{Halt, Job, Printed};
use model::{End, Exchange, Loss, Plan, Tally};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// siege's message if the server resets a connection. A connection that is merely closed is not an error to siege.
const RESET: &str = "socket: read error Connection reset by peer sock.c:635: Connection reset by peer";

/// A URL as it is printed in lines.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The method.
    pub method: &'static str,
    /// The URL.
    pub display: String,
}

/// A run of siege, from a parsed command line.
pub struct Siege {
    /// The plan.
    pub plan: Plan,
    /// The settings.
    pub settings: Settings,
    /// The URLs, by request.
    pub urls: Vec<Shown>,
    /// The number of transactions after which the run ends, if it ends by that.
    pub total: Option<u64>,
    /// The counts.
    pub sums: Sums,
    /// What siege would have done and drome did not do, and how often.
    pub undone: Undone,
    /// What is printed before it begins.
    pub early: Printed,
}

/// What siege would do in addition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undone {
    /// The redirects that it would follow.
    redirects: u64,
    /// The challenges that it would answer.
    challenges: u64,
    /// The truncated answers that it would count as good.
    cut: u64,
}

impl Job for Siege {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn begin(&mut self) -> Printed {
        let s = &self.settings;
        let mut printed = std::mem::take(&mut self.early);
        if !s.get && !s.quiet {
            let _ = write!(
                printed.err,
                "** SIEGE 4.0.7\n** Preparing {} concurrent users for battle.\nThe server is now under siege...",
                s.users
            );
            printed.err.push_str(if s.verbose { "\n" } else { "" });
        }
        printed
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        let mut printed = Printed::default();
        for exchange in exchanges {
            if self.is_aborted() {
                return printed.exit(0);
            }
            let line = self.sums.add(exchange, self.settings.zero_ok);
            self.undone.add(exchange, &self.settings);
            if let Some(line) = line.filter(|_| self.shows_lines()) {
                self.write_line(&mut printed.out, exchange, line);
            }
            match exchange.end {
                End::Lost(Loss::Connect) => {
                    printed.err.push_str(&messages::error("socket: unable to connect sock.c:282"));
                }
                End::Lost(Loss::Receive) => printed.err.push_str(&messages::error(RESET)),
                _ => {}
            }
        }
        if self.is_aborted() { printed.exit(0) } else { printed }
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        self.sums.elapsed = tally.duration_ns / TICK_NS;
        let mut printed = Printed::default();
        self.show_answer(tally, &mut printed);
        // A run that is interrupted ends with the same line as one whose time is up.
        let is_lifted = !self.is_aborted() && (self.total.is_none() || tally.interrupted);
        if is_lifted && !self.settings.quiet {
            printed.err.push_str("\nLifting the server siege...");
        }
        self.tell(&mut printed);
        printed.err.push_str(&self.undone.words(&self.settings, tally));
        printed.exit(0)
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        let why = match halt {
            Halt::Connect(error) => strerror(error),
            Halt::Other { why, .. } => return Printed::err(format!("siege: {why}\n")).exit(1),
        };
        self.lose_all(&messages::error(&format!("socket: unable to connect sock.c:282: {why}")))
    }
}

impl Siege {
    /// The run if no server was listening: every transaction failed, until too many had failed.
    pub fn lose_all(&mut self, words: &str) -> Printed {
        let most = if self.settings.failures > 0 { self.settings.failures } else { u64::MAX };
        // A run without an end would fail for ever, so siege's default limit of failures ends it.
        let tries = self.total.unwrap_or(u64::MAX).min(most);
        self.sums.failed = if tries == u64::MAX { 1024 } else { tries };
        let shown = self.sums.failed.min(100_000) as usize;
        let mut printed = Printed::err(words.repeat(shown));
        self.tell(&mut printed);
        printed.exit(0)
    }

    fn is_aborted(&self) -> bool {
        self.settings.failures > 0 && self.sums.failed >= self.settings.failures
    }

    fn shows_lines(&self) -> bool {
        self.settings.verbose && !self.settings.get && !self.settings.print
    }

    fn write_line(&self, out: &mut String, exchange: &Exchange, line: Line) {
        let s = &self.settings;
        let url = self.urls.get(exchange.ask as usize);
        let (method, display) = url.map_or(("GET", ""), |url| (url.method, url.display.as_str()));
        let Line { status, bytes, .. } = line;
        let time_s = line.ticks as f64 / 100.0;
        let moment = (s.csv || s.timestamp).then(|| Moment::at(now_s()));
        let now = moment.map(Moment::in_numbers).unwrap_or_default();
        let weekday = moment.map(Moment::weekday).unwrap_or_default();
        let stamp = if s.timestamp { format!("[{weekday}, {now}] ") } else { String::new() };
        let user = exchange.connection % self.plan.load.connections() as u64;
        if s.color {
            let _ = write!(out, "\u{1b}[0;{}m", report::color(status));
        }
        // The engine does not report an answer's HTTP version; servers use 1.1.
        let _ = match (s.csv, s.display_id) {
            (true, shows_id) => {
                let mark = s.mark.as_ref().map(|mark| format!("{mark},")).unwrap_or_default();
                let id = if shows_id { format!("{user:4},") } else { String::new() };
                let ask = exchange.ask;
                write!(out, "{stamp}{mark}{id}HTTP/1.1,{status},{time_s:6.2},{bytes:7},{display},{ask},{now}")
            }
            (false, true) => write!(
                out,
                "{user:4}) HTTP/1.1 {status} {time_s:6.2} secs: {bytes:7} bytes ==> {method:<4} {display}"
            ),
            (false, false) => write!(
                out,
                "{stamp}HTTP/1.1 {status}    {time_s:5.2} secs: {bytes:7} bytes ==> {method:<4} {display}"
            ),
        };
        out.push_str(if s.color { "\u{1b}[0m\n" } else { "\n" });
    }

    /// Request and answer, if they were requested.
    fn show_answer(&self, tally: &Tally, printed: &mut Printed) {
        let s = &self.settings;
        if !s.get && !s.print {
            return;
        }
        let request = self.plan.asks.first().map(|ask| String::from_utf8_lossy(&ask.request).into_owned());
        if !s.quiet {
            printed.out = request.unwrap_or_default() + "\n";
        }
        let (head, body) = head_and_body(&tally.first_answer);
        if s.get && !s.quiet {
            let _ = writeln!(printed.out, "{}", String::from_utf8_lossy(head));
        }
        if s.print && tally.sent > 0 {
            let _ = writeln!(printed.out, "{}", String::from_utf8_lossy(body));
        }
    }

    /// Prints the report to where it belongs, and writes the log.
    fn tell(&self, printed: &mut Printed) {
        let s = &self.settings;
        if !s.quiet {
            if self.is_aborted() {
                printed.err.push_str("siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n");
            }
            printed.err.push_str(&self.sums.text());
        }
        if s.json {
            printed.err.push('\n');
            printed.out.push_str(&self.sums.json());
        }
        if s.logging {
            self.log(printed);
        }
    }

    fn log(&self, printed: &mut Printed) {
        let s = &self.settings;
        let can_hold = rc::can_hold_log(&s.log_file);
        let mut text = if Path::new(&s.log_file).exists() { String::new() } else { LOG_HEAD.to_owned() };
        if let Some(mark) = &s.mark {
            let _ = writeln!(text, "**** {mark} ****");
        }
        if s.show_log {
            let home = std::env::var_os("HOME").unwrap_or_default();
            let home = home.display();
            let _ = write!(
                printed.out,
                "LOG FILE: {}\nYou can disable this log file notification by editing\n{home}/.siege/siege.conf and changing 'show-logfile' to false.\n",
                s.log_file
            );
        }
        text.push_str(&self.sums.log_line(&Moment::at(now_s()).in_numbers()));
        if self.is_aborted() {
            text.push_str("**** siege aborted due to excessive socket failure. ****\n");
        }
        if can_hold {
            printed.files.push((PathBuf::from(&s.log_file), text, true));
            return;
        }
        let what = format!("unable to create log file: {}: No such file or directory", s.log_file);
        let why = messages::error(&what);
        printed.err.push_str(&why.repeat(1 + usize::from(s.mark.is_some())));
    }
}

impl Undone {
    fn add(&mut self, exchange: &Exchange, settings: &Settings) {
        match exchange.end {
            End::Answered { status: 301 | 302 | 303 | 307, .. } if settings.follow => self.redirects += 1,
            End::Answered { status: 401 | 407, .. } => self.challenges += 1,
            End::Lost(Loss::Receive | Loss::Ended) if exchange.first_byte_ns > 0 => self.cut += 1,
            _ => {}
        }
    }

    /// What siege would have done in addition, in words, for standard error.
    fn words(self, settings: &Settings, tally: &Tally) -> String {
        let mut words = String::new();
        let mut say = |what: String| {
            let _ = writeln!(words, "drome siege: {what}");
        };
        if self.redirects > 0 {
            let n = self.redirects;
            say(format!("{n} answers were redirects; siege would follow them, drome does not (--no-follow)"));
        }
        if self.challenges > 0 {
            let n = self.challenges;
            say(format!("{n} answers required credentials; siege would send them, drome does not"));
        }
        if self.cut > 0 {
            let n = self.cut;
            say(format!("{n} answers were cut off and count as failed; siege would count most as good"));
        }
        let (head, body) = head_and_body(&tally.first_answer);
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        if settings.parser && is_page_with_parts(&head, body) {
            say(
                "the answer is a page of HTML; siege would fetch its parts too, drome does not (--no-parser)"
                    .to_owned(),
            );
        }
        if settings.cookies && head.contains("\r\nset-cookie:") {
            say("the server set cookies; siege would send them back, drome does not (cookies = false)"
                .to_owned());
        }
        words
    }
}

/// Whether siege would probably find parts to fetch in this answer.
fn is_page_with_parts(head: &str, body: &[u8]) -> bool {
    let is_good = head.get(9..10).is_some_and(|class| class < "3");
    let is_page = head.contains("\r\ncontent-type: text/html");
    let is_packed = head.contains("\r\ncontent-encoding:");
    let body = body.to_ascii_lowercase();
    let has = |word: &str| find(&body, word.as_bytes()).is_some();
    let has_parts = ["<img", "<link", "<script", "<frame", "<iframe", "http-equiv"].into_iter().any(has);
    is_good && is_page && (is_packed || has_parts)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
