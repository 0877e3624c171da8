//! Finds out whether contenders had settled when they were measured, from the course of each trial. Pure.

use model::findings::Steadiness;
use model::{Measurement, Tally};
use stats::steady::{Settling, settling};

/// Fewer trials say nothing about a contender: a machine that changed its speed in one of them would look the same.
const LEAST_TRIALS: usize = 3;

/// What the course of one trial says about settling; `None` where it can't tell.
pub fn of_trial(tally: &Tally) -> Option<Settling> {
    let course = tally.course.as_ref()?;
    let answers: Vec<u64> = course.warmup.iter().chain(&course.window).copied().collect();
    settling(&answers, course.warmup.len())
}

/// Combines what the trials of a contender say. It is called unsteady where most of them changed in the same direction, which no
/// noise of the machine does.
pub fn of_trials<'m>(measurements: impl Iterator<Item = &'m Measurement>) -> Option<Steadiness> {
    let mut changes = Vec::new();
    let mut settled_after_s = Vec::new();
    let (mut faster, mut slower) = (0, 0);
    for tally in measurements.map(|m| &m.tally) {
        let Some(found) = of_trial(tally) else { continue };
        let step_s = tally.course.as_ref().map_or(0.0, |course| course.step_ns as f64 / 1e9);
        changes.push(found.change);
        settled_after_s
            .push((found.is_steady, found.settled_at.map_or(f64::INFINITY, |at| at as f64 * step_s)));
        faster += usize::from(!found.is_steady && found.change > 0.0);
        slower += usize::from(!found.is_steady && found.change < 0.0);
    }
    let trials = changes.len();
    let is_steady = 2 * faster <= trials && 2 * slower <= trials;
    // For a contender that is not steady, only the trials that were not steady show how long a warm-up it needs.
    let told = settled_after_s.iter().filter(|(was_steady, _)| *was_steady == is_steady);
    let told: Vec<f64> = told.map(|(_, s)| *s).collect();
    Some(Steadiness {
        trials,
        faster,
        slower,
        is_steady: (trials >= LEAST_TRIALS).then_some(is_steady),
        change: stats::median(&changes)?,
        settled_after_s: stats::median(&told).filter(|s| s.is_finite()),
    })
}

/// The note on a contender that had not settled.
pub fn sentence(found: &Steadiness) -> Option<String> {
    if found.is_steady != Some(false) {
        return None;
    }
    let (way, n) =
        if found.faster > found.slower { ("faster", found.faster) } else { ("slower", found.slower) };
    let remedy = match found.settled_after_s {
        Some(s) => {
            format!("it settles {s:.1} s after the load begins: warm up for that long and measure again")
        }
        None => "it did not settle during the measurement: warm up and measure longer".to_owned(),
    };
    Some(format!(
        "still getting {way} during the measurement, by {:.0} % from the first to the last quarter, in {n} of {} trials; {remedy}",
        found.change.abs() * 100.0,
        found.trials
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use model::Course;
    use stats::random::uniform;

    /// A trial with half a second of warm-up and two seconds of window, that becomes `times` as fast after `at` steps.
    fn trial(nth: u64, at: usize, times: f64) -> Measurement {
        let mut measurement = example::measurement(100_000.0);
        let answers = |k: usize| {
            let rate = if k < at { 1000.0 } else { 1000.0 * times };
            (rate * (1.0 + 0.02 * uniform(nth, k as u64))) as u64
        };
        measurement.tally.course = Some(Course {
            step_ns: 50_000_000,
            warmup: (0..10).map(answers).collect(),
            window: (10..50).map(answers).collect(),
        });
        measurement
    }

    fn of(trials: &[Measurement]) -> Steadiness {
        of_trials(trials.iter()).unwrap()
    }

    #[test]
    fn who_is_still_warming_up_in_most_trials_is_labelled_with_the_remedy() {
        let warming: Vec<_> = (0..6).map(|nth| trial(nth, if nth < 4 { 24 } else { 5 }, 1.5)).collect();
        let found = of(&warming);
        assert_eq!((found.trials, found.faster, found.slower, found.is_steady), (6, 4, 0, Some(false)));
        let words = sentence(&found).unwrap();
        assert!(words.contains("still getting faster") && words.contains("in 4 of 6 trials"), "{words}");
        assert!(words.contains("warm up for that long") && found.settled_after_s.unwrap() < 1.6, "{words}");

        let late: Vec<_> = (0..6).map(|nth| trial(nth, 38, 0.7)).collect();
        let words = sentence(&of(&late)).unwrap();
        assert!(words.contains("getting slower") && words.contains("did not settle"), "{words}");
    }

    #[test]
    fn who_had_settled_is_not_labelled_nor_is_one_that_was_disturbed() {
        let steady: Vec<_> = (0..6).map(|nth| trial(nth, 5, 2.0)).collect();
        let found = of(&steady);
        assert_eq!((found.is_steady, sentence(&found)), (Some(true), None));
        assert!((0.2..0.5).contains(&found.settled_after_s.unwrap()), "{found:?}");
        // A machine of two speeds: up in some trials, down in others.
        let disturbed: Vec<_> =
            (0..6).map(|nth| trial(nth, 25, if nth % 2 == 0 { 1.3 } else { 0.7 })).collect();
        let found = of(&disturbed);
        assert_eq!((found.faster, found.slower, found.is_steady), (3, 3, Some(true)));
    }

    #[test]
    fn too_few_trials_or_courses_say_nothing() {
        let two: Vec<_> = (0..2).map(|nth| trial(nth, 25, 1.5)).collect();
        assert_eq!((of(&two).is_steady, sentence(&of(&two))), (None, None));
        assert_eq!(of_trials([example::measurement(1000.0)].iter()), None);
    }
}
