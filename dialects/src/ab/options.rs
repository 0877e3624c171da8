//! ab's command line: its options, checked in ab's order and with ab's error messages.

use super::getopt::{Getopt, Next, atoi};
use super::url::Url;
use super::usage::{BANNER, WRONG, usage};
use crate::{Call, Printed};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::TlsVersion;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The number of requests that `-t` sets.
const REQUESTS_IN_TIME: i64 = 50_000;

/// The largest number of connections that ab accepts.
const MOST_CONNECTIONS: i64 = 200_000;

/// The limit for encoded credentials, including a final zero byte.
const CREDENTIALS_BYTES: usize = 1024;

/// Why `-b` is not supported.
const NO_WINDOW: &str = "drome leaves socket buffers to the system, which tunes them as it goes";
const NO_CIPHERS: &str = "drome's TLS agrees on the best cipher suite that both sides know";
const NO_VERSIONS: &str = "drome's TLS knows the versions 1.2 and 1.3";

/// The options: as they were given, or their defaults.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Options {
    pub url: Url,
    pub requests: u64,
    pub connections: usize,
    pub limit: Option<Duration>,
    pub timeout: Duration,
    pub keeps_alive: bool,
    /// Whether answers may differ in length (`-l`).
    pub any_length: bool,
    /// Whether errors while receiving are counted instead of ending the run (`-r`).
    pub goes_on: bool,
    pub method: String,
    pub body: Option<Vec<u8>>,
    pub content_type: String,
    /// Lines of the request, each with its line break.
    pub cookie: String,
    pub credentials: String,
    pub headers: Vec<String>,
    pub proxy: Option<(String, u16)>,
    /// The local address to connect from (`-B`).
    pub from: Option<String>,
    pub percentiles: bool,
    pub confidence: bool,
    pub is_quiet: bool,
    pub csv: Option<PathBuf>,
    pub gnuplot: Option<PathBuf>,
    pub html: Option<Html>,
    pub verbosity: i64,
    /// A file with both the certificate and the key.
    pub identity: Option<PathBuf>,
    pub no_sni: bool,
    /// The only version of TLS that is offered (`-f`).
    pub version: Option<TlsVersion>,
    /// Messages about mistakes on the command line that do not end the run.
    pub complaint: String,
}

/// The attributes of HTML tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Html {
    pub table: String,
    pub row: String,
    pub cell: String,
}

impl Default for Html {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".to_owned() }
    }
}

/// The options before they are checked.
struct Raw {
    options: Options,
    requests: i64,
    connections: i64,
    has_method: bool,
}

impl Options {
    /// Parses a command line, or returns ab's error message.
    pub fn parse(call: &Call) -> Result<Self, Printed> {
        let mut raw = Raw::new();
        let mut getopt = Getopt::new(&call.args);
        loop {
            match getopt.next() {
                Next::Flag(option) => raw.flag(option, call)?,
                Next::Value(option, value) => raw.value(option, value, call)?,
                Next::End => break,
                Next::Bad(why) => {
                    raw.options.complaint = format!("{}: {why}", call.program);
                    break;
                }
            }
        }
        let complaint = raw.options.complaint.clone();
        let wrong = |why: &str| {
            let text = format!("{complaint}{}: {why}\n{}", call.program, usage(&call.program));
            Printed::err(text).exit(WRONG)
        };
        let [url] = &call.args[getopt.at.min(call.args.len())..] else {
            return Err(wrong("wrong number of arguments"));
        };
        raw.options.url = Url::parse(url).ok_or_else(|| wrong("invalid URL"))?;
        if !(0..=MOST_CONNECTIONS).contains(&raw.connections) {
            return Err(wrong(&format!("Invalid Concurrency [Range 0..{MOST_CONNECTIONS}]")));
        }
        if raw.connections > raw.requests {
            return Err(wrong("Cannot use concurrency level greater than total number of requests"));
        }
        raw.options.requests = raw.requests as u64;
        raw.options.connections = raw.connections as usize;
        Ok(raw.options)
    }

    /// The value of a header field from the command line.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The number of requests between two lines about progress; `None`: no such lines.
    pub fn heartbeat(&self) -> Option<u64> {
        let is_long = self.requests > 150;
        (is_long && !self.is_quiet).then(|| (self.requests / 10).max(100))
    }
}

impl Raw {
    fn new() -> Self {
        let options = Options {
            url: Url::default(),
            requests: 1,
            connections: 1,
            limit: None,
            timeout: Duration::from_secs(30),
            keeps_alive: false,
            any_length: false,
            goes_on: false,
            method: "GET".to_owned(),
            body: None,
            content_type: "text/plain".to_owned(),
            cookie: String::new(),
            credentials: String::new(),
            headers: Vec::new(),
            proxy: None,
            from: None,
            percentiles: true,
            confidence: true,
            is_quiet: false,
            csv: None,
            gnuplot: None,
            html: None,
            verbosity: 0,
            identity: None,
            no_sni: false,
            version: None,
            complaint: String::new(),
        };
        Self { options, requests: 1, connections: 1, has_method: false }
    }

