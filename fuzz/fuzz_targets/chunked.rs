//! Chunked bodies: any bytes, cut anywhere, whole or not.
#![no_main]

#[path = "../../wire/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check_chunked(bytes));
