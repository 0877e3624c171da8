//! HTTP/2 as bytes ↔ events (RFC 9113), with its compression of header fields (RFC 7541). What client and server share is in `frame`
//! and `hpack`.

mod answer;
mod client;
mod fields;
pub mod frame;
pub mod hpack;
mod request;
pub mod server;
mod shared;
mod streams;

pub use client::Http2;
pub use request::EncodedRequest;
pub use shared::{Http2Shared, RECEIVE_WINDOW};
