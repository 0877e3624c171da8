//! The options of `http_load`. They may be abbreviated, and the first one that matches is used.

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

/// The options in the order in which they are searched, and whether each has a value.
const KNOWN: &[(&str, bool)] = &[
    ("-checksum", false),
    ("-throttle", false),
    ("-Throttle", true),
    ("-verbose", false),
    ("-timeout", true),
    ("-jitter", false),
    ("-parallel", true),
    ("-rate", true),
    ("-fetches", true),
    ("-seconds", true),
    ("-sip", true),
    ("-cipher", true),
    ("-proxy", true),
];

impl Options {
    /// Parses a command line. At most `most` fetches may run in parallel.
    pub fn parse(call: &Call, most: usize) -> Result<Self, Printed> {
        let name = &call.program;
        let (mut start, mut end, mut jitter, mut refused) = (None, None, false, None);
        let (mut timeout_s, mut verbose, mut proxy, mut sip) = (60, false, None, None);
        let mut args = call.args.as_slice();
        while let [arg, rest @ ..] = args
            && arg.len() > 1
            && arg.starts_with('-')
        {
            let is_meant = |(known, takes): &&(&str, bool)| {
                known.starts_with(arg.as_str()) && (!takes || !rest.is_empty())
            };
            let (known, takes) = KNOWN.iter().find(is_meant).ok_or_else(|| usage(name))?;
            let value = if *takes { rest[0].as_str() } else { "" };
            args = &rest[usize::from(*takes)..];
            match *known {
                "-parallel" => {
                    start = Some(Start::Parallel(number(name, "parallel", value, most as u64)? as usize));
                }
                "-rate" => start = Some(Start::Rate(number(name, "rate", value, 1000)? as u32)),
                "-fetches" => end = Some(End::Fetches(number(name, "fetches", value, u64::MAX)?)),
                "-seconds" => end = Some(End::Seconds(number(name, "seconds", value, u64::MAX)?)),
                "-timeout" => timeout_s = atoi(value),
                "-verbose" => verbose = true,
                "-jitter" => jitter = true,
                "-sip" => sip = Some(value.to_owned()),
                "-proxy" => {
                    let (host, port) = value.split_once(':').unwrap_or((value, "80"));
                    proxy = Some((host.to_owned(), port.parse().unwrap_or(0)));
                }
                other => refused = Some(other),
            }
        }
        let ([list], Some(start), Some(end)) = (args, start, end) else { return Err(usage(name)) };
        if jitter && !matches!(start, Start::Rate(_)) {
            return Err(usage(name));
        }
        if let Some(option) = refused {
            return Err(Printed::refuse("http_load", option, why_not(option)));
        }
        Ok(Self { start, jitter, end, timeout_s, verbose, proxy, sip, list: list.clone() })
    }
}

/// Why drome does not support an option.
fn why_not(option: &str) -> &'static str {
    match option {
        "-checksum" => "drome compares only the length of bodies, not their content",
        "-cipher" => "its names are those of OpenSSL, which drome does not use",
        _ => "drome reads as fast as it can",
    }
}

/// A number that must be positive.
fn number(name: &str, what: &str, value: &str, most: u64) -> Result<u64, Printed> {
    match atoi(value) {
        0 => Err(fatal(name, &format!("{what} must be at least 1"))),
        n if n > most => Err(fatal(name, &format!("{what} may be at most {most}"))),
        n => Ok(n),
    }
}

/// C's atoi for non-negative numbers: the number at the beginning, or 0.
fn atoi(text: &str) -> u64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().map_or(u64::from(end > 0) * i32::MAX as u64, |n: u64| n.min(i32::MAX as u64))
}

/// An error message that ends the tool.
pub fn fatal(who: &str, what: &str) -> Printed {
    Printed::err(format!("{who}: {what}\n")).exit(1)
}

/// The system's error message, without its number.
pub fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
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
