//! Renders answers about files as bytes. The answer with a whole file is put together from prepared pieces; everything rarer is
//! formatted when it is needed.

use crate::answers::head::{Context, head};
use crate::answers::site::Site;
use crate::connections::out::Out;
use crate::files::entry::{Content, Entry};
use crate::files::ranges::Range;
use crate::files::{Form, Reply};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

/// Writes answers for one thread.
#[derive(Debug)]
pub struct Renderer {
    /// The separator of the parts of the next answer with several. It can't be known beforehand and put into a file.
    boundary: u64,
}

impl Renderer {
    /// A renderer whose first boundary is random.
    pub fn new() -> Self {
        Self { boundary: RandomState::new().hash_one(0) }
    }

    /// Writes an answer. Returns its status, and the number of bytes of its body.
    #[inline]
    pub fn write(&mut self, reply: &Reply, site: &Site, context: Context<'_>, out: &mut Out) -> (u16, u64) {
        match reply {
            Reply::Standard(route) => {
                site.write(*route, context.keep_alive, context.http10, &mut out.bytes);
                site.account(*route)
            }
            Reply::Moved { location, head_only } => {
                let fields = format!("Location: {location}\r\n");
                short("301 Moved Permanently", &fields, *head_only, context, out)
            }
            Reply::File { entry, form, head_only } => match form {
                Form::Whole => whole(entry, *head_only, context, out),
                Form::NotModified => {
                    head("304 Not Modified", &[&entry.validators], context, out);
                    (304, 0)
                }
                Form::Unsatisfiable => {
                    let fields = format!("Content-Range: bytes */{}\r\n", entry.length());
                    short("416 Range Not Satisfiable", &fields, *head_only, context, out)
                }
                Form::Parts(parts) => match parts.as_slice() {
                    [part] => one_part(entry, *part, context, out),
                    parts => self.many_parts(entry, parts, context, out),
                },
            },
        }
    }

    /// Writes parts as a multipart body (RFC 9110 section 14.6).
    fn many_parts(
        &mut self,
        entry: &Entry,
        parts: &[Range],
        context: Context<'_>,
        out: &mut Out,
    ) -> (u16, u64) {
        let boundary = format!("{:020}", self.boundary);
        self.boundary = self.boundary.wrapping_add(1);
        let kind = entry.content_type;
        let heads: Vec<String> = parts
            .iter()
            .map(|part| {
                let range = content_range(*part, entry.length());
                format!("\r\n--{boundary}\r\nContent-Type: {kind}\r\n{range}\r\n")
            })
            .collect();
        let end = format!("\r\n--{boundary}--\r\n");
        let parts_bytes: u64 = parts.iter().map(|part| part.length()).sum();
        let length = parts_bytes + (heads.iter().map(String::len).sum::<usize>() + end.len()) as u64;
        let fields = format!(
            "Content-Type: multipart/byteranges; boundary={boundary}\r\nContent-Length: {length}\r\n"
        );
        head(PARTIAL, &[&fields, &entry.validators], context, out);
        for (part_head, part) in heads.iter().zip(parts) {
            out.bytes.extend_from_slice(part_head.as_bytes());
            content(entry, *part, out);
        }
        out.bytes.extend_from_slice(end.as_bytes());
        (206, length)
    }
}

const PARTIAL: &str = "206 Partial Content";

#[inline]
fn whole(entry: &Entry, head_only: bool, context: Context<'_>, out: &mut Out) -> (u16, u64) {
    head("200 OK", &[&entry.fields], context, out);
    if head_only {
        return (200, 0);
    }
    match &entry.content {
        Content::Memory(bytes) => out.bytes.extend_from_slice(bytes),
        Content::File(file) => out.file(file, 0, entry.length()),
    }
    (200, entry.length())
}

fn one_part(entry: &Entry, part: Range, context: Context<'_>, out: &mut Out) -> (u16, u64) {
    let kind = format!("Content-Type: {}\r\nContent-Length: {}\r\n", entry.content_type, part.length());
    head(PARTIAL, &[&kind, &entry.validators, &content_range(part, entry.length())], context, out);
    content(entry, part, out);
    (206, part.length())
}

fn content_range(part: Range, length: u64) -> String {
    format!("Content-Range: bytes {}-{}/{length}\r\n", part.start, part.end - 1)
}

fn content(entry: &Entry, part: Range, out: &mut Out) {
    match &entry.content {
        Content::Memory(bytes) => {
            let bytes = bytes.get(part.start as usize..part.end as usize).unwrap_or_default();
            out.bytes.extend_from_slice(bytes);
        }
        Content::File(file) => out.file(file, part.start, part.length()),
    }
}

/// Writes an answer with nothing but a status.
fn short(status: &str, fields: &str, head_only: bool, context: Context<'_>, out: &mut Out) -> (u16, u64) {
    let (code, reason) = status.split_once(' ').unwrap_or((status, ""));
    let length = reason.len() + 1;
    let about = format!("Content-Type: text/plain\r\nContent-Length: {length}\r\n");
    head(status, &[&about, fields], context, out);
    let code = code.parse().unwrap_or(500);
    if head_only {
        return (code, 0);
    }
    // Writing to memory can't fail.
    let _ = writeln!(out.bytes, "{reason}");
    (code, length as u64)
}