    fn flag(&mut self, option: char, call: &Call) -> Result<(), Printed> {
        let options = &mut self.options;
        match option {
            'k' => options.keeps_alive = true,
            'q' => options.is_quiet = true,
            'i' => self.method("HEAD")?,
            'd' => options.percentiles = false,
            'S' => options.confidence = false,
            'l' => options.any_length = true,
            'r' => options.goes_on = true,
            'w' => drop(options.html.get_or_insert_default()),
            'I' => options.no_sni = true,
            'V' => return Err(Printed::out(BANNER).exit(0)),
            _ => return Err(Printed::err(usage(&call.program)).exit(WRONG)),
        }
        Ok(())
    }

    fn value(&mut self, option: char, value: String, call: &Call) -> Result<(), Printed> {
        let options = &mut self.options;
        let number = atoi(&value);
        match option {
            'n' if number <= 0 => return Err(error("Invalid number of requests\n")),
            'n' => self.requests = number,
            'c' => self.connections = number,
            't' => {
                // Zero means no limit; a negative time ends the run at once.
                options.limit = (number != 0).then(|| Duration::from_secs(number.max(0) as u64));
                self.requests = REQUESTS_IN_TIME;
            }
            's' => {
                let forever = Duration::from_secs(i32::MAX as u64);
                options.timeout = u64::try_from(number).map_or(forever, Duration::from_secs);
            }
            'v' => options.verbosity = number,
            'p' => self.body("POST", &value)?,
            'u' => self.body("PUT", &value)?,
            'm' => {
                options.method = value;
                self.has_method = true;
            }
            'T' => options.content_type = value,
            'C' => options.cookie = format!("Cookie: {value}\r\n"),
            'A' => options.credentials += &basic("Authorization", &value, "Authentication")?,
            'P' => options.credentials += &basic("Proxy-Authorization", &value, "Proxy")?,
            'H' => options.headers.push(value),
            'X' => {
                let (host, port) = value.split_once(':').unwrap_or((&value, "0"));
                options.proxy = Some((host.to_owned(), atoi(port).clamp(0, 65_535) as u16));
            }
            'B' => options.from = Some(value),
            'e' => options.csv = Some(value.into()),
            'g' => options.gnuplot = Some(value.into()),
            'x' => options.html.get_or_insert_default().table = value,
            'y' => options.html.get_or_insert_default().row = value,
            'z' => options.html.get_or_insert_default().cell = value,
            'E' => options.identity = Some(value.into()),
            'f' => self.version(&value, call)?,
            'Z' => return Err(Printed::refuse(&call.program, "-Z", NO_CIPHERS)),
            _ => return Err(Printed::refuse(&call.program, "-b", NO_WINDOW)),
        }
        Ok(())
    }

    /// ab goes by the beginning of the name, and silently ignores an unknown version.
    fn version(&mut self, name: &str, call: &Call) -> Result<(), Printed> {
        let known = name.to_ascii_uppercase();
        let begins = |with: &str| known.starts_with(with);
        if begins("ALL") {
            self.options.version = None;
        } else if begins("TLS1.2") {
            self.options.version = Some(TlsVersion::Tls12);
        } else if begins("TLS1.3") {
            self.options.version = Some(TlsVersion::Tls13);
        } else if ["SSL2", "SSL3", "TLS1"].into_iter().any(begins) {
            return Err(Printed::refuse(&call.program, &format!("-f {name}"), NO_VERSIONS));
        }
        Ok(())
    }

    fn method(&mut self, method: &str) -> Result<(), Printed> {
        if self.has_method {
            return Err(error(&format!("Cannot mix {method} with other methods\n")));
        }
        self.has_method = true;
        method.clone_into(&mut self.options.method);
        Ok(())
    }

    fn body(&mut self, method: &str, file: &str) -> Result<(), Printed> {
        self.method(method)?;
        let body = std::fs::read(file).map_err(|error| {
            let doing = if error.kind() == io::ErrorKind::IsADirectory { "read" } else { "open" };
            let place = if doing == "open" { format!(" ({file})") } else { String::new() };
            Printed::err(format!("ab: Could not {doing} POST data file{place}: {}\n", strerror(&error)))
                .exit(1)
        })?;
        self.options.body = Some(body);
        Ok(())
    }
}

/// How ab ends if an option is wrong.
fn error(why: &str) -> Printed {
    Printed::err(format!("{why}\n")).exit(1)
}

/// The system's error message, without the number that Rust appends.
pub fn strerror(error: &io::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}

/// A header line with credentials, from the field's name, user and password, and their name in the error message.
fn basic(field: &str, given: &str, what: &str) -> Result<String, Printed> {
    let coded = BASE64_STANDARD.encode(given.trim_start());
    if coded.len() >= CREDENTIALS_BYTES {
        return Err(error(&format!("{what} credentials too long\n")));
    }
    Ok(format!("{field}: Basic {coded}\r\n"))
}
