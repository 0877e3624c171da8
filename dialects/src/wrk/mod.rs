//! wrk (4.1): closed load from scripts and a report with its own arithmetic.

mod read;
pub mod units;
mod words;

/// wrk's reports in a text.
pub fn read(text: &str) -> Vec<crate::Found> {
    read::find(text, "wrk")
}

/// wrk2's, which look alike.
pub fn read_wrk2(text: &str) -> Vec<crate::Found> {
    read::find(text, "wrk2")
}
