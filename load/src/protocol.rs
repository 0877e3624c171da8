//! What a plan's protocol means for this crate: the name under which it is offered in a TLS handshake, and whether it can say the plan's
//! requests. Only `crew.rs` chooses by it, too: the session that workers speak.

use crate::LoadError;
use model::{Ask, Plan, Protocol};
use net::tls::{HTTP_1_1, HTTP_2};
use wire::{ClientSession, Grpc, Http1, Http2, RequestBytes, WebSocket};

/// The names of the protocols that are offered to a server with TLS, the best first. One that lacks the first can say so by its choice.
pub fn offered(protocol: Protocol) -> Vec<&'static str> {
    match protocol {
        Protocol::Http1 | Protocol::WebSocket => vec![HTTP_1_1],
        Protocol::Http2 | Protocol::Grpc => vec![HTTP_2, HTTP_1_1],
    }
}

/// Checks that the protocol can say each of the plan's requests.
pub fn check(plan: &Plan) -> Result<(), LoadError> {
    let said = match plan.protocol {
        Protocol::Http1 => Http1::shared(requests(plan)).map(drop),
        Protocol::Http2 => Http2::shared(requests(plan)).map(drop),
        Protocol::Grpc => Grpc::shared(requests(plan)).map(drop),
        Protocol::WebSocket => WebSocket::shared(requests(plan)).map(drop),
    };
    said.map_err(|error| LoadError::Request { protocol: plan.protocol.name(), error })
}

/// The plan's requests.
pub fn requests<'p>(plan: &'p Plan) -> Vec<RequestBytes<'p>> {
    let is_encrypted = plan.target.tls;
    let bytes = |Ask { request, last, .. }: &'p Ask| RequestBytes { request, last, is_encrypted };
    plan.asks.iter().map(bytes).collect()
}
