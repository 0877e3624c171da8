//! WebSocket: any bytes, cut anywhere, on both sides and in place of a handshake's answer.
#![no_main]

#[path = "../../wire/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::websocket::check_websocket(bytes));
