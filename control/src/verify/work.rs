//! A workload at run time: the requests that it allows and the answer that each must get.

use crate::verify::origin::Origin;
use model::workload::{Method, NUMBER, Recipe};
use model::{Asking, Protocol, Workload};
use std::collections::BTreeMap;

/// The number in a query under load.
const USUAL: u64 = 1;

/// A workload with its bytes made.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Its declaration; `None`: whatever the server answers, as in a race.
    pub workload: Option<Workload>,
    /// The body that must come back under load; `None`: any.
    pub body: Option<Vec<u8>>,
    /// The body that is sent under load.
    pub send: Vec<u8>,
}

/// The workloads of a run, by name.
pub type Works = BTreeMap<String, Work>;

/// One request and the answer that it must get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// The body that is sent.
    pub send: Vec<u8>,
    /// The body that must come back; `None`: any.
    pub body: Option<Vec<u8>>,
}

impl Work {
    /// Makes the bytes of a workload from its recipes.
    pub fn of(workload: &Workload) -> Result<Self, bodies::BodyError> {
        let send = workload.send.as_ref().map(bodies::body).transpose()?.unwrap_or_default();
        let body = match &workload.body {
            Recipe::Sent => send.clone(),
            Recipe::Text(text) if workload.query.is_some() => numbered(text, USUAL).into_bytes(),
            recipe => bodies::body(recipe)?,
        };
        Ok(Self { workload: Some(workload.clone()), body: Some(body), send })
    }

    /// The request under load.
    pub fn usual(&self, path: &str) -> Question {
        let method = self.workload.as_ref().map_or(Method::Get, |w| w.method);
        let query = self.workload.as_ref().and_then(|w| w.query.as_deref());
        let path = query.map_or_else(|| path.to_owned(), |q| format!("{path}?{}", numbered(q, USUAL)));
        Question { method, path, send: self.send.clone(), body: self.body.clone() }
    }

    /// The request with another number, where it has one.
    pub fn with_number(&self, path: &str, number: u64) -> Option<Question> {
        let workload = self.workload.as_ref()?;
        let query = workload.query.as_ref().filter(|query| query.contains(NUMBER))?;
        let Recipe::Text(text) = &workload.body else { return None };
        let (path, body) = (format!("{path}?{}", numbered(query, number)), numbered(text, number));
        Some(Question { path, body: Some(body.into_bytes()), ..self.usual("") })
    }

    /// The request with other bytes, where what is sent comes back.
    pub fn with_bytes(&self, path: &str, bytes: Vec<u8>) -> Option<Question> {
        let workload = self.workload.as_ref()?;
        let is_message = matches!(workload.send, Some(Recipe::BytesValue(_)));
        let send = if is_message { bodies::bytes_value(&bytes) } else { bytes };
        let comes_back = workload.body == Recipe::Sent;
        comes_back.then(|| Question { body: Some(send.clone()), send, ..self.usual(path) })
    }

    /// The request with a query that must not matter, where the answer depends on none.
    pub fn with_query(&self, path: &str, query: &str) -> Option<Question> {
        // The path of a call is a name, which has no query.
        let workload = self.workload.as_ref()?;
        let is_free = workload.query.is_none() && workload.protocol != Some(Protocol::Grpc);
        is_free.then(|| self.usual(&format!("{path}?{query}")))
    }
}

impl Question {
    /// The request as bytes, to this server.
    pub fn request(&self, at: &Origin, keep_alive: bool) -> Vec<u8> {
        let kind = [("Content-Type".to_owned(), "application/octet-stream".to_owned())];
        // Every call is a POST, and has a type of its own.
        let is_call = at.protocol == Protocol::Grpc;
        let method = if is_call { Method::Post } else { self.method };
        let has_kind = method == Method::Post && !is_call;
        let headers: &[(String, String)] = if has_kind { &kind } else { &[] };
        at.target(&self.path).request(Asking {
            method: method.word(),
            path: &self.path,
            http10: false,
            keep_alive,
            headers,
            body: &self.send,
        })
    }
}

fn numbered(text: &str, number: u64) -> String {
    text.replace(NUMBER, &number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(name: &str) -> Work {
        Work::of(crate::Catalog::built_in().unwrap().workload(name).unwrap()).unwrap()
    }

    #[test]
    fn a_number_is_the_same_in_the_query_and_in_the_body() {
        let json = work("json");
        let usual = json.usual("/json");
        assert_eq!(usual.path, "/json?n=1");
        assert_eq!(usual.body.as_deref(), Some(&br#"{"message":"Hello World","number":1}"#[..]));
        let other = json.with_number("/json", 17).unwrap();
        assert_eq!(other.path, "/json?n=17");
        assert_eq!(other.body.as_deref(), Some(&br#"{"message":"Hello World","number":17}"#[..]));
        assert_eq!((json.with_query("/json", "q=1"), json.with_bytes("/json", vec![1])), (None, None));
    }

    #[test]
    fn what_is_sent_comes_back() {
        let echo = work("echo");
        let usual = echo.usual("/echo");
        assert_eq!((usual.send.len(), usual.body.as_deref()), (1024, Some(&usual.send[..])));
        let other = echo.with_bytes("/echo", b"abc".to_vec()).unwrap();
        let at = Origin::from(std::net::SocketAddr::from(([127, 0, 0, 1], 81)));
        let request = String::from_utf8(other.request(&at, true)).unwrap();
        assert!(request.starts_with("POST /echo HTTP/1.1\r\nHost: 127.0.0.1:81\r\n"), "{request}");
        assert!(request.ends_with("\r\n\r\nabc") && request.contains("Content-Length: 3\r\n"), "{request}");
        assert_eq!(echo.with_number("/echo", 1), None);
        assert_eq!(work("call").with_bytes("/a.B/C", b"abc".to_vec()).unwrap().send, b"\x0a\x03abc");
    }

    #[test]
    fn a_query_does_not_matter_where_none_is_wanted() {
        let asked = work("hello").with_query("/hello", "q=5").unwrap();
        assert_eq!((asked.path.as_str(), asked.body.as_deref()), ("/hello?q=5", Some(&b"Hello World\n"[..])));
    }
}
