//! When to start, and how closely together machines did: arithmetic on clocks. Pure.

use model::machines::Clock;
use std::time::Duration;

/// The least time from the order to the start.
const LEAST_LEAD: Duration = Duration::from_millis(500);

/// The time from the order to the start, in round trips of the slowest link: a segment may have to be sent again.
const LEAD_ROUND_TRIPS: u64 = 10;

/// The longest lead: a link that is slower than this allows is of no use for a load.
const MOST_LEAD: Duration = Duration::from_mins(1);

/// How long before the start the order is given, by the longest round trip to any machine.
pub fn lead(longest_round_trip_ns: u64) -> Duration {
    Duration::from_nanos(longest_round_trip_ns.saturating_mul(LEAD_ROUND_TRIPS)).clamp(LEAST_LEAD, MOST_LEAD)
}

/// A moment of this machine's clock on another machine's. `None` where that is before its clock began.
pub fn there(clock: Clock, here_ns: u64) -> Option<u64> {
    here_ns.checked_add_signed(clock.offset_ns)
}

/// How long after the agreed instant, on this machine's clock, a machine started at a moment of its own clock.
pub fn late_ns(clock: Clock, there_ns: u64, agreed_ns: u64) -> i64 {
    let here_ns = i128::from(there_ns) - i128::from(clock.offset_ns);
    let late_ns = here_ns - i128::from(agreed_ns);
    late_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// From the first start to the last, and how far that can be off: each of the two by its clock's bound. `None` without a start.
pub fn skew(starts: &[(i64, Clock)]) -> Option<(u64, u64)> {
    let (first, last) = (starts.iter().map(|s| s.0).min()?, starts.iter().map(|s| s.0).max()?);
    let mut bounds: Vec<u64> = starts.iter().map(|(_, clock)| clock.bound_ns).collect();
    bounds.sort_unstable();
    let bound_ns = bounds.iter().rev().take(2).fold(0_u64, |sum, bound| sum.saturating_add(*bound));
    // One machine starts together with itself.
    let bound_ns = if starts.len() < 2 { 0 } else { bound_ns };
    Some((last.abs_diff(first), bound_ns))
}
