//! The built-in site: every answer is made beforehand, head and body in one piece, and only its date is updated, once a second.
//! Only answers that depend on the request are made when they are needed.

use crate::answers::date::{DATE_BYTES, Date};
use crate::answers::frames::ReadyFrames;
use crate::answers::fresh::{self, Fresh};
use crate::answers::head::ending;

use std::collections::HashMap;
use std::sync::Arc;

/// Paths and their answers.
#[derive(Clone, Debug)]
pub struct Site {
    paths: HashMap<String, Page>,
    answers: Vec<Answer>,
}

/// The page on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// An answer that is ready.
    Ready(usize),
    Json,
    Echo,
    WebSocket,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// An answer that is ready.
    Ready(Route),
    /// An answer that must be made.
    Fresh(Fresh),
    /// A WebSocket that sends messages back; this answer where there can be none.
    WebSocket(Route),
}

/// The index of an answer, and whether its body is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    answer: usize,
    head_only: bool,
}

/// Answers that every site has, first in its list and in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    NotFound,
    NotAllowed,
    BadRequest,
    Forbidden,
    TargetTooLong,
    HeadTooLong,
    Unavailable,
    VersionNotSupported,
    PostOnly,
    ContentTooLarge,
}

/// Status, reason and further fields of each.
const STANDARD: [(u16, &str, &str); 10] = [
    (404, "Not Found", ""),
    (405, "Method Not Allowed", "Allow: GET, HEAD\r\n"),
    (400, "Bad Request", ""),
    (403, "Forbidden", ""),
    (414, "URI Too Long", ""),
    (431, "Request Header Fields Too Large", ""),
    (503, "Service Unavailable", ""),
    (505, "HTTP Version Not Supported", ""),
    (405, "Method Not Allowed", "Allow: POST\r\n"),
    (413, "Content Too Large", ""),
];

/// A body up to this size is in one piece with each form of its head, so that it is copied with it. A larger one is kept once for all forms and
/// all threads.
const LARGEST_IN_FORMS: usize = 4096;

/// One answer in its three forms.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    body_bytes: usize,
    /// The body, where it is not in the forms.
    body: Arc<[u8]>,
    /// The place of the date in each form.
    date_at: usize,
    /// HTTP/1.1, and the connection stays, which need not be said.
    keep: Form,
    /// The connection is closed afterwards.
    close: Form,
    /// HTTP/1.0, the connection stays, which must be said.
    keep10: Form,
    /// HTTP/2.
    frames: ReadyFrames,
}

/// An answer in HTTP/2.
#[derive(Clone, Copy, Debug)]
pub struct Ready<'s> {
    /// Its frames, with the body unless that is shared.
    pub frames: &'s ReadyFrames,
    /// The body, where it is not in the frames.
    pub shared: &'s Arc<[u8]>,
    /// The number of bytes of the body that is sent.
    pub length: u32,
    /// Whether the body is left out.
    pub head_only: bool,
}

#[derive(Clone, Debug)]
struct Form {
    bytes: Vec<u8>,
    head_bytes: usize,
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

impl Site {
    /// A site without pages.
    pub fn new() -> Self {
        let answers = STANDARD
            .iter()
            .map(|(status, reason, extra)| {
                Answer::new(*status, reason, "text/plain", extra, format!("{reason}\n").as_bytes())
            })
            .collect();
        Self { paths: HashMap::new(), answers }
    }

    /// Adds a page.
    pub fn page(&mut self, path: &str, content_type: &str, body: &[u8]) {
        self.paths.insert(path.to_owned(), Page::Ready(self.answers.len()));
        self.answers.push(Answer::new(200, "OK", content_type, "", body));
    }

    /// Adds a path that answers with a JSON object that contains the number `n` of the query.
    pub fn json(&mut self, path: &str) {
        self.paths.insert(path.to_owned(), Page::Json);
    }

    /// Adds a path that answers with the body of the request.
    pub fn echo(&mut self, path: &str) {
        self.paths.insert(path.to_owned(), Page::Echo);
    }

