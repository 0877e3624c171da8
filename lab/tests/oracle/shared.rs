//! What must hold for any bytes at all that are said to be shared runs. The fuzz target and the tests of the corpus use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

use store::shared::{Checked, Writer, is_id, read};

/// Nothing reaches a terminal that it acts upon, and what is read is read again as the same from what is written of it.
pub fn check(bytes: &[u8]) {
    let entries = match read(bytes) {
        Ok(entries) => entries,
        Err(error) => {
            let told = error.to_string();
            assert!(!told.contains(char::is_control), "{told:?}");
            return;
        }
    };
    let mut written = Vec::new();
    let mut writer = Writer::begin(&mut written, "0.1.0").unwrap();
    for entry in &entries {
        assert!(is_id(&entry.id) && !entry.rows.is_empty(), "{entry:?}");
        assert!(!entry.machine.contains(char::is_control), "{entry:?}");
        writer.entry(Some(&entry.machine)).unwrap();
        for json in &entry.rows {
            let row = Checked::of(serde_json::from_str(json).unwrap()).unwrap();
            assert_eq!(row.json, *json);
            writer.row(&row.row).unwrap();
        }
    }
    writer.end().unwrap();
    let again = read(&written[..]).unwrap();
    let digests = |entries: &[store::shared::SharedEntry]| -> Vec<String> {
        entries.iter().map(|entry| entry.digest.clone()).collect()
    };
    assert_eq!(digests(&again), digests(&entries));
}

/// Whether the bytes are shared runs.
pub fn is_good(bytes: &[u8]) -> bool {
    read(bytes).is_ok()
}
