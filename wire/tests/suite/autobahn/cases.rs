//! The cases of the Autobahn test suite for WebSocket, by their numbers there: groups 1 to 7, 9 and 10. The expected bytes are written out here;
//! nothing of the suite runs. What `super` has checks each: `echoed`, `fine` and `fails`, and `in_chunks` for a message that comes in pieces.

use super::{echoed, fails, fine, in_chunks};
use wire::websocket::WebSocketError::*;

#[derive(Clone, Debug)]
pub struct Frame(pub u8, pub Vec<u8>);

/// The mask of a client's frames.
pub const MASK: [u8; 4] = [0x11, 0x83, 0x5a, 0xff];

impl Frame {
    /// Its bytes; one at a time, unlike the code under test.
    pub fn bytes(&self, mask: Option<[u8; 4]>) -> Vec<u8> {
        let Self(first, payload) = self;
        let bit = if mask.is_some() { 0x80 } else { 0 };
        let mut bytes = vec![*first];
        match payload.len() {
            length @ 0..=125 => bytes.push(bit + length as u8),
            length @ 126..=65_535 => {
                bytes.extend([bit + 126, (length / 256) as u8, (length % 256) as u8]);
            }
            length => {
                bytes.push(bit + 127);
                bytes.extend((0..8).rev().map(|at| (length as u64 >> (8 * at)) as u8));
            }
        }
        let mask = mask.inspect(|mask| bytes.extend(mask)).unwrap_or([0; 4]);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
        bytes
    }
}

pub fn text(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x81, payload.as_ref().to_vec())
}

fn binary(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x82, payload.as_ref().to_vec())
}

/// The first fragment of a text.
fn first(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x01, payload.as_ref().to_vec())
}

/// A further fragment.
fn more(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x00, payload.as_ref().to_vec())
}

fn last(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x80, payload.as_ref().to_vec())
}

fn ping(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x89, payload.as_ref().to_vec())
}

fn pong(payload: impl AsRef<[u8]>) -> Frame {
    Frame(0x8a, payload.as_ref().to_vec())
}

pub fn close(code: u16, reason: impl AsRef<[u8]>) -> Frame {
    Frame(0x88, [&code.to_be_bytes(), reason.as_ref()].concat())
}

fn stars(length: usize) -> Vec<u8> {
    vec![b'*'; length]
}

fn bytes_fe(length: usize) -> Vec<u8> {
    vec![0xfe; length]
}

#[test]
fn group_1_framing() {
    let lengths = [0, 125, 126, 127, 128, 65_535, 65_536, 65_536];
    for (at, length) in (1..).zip(lengths) {
        echoed(&format!("1.1.{at}"), &[text(stars(length))]);
        echoed(&format!("1.2.{at}"), &[binary(bytes_fe(length))]);
    }
}

#[test]
fn group_2_pings_and_pongs() {
    let no_text = [0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff];
    fine("2.1", &[ping("")], &[pong("")]);
    fine("2.2", &[ping("Hello, world!")], &[pong("Hello, world!")]);
    fine("2.3", &[ping(no_text)], &[pong(no_text)]);
    fine("2.4, 2.6", &[ping(bytes_fe(125))], &[pong(bytes_fe(125))]);
    fails("2.5", &[ping(bytes_fe(126))], &[], LongControl, 1002);
    fine("2.7", &[pong("")], &[]);
    fine("2.8", &[pong("unsolicited")], &[]);
    fine("2.9", &[pong("unsolicited"), ping("ping")], &[pong("ping")]);
    let numbered =
        |kind: fn(String) -> Frame| (0..10).map(|n| kind(format!("payload-{n}"))).collect::<Vec<_>>();
    fine("2.10, 2.11", &numbered(ping), &numbered(pong));
}

