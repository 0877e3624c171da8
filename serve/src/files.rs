//! Answers a request for a file: with the file, with a part of it, with where it is, or with why it is not sent. Conditions are ignored: a
//! file is sent whether the client has it already or not.

pub(crate) mod cache;
pub(crate) mod entry;
pub(crate) mod kinds;
pub(crate) mod range;
pub(crate) mod render;
pub mod resolve;
pub(crate) mod root;

use crate::answers::site::{Route, Standard};
use crate::files::cache::{Cache, Found};
use crate::files::entry::Entry;
use crate::files::range::Form;
use crate::files::resolve::{Asked, escape, resolve};
use crate::files::root::Missing;
use std::rc::Rc;
use wire::RequestHead;

/// The file that stands for its folder.
const INDEX: &[u8] = b"index.html";

/// A served folder, for one thread.
#[derive(Debug)]
pub struct Files {
    cache: Cache,
    /// The path that is being looked up; kept for its memory.
    path: Vec<u8>,
}

/// The reply to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// One of the answers that every site has.
    Standard(Route),
    /// The file is to be requested elsewhere.
    Moved {
        /// The new target.
        location: String,
        /// Whether the request was a HEAD.
        head_only: bool,
    },
    /// A file, or a part of it.
    File {
        /// The file.
        entry: Rc<Entry>,
        /// The part that is sent.
        form: Form,
        /// Whether the request was a HEAD.
        head_only: bool,
    },
}

/// The header fields of a request that matter to files.
#[derive(Debug, Default)]
struct Fields<'h> {
    /// The number of `Host` fields.
    hosts: usize,
    range: Option<&'h [u8]>,
    has_if_range: bool,
}

impl<'h> Fields<'h> {
    /// Finds the fields, in one pass.
    fn of(head: &RequestHead<'h>) -> Self {
        let mut fields = Self::default();
        for (name, value) in head.fields() {
            // The length of the name decides almost always; only then is it compared.
            match name.len() {
                4 if name.eq_ignore_ascii_case("host") => fields.hosts += 1,
                5 if name.eq_ignore_ascii_case("range") => fields.range = Some(value),
                8 if name.eq_ignore_ascii_case("if-range") => fields.has_if_range = true,
                _ => {}
            }
        }
        fields
    }
}

impl Files {
    /// The files of a folder.
    pub fn new(cache: Cache) -> Self {
        Self { cache, path: Vec::new() }
    }

    /// The reply to this request at this time.
    #[inline]
    pub fn reply(&mut self, head: &RequestHead<'_>, now_ns: u64) -> Reply {
        let head_only = match head.method {
            "GET" => false,
            "HEAD" => true,
            _ => return Reply::Standard(Standard::NotAllowed.route(false)),
        };
        let fields = Fields::of(head);
        // RFC 9112 section 3.2: one, and only HTTP/1.0 may have none.
        if fields.hosts > 1 || (fields.hosts == 0 && (head.major, head.minor) != (1, 0)) {
            return Reply::Standard(Standard::BadRequest.route(head_only));
        }
        let entry = match self.find(head.target, now_ns) {
            Ok(entry) => entry,
            Err(Other::Standard(standard)) => return Reply::Standard(standard.route(head_only)),
            Err(Other::Moved(location)) => return Reply::Moved { location, head_only },
        };
        // HEAD can't ask for a range (RFC 9110 section 14.2). A client with `If-Range` may have a part of an older file, whose rest this is not.
        let range = fields.range.filter(|_| !head_only && !fields.has_if_range);
        let form = range.map_or(Form::Whole, |range| range::parse(range, entry.length()));
        Reply::File { entry, form, head_only }
    }

    /// Finds the file that a target names.
    fn find(&mut self, target: &str, now_ns: u64) -> Result<Rc<Entry>, Other> {
        let asked =
            resolve(target.as_bytes(), &mut self.path).map_err(|_| Other::Standard(Standard::BadRequest))?;
        if asked == Asked::Folder {
            self.path.extend_from_slice(INDEX);
        }
        match self.cache.find(&self.path, now_ns) {
            Ok(Found::File(entry)) => Ok(entry),
            Ok(Found::Folder) if asked == Asked::File => Err(Other::Moved(self.with_slash(target))),
            Err(Missing::NotFound) if asked == Asked::Folder => Err(Other::Standard(self.no_index())),
            Ok(Found::Folder) | Err(Missing::NotFound) => Err(Other::Standard(Standard::NotFound)),
            Err(Missing::Forbidden) => Err(Other::Standard(Standard::Forbidden)),
            Err(Missing::Unavailable) => Err(Other::Standard(Standard::Unavailable)),
        }
    }

