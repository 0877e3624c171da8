//! The conditions under which a file is sent, in the order of RFC 9110 section 13.2.2; pure.

use crate::answers::date;
use wire::RequestHead;

/// The validators of a file's current state.
#[derive(Clone, Copy, Debug)]
pub struct Validators<'e> {
    /// Its entity tag, a strong one, with its quotes.
    pub etag: &'e [u8],
    /// When it was changed, in seconds since 1970; `None` where a date can't say that.
    pub modified_s: Option<i64>,
}

/// The outcome of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'h> {
    /// The file is sent; only these ranges of it (the value of `Range`), if there are any that apply.
    Go(Option<&'h [u8]>),
    /// 304: the client has it already.
    NotModified,
    /// 412: the file is not the one that the client means.
    Failed,
}

/// The header fields of a request that matter to files.
#[derive(Debug, Default)]
pub struct Fields<'h> {
    /// The number of `Host` fields.
    pub hosts: usize,
    range: Option<&'h [u8]>,
    if_range: Option<&'h [u8]>,
    if_modified_since: Option<&'h [u8]>,
    if_unmodified_since: Option<&'h [u8]>,
    has_if_match: bool,
    has_if_none_match: bool,
}

impl<'h> Fields<'h> {
    /// Finds the fields, in one pass.
    pub fn of(head: &RequestHead<'h>) -> Self {
        let mut fields = Self::default();
        for (name, value) in head.fields() {
            // The length of the name decides almost always; only then is it compared.
            match name.len() {
                4 if name.eq_ignore_ascii_case("host") => fields.hosts += 1,
                5 if name.eq_ignore_ascii_case("range") => fields.range = Some(value),
                8 if name.eq_ignore_ascii_case("if-range") => fields.if_range = Some(value),
                8 if name.eq_ignore_ascii_case(IF_MATCH) => fields.has_if_match = true,
                13 if name.eq_ignore_ascii_case(IF_NONE_MATCH) => fields.has_if_none_match = true,
                17 if name.eq_ignore_ascii_case("if-modified-since") => {
                    fields.if_modified_since = Some(value);
                }
                19 if name.eq_ignore_ascii_case("if-unmodified-since") => {
                    fields.if_unmodified_since = Some(value);
                }
                _ => {}
            }
        }
        fields
    }

    /// Decides whether a file with these validators is sent. A date that can't be read is no condition.
    pub fn outcome(&self, head: &RequestHead<'h>, file: &Validators<'_>) -> Outcome<'h> {
        let is_later_than = |value: Option<&[u8]>| Some(file.modified_s? > date::parse(value?)?);
        if self.has_if_match {
            if !lists(head, IF_MATCH, file.etag, Comparison::Strong) {
                return Outcome::Failed;
            }
        } else if is_later_than(self.if_unmodified_since) == Some(true) {
            return Outcome::Failed;
        }
        if self.has_if_none_match {
            if lists(head, IF_NONE_MATCH, file.etag, Comparison::Weak) {
                return Outcome::NotModified;
            }
        } else if is_later_than(self.if_modified_since) == Some(false) {
            return Outcome::NotModified;
        }
        // HEAD, the only other method, can't ask for a range (RFC 9110 section 14.2).
        Outcome::Go(self.range.filter(|_| head.method == "GET" && self.is_range_meant_for(file)))
    }

    /// `If-Range`: whether the client has the rest of this very file.
    fn is_range_meant_for(&self, file: &Validators<'_>) -> bool {
        match self.if_range {
            None => true,
            Some(value) if value.ends_with(b"\"") => value == file.etag,
            Some(value) => file.modified_s.is_some() && date::parse(value) == file.modified_s,
        }
    }
}

const IF_MATCH: &str = "if-match";
const IF_NONE_MATCH: &str = "if-none-match";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Whether the fields of this name, which are one list together, contain this tag or a star.
fn lists(head: &RequestHead<'_>, name: &str, etag: &[u8], comparison: Comparison) -> bool {
    let mut values =
        head.fields().filter(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.trim_ascii());
    values.any(|value| {
        value == b"*"
            || Tags(value).any(|(is_weak, tag)| tag == etag && (comparison == Comparison::Weak || !is_weak))
    })
}

/// The entity tags of a list: whether each is weak, and the tag with its quotes. It ends at what is no tag.
struct Tags<'v>(&'v [u8]);

