//! TLS as both sides see it: two of them talk to each other on the loopback, with real certificates.

mod bent;
mod big_files;
mod certificates;
mod files;
mod hello;
mod keys;
mod real;
mod refusals;
mod resume;
mod sides;
mod talk;
mod trust;
