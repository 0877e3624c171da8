//! Unary gRPC over HTTP/2: as a client speaks it, and what its messages are.

mod client;
pub mod message;
pub mod status;

pub use client::Grpc;
pub use message::{GrpcError, is_message};
pub use status::GrpcStatus;
