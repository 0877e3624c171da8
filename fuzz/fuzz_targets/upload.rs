//! Files in a form, as the local page receives them: any Content-Type, any body.
#![no_main]

#[path = "../../wire/tests/oracle/form.rs"]
mod form;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| form::check(bytes));