#[test]
fn group_3_reserved_bits() {
    let hello = || text("Hello, world!");
    let with = |bits: u8, frame: Frame| Frame(frame.0 | bits << 4, frame.1);
    fails("3.1", &[with(1, hello())], &[], ReservedBit, 1002);
    for (number, bits) in [("3.2", 2), ("3.3", 3), ("3.4", 4)] {
        fails(number, &[hello(), with(bits, hello()), ping("")], &[hello()], ReservedBit, 1002);
    }
    fails("3.5", &[with(5, binary(bytes_fe(8)))], &[], ReservedBit, 1002);
    fails("3.6", &[with(6, ping("Hello, world!"))], &[], ReservedBit, 1002);
    fails("3.7", &[with(7, close(1000, ""))], &[], ReservedBit, 1002);
}

#[test]
fn group_4_reserved_opcodes() {
    let hello = || text("Hello, world!");
    for (at, opcode) in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].into_iter().enumerate() {
        let number = format!("4.{}.{}", at / 5 + 1, at % 5 + 1);
        let payload = if at % 5 % 2 == 0 { "" } else { "reserved opcode payload" };
        let reserved = Frame(0x80 | opcode, payload.into());
        if at % 5 < 2 {
            fails(&number, &[reserved], &[], ReservedOpcode(opcode), 1002);
        } else {
            let sent = [hello(), reserved, ping("")];
            fails(&number, &sent, &[hello()], ReservedOpcode(opcode), 1002);
        }
    }
}

#[test]
fn group_5_fragments() {
    let (one, two, three, four) = ("fragment1", "fragment2", "fragment3", "fragment4");
    fails("5.1", &[Frame(0x09, one.into()), last(two)], &[], FragmentedControl, 1002);
    fails("5.2", &[Frame(0x0a, one.into()), last(two)], &[], FragmentedControl, 1002);
    echoed("5.3, 5.4, 5.5", &[first(one), last(two)]);
    let sent = [first(one), ping("ping payload"), last(two)];
    fine("5.6, 5.7, 5.8", &sent, &[first(one), pong("ping payload"), last(two)]);
    let hello = || text("Hello, world!");
    fails("5.9, 5.10, 5.11", &[last("no"), hello()], &[], NothingToContinue, 1002);
    fails("5.12, 5.13, 5.14", &[more("no"), hello()], &[], NothingToContinue, 1002);
    let sent = [first(one), last(two), more(three), text(four)];
    fails("5.15", &sent, &[first(one), last(two)], NothingToContinue, 1002);
    let twice = |frame: Frame| vec![frame.clone(), first(two), last(three), frame, first(two), last(three)];
    fails("5.16", &twice(more(one)), &[], NothingToContinue, 1002);
    fails("5.17", &twice(last(one)), &[], NothingToContinue, 1002);
    fails("5.18", &[first(one), text(two)], &[first(one)], UnfinishedMessage, 1002);
    let (sent, said): (Vec<_>, Vec<_>) =
        [(first(one), None), (more(two), None), (ping("1"), Some(pong("1")))]
            .into_iter()
            .chain([(more(three), None), (more(four), None), (ping("2"), Some(pong("2"))), (last("5"), None)])
            .map(|(frame, answer)| (frame.clone(), answer.unwrap_or(frame)))
            .unzip();
    fine("5.19, 5.20", &sent, &said);
}

#[test]
fn group_7_closing() {
    let hello = || text("Hello World!");
    let normal = || close(1000, "");
    fine("7.1.1", &[hello(), normal()], &[hello(), normal()]);
    fine("7.1.2", &[normal(), normal()], &[normal()]);
    fine("7.1.3", &[normal(), ping("")], &[normal()]);
    fine("7.1.4", &[normal(), hello()], &[normal()]);
    let sent = [first("fragment1"), normal(), last("fragment2")];
    fine("7.1.5", &sent, &[first("fragment1"), normal()]);
    let long = || text("BAsd7&jh23".repeat(26_215));
    fine("7.1.6", &[long(), hello(), normal(), ping("")], &[long(), hello(), normal()]);
    fine("7.3.1", &[Frame(0x88, vec![])], &[Frame(0x88, vec![])]);
    fails("7.3.2", &[Frame(0x88, b"a".to_vec())], &[], CloseLength, 1002);
    fine("7.3.3", &[normal()], &[normal()]);
    fine("7.3.4", &[close(1000, "Hello World!")], &[normal()]);
    fine("7.3.5", &[close(1000, stars(123))], &[normal()]);
    fails("7.3.6", &[close(1000, stars(124))], &[], LongControl, 1002);
    let reason = hex("cebae1bdb9cf83cebcceb5eda080656469746564");
    fails("7.5.1", &[close(1000, reason)], &[], CloseReason, 1007);
    let valid = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
    for (at, code) in (1..).zip(valid) {
        fine(&format!("7.7.{at}"), &[close(code, "")], &[close(code, "")]);
    }
    for (at, code) in (1..).zip([0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]) {
        fails(&format!("7.9.{at}"), &[close(code, "")], &[], CloseCode(code), 1002);
    }
    fails("7.13.1", &[close(5000, "")], &[], CloseCode(5000), 1002);
    fails("7.13.2", &[close(65_535, "")], &[], CloseCode(65_535), 1002);
}

