//! From the kernel's records to counted stacks of addresses, while the processes run.

pub mod address;
pub mod chain;
pub mod image;
pub mod images;
pub mod maps;
pub mod reach;
pub mod record;
pub mod space;
pub mod tracer;
pub mod unwinder;