    /// The location of a folder that was requested without its slash. The path has no empty segment, so that what follows the first slash
    /// is never taken for a host.
    fn with_slash(&self, target: &str) -> String {
        let mut location = "/".to_owned();
        escape(&self.path, &mut location);
        location.push('/');
        if let Some((_, query)) = target.split_once('?') {
            location.push('?');
            for byte in query.bytes() {
                match byte {
                    b'!'..=b'~' => location.push(byte.into()),
                    _ => location.push_str(&format!("%{byte:02X}")),
                }
            }
        }
        location
    }

    /// The answer for a folder without an index, whose content is not shown.
    fn no_index(&self) -> Standard {
        let folder = &self.path[..self.path.len() - INDEX.len()];
        if self.cache.is_folder(folder) { Standard::Forbidden } else { Standard::NotFound }
    }
}

/// What is there instead of a file.
enum Other {
    Standard(Standard),
    Moved(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::cache::Bounds;
    use crate::files::range::Range;
    use crate::files::root::Root;
    use wire::RequestParser;

    #[test]
    fn the_part_of_a_file_that_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ten"), "0123456789").unwrap();
        std::fs::write(folder.path().join("none"), "").unwrap();
        let bounds = Bounds { files: 8, bytes: 1024 };
        let mut files = Files::new(Cache::new(Root::open(folder.path()).unwrap(), bounds));
        let mut form = |request: &str, fields: &str| {
            let request = format!("{request} HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\n");
            let reply = RequestParser::new()
                .next(&mut request.as_bytes(), |head| files.reply(head, 0))
                .unwrap()
                .unwrap();
            match reply.route {
                Reply::File { form, .. } => form,
                other => panic!("{request}: {other:?}"),
            }
        };
        let part = |start, end| Form::Part(Range { start, end });
        let cases = [
            // One range.
            ("Range: bytes=0-0", part(0, 1)),
            ("range: Bytes= 2 - 3 ", part(2, 4)),
            ("Range: bytes=7-", part(7, 10)),
            ("Range: bytes=-3", part(7, 10)),
            ("Range: bytes=-30", part(0, 10)),
            ("Range: bytes=5-99999999999999999999999", part(5, 10)),
            // None that is in the file.
            ("Range: bytes=10-", Form::Unsatisfiable),
            ("Range: bytes=-0", Form::Unsatisfiable),
            ("Range: bytes=5-4", Form::Unsatisfiable),
            ("Range: bytes=99999999999999999999999-", Form::Unsatisfiable),
            ("Range: bytes=", Form::Unsatisfiable),
            ("Range: bytes=-", Form::Unsatisfiable),
            ("Range: bytes=a-b", Form::Unsatisfiable),
            ("Range: bytes=1-2-3", Form::Unsatisfiable),
            // Several, and what is no range of bytes.
            ("Range: bytes=0-1,8-", Form::Whole),
            ("Range: bytes=0-1,", Form::Whole),
            ("Range: bytes=20-,30-", Form::Whole),
            ("Range: lines=0-1", Form::Whole),
            ("Range: bytes", Form::Whole),
            ("Range:", Form::Whole),
            // Conditions, whether they hold or not.
            ("If-None-Match: *", Form::Whole),
            ("If-Match: \"other\"", Form::Whole),
            ("If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT", Form::Whole),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", Form::Whole),
            ("If-None-Match: *\r\nRange: bytes=0-0", part(0, 1)),
            ("Range: bytes=0-0\r\nIf-Range: \"any\"", Form::Whole),
            ("Range: bytes=0-0\r\nIf-Range: Fri, 31 Dec 9999 23:59:59 GMT", Form::Whole),
        ];
        for (fields, expected) in cases {
            assert_eq!(form("GET /ten", fields), expected, "{fields}");
            assert_eq!(form("HEAD /ten", fields), Form::Whole, "{fields}");
            assert_eq!(form("GET /none", fields), Form::Whole, "{fields}");
        }
    }
}
