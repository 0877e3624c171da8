//! The link to drome on another machine: any bytes, on both sides.
#![no_main]

#[path = "../../agent/tests/oracle/frames.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check(bytes));
