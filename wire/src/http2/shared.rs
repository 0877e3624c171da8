//! What the connections of one thread have in common.

use super::answer::AnswerFields;
use super::request::EncodedRequest;

/// The bytes that the server may send ahead, on each stream and on the connection: as much as nobody has to wait for.
pub const RECEIVE_WINDOW: u32 = (1 << 30) - 1;

/// The longest block of header fields that is remembered.
const LAST_BLOCK_BYTES: usize = 1024;

/// What the connections of one thread have in common.
#[derive(Debug, Default)]
pub struct Http2Shared {
    pub(super) requests: Vec<EncodedRequest>,
    pub(super) scratch: Vec<u8>,
    /// The last block of header fields that means the same on every connection: servers send the same one again and again.
    last_block: Vec<u8>,
    last_fields: AnswerFields,
}

impl Http2Shared {
    /// These requests.
    pub fn new(requests: Vec<EncodedRequest>) -> Self {
        Self { requests, ..Self::default() }
    }

    /// What this block says, if it is the last one.
    #[inline]
    pub(super) fn known(&self, block: &[u8]) -> Option<AnswerFields> {
        (self.last_block == block && !block.is_empty()).then_some(self.last_fields)
    }

    pub(super) fn remember(&mut self, block: &[u8], fields: AnswerFields) {
        if block.len() <= LAST_BLOCK_BYTES {
            self.last_block.clear();
            self.last_block.extend_from_slice(block);
            self.last_fields = fields;
        }
    }
}
