//! Reads the files of a form that a browser has sent: `multipart/form-data` (RFC 7578, on RFC 2046). The whole body is there,
//! and files are pieces of it.

use memchr::memmem::Finder;

/// The largest number of parts in a form; a form with more is refused.
const MAX_PARTS: usize = 100;

/// The largest number of fields in a part, which normally has a handful: its disposition, its type.
const MAX_PART_FIELDS: usize = 16;

/// The longest boundary (RFC 2046 section 5.1.1).
const MAX_BOUNDARY_BYTES: usize = 70;

/// A file that was chosen in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart<'b> {
    /// The name that the browser gives.
    pub name: String,
    /// The bytes of the file.
    pub bytes: &'b [u8],
}

/// Why a body contains no form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultipartError {
    /// The body is of another kind.
    #[error("the body is not multipart/form-data")]
    Type,
    /// The type does not have a boundary.
    #[error("the Content-Type names no boundary of 1 to {MAX_BOUNDARY_BYTES} bytes")]
    Boundary,
    /// No part begins.
    #[error("the form has no first part")]
    Start,
    /// A part's head does not parse.
    #[error("the head of a part of the form is malformed")]
    Head,
    /// The last part has no end.
    #[error("the form breaks off before its end")]
    Truncated,
    /// There are too many parts.
    #[error("the form has more than {MAX_PARTS} parts")]
    TooMany,
}

/// The files of a form, in order; other fields, and file fields without a chosen file, are passed over.
pub fn files<'b>(content_type: &str, body: &'b [u8]) -> Result<Vec<FilePart<'b>>, MultipartError> {
    let boundary = boundary(content_type)?;
    // The line break before a boundary belongs to it; the first one may stand at the very start.
    let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
    let finder = Finder::new(&delimiter);
    let mut rest = match body.strip_prefix(&delimiter[2..]) {
        Some(rest) => rest,
        None => split(&finder, body).ok_or(MultipartError::Start)?.1,
    };
    let mut files = Vec::new();
    for _ in 0..=MAX_PARTS {
        if rest.starts_with(b"--") {
            return Ok(files);
        }
        let part = after_line_break(rest).ok_or(MultipartError::Head)?;
        let (name, content) = head(part)?;
        let (bytes, after) = split(&finder, content).ok_or(MultipartError::Truncated)?;
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            files.push(FilePart { name, bytes });
        }
        rest = after;
    }
    Err(MultipartError::TooMany)
}

/// The boundary, which separates the parts.
fn boundary(content_type: &str) -> Result<String, MultipartError> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return Err(MultipartError::Type);
    }
    let boundary = parameter(parameters, "boundary").ok_or(MultipartError::Boundary)?;
    let is_usable = (1..=MAX_BOUNDARY_BYTES).contains(&boundary.len());
    is_usable.then_some(boundary).ok_or(MultipartError::Boundary)
}

/// Splits the body into what stands before the next delimiter, and what stands after it.
fn split<'b>(finder: &Finder<'_>, body: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
    let at = finder.find(body)?;
    Some((&body[..at], &body[at + finder.needle().len()..]))
}

/// Skips the rest of a boundary's line: perhaps blanks (RFC 2046), then the end of the line.
fn after_line_break(bytes: &[u8]) -> Option<&[u8]> {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    bytes[blanks..].strip_prefix(b"\r\n")
}

/// The name of a part's file, if it is one, and what comes after its head.
fn head(part: &[u8]) -> Result<(Option<String>, &[u8]), MultipartError> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_PART_FIELDS];
    let parsed = httparse::parse_headers(part, &mut fields).map_err(|_| MultipartError::Head)?;
    let httparse::Status::Complete((length, fields)) = parsed else {
        return Err(MultipartError::Truncated);
    };
    let disposition = fields.iter().find(|field| field.name.eq_ignore_ascii_case("content-disposition"));
    let value = String::from_utf8_lossy(disposition.ok_or(MultipartError::Head)?.value);
    let name = value.split_once(';').and_then(|(_, parameters)| parameter(parameters, "filename"));
    Ok((name.map(|name| unescaped(&name)), &part[length..]))
}

/// The value of a parameter: a token, or quoted.
fn parameter(mut parameters: &str, wanted: &str) -> Option<String> {
    loop {
        let (name, rest) = parameters.trim_start_matches([';', ' ', '\t']).split_once('=')?;
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => until_quote(quoted)?,
            None => rest.split_once(';').unwrap_or((rest, "")),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        parameters = rest;
    }
}

/// Splits off the text up to a quotation mark without a backslash before it.
fn until_quote(text: &str) -> Option<(&str, &str)> {
    let marks = text.match_indices('"').map(|(at, _)| at);
    let end = marks.into_iter().find(|at| !text[..*at].ends_with('\\'))?;
    Some((&text[..end], &text[end + 1..]))
}

/// Undoes the escapes in a file's name: browsers write three characters in another way (HTML, section 4.10.22.8), older programs one.
fn unescaped(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n").replace("\\\"", "\"")
}
