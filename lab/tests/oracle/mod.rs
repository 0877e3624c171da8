//! What must hold for any bytes at all that are said to be a study, a contender or a workload. The fuzz targets and the
//! tests of the corpus use it alike.

#![allow(dead_code, reason = "each user uses a part of it")]

use model::{Contender, Study, Workload};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A study's file.
pub fn check_study(bytes: &[u8]) {
    check::<Study>(bytes);
}

/// A contender's file.
pub fn check_contender(bytes: &[u8]) {
    if let Some(contender) = check::<Contender>(bytes) {
        let _ = contender.tuned();
    }
}

/// A workload's file.
pub fn check_workload(bytes: &[u8]) {
    if let Some(workload) = check::<Workload>(bytes) {
        let _ = workload.contradiction();
    }
}

/// What is read can be written to the store and read again as the same; where nothing is read, the line of the error can
/// be told.
fn check<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(bytes).ok()?;
    match toml::from_str::<T>(text) {
        Ok(value) => {
            let json = serde_json::to_string(&value).unwrap();
            let again: T = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
            assert_eq!(serde_json::to_string(&again).unwrap(), json);
            Some(value)
        }
        Err(error) => {
            assert!(error.span().is_none_or(|span| text.get(..span.start).is_some()), "{error}");
            None
        }
    }
}
