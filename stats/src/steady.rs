//! Decides whether a rate had settled, or the server still became faster or slower while it was measured. The decision is based on the
//! course of one trial. Each step depends on the one before, so that tests for independent values would give false alarms; therefore the
//! course is divided into eight batches (batch means: Conway 1963), and both ways in which servers warm up are searched for, with
//! thresholds that were chosen by simulation (`stats/tests/simulation`):
//!
//! - little by little: Mann and Kendall's count of pairs in order (Mann, Econometrica 13, 1945);
//! - at once, as when code is compiled: Student's t between both sides of the best division.

/// The number of batches of a course.
const BATCHES: usize = 8;

/// The least number of steps in a batch: with fewer, batches depend too much on the ones before.
const LEAST_STEPS: usize = 3;

/// Of the 28 pairs of batches, how many more must be in one order than in the other. By chance this happens in 0.5 % of courses without a
/// trend whose batches are independent, and in 3 % of those whose successive steps have a correlation of 0.8.
const PAIRS: i32 = 22;

/// The value that t between both sides of the best division must exceed: by chance it does in 1 % of courses without a change whose
/// successive steps have a correlation of 0.8.
const LARGEST_T: f64 = 8.0;

/// A smaller change does not matter.
const LEAST_CHANGE: f64 = 0.02;

/// The least mean number of answers in a batch: with fewer, chance dominates the rate.
const LEAST_ANSWERS: f64 = 20.0;

/// What the course of a trial says about settling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Whether the rate had settled before the window opened.
    pub is_steady: bool,
    /// The rate in the last quarter of the window divided by that in the first, minus one.
    pub change: f64,
    /// The step of the course from which on the rate is steady; `None`: no step that leaves enough of the window to tell.
    pub settled_at: Option<usize>,
}

/// Judges answers in steps of the same length: the warm-up's, and from `opened` on the window's. `None` where there are too few
/// steps or answers to tell.
pub fn settling(answers: &[u64], opened: usize) -> Option<Settling> {
    let rates: Vec<f64> = answers.iter().map(|n| *n as f64).collect();
    let window = rates.get(opened..)?;
    let change = change(window)?;
    let is_steady = is_steady(window)?;
    // Where the window as a whole is not steady, its end may be.
    let end = rates.len().saturating_sub(BATCHES * LEAST_STEPS);
    let from = if is_steady { Some(opened) } else { Some(end).filter(|end| *end > opened) };
    let is_level = |at: &usize| self::is_steady(&rates[*at..]) == Some(true);
    let settled_at = from.filter(is_level).map(|from| back_to(&rates, from));
    // Where noise hides the step from which on the rate is steady, the step is not known.
    let settled_at = settled_at.filter(|at| is_steady || *at > opened);
    Some(Settling { is_steady, change, settled_at })
}

/// The number of steps that are compared with the level together.
const GROUP: usize = 5;

/// The first step from which on the rate is what it is at `from`: five steps together, to within three of their standard deviations
/// (Shewhart's limits), or to within a change that does not matter.
fn back_to(rates: &[f64], from: usize) -> usize {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let level = mean(&rates[from..]);
    let groups: Vec<f64> = rates[from..].rchunks_exact(GROUP).map(mean).collect();
    let sd = (groups.iter().map(|g| (g - level).powi(2)).sum::<f64>() / groups.len() as f64).sqrt();
    let allowed = (3.0 * sd).max(LEAST_CHANGE * level);
    let mut at = from;
    while at > 0 {
        let before = at.saturating_sub(GROUP);
        if (mean(&rates[before..at]) - level).abs() > allowed {
            break;
        }
        at = before;
    }
    at
}

/// The last quarter divided by the first, minus one.
fn change(window: &[f64]) -> Option<f64> {
    let quarter = window.len() / 4;
    let sum = |part: &[f64]| part.iter().sum::<f64>();
    let (first, last) = (sum(&window[..quarter]), sum(&window[window.len() - quarter..]));
    (first > 0.0).then(|| last / first - 1.0)
}

