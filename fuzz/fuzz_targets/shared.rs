//! Files of shared runs: any bytes.
#![no_main]

#[path = "../../lab/tests/oracle/shared.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check(bytes));
