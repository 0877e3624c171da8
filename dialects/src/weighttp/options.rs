//! weighttp's options, its target, and the bytes of its requests.

use crate::Printed;
use crate::command_line::{self, Item, Opt, Wrong, flag, try_flag, value};
use crate::number::integer;
use model::{Address, Target};
use std::net::{SocketAddr, ToSocketAddrs};

const OPTIONS: &[Opt<Options>] = &[
    try_flag('h', "", |_| Err(Printed::out(HELP).exit(0))),
    try_flag('v', "", |_| Err(Printed::out("version:    0.3\n\n").exit(0))),
    flag('6', "", |options| options.is_ipv6 = true),
    flag('k', "", |options| options.keep_alive = true),
    // A number with other characters than digits counts as too large.
    value('n', "", |options, text| options.requests = digits(text).unwrap_or(u64::MAX)),
    value('t', "", |options, text| options.threads = number(text) as u8),
    value('c', "", |options, text| options.connections = number(text) as u16),
    value('H', "", |options, text| options.headers.push(text.to_owned())),
];

const HELP: &str = "\
weighttp <options> <url>
  -n num   number of requests    (mandatory)
  -t num   threadcount           (default: 1)
  -c num   concurrent clients    (default: 1)
  -k       keep alive            (default: no)
  -6       use ipv6              (default: no)
  -H str   add header to request
  -h       show help and exit
  -v       show version and exit

example: weighttpd -n 10000 -c 10 -t 2 -k -H \"User-Agent: foo\" localhost/index.html

";

/// The default User-Agent.
const AGENT: &str = "User-Agent: weighttp/0.3";

/// The parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of all requests.
    pub requests: u64,
    /// The number of threads; the tool stores it in a byte.
    pub threads: u8,
    /// The connections of all threads together.
    pub connections: u16,
    /// Whether connections are reused.
    pub keep_alive: bool,
    is_ipv6: bool,
    headers: Vec<String>,
    url: String,
}

impl Options {
    /// Parses a command line. `Err`: what the tool prints instead of measuring, without its banner.
    pub fn parse(args: &[String]) -> Result<Self, Printed> {
        let mut options = Self { threads: 1, connections: 1, ..Self::default() };
        let mut urls = Vec::new();
        for item in command_line::parse(OPTIONS, args) {
            match item {
                Item::Operand(word) => urls.push(word),
                Item::Option(option, value) => option.apply(&mut options, value.as_deref())?,
                // The tool has no long options: the second dash is an unknown letter.
                Item::Wrong(Wrong::Long(_)) => return Err(wrong("unkown option: --")),
                Item::Wrong(Wrong::Unknown(letter)) => {
                    return Err(wrong(&format!("unkown option: -{letter}")));
                }
                // The tool ignores an option without its value.
                Item::Wrong(Wrong::Missing(_)) => {}
            }
        }
        match urls.len() {
            0 => return Err(wrong("missing url argument\n")),
            1 => options.url = urls.swap_remove(0),
            _ => return Err(wrong("too many arguments\n")),
        }
        options.check()
    }

    fn check(self) -> Result<Self, Printed> {
        let (threads, connections, requests) =
            (u64::from(self.threads), u64::from(self.connections), self.requests);
        if threads == 0 {
            return Err(wrong("thread count has to be > 0\n"));
        }
        if connections == 0 {
            return Err(wrong("number of concurrent clients has to be > 0\n"));
        }
        if requests == 0 {
            return Err(wrong("number of requests has to be > 0\n"));
        }
        if requests == u64::MAX || threads > connections || connections > requests {
            return Err(wrong("insane arguments\n"));
        }
        Ok(self)
    }

    /// The connections and requests of a thread. The first threads get the remainder.
    pub fn of_thread(&self, thread: u8) -> (u64, u64) {
        let part = |whole: u64| {
            let threads = u64::from(self.threads);
            whole / threads + u64::from(u64::from(thread) < whole % threads)
        };
        (part(self.connections.into()), part(self.requests))
    }

    /// The target, from a URL as the tool parses it: the first colon begins the port.
    pub fn target(&self) -> Result<Target, Printed> {
        let fail = |why: String| Printed::err(format!("error: {why}\n")).exit(1);
        if self.url.starts_with("https://") {
            return Err(fail("no ssl support yet".to_owned()));
        }
        let bare = self.url.strip_prefix("http://").unwrap_or(&self.url);
        let from_slash = |text: &str| text.find('/').unwrap_or(text.len());
        let (name, port, path) = if let Some((name, rest)) = bare.split_once(':') {
            let (port, path) = rest.split_at(from_slash(rest));
            (name, number(port) as u16, path)
        } else {
            let (name, path) = bare.split_at(from_slash(bare));
            (name, 80, path)
        };
        if port == 0 {
            return Err(fail("could not parse url".to_owned()));
        }
        let is_wanted = |address: &SocketAddr| address.is_ipv6() == self.is_ipv6;
        let address = (name, port).to_socket_addrs().ok().and_then(|mut all| all.find(is_wanted));
        let address = address.ok_or_else(|| fail(format!("could not resolve hostname: {name}")))?;
        let host = if port == 80 { name.to_owned() } else { format!("{name}:{port}") };
        let path = if path.is_empty() { "/" } else { path };
        Ok(Target { url: self.url.clone(), host, path: path.to_owned(), ..Target::at(Address::Tcp(address)) })
    }

    /// The bytes of a request.
    pub fn request(&self, target: &Target) -> Vec<u8> {
        let mut lines = vec![format!("GET {} HTTP/1.1", target.path), format!("Host: {}", target.host)];
        if !self.headers.iter().any(|header| header.starts_with("User-Agent: ")) {
            lines.push(AGENT.to_owned());
        }
        lines.extend(self.headers.iter().cloned());
        let connection = if self.keep_alive { "keep-alive" } else { "close" };
        lines.push(format!("Connection: {connection}\r\n\r\n"));
        lines.join("\r\n").into_bytes()
    }
}

/// An error message with the help.
fn wrong(why: &str) -> Printed {
    Printed { out: HELP.to_owned(), ..Printed::err(format!("error: {why}\n")) }.exit(1)
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The number at the beginning, or 0.
fn number(text: &str) -> u64 {
    integer(text, false).map_or(0, |(number, _)| number)
}
