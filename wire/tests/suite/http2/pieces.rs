//! Frames of all kinds, right and wrong, in any order: however they are cut, they mean the same.

use super::*;
use proptest::prelude::*;

/// A frame or a part of one.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let stream = || prop::sample::select(vec![1, 1, 3, 5, 7, 7, 0, 2, 9]);
    let block = prop::sample::select(vec![
        block(":status 200"),
        block(":status 200\ncontent-length 5"),
        block(":status 103\nlink x"),
        block(":status 204\ndate now"),
        block("x y"),
        b"\x88\x40\x01a\x01b".to_vec(),
        b"\x88\xbe".to_vec(),
        b"\x3f\x10\x88\xbf".to_vec(),
        b"\x20\x88".to_vec(),
        b"\x88\0\x01".to_vec(),
        Vec::new(),
    ]);
    let number = prop::sample::select(vec![0, 1, 7, 8, 100, 65_535, 1 << 20, 0x7fff_ffff, u32::MAX]);
    let flags = || prop::sample::select(vec![0, 1, 4, 5, 8, 0xc, 0xd, 0x24, 0x2d, 0xff]);
    let bytes = prop::sample::select(vec![&b""[..], b"hello", b"hel", b"lo", b"\x02hello\0\0", b"\x09h"]);
    prop_oneof![
        4 => (stream(), flags(), block).prop_map(|(stream, flags, block)| frame(kind::HEADERS, flags, stream, &block)),
        4 => (stream(), flags(), bytes).prop_map(|(stream, flags, bytes)| frame(kind::DATA, flags, stream, bytes)),
        1 => (stream(), flags()).prop_map(|(stream, flags)| frame(kind::CONTINUATION, flags, stream, b"\x88")),
        1 => (stream(), number.clone()).prop_map(|(stream, code)| reset(stream, ErrorCode(code))),
        1 => (stream(), number.clone()).prop_map(|(stream, increment)| window_update(stream, increment)),
        1 => (1..6_u16, number).prop_map(|(name, value)| settings(&[(name, value)])),
        1 => stream().prop_map(|last| go_away(last, ErrorCode::NO_ERROR)),
        1 => (0..12_u8, flags(), stream(), prop::collection::vec(any::<u8>(), 0..12))
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload)),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ]
}

proptest! {
    #[test]
    fn any_frames_mean_the_same_however_they_are_cut(pieces in prop::collection::vec(piece(), 0..12)) {
        check_http2(&pieces.concat());
    }
}
