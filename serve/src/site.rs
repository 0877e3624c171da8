//! What the server has to say: every answer is made beforehand, head and body in one piece.

use std::collections::HashMap;

/// Paths and their answers.
#[derive(Clone, Debug, Default)]
pub struct Site {
    paths: HashMap<String, usize>,
    answers: Vec<Answer>,
}

/// One answer in its three forms.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP/1.1, the connection stays: nothing need be said about it.
    keep: Form,
    /// The connection is closed afterwards.
    close: Form,
    /// HTTP/1.0, the connection stays, which must be said.
    keep10: Form,
}

#[derive(Clone, Debug)]
struct Form {
    bytes: Vec<u8>,
    head_bytes: usize,
}

/// Index of an answer and whether its body is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    answer: usize,
    head_only: bool,
}

/// The answers that every site has, first in its list.
const NOT_FOUND: usize = 0;
const NOT_ALLOWED: usize = 1;

impl Site {
    /// A site without pages.
    pub fn new() -> Self {
        let plain =
            |status: &str, extra: &str, body: &str| Answer::new(status, "text/plain", extra, body.as_bytes());
        Self {
            paths: HashMap::new(),
            answers: vec![
                plain("404 Not Found", "", "Not Found\n"),
                plain("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "Method Not Allowed\n"),
            ],
        }
    }

    /// Adds a page.
    pub fn page(&mut self, path: &str, content_type: &str, body: &[u8]) {
        self.paths.insert(path.to_owned(), self.answers.len());
        self.answers.push(Answer::new("200 OK", content_type, "", body));
    }

    /// Which answer a request gets; a query does not matter.
    #[inline]
    pub fn route(&self, method: &str, target: &str) -> Route {
        let path = target.split('?').next().unwrap_or_default();
        let found = self.paths.get(path).copied().unwrap_or(NOT_FOUND);
        match method {
            "GET" => Route { answer: found, head_only: false },
            "HEAD" => Route { answer: found, head_only: true },
            _ if found == NOT_FOUND => Route { answer: NOT_FOUND, head_only: false },
            _ => Route { answer: NOT_ALLOWED, head_only: false },
        }
    }

    /// The bytes of an answer.
    #[inline]
    pub fn answer(&self, route: Route, keep_alive: bool, http10: bool) -> &[u8] {
        let answer = &self.answers[route.answer];
        let form = match (keep_alive, http10) {
            (true, false) => &answer.keep,
            (true, true) => &answer.keep10,
            (false, _) => &answer.close,
        };
        if route.head_only { &form.bytes[..form.head_bytes] } else { &form.bytes }
    }
}

impl Answer {
    fn new(status: &str, content_type: &str, extra: &str, body: &[u8]) -> Self {
        let form = |connection: &str| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nServer: drome\r\nContent-Type: {content_type}\r\n\
                 Content-Length: {length}\r\n{extra}{connection}\r\n"
            );
            Form { bytes: [head.as_bytes(), body].concat(), head_bytes: head.len() }
        };
        Self {
            keep: form(""),
            close: form("Connection: close\r\n"),
            keep10: form("Connection: keep-alive\r\n"),
        }
    }
}
