//! Handshakes that fail.

use super::link::own;
use agent::{Hello, Link, LinkError, Message, hello, obey};
use std::io::{Cursor, sink};
use std::time::Duration;

fn link(first: &[u8]) -> Result<Link, LinkError> {
    Link::over("board", Cursor::new(first.to_vec()), sink(), &own(), Duration::from_mins(1))
}

fn agent(first: &[u8]) -> String {
    obey(&own(), &[], Cursor::new(first.to_vec()), sink()).unwrap_err().to_string()
}

#[test]
fn another_version_is_refused_on_both_sides() {
    let other = hello("0.2.0 test");
    let protocol = Hello { protocol: 7, ..own() };
    for (hello, shown) in [(other, "0.2.0 test"), (protocol, "0.1.0 test (protocol 7)")] {
        let frame = Message::Hello(hello).frame();
        let told = link(&frame).err().unwrap().to_string();
        assert!(told.contains(&format!("board has drome {shown}, and this is drome 0.1.0 test")), "{told}");
        assert!(agent(&frame).contains(shown));
    }
}

#[test]
fn another_build_of_the_same_version_is_not_refused() {
    let frame = Message::Hello(hello("0.1.0 another")).frame();
    assert!(link(&frame).is_ok());
}

#[test]
fn a_hello_is_shown_without_escapes() {
    let frame = Message::Hello(Hello { host: "\u{1b}[2Jboard\n\u{7}".to_owned(), ..own() }).frame();
    assert_eq!(link(&frame).unwrap().hello().host, "board");
}

#[test]
fn what_is_not_drome_is_told_with_its_first_words() {
    let told = link(b"Welcome to \x1b[1mDebian\x1b[0m!\nLast login: today\n").err().unwrap().to_string();
    assert!(told.contains("its first words are \"Welcome to Debian! Last login: today\""), "{told}");
    assert!(agent(b"GET / HTTP/1.1\r\n\r\n").contains("does not answer as drome"));
    assert!(agent(&Message::Beat.frame()).contains("does not answer as drome"));
    assert!(matches!(link(b"x").err(), Some(LinkError::NotDrome { .. })));
}

#[test]
fn an_input_that_ends_at_once_is_the_end() {
    assert!(obey(&own(), &[], std::io::empty(), sink()).is_ok());
    assert!(matches!(link(b"").err(), Some(LinkError::Lost { .. })));
}
