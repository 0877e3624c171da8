//! HPACK: the examples of RFC 7541, what other implementations write, and what must be refused.

use crate::oracle::http2::{Field, check_hpack, decode};
use proptest::prelude::*;
use wire::http2::hpack::{HpackDecoder, HpackError, write_field, write_status};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.bytes().filter_map(|byte| (byte as char).to_digit(16).map(|d| d as u8)).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn fields(lines: &[&str]) -> Vec<Field> {
    let field = |line: &&str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.as_bytes().to_vec(), value.as_bytes().to_vec())
    };
    lines.iter().map(field).collect()
}

/// Decodes the blocks of one connection, and checks each.
fn check(decoder: &mut HpackDecoder, blocks: &[(&str, &[&str])]) {
    for (block, expected) in blocks {
        assert_eq!(decode(decoder, &bytes(block)).unwrap().0, fields(expected), "{block}");
    }
}

/// RFC 7541 appendix C.2: each way of writing a field, alone.
#[test]
fn each_way_of_writing_a_field() {
    let rows: &[(&str, &[&str], bool)] = &[
        ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", &["custom-key custom-header"], false),
        ("040c2f73616d706c652f70617468", &[":path /sample/path"], true),
        ("100870617373776f726406736563726574", &["password secret"], true),
        ("82", &[":method GET"], true),
    ];
    for (block, expected, is_fixed) in rows {
        assert_eq!(decode(&mut HpackDecoder::default(), &bytes(block)), Ok((fields(expected), *is_fixed)));
    }
}

const FIRST: &[&str] = &[":method GET", ":scheme http", ":path /", ":authority www.example.com"];
const SECOND: &[&str] =
    &[":method GET", ":scheme http", ":path /", ":authority www.example.com", "cache-control no-cache"];
const THIRD: &[&str] = &[
    ":method GET",
    ":scheme https",
    ":path /index.html",
    ":authority www.example.com",
    "custom-key custom-value",
];

/// Appendix C.3 and C.4.
#[test]
fn requests_of_one_connection() {
    check(
        &mut HpackDecoder::default(),
        &[
            ("828684410f7777772e6578616d706c652e636f6d", FIRST),
            ("828684be58086e6f2d6361636865", SECOND),
            ("828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", THIRD),
        ],
    );
    check(
        &mut HpackDecoder::default(),
        &[
            ("828684418cf1e3c2e5f23a6ba0ab90f4ff", FIRST),
            ("828684be5886a8eb10649cbf", SECOND),
            ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", THIRD),
        ],
    );
}

