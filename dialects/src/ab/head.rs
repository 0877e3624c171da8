//! The head of ab's request.

use super::options::Options;

/// The size of ab's buffer for a request's head, including a final zero byte.
const HEAD_BYTES: usize = 8192;

/// The request's head; `None` if it does not fit into ab's buffer.
pub fn head(options: &Options) -> Option<String> {
    let Options { url, method, cookie, credentials, .. } = options;
    let path = if options.proxy.is_some() { &url.whole } else { &url.path };
    let mut head = format!("{method} {path} HTTP/1.0\r\n");
    if options.keeps_alive {
        head.push_str("Connection: Keep-Alive\r\n");
    }
    head.push_str(cookie);
    head.push_str(credentials);
    if let Some(body) = &options.body {
        let (length, kind) = (body.len(), &options.content_type);
        head.push_str(&format!("Content-length: {length}\r\nContent-type: {kind}\r\n"));
    }
    for line in &options.headers {
        head.push_str(&format!("{line}\r\n"));
    }
    let authority = url.authority();
    for (name, value) in [("Host", authority.as_str()), ("User-Agent", "ApacheBench/2.3"), ("Accept", "*/*")]
    {
        if options.header(name).is_none() {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str("\r\n");
    (head.len() < HEAD_BYTES).then_some(head)
}
