//! What the connections of one thread have in common.

use super::answer::AnswerFields;
use super::request::EncodedRequest;
use crate::WireError;
use crate::client_session::RequestBytes;

/// The bytes that the server may send ahead, on each stream and on the connection: as much as nobody has to wait for.
pub const RECEIVE_WINDOW: u32 = (1 << 30) - 1;

/// The longest block of header fields that is remembered.
const LAST_BLOCK_BYTES: usize = 1024;

/// What the connections of one thread have in common.
#[derive(Debug, Default)]
pub struct Http2Shared {
    pub(super) requests: Vec<EncodedRequest>,
    pub(super) scratch: Vec<u8>,
    /// The requests whose bodies had to wait for a window.
    pub(super) held_back: u64,
    last_head: KnownBlock,
    last_trailers: KnownBlock,
}

/// The last block of header fields that means the same on every connection: servers send the same one again and again.
#[derive(Debug, Default)]
struct KnownBlock {
    bytes: Vec<u8>,
    fields: AnswerFields,
}

impl Http2Shared {
    /// These requests, each encoded by `encode` (whose second argument is whether it goes to an https URL).
    pub fn of(
        requests: &[RequestBytes<'_>],
        encode: fn(&[u8], bool) -> Result<EncodedRequest, WireError>,
    ) -> Result<Self, WireError> {
        let encoded = requests.iter().map(|bytes| encode(bytes.request, bytes.is_encrypted));
        Ok(Self { requests: encoded.collect::<Result<_, _>>()?, ..Self::default() })
    }

    /// What this block says, if it is the last head, or the last trailers.
    #[inline]
    pub(super) fn known(&self, block: &[u8], are_trailers: bool) -> Option<AnswerFields> {
        let last = if are_trailers { &self.last_trailers } else { &self.last_head };
        (last.bytes == block && !block.is_empty()).then_some(last.fields)
    }

    pub(super) fn remember(&mut self, block: &[u8], are_trailers: bool, fields: AnswerFields) {
        if block.len() <= LAST_BLOCK_BYTES {
            let last = if are_trailers { &mut self.last_trailers } else { &mut self.last_head };
            last.bytes.clear();
            last.bytes.extend_from_slice(block);
            last.fields = fields;
        }
    }
}
