//! What must hold for any text at all that is said to be a report or a page. The fuzz targets and the tests of the corpus
//! use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

use dialects::page::{self, Page};
use dialects::{read, readers};

/// Every reader reads these bytes: what it finds lies in the text, whole characters of it, in order.
pub fn check_reports(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for tool in readers() {
        let mut end = 0;
        for found in read(&text, tool) {
            assert!(text.get(found.at.clone()).is_some(), "{tool}: {:?} of {}", found.at, text.len());
            assert!(end <= found.at.start, "{tool}: {:?} begins before {end}", found.at);
            end = found.at.end;
            assert!(
                found.reading.figures.values().all(|value| !value.is_nan()),
                "{tool}: {:?}",
                found.reading
            );
        }
    }
}

/// The same bytes as a page: what is kept of it are figures that can be written down, as the store does.
pub fn check_page(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let page: Page = page::read(&text);
    for item in &page.items {
        assert!(item.reading.figures.values().all(|value| value.is_finite()), "{:?}", item.reading);
        let json = serde_json::to_string(&item.reading).unwrap();
        assert_eq!(serde_json::from_str::<model::Reading>(&json).unwrap(), item.reading, "{json}");
    }
    assert_eq!(page::read(&text), page, "the same page is read alike");
}
