//! gRPC as a client speaks it, unary, over HTTP/2.

mod client;
pub mod message;
pub mod status;

pub use client::Grpc;
pub use message::GrpcError;
pub use status::GrpcStatus;
