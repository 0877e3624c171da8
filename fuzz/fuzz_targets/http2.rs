//! What a server of HTTP/2 sends: any bytes, cut anywhere.
#![no_main]

#[path = "../../wire/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::http2::check_http2(bytes));