#[test]
fn group_9_sizes() {
    for (at, kib) in (1..).zip([64, 256, 1024, 4096, 8192, 16_384]) {
        echoed(&format!("9.1.{at}"), &[text(stars(kib << 10))]);
        echoed(&format!("9.2.{at}"), &[binary(bytes_fe(kib << 10))]);
    }
    let fragments = |start: u8, byte: u8, length: usize| {
        let whole = vec![byte; 4 << 20];
        let count = whole.len() / length;
        let frames = whole.chunks(length).enumerate().map(|(at, payload)| {
            let opcode = if at == 0 { start } else { 0 };
            Frame(opcode | if at + 1 == count { 0x80 } else { 0 }, payload.to_vec())
        });
        frames.collect::<Vec<_>>()
    };
    for (at, length) in
        (1..).zip([64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20])
    {
        echoed(&format!("9.3.{at}"), &fragments(1, b'*', length));
        echoed(&format!("9.4.{at}"), &fragments(2, 0xfe, length));
    }
    for (at, length) in (1..).zip([64, 128, 256, 512, 1024, 2048]) {
        for (number, frame) in [("9.5", text(stars(1 << 20))), ("9.6", binary(bytes_fe(1 << 20)))] {
            in_chunks(&format!("{number}.{at}"), &frame, length);
        }
    }
    for (at, length) in (1..).zip([0, 16, 64, 256, 1024, 4096]) {
        echoed(&format!("9.7.{at}"), &vec![text(stars(length)); 1000]);
        echoed(&format!("9.8.{at}"), &vec![binary(bytes_fe(length)); 1000]);
    }
}

#[test]
fn group_10_fragments_of_1300_bytes() {
    let whole = stars(65_536);
    let count = whole.len().div_ceil(1300);
    let frames = whole.chunks(1300).enumerate();
    let frames = frames.map(|(at, payload)| match at {
        0 => first(payload),
        _ if at + 1 == count => last(payload),
        _ => more(payload),
    });
    echoed("10.1.1", &frames.collect::<Vec<_>>());
}

/// A Greek word of five letters that have two bytes, but for the second, which has three.
pub const WORD: &str = "cebae1bdb9cf83cebcceb5";