fn is_steady(rates: &[f64]) -> Option<bool> {
    let each = rates.len() / BATCHES;
    if each < LEAST_STEPS {
        return None;
    }
    // What does not fill a batch is left out at the beginning.
    let batches: Vec<f64> =
        rates[rates.len() - each * BATCHES..].chunks(each).map(|c| c.iter().sum::<f64>()).collect();
    let mean = batches.iter().sum::<f64>() / BATCHES as f64;
    if mean < LEAST_ANSWERS {
        return None;
    }
    let share: Vec<f64> = batches.iter().map(|batch| batch / mean).collect();
    // Noise is a share of the rate, so that levels are compared by their logarithms; a batch without an answer counts as half an answer.
    let logs: Vec<f64> = share.iter().map(|share| share.max(0.5 / mean).ln()).collect();
    Some(!is_trending(&share) && !is_stepping(&logs))
}

fn is_trending(batches: &[f64]) -> bool {
    let mut order = 0;
    let mut slopes = Vec::new();
    for (i, one) in batches.iter().enumerate() {
        for (ahead, other) in batches[i + 1..].iter().enumerate() {
            order += i32::from(other > one) - i32::from(other < one);
            slopes.push((other - one) / (ahead + 1) as f64);
        }
    }
    // Over the whole course, by the median of all slopes (Sen 1968).
    let change = crate::median(&slopes).unwrap_or(0.0) * (batches.len() - 1) as f64;
    order.abs() >= PAIRS && change.abs() > LEAST_CHANGE
}

/// Whether logarithms have two levels, perhaps with one batch between them in which the step is.
fn is_stepping(batches: &[f64]) -> bool {
    let two_levels = |before: &[f64], after: &[f64]| {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let squares = |part: &[f64]| part.iter().map(|v| (v - mean(part)).powi(2)).sum::<f64>();
        let free = (before.len() + after.len() - 2) as f64;
        let variance = (squares(before) + squares(after)) / free;
        let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
        let step = (mean(after) - mean(before)).abs();
        step > LEAST_CHANGE && step > LARGEST_T * error
    };
    let n = batches.len();
    let whole = (2..=n - 2).any(|at| two_levels(&batches[..at], &batches[at..]));
    whole || (2..n - 2).any(|at| two_levels(&batches[..at], &batches[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use proptest::prelude::*;

    /// Sixty steps of about 5,000 answers with 2 % of noise; the window opens at the twentieth.
    fn course(rate: impl Fn(usize) -> f64) -> Vec<u64> {
        let noisy = |k: usize| 5_000.0 * rate(k) * (1.0 + 0.04 * (uniform(3, k as u64) - 0.5));
        (0..60).map(|k| noisy(k) as u64).collect()
    }

    #[test]
    fn a_steady_course_is_steady_from_the_start() {
        let found = settling(&course(|_| 1.0), 20).unwrap();
        assert!(found.is_steady && found.change.abs() < 0.02 && found.settled_at.unwrap() <= 2, "{found:?}");
    }

    #[test]
    fn what_happens_in_the_warm_up_only_is_why_there_is_one() {
        let found = settling(&course(|k| if k < 10 { 0.5 } else { 1.0 }), 20).unwrap();
        assert!(found.is_steady && (8..=16).contains(&found.settled_at.unwrap()), "{found:?}");
    }

    #[test]
    fn a_step_and_a_slow_rise_in_the_window_are_not_steady() {
        let step = settling(&course(|k| if k < 30 { 0.7 } else { 1.0 }), 20).unwrap();
        assert!(!step.is_steady && step.change > 0.3, "{step:?}");
        assert!((28..=36).contains(&step.settled_at.unwrap()), "{step:?}");
        let rise = settling(&course(|k| 1.0 + 0.01 * k as f64), 20).unwrap();
        assert!(!rise.is_steady && rise.settled_at.is_none(), "{rise:?}");
        let fall = settling(&course(|k| if k < 45 { 1.0 } else { 0.8 }), 20).unwrap();
        assert!(!fall.is_steady && fall.change < -0.15 && fall.settled_at.is_none(), "{fall:?}");
    }

    #[test]
    fn too_little_to_tell_is_unknown() {
        assert_eq!(settling(&[1000; 30], 20), None);
        assert_eq!(settling(&[1; 60], 20), None);
        assert_eq!(settling(&[0; 60], 20), None);
        assert_eq!(settling(&[], 0), None);
        assert_eq!(settling(&[5; 4], 9), None);
    }

    proptest! {
        #[test]
        fn no_course_panics(answers in proptest::collection::vec(any::<u64>(), 0..80), opened in 0..90_usize) {
            if let Some(found) = settling(&answers, opened) {
                prop_assert!(found.settled_at.is_none_or(|at| at < answers.len()));
            }
        }
    }
}
