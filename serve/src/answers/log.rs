//! The access log, in the common log format: host, two dashes, time, request line, status, bytes of the body.

use crate::answers::date::{self, Date};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use wire::RequestHead;

/// How many bytes of lines are collected before they are written.
const GATHER_BYTES: usize = 32 * 1024;

/// A thread's end of the log. All ends append whole lines to the same file.
#[derive(Debug)]
pub struct Log {
    file: File,
    lines: Vec<u8>,
    /// The request line that is being answered, as far as it could be read.
    request: String,
    time: [u8; 26],
    has_failed: bool,
}

/// Opens the file, to append to it.
pub fn open(path: &Path) -> std::io::Result<File> {
    File::options().append(true).create(true).open(path)
}

impl Log {
    /// A log that writes to a file which is open for appending.
    pub fn new(file: File, date: &Date) -> Self {
        let time = date::for_logs(date);
        Self { file, lines: Vec::new(), request: String::new(), time, has_failed: false }
    }

    /// Writes what has been collected, when a new second has begun.
    pub fn tick(&mut self, date: &Date) {
        self.time = date::for_logs(date);
        self.flush();
    }

    /// Remembers the request line.
    pub fn asked(&mut self, head: &RequestHead<'_>) {
        self.request.clear();
        for text in [head.method, " ", head.target, " HTTP/"] {
            escape(text, &mut self.request);
        }
        let _ = write!(self.request, "{}.{}", head.major, head.minor);
    }

    /// The request line that was remembered, for a request whose answer comes after others.
    pub fn take_request(&mut self) -> String {
        std::mem::take(&mut self.request)
    }

    /// Remembers this request line, which was taken.
    pub fn put_request(&mut self, request: String) {
        self.request = request;
    }

    /// Adds the line of an answer to the last request.
    pub fn answered(&mut self, peer: Option<IpAddr>, (status, body_bytes): (u16, u64)) {
        let request = if self.request.is_empty() { "-" } else { &self.request };
        let lines = &mut self.lines;
        // Writing to memory can't fail.
        let _ = match peer {
            Some(peer) => write!(lines, "{peer}"),
            None => write!(lines, "-"),
        };
        lines.extend_from_slice(b" - - [");
        lines.extend_from_slice(&self.time);
        let _ = write!(lines, "] \"{request}\" {status} ");
        let _ = if body_bytes > 0 { writeln!(lines, "{body_bytes}") } else { writeln!(lines, "-") };
        self.request.clear();
        if self.lines.len() >= GATHER_BYTES {
            self.flush();
        }
    }

    /// Writes what has been collected. A log that can't be written does not keep the server from answering; that is reported
    /// once.
    pub fn flush(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        if let Err(error) = self.file.write_all(&self.lines)
            && !self.has_failed
        {
            self.has_failed = true;
            eprintln!("drome: the access log has gaps: {error}");
        }
        self.lines.clear();
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Writes as `\xHH` what would end the quotation, or the line, or is no plain text.
fn escape(text: &str, to: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | ..=0x1f | 0x7f.. => to.push_str(&format!("\\x{byte:02X}")),
            _ => to.push(byte.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::RequestParser;

    const DATE: &Date = b"Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn lines_are_in_the_common_format_and_can_not_be_forged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::new(open(&path).unwrap(), DATE);
        let mut input = "GET /a?b=\"\\é HTTP/1.0\r\n\r\n".as_bytes();
        RequestParser::new().next(&mut input, |head| log.asked(head)).unwrap().unwrap();
        log.answered(Some([127, 0, 0, 1].into()), (200, 12));
        log.answered(None, (400, 0));
        drop(log);
        let expected = "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=\\x22\\x5C\\xC3\\xA9 HTTP/1.0\" 200 12\n\
                        - - - [06/Nov/1994:08:49:37 +0000] \"-\" 400 -\n";
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}
