//! Renders answers about files as bytes. The answer with a whole file is put together from prepared pieces; everything rarer is
//! formatted when it is needed.

use crate::answers::head::{Context, head};
use crate::answers::site::Site;
use crate::connections::out::Out;
use crate::files::Reply;
use crate::files::entry::{Content, Entry};
use crate::files::range::{Form, Range};
use std::io::Write;

/// Writes an answer. Returns its status, and the number of bytes of its body.
#[inline]
pub fn write(reply: &Reply, site: &Site, context: Context<'_>, out: &mut Out) -> (u16, u64) {
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
            Form::Part(range) => part(entry, *range, context, out),
            Form::Unsatisfiable => {
                let fields = format!("Content-Range: bytes */{}\r\n", entry.length());
                short("416 Range Not Satisfiable", &fields, *head_only, context, out)
            }
        },
    }
}

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

fn part(entry: &Entry, range: Range, context: Context<'_>, out: &mut Out) -> (u16, u64) {
    let Range { start, end } = range;
    let fields = format!(
        "Content-Type: {}\r\nContent-Length: {}\r\n{}Content-Range: bytes {start}-{}/{}\r\n",
        entry.content_type,
        range.length(),
        entry.modified,
        end - 1,
        entry.length()
    );
    head("206 Partial Content", &[&fields], context, out);
    match &entry.content {
        Content::Memory(bytes) => {
            out.bytes.extend_from_slice(bytes.get(start as usize..end as usize).unwrap_or_default());
        }
        Content::File(file) => out.file(file, start, range.length()),
    }
    (206, range.length())
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
