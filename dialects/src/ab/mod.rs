//! ab, the load generator that comes with Apache httpd: version 2.3, as Debian has it.

mod files;
mod head;
mod heard;
mod html;
mod job;
mod options;
mod report;
mod times;
mod url;
mod usage;

use crate::{Dialect, Found, report_format};

/// ab's row in the list of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "ab",
    about: "ApacheBench, of Apache httpd: -n requests over -c connections",
    parse: job::parse,
    read,
};

/// Finds ab's reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    report_format::read(&report_format::ab::without_tags(text), "ab")
}