/// Appendix C.5 and C.6: a table of 256 bytes, from which entries have to go.
#[test]
fn answers_of_one_connection() {
    let location = "location https://www.example.com";
    let first = &[":status 302", "cache-control private", "date Mon, 21 Oct 2013 20:13:21 GMT", location];
    let second = &[":status 307", "cache-control private", "date Mon, 21 Oct 2013 20:13:21 GMT", location];
    let third = &[
        ":status 200",
        "cache-control private",
        "date Mon, 21 Oct 2013 20:13:22 GMT",
        location,
        "content-encoding gzip",
        "set-cookie foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ];
    let plain = "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e17\
        68747470733a2f2f7777772e6578616d706c652e636f6d";
    let plain_third = "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d\
        4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31";
    check(
        &mut HpackDecoder::with_limit(256),
        &[(plain, first), ("4803333037c1c0bf", second), (plain_third, third)],
    );
    let coded = "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9\
        ae82ae43d3";
    let coded_third = "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdf\
        cd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007";
    check(
        &mut HpackDecoder::with_limit(256),
        &[(coded, first), ("4883640effc1c0bf", second), (coded_third, third)],
    );
}

/// What others write, story by story.
#[test]
fn blocks_of_other_implementations() {
    let text = include_str!("../fixtures/hpack.txt");
    let (mut stories, mut encoders, mut blocks) = (0, 0, 0);
    for story in text.split("\nstory ").skip(1) {
        stories += 1;
        let mut parts = story.split("\nencoder ");
        let expected: Vec<Vec<Field>> = parts
            .next()
            .unwrap()
            .split_once('\n')
            .unwrap()
            .1
            .trim_end_matches('\n')
            .split("\n\n")
            .map(|block| fields(&block.lines().collect::<Vec<_>>()))
            .collect();
        for encoder in parts {
            let (name, lines) = encoder.split_once('\n').unwrap();
            encoders += 1;
            let mut decoder = HpackDecoder::default();
            assert_eq!(lines.lines().count(), expected.len(), "{name}");
            for (line, expected) in lines.lines().zip(&expected) {
                blocks += 1;
                assert_eq!(decode(&mut decoder, &bytes(line)).unwrap().0, *expected, "{name} {line}");
                let mut encoded = Vec::new();
                expected.iter().for_each(|(name, value)| write_field(&mut encoded, name, value));
                let again = decode(&mut HpackDecoder::with_limit(0), &encoded);
                assert_eq!(again, Ok((expected.clone(), true)));
            }
        }
    }
    assert_eq!((stories, encoders, blocks), (3, 19, 695));
}

#[test]
fn what_is_malformed_is_refused() {
    let rows: &[(&str, HpackError)] = &[
        // An index: 0, beyond the table that is fixed, far beyond; of a name.
        ("80", HpackError::Index),
        ("be", HpackError::Index),
        ("ffffffff00", HpackError::Index),
        ("7e0161", HpackError::Index),
        ("0f300161", HpackError::Index),
        // An index, a length, a string that ends too early; an integer without end.
        ("ff", HpackError::Truncated),
        ("00", HpackError::Truncated),
        ("0003616263", HpackError::Truncated),
        ("000361620161", HpackError::Truncated),
        ("007f", HpackError::Truncated),
        ("ff8080808000", HpackError::Integer),
        ("007fffffffff7f", HpackError::Integer),
        // Huffman's code: the end of string, padding of zeros, padding of a byte.
        ("00016184ffffffff", HpackError::Huffman),
        ("0001618118", HpackError::Huffman),
        ("000161821fff", HpackError::Huffman),
        // A size above the limit; one behind a field.
        ("3fe21f", HpackError::TableSize),
        ("8220", HpackError::TableSize),
    ];
    for (block, error) in rows {
        assert_eq!(decode(&mut HpackDecoder::default(), &bytes(block)), Err(*error), "{block}");
    }
}

#[test]
fn a_size_may_change_twice_at_the_start_and_the_least_one_counts() {
    let mut decoder = HpackDecoder::default();
    let used: &[(&str, &[&str])] = &[("4001610162", &["a b"]), ("be", &["a b"])];
    check(&mut decoder, used);
    assert_eq!(decode(&mut decoder, &bytes("203fe11fbe")), Err(HpackError::Index));
    // The table is as large as before, and empty.
    check(&mut decoder, used);
    // A field that is larger than the table, of 64 bytes now, empties it (RFC 7541 section 4.4).
    let large = [&bytes("3f2140016140")[..], &[b'x'; 64]].concat();
    assert!(decode(&mut decoder, &large).is_ok());
    assert_eq!(decode(&mut decoder, &bytes("be")), Err(HpackError::Index));
}

#[test]
fn bombs_are_bounded() {
    // One field of 4,000 bytes, and a byte for each time that it comes again.
    let mut block = bytes("4001617fa11e");
    block.extend([b'x'; 4000]);
    block.extend([0xbe; 20]);
    assert_eq!(decode(&mut HpackDecoder::default(), &block), Err(HpackError::TooLong));
    let many = [0x82; wire::MAX_HEAD_FIELDS + 1];
    assert_eq!(decode(&mut HpackDecoder::default(), &many), Err(HpackError::TooMany));
    assert!(decode(&mut HpackDecoder::default(), &many[1..]).is_ok());
}

#[test]
fn fields_are_written_as_short_as_the_fixed_table_and_the_code_allow() {
    let rows = [
        (":method", "GET", "82"),
        (":status", "404", "8d"),
        (":path", "/sample/path", "04 89 6103a6ba0ac5634cff"),
        (":status", "201", "08 82 1003"),
        ("content-length", "2", "0f0d 01 32"),
        ("x", "\u{1}", "00 01 78 01 01"),
    ];
    for (name, value, expected) in rows {
        let mut block = Vec::new();
        write_field(&mut block, name.as_bytes(), value.as_bytes());
        assert_eq!(block, bytes(expected), "{name}: {value}");
    }
    let mut block = Vec::new();
    write_status(&mut block, 200);
    assert_eq!(block, [0x88]);
}

proptest! {
    #[test]
    fn fields_come_back(
        all in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), prop::collection::vec(any::<u8>(), 0..400)), 0..40),
    ) {
        let mut block = Vec::new();
        all.iter().for_each(|(name, value)| write_field(&mut block, name, value));
        prop_assert_eq!(decode(&mut HpackDecoder::default(), &block), Ok((all, true)));
    }

    #[test]
    fn any_bytes_are_fields_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        check_hpack(&bytes);
    }
}
