//! All tests of the real binary, as one program: forty programs took longer to link than to run.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

mod bad_input;
mod browser;
mod busy;
mod charts;
mod contenders;
mod dialect_ab;
mod dialect_http_load;
mod dialect_httperf;
mod dialect_siege;
mod dialect_weighttp;
mod dialect_wrk;
mod doctor;
mod engine;
mod escape;
mod faults;
mod files;
mod formats;
mod fresh;
mod gate;
mod getting;
mod history;
mod import;
mod import_founding;
mod io_uring;
mod judges;
mod lifetime;
mod load;
mod load_refusals;
mod load_series;
mod load_shapes;
mod metrics;
mod narrow;
mod ports;
mod race;
mod root;
mod run;
mod serve;
mod stand_ins;
mod steady;
mod sweep;
mod ui;
mod verified;
