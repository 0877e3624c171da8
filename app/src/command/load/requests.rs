//! The requests: one URL with its method, headers and body, or a list of paths from a file.

use super::parse;
use crate::failure::WrongInput;
use crate::options::bytes_of;
use anyhow::Context;
use clap::{Args, ValueEnum};
use model::url::path_as_sent;
use model::{Ask, Asking, Expect, Order, Protocol, Target, Verify};
use std::path::{Path, PathBuf};

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub struct RequestArgs {
    /// Add a header field, such as 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = parse::header)]
    headers: Vec<(String, String)>,
    /// Request method [default: GET, or POST with a body]
    #[arg(short, long, value_name = "METHOD", value_parser = parse::method)]
    method: Option<String>,
    /// Request body
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// File with the request body
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// File with the message of --grpc, encoded as it is sent (protobuf's bytes) [default: an empty message]
    #[arg(long, value_name = "FILE", requires = "grpc")]
    data: Option<PathBuf>,
    /// HTTP version
    #[arg(long, value_enum, default_value = "1.1", value_name = "VERSION")]
    http: Version,
    /// Request the paths that this file lists, one per line: [METHOD] PATH [WEIGHT]
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Order of the paths of --urls
    #[arg(long, value_enum, default_value = "in-turn", requires = "urls")]
    order: Turn,
    /// Treat any other status as an error [default: any status below 400 is accepted]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// Treat a body of any other length as an error
    #[arg(long, value_name = "BYTES")]
    expect_length: Option<u64>,
    /// Treat a body that differs from this file as an error
    #[arg(long, value_name = "FILE")]
    expect_body: Option<PathBuf>,
    /// Treat a body with any other SHA-256 as an error; takes more CPU time than --expect-body
    #[arg(long, value_name = "HEX", value_parser = parse::sha256)]
    expect_sha256: Option<[u8; 32]>,
    /// Bodies to check against --expect-body or --expect-sha256 (first: of each connection; sample: also one in 64
    /// of the others, or one in 1,024 from 32 KiB on) [default: sample]
    #[arg(long, value_enum, value_name = "BODIES")]
    verify: Option<Bodies>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Version {
    #[value(name = "1.0")]
    Http10,
    #[value(name = "1.1")]
    Http11,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Turn {
    InTurn,
    Random,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bodies {
    First,
    Sample,
    All,
}

/// One line of a list.
#[derive(Debug, PartialEq)]
struct Line {
    method: Option<String>,
    path: String,
    weight: f64,
}

impl RequestArgs {
    /// Refuses options that would do nothing for this target, or that contradict its URL.
    pub fn fit(&self, target: &Target, protocol: Protocol) -> Result<(), WrongInput> {
        let is_http1 = protocol == Protocol::Http1;
        if !is_http1 && matches!(self.http, Version::Http10) {
            refuse!("--http 1.0 and {} are two protocols: leave one of them out", protocol.name());
        }
        if protocol == Protocol::WebSocket && (self.method.is_some() || self.urls.is_some()) {
            refuse!("--websocket sends one message (--body) again and again: leave out --method and --urls");
        }
        if protocol == Protocol::WebSocket && self.expect_status.is_some() {
            refuse!("--expect-status: a message of WebSocket has no status: leave it out");
        }
        let has = |name: &str| self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        if target.authorization.is_some() && has("authorization") {
            refuse!(
                "-H 'Authorization: …' and the URL's name and password say different things: leave one of them out"
            );
        }
        if self.urls.is_some() && target.path != "/" {
            refuse!(
                "--urls has the paths, so {} of the URL would not be asked for: leave it out, or add it to the list",
                target.path
            );
        }
        // A message is expected to come back as it is, unless something else is said.
        let is_echo = protocol == Protocol::WebSocket && self.expect_length.is_none();
        let is_checked = is_echo || self.expect_body.is_some() || self.expect_sha256.is_some();
        if self.verify.is_some() && !is_checked {
            refuse!("--verify needs --expect-body or --expect-sha256: without them no body is checked");
        }
        Ok(())
    }

    /// All requests that can come next. `keep_alive`: the connection stays open for another request.
    pub fn asks(&self, target: &Target, protocol: Protocol, keep_alive: bool) -> anyhow::Result<Vec<Ask>> {
        let lines = match &self.urls {
            None => vec![Line { method: None, path: target.path.clone(), weight: 1.0 }],
            Some(file) => list(file)?,
        };
        let body = self.request_body()?;
        let is_message = protocol == Protocol::WebSocket;
        let usual = if body.is_empty() || is_message { "GET" } else { "POST" };
        let headers = if is_message { self.headers_of_message(&body) } else { self.headers.clone() };
        let expect = Expect {
            // An answer of gRPC has this one, however the call went.
            status: if protocol == Protocol::Grpc { Some(200) } else { self.expect_status },
            any_status: is_message,
            length: self.expect_length,
            body: self.expect_body.as_deref().map(|file| bytes_of("--expect-body", file)).transpose()?,
            sha256: self.expect_sha256,
        };
        let is_any = expect.body.is_none() && expect.sha256.is_none() && expect.length.is_none();
        let expect =
            if is_message && is_any { Expect { body: Some(body.clone()), ..expect } } else { expect };
        let ask = |line: Line| {
            let method = line.method.as_deref().or(self.method.as_deref()).unwrap_or(usual);
            let asking = Asking {
                method,
                path: &line.path,
                http10: matches!(self.http, Version::Http10),
                keep_alive,
                headers: &headers,
                body: &body,
            };
            Ask {
                request: target.request(asking),
                last: target.request(Asking { keep_alive: false, ..asking }),
                head_only: method == "HEAD",
                expect: expect.clone(),
                weight: line.weight,
            }
        };
        Ok(lines.into_iter().map(ask).collect())
    }

    /// The header fields of a request whose body is a message of WebSocket. Its `Content-Type` says which kind of message, and is not sent.
    fn headers_of_message(&self, body: &[u8]) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            let is_text = std::str::from_utf8(body).is_ok();
            let kind = if is_text { "text/plain" } else { "application/octet-stream" };
            headers.push(("Content-Type".to_owned(), kind.to_owned()));
        }
        headers
    }

    /// The order of the requests.
    pub fn order(&self) -> Order {
        match self.order {
            Turn::InTurn => Order::InTurn,
            Turn::Random => Order::Random,
        }
    }

    /// Which bodies are checked.
    pub fn verify(&self) -> Verify {
        match self.verify {
            Some(Bodies::First) => Verify::First,
            None | Some(Bodies::Sample) => Verify::Sample,
            Some(Bodies::All) => Verify::All,
        }
    }

    fn request_body(&self) -> anyhow::Result<Vec<u8>> {
        Ok(match (&self.body, &self.body_file, &self.data) {
            (Some(text), ..) => text.clone().into_bytes(),
            (None, Some(file), _) => bytes_of("--body-file", file)?,
            (None, None, Some(file)) => bytes_of("--data", file)?,
            (None, None, None) => Vec::new(),
        })
    }
}

fn list(file: &Path) -> anyhow::Result<Vec<Line>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("can't read --urls {}", file.display()))
        .map_err(|e| WrongInput(format!("{e:#}")))?;
    let mut lines = Vec::new();
    for (number, line) in
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let read = read_line(line).map_err(|why| {
            WrongInput(format!(
                "{}, line {}: {why}; write it like `GET /path 3`, `/path 3` or `/path`",
                file.display(),
                number + 1
            ))
        })?;
        lines.push(read);
    }
    if lines.is_empty() {
        refuse!("{} lists no path: write one per line, such as /index.html", file.display());
    }
    Ok(lines)
}

