//! What a client of HTTP/2 sends: any bytes, cut anywhere.
#![no_main]

#[path = "../../wire/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::http2_server::check_http2_server(bytes));
