//! The course of a rate: answers in short steps of the warm-up and of the window, which show whether the rate had settled. It is
//! recorded during housekeeping, so that a request costs nothing more for it.

use model::Course;
use std::time::Duration;

/// The number of steps of the window: enough for eight batches of five.
const STEPS: u32 = 40;

/// The shortest step: housekeeping is no more frequent.
const SHORTEST: Duration = Duration::from_millis(10);

/// The steps of one worker.
#[derive(Debug)]
pub struct CourseRecorder {
    course: Course,
    ends_ns: u64,
    /// All answers so far, at the last look.
    seen: u64,
    /// The answers since the step began, up to the last look.
    answers: u64,
    is_open: bool,
}

impl CourseRecorder {
    /// A course for a window of this length, from now on.
    pub fn new(window: Duration, now_ns: u64) -> Self {
        let step_ns = (window / STEPS).max(SHORTEST).as_nanos() as u64;
        let course = Course { step_ns, ..Course::default() };
        Self { course, ends_ns: now_ns + step_ns, seen: 0, answers: 0, is_open: false }
    }

    /// Closes the step if it is due; returns the next deadline. `answers`: the number of answers so far.
    pub fn tick(&mut self, now_ns: u64, answers: u64) -> u64 {
        self.answers += answers.saturating_sub(self.seen);
        self.seen = answers;
        if now_ns < self.ends_ns {
            return self.ends_ns;
        }
        // A look that is late by more than a step can't tell in which of the steps the answers came.
        let steps = 1 + (now_ns - self.ends_ns) / self.course.step_ns;
        let each = self.answers / steps;
        let part = if self.is_open { &mut self.course.window } else { &mut self.course.warmup };
        part.extend((0..steps).map(|nth| if nth == 0 { self.answers - each * (steps - 1) } else { each }));
        self.answers = 0;
        self.ends_ns += steps * self.course.step_ns;
        self.ends_ns
    }

    /// Begins the window: a partial step is discarded, and the count of answers begins anew.
    pub fn open(&mut self, now_ns: u64) {
        (self.seen, self.answers, self.is_open) = (0, 0, true);
        self.ends_ns = now_ns + self.course.step_ns;
    }

    /// The whole steps. The last one ends with the window, although it is recorded a moment later.
    pub fn finish(mut self, now_ns: u64, answers: u64) -> Course {
        self.tick(now_ns, answers);
        self.course.window.truncate(STEPS as usize);
        self.course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn steps_are_counted_by_themselves_before_and_in_the_window() {
        let mut recorder = CourseRecorder::new(Duration::from_secs(2), 1000 * MS);
        let asked: Vec<u64> =
            [1020, 1050, 1100, 1130].map(|ms| recorder.tick(ms * MS, ms - 1000) / MS).to_vec();
        assert_eq!(asked, [1050, 1100, 1150, 1150]);
        recorder.open(1140 * MS);
        // One look was late by two steps.
        for (ms, answers) in [(1190, 10), (1200, 12), (1340, 40)] {
            recorder.tick(ms * MS, answers);
        }
        let course = recorder.finish(1390 * MS, 47);
        assert_eq!(course.step_ns, 50 * MS);
        assert_eq!((course.warmup, course.window), (vec![50, 50], vec![10, 10, 10, 10, 7]));
    }

    #[test]
    fn a_short_window_has_fewer_steps_and_none_is_beyond_it() {
        let mut recorder = CourseRecorder::new(Duration::from_millis(100), 0);
        recorder.open(0);
        assert_eq!(recorder.tick(MS, 0), 10 * MS);
        assert_eq!(recorder.finish(1000 * MS, 400).window.len(), 40);
    }
}