    /// Adds a path where a WebSocket can be opened, which sends messages back.
    pub fn websocket(&mut self, path: &str) {
        self.paths.insert(path.to_owned(), Page::WebSocket);
    }

    /// Writes a date into every answer.
    pub fn set_date(&mut self, date: &Date) {
        for answer in &mut self.answers {
            let place = answer.date_at..answer.date_at + DATE_BYTES;
            for form in [&mut answer.keep, &mut answer.close, &mut answer.keep10] {
                form.bytes[place.clone()].copy_from_slice(date);
            }
            answer.frames.set_date(date);
        }
    }

    /// The answer to a request; a query does not matter where the answer is ready.
    #[inline]
    pub fn route(&self, method: &str, target: &str) -> Asked {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let head_only = method == "HEAD";
        let is_get = method == "GET" || head_only;
        match self.paths.get(path) {
            Some(Page::Ready(answer)) if is_get => Asked::Ready(Route { answer: *answer, head_only }),
            Some(Page::Json) if is_get => match fresh::number(query) {
                Some(number) => Asked::Fresh(Fresh::Json { number, head_only }),
                None => Asked::Ready(Standard::BadRequest.route(head_only)),
            },
            Some(Page::Echo) if method == "POST" => Asked::Fresh(Fresh::Echo),
            Some(Page::Echo) => Asked::Ready(Standard::PostOnly.route(head_only)),
            Some(Page::WebSocket) => Asked::WebSocket(Standard::BadRequest.route(head_only)),
            Some(Page::Ready(_) | Page::Json) => Asked::Ready(Standard::NotAllowed.route(false)),
            None => Asked::Ready(Standard::NotFound.route(head_only)),
        }
    }

    /// Adds the bytes of an answer to the output.
    #[inline]
    pub fn write(&self, route: Route, keep_alive: bool, http10: bool, out: &mut Vec<u8>) {
        let answer = &self.answers[route.answer];
        let form = match (keep_alive, http10) {
            (true, false) => &answer.keep,
            (true, true) => &answer.keep10,
            (false, _) => &answer.close,
        };
        if route.head_only {
            return out.extend_from_slice(&form.bytes[..form.head_bytes]);
        }
        out.extend_from_slice(&form.bytes);
        out.extend_from_slice(&answer.body);
    }

    /// The frames of an answer.
    #[inline]
    pub fn frames(&self, route: Route) -> Ready<'_> {
        let answer = &self.answers[route.answer];
        let length = if route.head_only { 0 } else { answer.body_bytes as u32 };
        Ready { frames: &answer.frames, shared: &answer.body, length, head_only: route.head_only }
    }

    /// The status of an answer, and the number of bytes of its body.
    pub fn account(&self, route: Route) -> (u16, u64) {
        let answer = &self.answers[route.answer];
        (answer.status, if route.head_only { 0 } else { answer.body_bytes as u64 })
    }
}

impl Standard {
    /// The route to this answer.
    pub fn route(self, head_only: bool) -> Route {
        Route { answer: self as usize, head_only }
    }
}

