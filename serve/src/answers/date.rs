//! The time of day as text. A thread reads the kernel's coarse clock once a turn and formats once a second.

use httpdate::HttpDate;
use net::clock;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The length of every date (RFC 9110 section 5.6.7).
pub const DATE_BYTES: usize = 29;

/// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub type Date = [u8; DATE_BYTES];

/// 31 December 9999, because later years have more digits.
const LAST_S: u64 = 253_402_300_799;

/// A thread's clock.
#[derive(Debug)]
pub struct Clock {
    now_ns: u64,
    /// When the text must be made again.
    until_ns: u64,
    date: Date,
}

impl Clock {
    /// A clock that has been read.
    pub fn new() -> Self {
        let mut clock = Self { now_ns: 0, until_ns: 0, date: [b' '; DATE_BYTES] };
        clock.tick();
        clock
    }

    /// Reads the clock. True: the date has changed.
    #[inline]
    pub fn tick(&mut self) -> bool {
        self.now_ns = clock::coarse_ns();
        if self.now_ns < self.until_ns {
            return false;
        }
        self.set(SystemTime::now());
        true
    }

    fn set(&mut self, now: SystemTime) {
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.until_ns = self.now_ns + 1_000_000_000 - u64::from(since_epoch.subsec_nanos());
        self.date = format(since_epoch.as_secs() as i64).unwrap_or(self.date);
    }

    /// Nanoseconds of the monotonic clock, a few milliseconds old at most, as of the last tick.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The date of the last tick.
    pub fn date(&self) -> &Date {
        &self.date
    }
}

/// Formats seconds since 1970 as a date; `None` before 1970 and after the year 9999.
pub fn format(unix_s: i64) -> Option<Date> {
    let unix_s = u64::try_from(unix_s).ok().filter(|s| *s <= LAST_S)?;
    let mut text = String::with_capacity(DATE_BYTES);
    write!(text, "{}", HttpDate::from(UNIX_EPOCH + Duration::from_secs(unix_s))).ok()?;
    text.as_bytes().try_into().ok()
}

/// The same time in the format of logs: `06/Nov/1994:08:49:37 +0000`.
pub fn for_logs(date: &Date) -> [u8; 26] {
    let mut text = *b"dd/mmm/yyyy:hh:mm:ss +0000";
    for (to, from) in [(0..2, 5..7), (3..6, 8..11), (7..11, 12..16), (12..20, 17..25)] {
        text[to].copy_from_slice(&date[from]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &[u8; DATE_BYTES] = b"Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn dates_are_written() {
        assert_eq!(format(784_111_777), Some(*SOME));
        assert_eq!(for_logs(SOME), *b"06/Nov/1994:08:49:37 +0000");
    }

    #[test]
    fn times_that_no_date_can_say_have_none() {
        assert_eq!(format(LAST_S as i64).unwrap(), *b"Fri, 31 Dec 9999 23:59:59 GMT");
        for unix_s in [-1, i64::MIN, LAST_S as i64 + 1, i64::MAX] {
            assert_eq!(format(unix_s), None);
        }
    }

    #[test]
    fn the_text_is_made_again_when_its_second_is_over() {
        let mut clock = Clock { now_ns: 5_000_000_000, until_ns: 0, date: [b' '; DATE_BYTES] };
        clock.set(UNIX_EPOCH + Duration::from_millis(784_111_777_250));
        assert_eq!((clock.date(), clock.until_ns), (SOME, 5_750_000_000));
        clock.set(UNIX_EPOCH + Duration::from_secs(u64::MAX >> 2));
        assert_eq!(clock.date(), SOME, "what can't be said changes nothing");
    }
}
