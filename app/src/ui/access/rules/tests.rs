//! Tests of which requests have access.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

fn rules(name: &str, at: &str) -> AccessRules {
    AccessRules::new(name, at.parse().unwrap()).unwrap()
}

/// Asks with the right cookie.
fn asks(rules: &AccessRules, method: &Method, uri: &str, fields: &[(&'static str, &str)]) -> bool {
    let cookie = format!("{}={}", rules.cookie, rules.token);
    asks_without(rules, method, uri, &[fields, &[("cookie", &cookie)]].concat())
}

fn asks_without(rules: &AccessRules, method: &Method, uri: &str, fields: &[(&'static str, &str)]) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(*name, value.parse().unwrap());
    }
    rules.judge(method, &uri.parse().unwrap(), &headers).is_ok()
}

#[test]
fn only_names_that_lead_here_are_answered() {
    let here = rules("127.0.0.1", "127.0.0.1:3766");
    for host in ["127.0.0.1:3766", "localhost:3766", "LOCALHOST", "[::1]:3766", "localhost:9000"] {
        assert!(asks(&here, &Method::GET, "/", &[("host", host)]), "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example:3766",
        "127.0.0.1.evil.example",
        "192.168.0.1",
        "0.0.0.0",
        "evil.example@localhost:3766",
        "localhost@localhost",
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
    let here = rules("127.0.0.1", "127.0.0.1:3766");
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
fn another_page_may_link_here_but_neither_frame_nor_load_what_is_here() {
    let here = rules("127.0.0.1", "127.0.0.1:3766");
    let gets = |site: &str, mode: &str, dest: &str| {
        let fields = [
            ("host", "localhost:3766"),
            ("sec-fetch-site", site),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ];
        asks(&here, &Method::GET, "/contenders", &fields)
    };
    assert!(gets("same-origin", "cors", "empty") && gets("none", "navigate", "document"));
    assert!(gets("cross-site", "navigate", "document"), "a link that is followed");
    for dest in ["iframe", "frame", "embed", "object", "empty", ""] {
        assert!(!gets("cross-site", "navigate", dest) && !gets("same-site", "navigate", dest), "{dest}");
    }
    assert!(!gets("cross-site", "no-cors", "image") && !gets("same-site", "cors", "empty"));
}

#[test]
fn it_takes_the_token_on_this_machine_and_beyond() {
    // Name, address, a Host that leads there, its cookie.
    for (name, at, host, cookie) in [
        ("127.0.0.1", "127.0.0.1:3766", "localhost:3766", "drome-token-3766"),
        ("localhost", "[::1]:3767", "[::1]:3767", "drome-token-3767"),
        ("0.0.0.0", "0.0.0.0:1", "192.168.7.7:1", "drome-token-1"),
        ("192.168.7.7", "192.168.7.7:1", "192.168.7.7:1", "drome-token-1"),
        ("::", "[::]:1", "192.168.7.7:1", "drome-token-1"),
    ] {
        let rules = rules(name, at);
        let address = rules.address(at.parse().unwrap());
        let token = address.split_once("/?token=").unwrap().1;
        assert!(token.len() == 32 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{address}");
        let gets = |uri: &str, cookies: &str| {
            asks_without(&rules, &Method::GET, uri, &[("host", host), ("cookie", cookies)])
        };
        assert!(gets("/", &format!("a=b; {cookie}={token}")), "{name}");
        assert!(gets(&format!("/?token={token}"), "a=b") && gets(&format!("/?a=b&token={token}"), "a=b"));
        let wrong = "0".repeat(32);
        for (uri, cookies) in [
            ("/", "a=b".to_owned()),
            ("/?token=", "a=b".to_owned()),
            (&format!("/?token={wrong}"), "a=b".to_owned()),
            ("/", format!("{cookie}={wrong}")),
            ("/", format!("{cookie}=")),
            ("/", format!("drome-token-9999={token}")),
            ("/", format!("drome-token={token}")),
        ] {
            assert!(!gets(uri, &cookies), "{name}: {uri}, {cookies}");
        }
        let fields = [("host", "evil.example:1"), ("cookie", &format!("{cookie}={token}"))];
        assert!(!asks_without(&rules, &Method::GET, "/", &fields), "{name}: a Host that is not ours");
    }
    assert_ne!(random_token().unwrap(), random_token().unwrap());
}

#[test]
fn the_address_that_a_browser_is_started_with_is_of_no_use_to_others() {
    let at = "127.0.0.1:3766".parse().unwrap();
    let here = AccessRules::new("127.0.0.1", at).unwrap();
    let address = here.address_for_one_visit(at).unwrap();
    assert!(!address.contains(&here.token), "the token itself is not in it");
    let path = address.trim_start_matches("http://127.0.0.1:3766");
    let visits = || asks_without(&here, &Method::GET, path, &[("host", "127.0.0.1:3766")]);
    assert!(visits(), "the browser");
    assert!(!visits(), "anyone who has read it in the list of processes");
}
