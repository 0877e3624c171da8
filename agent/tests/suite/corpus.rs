//! The fuzz target's seeds, which are tests as well.

#[path = "../oracle/frames.rs"]
mod oracle;

use std::path::Path;

#[test]
fn every_seed_is_handled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/frames");
    let seeds: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(seeds.len() >= 8, "{}", seeds.len());
    seeds.iter().for_each(|seed| oracle::check(&std::fs::read(seed).unwrap()));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_handled(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        oracle::check(&bytes);
    }

    #[test]
    fn frames_with_any_bodies_are_handled(
        frames in proptest::collection::vec((0u8..13, proptest::collection::vec(proptest::prelude::any::<u8>(), 0..24)), 0..8)
    ) {
        let bytes: Vec<u8> = frames
            .iter()
            .flat_map(|(kind, body)| [&(body.len() as u32 + 1).to_le_bytes()[..], &[*kind], body].concat())
            .collect();
        oracle::check(&bytes);
    }
}
