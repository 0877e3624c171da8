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

use crate::Dialect;

/// ab's row in the list of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "ab",
    about: "ApacheBench, of Apache httpd: -n requests over -c connections",
    parse: job::parse,
};
