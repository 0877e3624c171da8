//! Requests as the reference server reads them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use wire::{Request, RequestParser, WireError};

fn read(pieces: &[&[u8]]) -> Result<Vec<Request<String>>, WireError> {
    let (mut parser, mut seen) = (RequestParser::new(), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        while let Some(request) = parser.next(&mut input, |method, target| format!("{method} {target}"))? {
            seen.push(request);
        }
    }
    Ok(seen)
}

const PIPELINE: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz\
    PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET /d HTTP/1.0\r\n\r\n";

#[test]
fn a_pipeline_is_read_in_order() {
    let seen = read(&[PIPELINE]).unwrap();
    let routes: Vec<&str> = seen.iter().map(|r| r.route.as_str()).collect();
    assert_eq!(routes, ["GET /a", "POST /b", "PUT /c", "GET /d"]);
    assert_eq!(
        seen.iter().map(|r| (r.keep_alive, r.http10)).collect::<Vec<_>>()[2..],
        [(true, false), (false, true)]
    );
}

proptest! {
    #[test]
    fn any_split_gives_the_same_requests(cuts in prop::collection::vec(0..PIPELINE.len(), 0..8)) {
        let mut cuts: Vec<usize> = cuts.into_iter().chain([0, PIPELINE.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &PIPELINE[w[0]..w[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[PIPELINE]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&[&[b"POST / HTTP/1.1\r\n", &bytes[..]].concat()]);
        let _ = read(&[&bytes]);
    }
}
