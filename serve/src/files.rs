//! Answers a request for a file: with the file, with parts of it, with where it is, or with why it is not sent.

pub(crate) mod cache;
pub(crate) mod conditions;
pub(crate) mod entry;
pub(crate) mod kinds;
pub(crate) mod ranges;
pub(crate) mod render;
pub mod resolve;
pub(crate) mod root;

use crate::answers::site::{Route, Standard};
use crate::files::cache::{Cache, Found};
use crate::files::conditions::{Fields, Outcome};
use crate::files::entry::Entry;
use crate::files::ranges::{Range, Ranges};
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
#[derive(Debug)]
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

/// The part of a file that is sent.
#[derive(Debug)]
pub enum Form {
    /// All of it.
    Whole,
    /// Nothing: the client has it.
    NotModified,
    /// These parts, one or more.
    Parts(Vec<Range>),
    /// Nothing: the file has no such parts.
    Unsatisfiable,
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
        if fields.hosts > 1 || (fields.hosts == 0 && head.minor >= 1) {
            return Reply::Standard(Standard::BadRequest.route(head_only));
        }
        let entry = match self.find(head.target, now_ns) {
            Ok(entry) => entry,
            Err(Other::Standard(standard)) => return Reply::Standard(standard.route(head_only)),
            Err(Other::Moved(location)) => return Reply::Moved { location, head_only },
        };
        let form = match fields.outcome(head, &entry.validators()) {
            Outcome::Go(None) => Form::Whole,
            Outcome::Go(Some(range)) => match ranges::parse(range, entry.length()) {
                Ranges::Whole => Form::Whole,
                Ranges::Parts(parts) => Form::Parts(parts),
                Ranges::Unsatisfiable => Form::Unsatisfiable,
            },
            Outcome::NotModified => Form::NotModified,
            Outcome::Failed => return Reply::Standard(Standard::PreconditionFailed.route(head_only)),
        };
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
