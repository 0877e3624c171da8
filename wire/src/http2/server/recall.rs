//! What the sessions of one thread remember: the last request that is likely to come again. Its block is compared, not decoded.

use super::head::Fields;

/// What the sessions of one thread have in common.
#[derive(Debug)]
pub struct ServerShared<R> {
    pub(super) fields: Fields,
    last: Option<LastBlock<R>>,
    /// The number of the last block that was remembered.
    number: u32,
}

/// A block of header fields that is likely to come again, and what it means.
#[derive(Debug)]
struct LastBlock<R> {
    block: Vec<u8>,
    fields: Fields,
    route: R,
    number: u32,
    /// Whether it means the same on every connection.
    is_fixed: bool,
}

/// What a caller makes of a request.
#[derive(Clone, Copy, Debug)]
pub struct Routed<R> {
    /// Its value.
    pub route: R,
    /// Whether the same request has the same value, so that the head need not be looked at again.
    pub is_lasting: bool,
}

impl<R> Default for ServerShared<R> {
    fn default() -> Self {
        Self { fields: Fields::default(), last: None, number: 0 }
    }
}

impl<R: Clone> ServerShared<R> {
    /// What the caller made of the request with this block, if it is the one that was remembered and means the same on this connection.
    #[inline]
    pub fn recall(&self, block: &[u8], known: u32) -> Option<R> {
        let last = self.last.as_ref()?;
        let means_same = last.is_fixed || last.number == known;
        (means_same && last.block == block).then(|| last.route.clone())
    }

    /// Remembers the fields that were read last. Returns the number by which they are known from now on.
    pub fn remember(&mut self, block: &[u8], route: &R, is_fixed: bool) -> u32 {
        match &mut self.last {
            Some(last) if last.block == block && last.fields.is_same(&self.fields) => last.number,
            last => {
                // 0 is none.
                self.number = self.number.wrapping_add(1).max(1);
                let last = last.get_or_insert_with(|| LastBlock {
                    block: Vec::new(),
                    fields: Fields::default(),
                    route: route.clone(),
                    number: 0,
                    is_fixed,
                });
                last.block.clear();
                last.block.extend_from_slice(block);
                last.fields.copy_from(&self.fields);
                (last.route, last.number, last.is_fixed) = (route.clone(), self.number, is_fixed);
                self.number
            }
        }
    }
}
