//! Calls a script's `request()` and `delay()` before the measurement, as often as tells what they return.

use super::options::Options;
use super::refused::{self, refuse};
use super::state::LuaState;
use crate::Printed;
use mlua::Function;
use model::Think;
use std::collections::HashMap;
use std::time::Duration;

/// How often `request()` is called at first, to find a cycle of up to half of this length.
const FIRST_CALLS: usize = 10_000;

/// How often it is called by all threads together if there is no shorter cycle.
const CALLS: usize = 100_000;

/// The calls end earlier when the results of all threads reach this size, in bytes.
const CALLS_BYTES: usize = 64 << 20;

/// How often `delay()` is called to see that it is constant, and how often if it is not.
const DELAYS: usize = 100;
const RANDOM_DELAYS: usize = 10_000;

/// The largest difference between the distribution of that many delays and a uniform one; a uniform one is beyond it once in 100,000
/// times (Kolmogorov's limit: 2 exp(−2 n d²)).
const FARTHEST: f64 = 0.025;

/// What `request()` returns, call by call.
pub struct Requests {
    /// One cycle, or as many as were called for.
    pub in_turn: Vec<Vec<u8>>,
    /// Whether it is a cycle; else it goes on differently.
    pub is_cycle: bool,
}

/// Calls `request()` of one thread.
pub fn requests(state: &LuaState, options: &Options, printed: &mut Printed) -> Result<Requests, Printed> {
    let threads = usize::try_from(options.threads).unwrap_or(usize::MAX);
    let (most, most_bytes) = ((CALLS / threads).max(2), CALLS_BYTES / threads);
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let (mut order, mut bytes, mut cycle) = (Vec::new(), 0, None);
    while cycle.is_none() && order.len() < most && (order.len() < 2 || bytes < most_bytes) {
        let request = one_request(state, options, printed)?;
        bytes += request.len();
        let next = known.len();
        order.push(*known.entry(request).or_insert(next));
        if order.len() == FIRST_CALLS {
            cycle = period(&order);
        }
    }
    let cycle = cycle.or_else(|| period(&order));
    let mut requests: Vec<(usize, Vec<u8>)> = known.into_iter().map(|(request, at)| (at, request)).collect();
    requests.sort_unstable();
    let length = cycle.unwrap_or(order.len());
    let in_turn = order[..length].iter().map(|at| requests[*at].1.clone()).collect();
    Ok(Requests { in_turn, is_cycle: cycle.is_some() })
}

/// Calls `request()` once.
pub fn one_request(state: &LuaState, options: &Options, printed: &mut Printed) -> Result<Vec<u8>, Printed> {
    let call = || state.lua.globals().get::<Function>("request")?.call::<mlua::String>(());
    Ok(state.asks(options, printed, call)?.as_bytes().to_vec())
}

/// Calls `delay()`: always the same, or uniformly random.
pub fn delay(state: &LuaState, options: &Options, printed: &mut Printed) -> Result<Think, Printed> {
    state.heard.borrow_mut().is_random = false;
    let mut delays = Vec::new();
    let mut is_constant = true;
    while delays.len() < if is_constant { DELAYS } else { RANDOM_DELAYS } {
        let call = || state.lua.globals().get::<Function>("delay")?.call::<Option<f64>>(());
        delays.push(state.asks(options, printed, call)?.unwrap_or(0.0) as u64);
        is_constant &= delays[0] == delays[delays.len() - 1];
        if !is_constant && !state.heard.borrow().is_random {
            break;
        }
    }
    delays.sort_unstable();
    let (least, most) = (delays[0], delays[delays.len() - 1]);
    if !is_constant && farthest_from_uniform(&delays) > FARTHEST {
        return Err(refuse(options, refused::DELAY, ""));
    }
    Ok(match (least, most) {
        (0, 0) => Think::None,
        (least, most) => Think::Between(Duration::from_millis(least), Duration::from_millis(most)),
    })
}

/// The largest difference between the distribution of sorted whole numbers and the uniform one between the least and the most of them.
/// Only their first few are not random numbers: infinite.
fn farthest_from_uniform(sorted: &[u64]) -> f64 {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    if sorted.len() < RANDOM_DELAYS {
        return f64::INFINITY;
    }
    let width = (most - least + 1) as f64;
    let differences = sorted.iter().enumerate().map(|(at, number)| {
        let (from, to) = ((number - least) as f64 / width, (number - least + 1) as f64 / width);
        let (before, after) = (at as f64 / sorted.len() as f64, (at + 1) as f64 / sorted.len() as f64);
        // Within one number, the order says nothing.
        (from - after).max(before - to).max(0.0)
    });
    differences.fold(0.0, f64::max)
}

/// The length after which a sequence repeats; `None` if it does not repeat twice. It uses the failure function of
/// Knuth, Morris and Pratt: the sequence's length without its longest border is its shortest period.
fn period(order: &[usize]) -> Option<usize> {
    let mut borders = vec![0; order.len()];
    let mut border = 0;
    for at in 1..order.len() {
        while border > 0 && order[at] != order[border] {
            border = borders[border - 1];
        }
        border += usize::from(order[at] == order[border]);
        borders[at] = border;
    }
    let length = order.len() - borders.last()?;
    (length <= order.len() / 2).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_cycle_is_found_if_it_comes_twice() {
        assert_eq!(period(&[0, 0, 0, 0]), Some(1));
        assert_eq!(period(&[0, 1, 0, 1, 0]), Some(2));
        assert_eq!(period(&[0, 0, 1, 0, 0, 1, 0]), Some(3));
        for none in [&[][..], &[0], &[0, 1], &[0, 1, 2, 3], &[0, 1, 1, 1, 1], &[0, 1, 2, 0, 1]] {
            assert_eq!(period(none), None, "{none:?}");
        }
    }

    #[test]
    fn only_what_is_uniform_is_near_it() {
        let of = |number: fn(u64) -> u64| {
            let mut numbers: Vec<u64> = (0..RANDOM_DELAYS as u64).map(number).collect();
            numbers.sort_unstable();
            farthest_from_uniform(&numbers)
        };
        for near in [|i| 10 + i % 41, |i| i % 2, |i| 7 + i % 1000] as [fn(u64) -> u64; 3] {
            assert!(of(near) < FARTHEST / 2.0);
        }
        for far in
            [|i| 10 * (i % 2), |i| (i % 41).max(i % 37), |i| (i % 100) * (i % 100)] as [fn(u64) -> u64; 3]
        {
            assert!(of(far) > FARTHEST);
        }
    }
}
