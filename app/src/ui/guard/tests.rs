//! Who is let in.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

fn guard(name: &str, at: &str) -> Guard {
    Guard::new(name, at.parse().unwrap()).unwrap()
}

fn asks(guard: &Guard, method: &Method, uri: &str, fields: &[(&'static str, &str)]) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(*name, value.parse().unwrap());
    }
    guard.judge(method, &uri.parse().unwrap(), &headers).is_ok()
}

#[test]
fn only_names_that_lead_here_are_answered() {
    let here = guard("127.0.0.1", "127.0.0.1:3766");
    for host in ["127.0.0.1:3766", "localhost:3766", "LOCALHOST", "[::1]:3766", "localhost:9000"] {
        assert!(asks(&here, &Method::GET, "/", &[("host", host)]), "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example:3766",
        "127.0.0.1.evil.example",
        "192.168.0.1",
        "0.0.0.0",
        "",
    ] {
        assert!(!asks(&here, &Method::GET, "/", &[("host", host)]), "{host}");
    }
    assert!(!asks(&here, &Method::GET, "/", &[]), "no Host at all");
    assert!(!asks(&here, &Method::GET, "/", &[("host", "localhost"), ("host", "localhost")]), "two");
    assert!(
        !asks(&here, &Method::GET, "http://evil.example/", &[("host", "localhost")]),
        "another in the request line"
    );
}

#[test]
fn what_changes_something_must_come_from_our_own_page() {
    let here = guard("127.0.0.1", "127.0.0.1:3766");
    let host = ("host", "localhost:3766");
    let posts = |origin: &str| asks(&here, &Method::POST, "/live/stop", &[host, ("origin", origin)]);
    assert!(posts("http://localhost:3766"));
    for origin in [
        "null",
        "https://localhost:3766",
        "http://localhost:3000",
        "http://127.0.0.1:3766",
        "http://evil.example",
    ] {
        assert!(!posts(origin), "{origin}");
    }
    assert!(!asks(&here, &Method::POST, "/live/stop", &[host]), "no Origin");
    assert!(!asks(&here, &Method::DELETE, "/", &[host]), "any other method");
}

#[test]
fn another_page_may_link_here_but_not_load_from_here() {
    let here = guard("127.0.0.1", "127.0.0.1:3766");
    let gets = |site: &str, mode: &str| {
        let fields = [("host", "localhost:3766"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)];
        asks(&here, &Method::GET, "/contenders/nginx", &fields)
    };
    assert!(gets("same-origin", "cors") && gets("none", "navigate") && gets("cross-site", "navigate"));
    assert!(!gets("cross-site", "no-cors") && !gets("same-site", "cors"));
}

#[test]
fn beyond_this_machine_it_takes_the_token() {
    assert!(guard("localhost", "[::1]:1").token.is_none());
    for (name, at) in [("0.0.0.0", "0.0.0.0:1"), ("192.168.7.7", "192.168.7.7:1"), ("::", "[::]:1")] {
        let far = guard(name, at);
        let token = far.token.clone().unwrap();
        assert_eq!(token.len(), 32);
        assert!(far.address(at.parse().unwrap()).ends_with(&format!("/?token={token}")));
        let host = ("host", "192.168.7.7:1");
        let cookie = format!("a=b; {COOKIE}={token}");
        assert_eq!(
            asks(&far, &Method::GET, "/", &[host, ("cookie", &cookie)]),
            name != "::" || far.any_address
        );
        assert!(asks(&far, &Method::GET, &format!("/?token={token}"), &[host]));
        let wrong = "0".repeat(32);
        assert!(!asks(&far, &Method::GET, &format!("/?token={wrong}"), &[host]));
        assert!(!asks(&far, &Method::GET, "/?token=", &[host]) && !asks(&far, &Method::GET, "/", &[host]));
        let named = ("host", "evil.example:1");
        assert!(!asks(&far, &Method::GET, "/", &[named, ("cookie", &cookie)]), "a name that is not ours");
    }
    assert_ne!(random_token().unwrap(), random_token().unwrap());
}
