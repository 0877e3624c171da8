//! The options of `http_load`. They may be abbreviated, and the first one that matches is used.

use crate::command_line::{self, Item, NO_LETTER, Opt, checked, flag, value};
use crate::number::atoi;
use crate::{Call, Printed};

/// How fetches start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A number of parallel fetches.
    Parallel(usize),
    /// A number of fetches per second.
    Rate(u32),
}

/// When the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After this many fetches.
    Fetches(u64),
    /// After this many seconds.
    Seconds(u64),
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How fetches start.
    pub start: Start,
    /// Whether the time between two starts varies, where fetches start at a rate.
    pub jitter: bool,
    /// When the run ends.
    pub end: End,
    /// The timeout of a fetch, in seconds.
    pub timeout_s: u64,
    /// Whether to print progress every minute.
    pub verbose: bool,
    /// The proxy that gets the requests instead of the servers.
    pub proxy: Option<(String, u16)>,
    /// The file of source addresses.
    pub sip: Option<String>,
    /// The file of URLs, or a URL.
    pub list: String,
}

/// The options before they are checked.
struct Raw {
    options: Options,
    name: String,
    /// The largest number of fetches in parallel.
    most: u64,
    start: Option<Start>,
    end: Option<End>,
    /// The last option that drome does not support, and why.
    refused: Option<(&'static str, &'static str)>,
}

const NO_CHECKSUM: &str = "drome compares only the length of bodies, not their content";
const NO_CIPHERS: &str = "its names are those of OpenSSL, which drome does not use";
const NO_THROTTLE: &str = "drome reads as fast as it can";

/// The options in the order in which they are searched.
const OPTIONS: &[Opt<Raw>] = &[
    flag(NO_LETTER, "checksum", |raw| raw.refused = Some(("-checksum", NO_CHECKSUM))),
    flag(NO_LETTER, "throttle", |raw| raw.refused = Some(("-throttle", NO_THROTTLE))),
    value(NO_LETTER, "Throttle", |raw, _| raw.refused = Some(("-Throttle", NO_THROTTLE))),
    flag(NO_LETTER, "verbose", |raw| raw.options.verbose = true),
    value(NO_LETTER, "timeout", |raw, text| raw.options.timeout_s = natural(text)),
    flag(NO_LETTER, "jitter", |raw| raw.options.jitter = true),
    checked(NO_LETTER, "parallel", |raw, text| {
        raw.start = Some(Start::Parallel(raw.number("parallel", text, raw.most)? as usize));
        Ok(())
    }),
    checked(NO_LETTER, "rate", |raw, text| {
        raw.start = Some(Start::Rate(raw.number("rate", text, 1000)? as u32));
        Ok(())
    }),
    checked(NO_LETTER, "fetches", |raw, text| {
        raw.end = Some(End::Fetches(raw.number("fetches", text, u64::MAX)?));
        Ok(())
    }),
    checked(NO_LETTER, "seconds", |raw, text| {
        raw.end = Some(End::Seconds(raw.number("seconds", text, u64::MAX)?));
        Ok(())
    }),
    value(NO_LETTER, "sip", |raw, text| raw.options.sip = Some(text.to_owned())),
    value(NO_LETTER, "cipher", |raw, _| raw.refused = Some(("-cipher", NO_CIPHERS))),
    value(NO_LETTER, "proxy", |raw, text| {
        let (host, port) = text.split_once(':').unwrap_or((text, "80"));
        raw.options.proxy = Some((host.to_owned(), port.parse().unwrap_or(0)));
    }),
];

impl Options {
    /// Parses a command line. At most `most` fetches may run in parallel.
    pub fn parse(call: &Call, most: usize) -> Result<Self, Printed> {
        let name = &call.program;
        let mut raw = Raw::new(name, most);
        let mut operands = Vec::new();
        for item in command_line::parse_words(OPTIONS, &call.args) {
            match item {
                Item::Option(option, value) => option.apply(&mut raw, value.as_deref())?,
                Item::Operand(word) => operands.push(word),
                Item::Wrong(_) => return Err(usage(name)),
            }
        }
        let Raw { options, start, end, refused, .. } = raw;
        let ([list], Some(start), Some(end)) = (operands.as_slice(), start, end) else {
            return Err(usage(name));
        };
        if options.jitter && !matches!(start, Start::Rate(_)) {
            return Err(usage(name));
        }
        if let Some((option, why)) = refused {
            return Err(Printed::refuse("http_load", option, why));
        }
        Ok(Self { start, end, list: list.clone(), ..options })
    }
}

impl Raw {
    fn new(name: &str, most: usize) -> Self {
        let options = Options {
            start: Start::Parallel(1),
            jitter: false,
            end: End::Fetches(1),
            timeout_s: 60,
            verbose: false,
            proxy: None,
            sip: None,
            list: String::new(),
        };
        Self { options, name: name.to_owned(), most: most as u64, start: None, end: None, refused: None }
    }

    /// A number that must be positive.
    fn number(&self, what: &str, value: &str, most: u64) -> Result<u64, Printed> {
        match natural(value) {
            0 => Err(fatal(&self.name, &format!("{what} must be at least 1"))),
            n if n > most => Err(fatal(&self.name, &format!("{what} may be at most {most}"))),
            n => Ok(n),
        }
    }
}

/// A number that is not negative.
fn natural(text: &str) -> u64 {
    u64::try_from(atoi(text)).unwrap_or(0)
}

/// An error message that ends the tool.
pub fn fatal(who: &str, what: &str) -> Printed {
    Printed::err(format!("{who}: {what}\n")).exit(1)
}

fn usage(name: &str) -> Printed {
    Printed::err(format!(
        "usage:  {name} [-checksum] [-throttle] [-proxy host:port] [-verbose] [-timeout secs] [-sip sip_file]\n\
         \x20           [-cipher str]\n\
         \x20           -parallel N | -rate N [-jitter]\n\
         \x20           -fetches N | -seconds N\n\
         \x20           url_file\n\
         Say how fetches start, -parallel or -rate, and when it ends, -fetches or -seconds.\n"
    ))
    .exit(1)
}
