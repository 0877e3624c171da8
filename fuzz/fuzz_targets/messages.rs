//! What drome on another machine asks and answers: any bytes, as both sides read them.
#![no_main]

#[path = "../../lab/tests/oracle/messages.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check(bytes));
