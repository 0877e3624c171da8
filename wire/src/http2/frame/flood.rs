//! Bounds what a peer can make us do for nothing. There is no clock here, so that it is counted from one useful frame to the next.

use super::{ErrorCode, FrameError, MAX_IDLE_FRAMES};

/// Counts the frames since the last one that brought something: SETTINGS, PING, PRIORITY, unknown types, DATA without bytes, interim
/// answers, resets of streams that were closed already.
#[derive(Debug, Default)]
pub struct IdleFrames(u32);

impl IdleFrames {
    /// Counts one.
    pub fn count(&mut self) -> Result<(), FrameError> {
        self.0 += 1;
        if self.0 <= MAX_IDLE_FRAMES {
            return Ok(());
        }
        Err(FrameError::new(ErrorCode::ENHANCE_YOUR_CALM, "a flood of frames that bring nothing"))
    }

    /// Something came: a head, bytes of a body, the end of a stream.
    #[inline]
    pub fn clear(&mut self) {
        self.0 = 0;
    }
}