impl Answer {
    fn new(status: u16, reason: &str, content_type: &str, extra: &str, body: &[u8]) -> Self {
        let start = format!("HTTP/1.1 {status} {reason}\r\nServer: drome\r\nDate: ");
        let length = body.len();
        let (with_head, shared): (&[u8], &[u8]) =
            if length <= LARGEST_IN_FORMS { (body, &[]) } else { (&[], body) };
        let form = |keep_alive, http10| {
            let head = format!(
                "{start}{:-<DATE_BYTES$}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{extra}{}",
                "",
                ending(keep_alive, http10)
            );
            Form { bytes: [head.as_bytes(), with_head].concat(), head_bytes: head.len() }
        };
        let keep = form(true, false);
        Self {
            status,
            body_bytes: length,
            body: shared.into(),
            date_at: start.len(),
            frames: ReadyFrames::from_http1(&keep.bytes[..keep.head_bytes], with_head, !shared.is_empty()),
            keep,
            close: form(false, false),
            keep10: form(true, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(site: &Site, method: &str, target: &str) -> Route {
        match site.route(method, target) {
            Asked::Ready(route) => route,
            asked => panic!("{asked:?}"),
        }
    }

    fn written(site: &Site, route: Route, keep_alive: bool, http10: bool) -> Vec<u8> {
        let mut out = Vec::new();
        site.write(route, keep_alive, http10, &mut out);
        out
    }

    #[test]
    fn what_depends_on_the_request_is_asked_for_rightly_or_refused() {
        let mut site = Site::new();
        site.json("/json");
        site.echo("/echo");
        let json = Fresh::Json { number: 5, head_only: false };
        assert_eq!(site.route("GET", "/json?n=5"), Asked::Fresh(json));
        assert_eq!(site.route("POST", "/echo"), Asked::Fresh(Fresh::Echo));
        let refused =
            [("GET", "/json", 400), ("POST", "/json?n=5", 405), ("GET", "/echo", 405), ("PUT", "/x", 404)];
        for (method, target, status) in refused {
            assert_eq!(site.account(ready(&site, method, target)).0, status, "{method} {target}");
        }
    }

    #[test]
    fn a_date_is_written_over_the_last_one_in_every_form() {
        let mut site = Site::new();
        site.page("/a", "text/plain", b"body");
        for date in [b"Sun, 06 Nov 1994 08:49:37 GMT", b"Sun, 06 Nov 1994 08:49:38 GMT"] {
            site.set_date(date);
            let text = String::from_utf8_lossy(date);
            for (keep_alive, http10) in [(true, false), (true, true), (false, false), (false, true)] {
                let answer = written(&site, ready(&site, "GET", "/a?b"), keep_alive, http10);
                let expected = format!(
                    "HTTP/1.1 200 OK\r\nServer: drome\r\nDate: {text}\r\nContent-Type: text/plain\r\n\
                     Content-Length: 4\r\n{}body",
                    ending(keep_alive, http10)
                );
                assert_eq!(String::from_utf8_lossy(&answer), expected);
            }
        }
        assert_eq!(site.account(ready(&site, "HEAD", "/a")), (200, 0));
    }

    #[test]
    fn a_large_body_is_whole_in_every_form_and_kept_once() {
        let body: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        for length in [0, LARGEST_IN_FORMS, LARGEST_IN_FORMS + 1, body.len()] {
            let mut site = Site::new();
            site.page("/a", "text/plain", &body[..length]);
            site.set_date(b"Sun, 06 Nov 1994 08:49:37 GMT");
            let (get, copy) = (ready(&site, "GET", "/a"), site.clone());
            for site in [&site, &copy] {
                for (keep_alive, http10) in [(true, false), (true, true), (false, false)] {
                    let whole = written(site, get, keep_alive, http10);
                    assert!(whole.ends_with(&body[..length]) && whole.starts_with(b"HTTP/1.1 200 OK\r\n"));
                    let head = written(site, ready(site, "HEAD", "/a"), keep_alive, http10);
                    assert!(head.ends_with(b"\r\n\r\n") && head.len() + length == whole.len(), "{length}");
                }
            }
            assert_eq!(site.account(get), (200, length as u64));
            let answer = site.answers.last().unwrap();
            let forms = [&answer.keep, &answer.close, &answer.keep10].map(|form| form.bytes.len());
            assert!(forms.iter().sum::<usize>() <= 3 * (LARGEST_IN_FORMS + 300), "{forms:?}");
            let shares = Arc::ptr_eq(&answer.body, &copy.answers.last().unwrap().body);
            assert!(shares || length <= LARGEST_IN_FORMS);
        }
    }

    #[test]
    fn standard_answers_are_in_their_order() {
        let site = Site::new();
        let statuses = [(Standard::NotFound, 404), (Standard::NotAllowed, 405), (Standard::BadRequest, 400)];
        let others = [
            (Standard::HeadTooLong, 431),
            (Standard::VersionNotSupported, 505),
            (Standard::ContentTooLarge, 413),
        ];
        for (standard, status) in statuses.into_iter().chain(others) {
            assert_eq!(site.account(standard.route(false)).0, status, "{standard:?}");
        }
    }
}