impl<'v> Iterator for Tags<'v> {
    type Item = (bool, &'v [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.0.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let (is_weak, rest) = rest.strip_prefix(b"W/").map_or((false, rest), |rest| (true, rest));
        // A tag may have commas in it, but no quotes.
        let length = memchr::memchr(b'"', rest.strip_prefix(b"\"")?)? + 2;
        let (tag, rest) = rest.split_at(length);
        self.0 = rest;
        Some((is_weak, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::RequestParser;

    const FILE: Validators<'static> = Validators { etag: b"\"a,b\"", modified_s: Some(784_111_777) };
    const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    /// The outcome in a word.
    fn outcome(method: &str, fields: &str) -> &'static str {
        let fields = fields.replace("THEN", THEN).replace("BEFORE", BEFORE).replace("AFTER", AFTER);
        let request = format!("{method} / HTTP/1.1\r\n{fields}\r\n");
        let route = |head: &RequestHead<'_>| match Fields::of(head).outcome(head, &FILE) {
            Outcome::Go(None) => "whole",
            Outcome::Go(Some(_)) => "range",
            Outcome::NotModified => "304",
            Outcome::Failed => "412",
        };
        RequestParser::new().next(&mut request.as_bytes(), route).unwrap().unwrap().route
    }

    #[test]
    fn each_condition_alone() {
        let cases = [
            ("", "whole"),
            ("If-Match: \"a,b\"\r\n", "whole"),
            ("If-Match: *\r\n", "whole"),
            ("If-Match: \"x\", \"a,b\"\r\n", "whole"),
            ("If-Match: \"x\"\r\nif-match: \"a,b\"\r\n", "whole"),
            ("If-Match: \"x\"\r\n", "412"),
            ("If-Match: W/\"a,b\"\r\n", "412"),
            ("If-Match: \"a\r\n", "412"),
            ("If-Match:\r\n", "412"),
            ("If-None-Match: \"a,b\"\r\n", "304"),
            ("If-None-Match: W/\"a,b\"\r\n", "304"),
            ("If-None-Match: \"x\",,\"a,b\"\r\n", "304"),
            ("If-None-Match: *\r\n", "304"),
            ("If-None-Match: \"a\", \"b\"\r\n", "whole"),
            ("If-None-Match: a,b\r\n", "whole"),
            ("If-Modified-Since: THEN\r\n", "304"),
            ("If-Modified-Since: AFTER\r\n", "304"),
            ("If-Modified-Since: BEFORE\r\n", "whole"),
            ("If-Modified-Since: yesterday\r\n", "whole"),
            ("If-Unmodified-Since: THEN\r\n", "whole"),
            ("If-Unmodified-Since: AFTER\r\n", "whole"),
            ("If-Unmodified-Since: BEFORE\r\n", "412"),
            ("If-Unmodified-Since: yesterday\r\n", "whole"),
        ];
        for (fields, expected) in cases {
            assert_eq!(outcome("GET", fields), expected, "{fields}");
            assert_eq!(outcome("HEAD", fields), expected, "{fields}");
        }
    }

    #[test]
    fn tags_go_before_dates_and_failing_before_not_modified() {
        let cases = [
            ("If-Match: \"a,b\"\r\nIf-Unmodified-Since: BEFORE\r\n", "whole"),
            ("If-None-Match: \"x\"\r\nIf-Modified-Since: THEN\r\n", "whole"),
            ("If-None-Match: \"a,b\"\r\nIf-Modified-Since: BEFORE\r\n", "304"),
            ("If-None-Match: \"a,b\"\r\nIf-Match: \"x\"\r\n", "412"),
            ("If-None-Match: \"a,b\"\r\nRange: bytes=0-0\r\n", "304"),
        ];
        for (fields, expected) in cases {
            assert_eq!(outcome("GET", fields), expected, "{fields}");
        }
    }

    #[test]
    fn a_range_is_for_who_has_the_rest() {
        let cases = [
            ("", "range"),
            ("If-Range: \"a,b\"\r\n", "range"),
            ("If-Range: THEN\r\n", "range"),
            ("If-Range: W/\"a,b\"\r\n", "whole"),
            ("If-Range: \"x\"\r\n", "whole"),
            ("If-Range: BEFORE\r\n", "whole"),
            ("If-Range: AFTER\r\n", "whole"),
            ("If-Range: nonsense\r\n", "whole"),
        ];
        for (fields, expected) in cases {
            let fields = format!("Range: bytes=0-0\r\n{fields}");
            assert_eq!(outcome("GET", &fields), expected, "{fields}");
            assert_eq!(outcome("HEAD", &fields), "whole", "{fields}");
        }
    }
}
