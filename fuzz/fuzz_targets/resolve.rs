//! Targets of requests: none leads out of the served folder.
#![no_main]

#[path = "../../serve/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check_target(bytes));
