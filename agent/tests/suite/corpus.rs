//! The fuzz target's seeds, which are tests as well.

#[path = "../oracle/frames.rs"]
mod oracle;

use agent::{Message, hello};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::{collection, option};
use serde_json::json;
use std::path::Path;

#[test]
fn every_seed_is_handled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/frames");
    let seeds: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(seeds.len() >= 8, "{}", seeds.len());
    seeds.iter().for_each(|seed| oracle::check(&std::fs::read(seed).unwrap()));
}

fn message(kind: i32, id: u64, text: String) -> Message {
    let json = json!([text.as_str(), id, {text.as_str(): null}]);
    match kind {
        0 => Message::Hello(hello(&text)),
        1 => Message::Request { id, name: text, json },
        2 => Message::Reply { id, json },
        3 => Message::Failed { id, text },
        4 => Message::Event { id, json },
        5 => Message::ClockAsk { id },
        6 => Message::ClockAnswer { id, ns: u64::MAX - id },
        7 => Message::Beat,
        8 => Message::Stop,
        _ => Message::Goodbye,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_handled(bytes in collection::vec(any::<u8>(), 0..200)) {
        oracle::check(&bytes);
    }

    #[test]
    fn messages_in_any_order_are_handled_even_with_a_wrong_byte(
        messages in collection::vec((0..10, 0..4_u64, ".{0,12}"), 0..8),
        wrong in option::of((any::<Index>(), any::<u8>()))
    ) {
        let of = |(kind, id, text): (i32, u64, String)| message(kind, id, text);
        let mut bytes: Vec<u8> = messages.into_iter().flat_map(|one| of(one).frame()).collect();
        if let Some((at, byte)) = wrong.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        oracle::check(&bytes);
    }
}
