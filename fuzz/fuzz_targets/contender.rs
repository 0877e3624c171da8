//! Files that declare a contender: any bytes.
#![no_main]

#[path = "../../lab/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check_contender(bytes));