fn read_line(line: &str) -> Result<Line, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (method, path, weight) = match words[..] {
        [path] => (None, path, None),
        [first, second] if second.starts_with('/') => (Some(first), second, None),
        [path, weight] => (None, path, Some(weight)),
        [method, path, weight] => (Some(method), path, Some(weight)),
        _ => return Err(format!("`{line}` has more than three words")),
    };
    if !path.starts_with('/') {
        return Err(format!("`{path}` is not a path: a path begins with / (the host is that of the URL)"));
    }
    let weight = match weight.map(str::parse::<f64>) {
        None => 1.0,
        Some(Ok(weight)) if weight > 0.0 && weight.is_finite() => weight,
        Some(_) => return Err("the weight must be a number above 0".to_owned()),
    };
    if let Some((_, fragment)) = path.split_once('#') {
        return Err(format!("#{fragment} is never sent to a server: leave it out, or write # as %23"));
    }
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Err(format!("the path has the control character `{}`", c.escape_default()));
    }
    let method = method.map(parse::method).transpose()?;
    Ok(Line { method, path: path_as_sent(path), weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_one_to_three_words() {
        let line = |method: Option<&str>, path: &str, weight| Line {
            method: method.map(str::to_owned),
            path: path.to_owned(),
            weight,
        };
        assert_eq!(read_line("/a"), Ok(line(None, "/a", 1.0)));
        assert_eq!(read_line(" HEAD /a?b "), Ok(line(Some("HEAD"), "/a?b", 1.0)));
        assert_eq!(read_line("/a 0.5"), Ok(line(None, "/a", 0.5)));
        assert_eq!(read_line("GET /a 3"), Ok(line(Some("GET"), "/a", 3.0)));
        assert_eq!(read_line("/é"), Ok(line(None, "/%C3%A9", 1.0)));
        for bad in ["/a#b", "/a\u{1}", "a", "GET a", "/a -1", "/a x", "/a inf", "G€T /a 1", "GET /a 1 2"] {
            assert!(read_line(bad).is_err(), "{bad}");
        }
    }
}
