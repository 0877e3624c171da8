//! Blocks of header fields, one after the other: any bytes.
#![no_main]

#[path = "../../wire/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::http2::check_hpack(bytes));
