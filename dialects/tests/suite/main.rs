//! The tools' reports, printed and read, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod ab_print;
mod ab_read;
mod corpus;
mod h2load_print;
mod h2load_read;
mod harness;
mod http_load_print;
mod http_load_read;
mod httperf_print;
mod httperf_read;
mod page;
mod readers;
mod refused;
mod siege_print;
mod siege_read;
mod tools_read;
mod weighttp_print;
mod weighttp_read;
mod wrk_print;
mod wrk_read;
mod wrk_script;