/// The bytes that these digits stand for.
pub fn hex(digits: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// What the cases of group 6 send as fragments of one byte, and as one frame.
#[test]
fn group_6_texts_in_fragments() {
    let bytewise = |bytes: &[u8]| -> Vec<Frame> {
        let (ends, inner) = bytes.split_last().unwrap();
        let mut frames: Vec<_> = inner.iter().map(|byte| more([*byte])).chain([last([*ends])]).collect();
        frames[0].0 |= 1;
        frames
    };
    echoed("6.1.1", &[text("")]);
    echoed("6.1.2", &[first(""), more(""), last("")]);
    echoed("6.1.3", &[first(""), more("middle frame payload"), last("")]);
    let hello = "Hello-µ@ßöäüàá-UTF-8!!";
    echoed("6.2.1", &[text(hello)]);
    let (start, end) = hello.split_at(11);
    echoed("6.2.2", &[first(start), last(end)]);
    echoed("6.2.3", &bytewise(hello.as_bytes()));
    echoed("6.2.4", &bytewise(&hex(WORD)));
    let invalid = hex("cebae1bdb9cf83cebcceb5eda080656469746564");
    fails("6.3.1", &[text(&invalid)], &[], Text, 1007);
    // The byte after ed is the first that is wrong.
    fails("6.3.2", &bytewise(&invalid), &bytewise(&invalid)[..12], Text, 1007);
    let (valid, wrong) = (hex(WORD), hex("f4908080"));
    let sent = [first(&valid), more(&wrong), last("edited")];
    fails("6.4.1", &sent, &[first(&valid)], Text, 1007);
    let sent = [
        first([&valid[..], &wrong[..1]].concat()),
        more(&wrong[1..2]),
        last([&wrong[2..], b"edited"].concat()),
    ];
    fails("6.4.2", &sent, &sent[..1], Text, 1007);
}

/// From 6.5 on: whether each text is UTF-8, by the groups of Markus Kuhn's test of decoders.
#[test]
fn group_6_texts_in_one_frame() {
    let valid: &[(u32, u32, &[&str])] = &[
        (5, 1, &["68656c6c6f24776f726c64", "68656c6c6fc2a2776f726c64", "68656c6c6fe282ac776f726c64"]),
        (5, 4, &["68656c6c6ff0a4ada2776f726c64", "cebae1bdb9cf83cebcceb5"]),
        (7, 1, &["00", "c280", "e0a080", "f0908080"]),
        (9, 1, &["7f", "dfbf", "efbfbf", "f48fbfbf"]),
        (11, 1, &["ed9fbf", "ee8080", "efbfbd", "f48fbfbf"]),
        (23, 1, &["efbfb9", "efbfba", "efbfbb", "efbfbc", "efbfbd", "efbfbe", "efbfbf"]),
    ];
    for (group, at, texts) in valid {
        for (at, digits) in (*at..).zip(*texts) {
            echoed(&format!("6.{group}.{at}"), &[text(hex(digits))]);
        }
    }
    let word = hex(WORD);
    for at in 1..=word.len() {
        let (number, sent) = (format!("6.6.{at}"), [text(&word[..at])]);
        if [2, 5, 7, 9, 11].contains(&at) {
            echoed(&number, &sent);
        } else {
            fails(&number, &sent, &[], Text, 1007);
        }
    }
    // The last two of each plane are no characters, and their code is valid nevertheless.
    let planes = (0..=16_u32).flat_map(|plane| [plane << 16 | 0xfffe, plane << 16 | 0xffff]);
    for (at, code) in (1..).zip(planes) {
        let character = char::from_u32(code).unwrap().to_string();
        echoed(&format!("6.22.{at}"), &[text(character)]);
    }
    let starts = |from: u8, to: u8| (from..to).map(|byte| format!("{byte:02x}20")).collect::<String>();
    let continuations: String = (0x80..0xbf).map(|byte| format!("{byte:02x}")).collect();
    let invalid = [
        (8, "f888808080 fc8480808080".to_owned()),
        (10, "f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf".to_owned()),
        (12, format!("80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf {continuations}")),
        (
            13,
            [(0xc0, 0xdf), (0xe0, 0xef), (0xf0, 0xf7), (0xf8, 0xfb), (0xfc, 0xfd)]
                .map(|(from, to)| starts(from, to))
                .join(" "),
        ),
        (14, "c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf".to_owned()),
        (15, "c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf".to_owned()),
        (16, "fe ff fefeffff".to_owned()),
        (17, "c0af e080af f08080af f8808080af fc80808080af".to_owned()),
        (18, "c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf".to_owned()),
        (19, "c080 e08080 f0808080 f880808080 fc8080808080".to_owned()),
        (20, "eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf".to_owned()),
        (
            21,
            "eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf"
                .to_owned(),
        ),
    ];
    for (group, texts) in invalid {
        for (at, digits) in (1..).zip(texts.split(' ')) {
            fails(&format!("6.{group}.{at}"), &[text(hex(digits))], &[], Text, 1007);
        }
    }
    fails("6.11.5", &[text(hex("f4908080"))], &[], Text, 1007);
}
