//! httperf 0.9: connections at a rate, calls in bursts.

mod read;

pub use read::read;
