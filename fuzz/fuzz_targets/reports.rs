//! Reports of every tool: any bytes.
#![no_main]

#[path = "../../dialects/tests/oracle/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check_reports(bytes));
